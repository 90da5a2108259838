import { existsSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '../core/index.ts';
import { type CommandFacts, type Inspection, inspectCommand, type Program } from '../policy/index.ts';
import { resolveProgram } from '../sandbox/index.ts';
import { resolvePath } from './real-path.ts';

/** What a program name leads to, from a folder: the path that will be started and the file behind it. */
export function findProgram(word: string, cwd: string): Program | undefined {
  if (word === '' || word.includes('\0')) return undefined;
  const path = word.includes('/') ? resolve(cwd, word) : resolveProgram(word);
  if (path === undefined) return undefined;
  try {
    return { path, real: realpathSync(path) };
  } catch {
    return undefined;
  }
}

/** Looks at everything a command names. Nothing is started. */
export function commandFacts(
  call: {
    readonly cmd: readonly string[];
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly stdin: boolean;
  },
  workingDir: string,
): JsonObject {
  const inspection = inspectCommand(call.cmd, call.stdin);
  const cwd = resolvePath(call.cwd, workingDir);
  const programs = inspection.commands.map((command) =>
    command.builtin ? null : (findProgram(command.argv[0] ?? '', cwd.real) ?? null),
  );
  const first = programs[0];
  return {
    // The program is started by the path that was judged, not looked up again.
    argv: [first?.path ?? call.cmd[0] ?? '', ...call.cmd.slice(1)],
    cwd: cwd.real,
    folder: { asked: cwd.asked, lexical: cwd.lexical, real: cwd.real, state: cwd.state },
    programs: programs.map((program) =>
      program === null ? null : { path: program.path, real: program.real },
    ),
    paths: namedPaths(inspection, cwd.real).map(({ asked, lexical, real, write }) => ({
      asked,
      lexical,
      real,
      write,
    })),
    variables: Object.keys(call.env),
  };
}

type NamedPath = CommandFacts['paths'][number];

/** Programs whose arguments are text and never files. */
const TEXT_ONLY = new Set([
  'echo',
  'printf',
  'expr',
  'seq',
  'sleep',
  'true',
  'false',
  'basename',
  'dirname',
  'date',
]);

function namedPaths(inspection: Inspection, cwd: string): readonly NamedPath[] {
  const found = new Map<string, NamedPath>();
  const note = (asked: string, write: boolean) => {
    const { lexical, real } = resolvePath(asked, cwd);
    found.set(`${write} ${asked}`, { asked, lexical, real, write });
  };
  const code = new Set(inspection.code);
  for (const command of inspection.commands) {
    const name = command.argv[0] ?? '';
    if (TEXT_ONLY.has(name.slice(name.lastIndexOf('/') + 1))) continue;
    // Code was looked through as code; read as a path it would only be misunderstood.
    const words = command.argv.slice(1).filter((arg) => !code.has(arg));
    for (const arg of words) for (const path of pathsIn(arg, cwd)) note(path, false);
    // Some programs first go to a folder of their own: names are then names in there.
    for (const folder of foldersIn(words).map((name) => resolve(cwd, name)))
      for (const arg of words)
        for (const path of pathsIn(arg, folder))
          if (!path.startsWith('~')) note(resolve(folder, path), false);
  }
  for (const path of inspection.reads) note(path, false);
  for (const path of inspection.writes) note(path, true);
  return [...found.values()];
}

/** What follows `-C` (git, tar, make) or `--directory`. */
function foldersIn(words: readonly string[]): readonly string[] {
  return words.flatMap((word, i) => {
    if (word === '-C' || word === '--directory') return words.slice(i + 1, i + 2);
    const joined = /^(?:-C|--directory=)(.+)$/s.exec(word)?.[1];
    return joined === undefined ? [] : [joined];
  });
}

/**
 * The files an argument could name: the whole of it, or what follows an option, `=`, `:`, `,` or `@`. A word
 * that is nothing on this disk and stays below the folder is no path.
 */
function pathsIn(arg: string, cwd: string): readonly string[] {
  if (arg.includes('\0') || arg.length > 4096) return [];
  const candidates = new Set<string>();
  if (!arg.startsWith('-')) candidates.add(arg);
  if (/^-[A-Za-z][^-]/.test(arg)) candidates.add(arg.slice(2));
  const file = /^file:\/\/[^/]*(\/.*)$/is.exec(arg);
  if (file?.[1] !== undefined) candidates.add(decoded(file[1]));
  else if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(arg)) {
    for (const [n, { index }] of [...arg.matchAll(/[=:,@]/g)].entries()) {
      const rest = arg.slice(index + 1);
      // Far into a list only what looks like a path is worth a look at the disk.
      if (n < 8 || /^[~/.]/.test(rest)) candidates.add(rest);
    }
  }
  return [...candidates].filter((path) => path !== '' && isPath(path, cwd));
}

function isPath(text: string, cwd: string): boolean {
  if (text.startsWith('~')) return true;
  const path = resolve(cwd, text);
  if (existsSync(path)) return true;
  // A link to nothing exists for whoever writes through it.
  const { lexical, real } = resolvePath(text, cwd);
  if (lexical !== real) return true;
  const climbs = text.startsWith('/') || text.split('/').includes('..');
  return climbs && existsSync(dirname(path));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The facts back from an action, checked. */
export function readCommandFacts(facts: JsonObject): CommandFacts & { readonly state: string } {
  const { folder, programs, paths, variables } = facts;
  if (!isJsonObject(folder) || !Array.isArray(programs) || !Array.isArray(paths) || !Array.isArray(variables))
    throw new TypeError('the call has no facts about its command');
  return {
    cwd: subject(folder),
    state: text(folder.state),
    programs: programs.map((program: Json) =>
      isJsonObject(program) ? { path: text(program.path), real: text(program.real) } : null,
    ),
    paths: paths.map((path: Json) => {
      if (!isJsonObject(path)) throw new TypeError('a path of the command is missing');
      return { ...subject(path), write: path.write === true };
    }),
    variables: variables.map(text),
  };
}

function subject(value: JsonObject) {
  return { asked: text(value.asked), lexical: text(value.lexical), real: text(value.real) };
}

function text(value: Json | undefined): string {
  if (typeof value !== 'string') throw new TypeError('a fact about the command is missing');
  return value;
}
