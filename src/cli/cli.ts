import type { Command } from 'commander';
import { EXIT, type ExitCode } from '../core/index.ts';
import { type Style, styleFor } from './style.ts';

/** What a command may touch of the outside: streams, environment, folder, exit code. */
export interface Cli {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** True when a person sits at a terminal that can answer a prompt. */
  readonly interactive: boolean;
  readonly style: Style;
  exitCode: ExitCode;
  /** One line for people on stdout. */
  print(line?: string): void;
  /** The one JSON document of `--json`. */
  json(value: unknown): void;
  /** A remark on stderr: progress, warnings. */
  note(line: string): void;
}

/** One file a command: describes itself on the commander object and does its work in the action. */
export type DefineCommand = (command: Command, cli: Cli) => void;

export function processCli(): Cli {
  const { stdin, stdout, stderr, env } = process;
  return {
    stdin,
    stdout,
    stderr,
    env,
    cwd: process.cwd(),
    interactive: stdin.isTTY === true && stderr.isTTY === true,
    style: styleFor(stdout, env),
    exitCode: EXIT.ok,
    print: (line = '') => void stdout.write(`${line}\n`),
    json: (value) => void stdout.write(`${JSON.stringify(value, null, stdout.isTTY ? 2 : 0)}\n`),
    note: (line) => void stderr.write(`${line}\n`),
  };
}
