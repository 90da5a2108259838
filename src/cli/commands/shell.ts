import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { CODES, EXIT, type ExitCode, parseJson, quoteArgv, visible, WritError } from '../../core/index.ts';
import type { Classification, ShellResponse } from '../../shell/index.ts';
import type { Cli, DefineCommand } from '../cli.ts';
import { type FolderFlags, folderOptions } from '../folders.ts';
import { inputLines, outlet } from '../json-lines.ts';

interface RunFlags extends FolderFlags {
  readonly json?: boolean;
  readonly approve: string;
  readonly session?: string;
  readonly reasoning: string;
}

export const define: DefineCommand = (command, cli) => {
  command.addHelpText('after', '\nExample:\n  writ shell run -- ping -c 1 127.0.0.1');
  defineRun(command, cli);
  defineClassify(command, cli);
};

function defineRun(command: Command, cli: Cli): void {
  folderOptions(command.command('run'))
    .description('judge a command, ask if need be, run it without a shell, record it')
    .argument('[command...]', 'one argument is a command line; several are the exact words of one command')
    .option('--json', 'the response as one JSON document')
    .option('--approve <when>', 'what to do when a person is needed: ask or never', 'ask')
    .option('--session <id>', 'record in this session (default: a new one)')
    .option('--reasoning <text>', 'why, for the person who is asked and for the record', 'run by hand')
    .addHelpText(
      'after',
      '\nExit codes: 0 ran and ended with 0 · 1 ran and failed · 3 denied or forbidden' +
        "\nExamples:\n  writ shell run -- dig example.com\n  writ shell run --json --approve never -- 'az vm list -o json'",
    )
    .action(async (words: string[], flags: RunFlags) => {
      if (flags.approve !== 'ask' && flags.approve !== 'never')
        throw new WritError(
          CODES.invalid_input,
          `--approve takes ask or never, not ${visible(flags.approve)}`,
          {
            suggestion: 'writ shell run --approve never -- COMMAND',
          },
        );
      const stop = new AbortController();
      const onSignal = () => stop.abort(new Error('interrupted'));
      process.on('SIGINT', onSignal);
      process.on('SIGTERM', onSignal);
      try {
        const response = await runOnce(cli, words, flags, flags.approve, stop.signal);
        cli.exitCode = exitOf(response);
        if (flags.json) cli.json(response);
        else show(cli, response);
      } finally {
        process.off('SIGINT', onSignal);
        process.off('SIGTERM', onSignal);
      }
    });
}

async function runOnce(
  cli: Cli,
  words: readonly string[],
  flags: RunFlags,
  approve: 'ask' | 'never',
  signal: AbortSignal,
): Promise<ShellResponse> {
  const [{ openWorkspace }, { approverFor }] = await Promise.all([
    import('../workspace.ts'),
    import('../approver.ts'),
  ]);
  const workspace = openWorkspace(cli, flags);
  const shell = await workspace.openShell({
    sessionId: flags.session ?? newSession(workspace.clock.now()),
    approver: approverFor(cli, approve),
    signal,
  });
  try {
    for (const id of shell.interrupted)
      cli.note(`[Shell] ${id} was interrupted in an earlier run: its outcome is unknown`);
    return await shell.execute({ command: commandLine(words), reasoning: flags.reasoning });
  } finally {
    await shell.close();
  }
}

/** One argument is a command line; several are words, quoted so that exactly these are judged and run. */
function commandLine(words: readonly string[]): string {
  return words.length === 1 ? words[0]! : quoteArgv(words);
}

function newSession(now: Date): string {
  const [date, time] = now.toISOString().replaceAll(/[-:]/g, '').split('T') as [string, string];
  return `shell_${date}_${time.slice(0, 6)}_${randomBytes(3).toString('hex')}`;
}

export function exitOf(response: ShellResponse): ExitCode {
  if (response.error === 'empty_command') return EXIT.usage;
  if (response.status === 'denied' || response.error === 'forbidden_command') return EXIT.denied;
  return response.status === 'completed' && response.exit_code === 0 ? EXIT.ok : EXIT.failed;
}

function show(cli: Cli, response: ShellResponse): void {
  // A terminal obeys what it is sent; a file or a program gets the bytes.
  const text = (value: string, terminal: boolean | undefined) =>
    terminal ? visible(value, 'newlines') : value;
  if (response.output !== '') cli.stdout.write(ended(text(response.output, cli.stdout.isTTY)));
  if (response.stderr !== '') cli.stderr.write(ended(text(response.stderr, cli.stderr.isTTY)));
  const { classification, action, status, error, exit_code: exitCode } = response;
  const parts = [
    classification ?? 'nothing to run',
    status === 'completed' ? `${action}, exit ${exitCode}` : (error ?? `${status} (${action})`),
    ...(response.denial_reason === null ? [] : [visible(response.denial_reason)]),
    ...(response.audit_id === null ? [] : [`record ${response.audit_id}`]),
  ];
  cli.note(`[Shell] ${parts.join(' — ')}`);
}

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

function defineClassify(command: Command, cli: Cli): void {
  command
    .command('classify')
    .description('SAFE, RISKY or FORBIDDEN, by which rule and why; nothing is run')
    .argument('[command...]', 'one argument is a command line; several are the exact words of one command')
    .option('--json', 'one JSON document')
    .option(
      '--jsonl',
      'read one JSON string a line from stdin, write one JSON object a line, in the same order',
    )
    .addHelpText(
      'after',
      "\nExamples:\n  writ shell classify 'az vm delete -n web'\n  echo '\"rm -rf /\"' | writ shell classify --jsonl",
    )
    .action(async (words: string[], flags: { json?: boolean; jsonl?: boolean }) => {
      const { classify } = await import('../../shell/classify/index.ts');
      if (flags.jsonl) return classifyLines(cli, classify);
      if (words.length === 0)
        throw new WritError(CODES.invalid_input, 'there is no command to classify', {
          suggestion: "writ shell classify 'ping -c 1 127.0.0.1'",
        });
      const line = commandLine(words);
      const judged = classify(line);
      if (flags.json) return cli.json({ command: line, ...judged });
      cli.print(`${judged.classification}  tier ${judged.tier}  ${judged.rule}`);
      cli.print(visible(judged.reason));
      cli.print(`  ${cli.style.dim('decided by:')} ${visible(line.slice(...judged.span))}`);
    });
}

/** One answer a line, whatever the line holds: what cannot be read is RISKY, in its place. */
async function classifyLines(cli: Cli, classify: (command: string) => Classification): Promise<void> {
  const out = outlet(cli);
  for await (const lines of inputLines(cli.stdin)) {
    for (const line of lines) {
      const pending = out.add(`${JSON.stringify(lineAnswer(line, classify))}\n`);
      if (pending && !(await pending)) return;
    }
    // Whoever writes a line and waits for its answer gets it.
    if (!(await out.flush())) return;
  }
}

function lineAnswer(
  line: { ok: true; text: string } | { ok: false; why: string },
  classify: (c: string) => Classification,
) {
  const parsed = line.ok ? parseJson(line.text) : ({ ok: false, reason: line.why } as const);
  if (parsed.ok && typeof parsed.value === 'string') {
    const { classification, tier, rule, reason } = classify(parsed.value);
    return { command: parsed.value, classification, tier, rule, reason };
  }
  const why = parsed.ok ? 'the line is JSON but not a string' : `the line is not JSON: ${parsed.reason}`;
  return { command: null, classification: 'RISKY', tier: 3, rule: 'input.not_a_command', reason: why };
}
