/**
 * Runs a script against the emulated guest. The grammar is the library's; what is carried out are simple
 * commands, pipes, `&&`, `||`, `;`, groups, `if`, `for` and bounded `while`.
 *
 * G1 Nothing of the host is touched: a command is a function in a table, a file is text in a table.
 * G2 Everything is bounded: commands run, loop rounds, nesting, output.
 */
import { type CommandNode, parse, type Redirection, type Statement, type Word } from 'unbash';
import { expandWord as expand, type Scope } from './expand.ts';
import type { GuestCommand, GuestResult, Machine } from './machine.ts';

const MAX_COMMANDS = 2000;
const MAX_ROUNDS = 500;
const MAX_OUTPUT = 1_000_000;
const MAX_DEPTH = 20;

export type FindCommand = (name: string) => GuestCommand | undefined;

interface Run {
  readonly machine: Machine;
  readonly find: FindCommand;
  commands: number;
  output: number;
  exited: boolean;
}

const NOTHING: GuestResult = { stdout: '', stderr: '', code: 0 };

export function runScript(script: string, machine: Machine, find: FindCommand): GuestResult {
  const run: Run = { machine, find, commands: 0, output: 0, exited: false };
  return runText(script, run, '', 0);
}

/** `bash -c`, `$( )` and the script itself. */
function runText(script: string, run: Run, stdin: string, depth: number): GuestResult {
  const parsed = parse(script);
  const mistake = parsed.errors?.[0];
  if (mistake) return { stdout: '', stderr: `sh: 1: Syntax error: ${mistake.message}\n`, code: 2 };
  return runList(parsed.commands, run, stdin, depth);
}

function runList(statements: readonly Statement[], run: Run, stdin: string, depth: number): GuestResult {
  let total = NOTHING;
  for (const statement of statements) {
    if (run.exited) break;
    total = joined(total, runNode(statement.command, run, stdin, depth));
  }
  return total;
}

function joined(before: GuestResult, after: GuestResult): GuestResult {
  return { ...after, stdout: before.stdout + after.stdout, stderr: before.stderr + after.stderr };
}

type Runnable = Statement['command'];

function runNode(node: Runnable, run: Run, stdin: string, depth: number): GuestResult {
  if (depth > MAX_DEPTH) return { stdout: '', stderr: 'sh: too deeply nested\n', code: 2 };
  switch (node.type) {
    case 'Command':
      return simple(node, run, stdin, depth);
    case 'Pipeline': {
      const piped = pipeline(node.commands, node.operators, run, stdin, depth);
      return node.prefixes.some((p) => p.type === 'Negation')
        ? { ...piped, code: piped.code === 0 ? 1 : 0 }
        : piped;
    }
    case 'AndOr': {
      let result = runNode(node.commands[0]!, run, stdin, depth);
      for (let i = 1; i < node.commands.length && !run.exited; i++)
        if ((node.operators[i - 1] === '&&') === (result.code === 0))
          result = joined(result, runNode(node.commands[i]!, run, stdin, depth));
      return result;
    }
    case 'Subshell':
    case 'BraceGroup':
      return runList(node.body.commands, run, stdin, depth + 1);
    case 'Redirected':
      return redirected(runNode(node.command, run, stdin, depth), node.redirects, run, depth);
    case 'If': {
      const branches = [
        { clause: node.clause, body: node.then },
        ...node.elif.map((e) => ({ clause: e.clause, body: e.then })),
      ];
      let before = NOTHING;
      for (const branch of branches) {
        const test = runList(branch.clause.commands, run, stdin, depth + 1);
        before = joined(before, test);
        if (test.code === 0) return joined(before, runList(branch.body.commands, run, stdin, depth + 1));
      }
      return node.else
        ? joined(before, runList(node.else.commands, run, stdin, depth + 1))
        : { ...before, code: 0 };
    }
    case 'For': {
      let total = NOTHING;
      const words = (node.wordlist ?? []).flatMap((w) => expandWord(w, run, depth));
      for (const value of words.slice(0, MAX_ROUNDS)) {
        if (run.exited) break;
        run.machine.variables.set(node.name.value, value);
        total = joined(total, runList(node.body.commands, run, stdin, depth + 1));
      }
      return total;
    }
    case 'While': {
      let total = NOTHING;
      for (let round = 0; round < MAX_ROUNDS && !run.exited; round++) {
        const test = runList(node.clause.commands, run, stdin, depth + 1);
        total = joined(total, { ...test, code: 0 });
        if ((test.code === 0) === (node.kind === 'until')) break;
        total = joined(total, runList(node.body.commands, run, stdin, depth + 1));
      }
      return total;
    }
    case 'TestCommand':
    case 'ArithmeticCommand':
    case 'ArithmeticFor':
    case 'Select':
    case 'Case':
    case 'Function':
    case 'Coproc':
      return { stdout: '', stderr: 'sh: this construct is not available in the lab\n', code: 2 };
  }
}

function pipeline(
  commands: readonly CommandNode[],
  operators: readonly string[],
  run: Run,
  stdin: string,
  depth: number,
): GuestResult {
  let input = stdin;
  let stderr = '';
  let last = NOTHING;
  commands.forEach((command, i) => {
    last = runNode(command, run, input, depth);
    const both = operators[i] === '|&';
    input = both ? last.stdout + last.stderr : last.stdout;
    if (!both) stderr += last.stderr;
  });
  return { ...last, stderr };
}

function simple(
  node: CommandNode & { type: 'Command' },
  run: Run,
  stdin: string,
  depth: number,
): GuestResult {
  for (const item of node.prefix)
    if (item.type === 'Assignment' && item.value.type === 'Word')
      run.machine.variables.set(item.name, expandWord(item.value, run, depth).join(' '));
  const words = [
    ...(node.name ? expandWord(node.name, run, depth) : []),
    ...node.args.flatMap((a) =>
      a.type === 'Word'
        ? expandWord(a, run, depth)
        : [`${a.name}=${a.value.type === 'Word' ? expandWord(a.value, run, depth).join(' ') : ''}`],
    ),
  ];
  const socket = node.redirects.find(
    (r) => r.type === 'Redirect' && /^\/dev\/(tcp|udp)\//.test(r.target?.value ?? ''),
  );
  if (socket?.type === 'Redirect')
    return redirected(devTcp(expandWord(socket.target!, run, depth)[0]!, run), node.redirects, run, depth);
  if (words.length === 0) return NOTHING;
  const here = node.redirects.find((r) => r.type === 'HereString');
  const input =
    here?.type === 'HereString' && here.target ? `${expandWord(here.target, run, depth).join(' ')}\n` : stdin;
  return redirected(execute(words, run, input, depth), node.redirects, run, depth);
}

/** Words that run another command: the emulated root may do anything, and nothing takes time. */
const WRAPPERS: Readonly<Record<string, readonly string[]>> = {
  sudo: ['u', 'g', 'p'],
  nohup: [],
  time: [],
  command: [],
  exec: [],
  stdbuf: ['o', 'e', 'i'],
  nice: ['n'],
  env: [],
  timeout: ['s', 'k'],
  busybox: [],
};

function execute(words: readonly string[], run: Run, stdin: string, depth: number): GuestResult {
  if (++run.commands > MAX_COMMANDS) {
    run.exited = true;
    return { stdout: '', stderr: 'sh: too many commands\n', code: 2 };
  }
  const name = words[0]!.split('/').at(-1)!;
  const rest = words.slice(1);
  if (name === 'exit') {
    run.exited = true;
    return { ...NOTHING, code: Number(rest[0] ?? 0) || 0 };
  }
  if ((name === 'bash' || name === 'sh' || name === 'dash') && rest.length > 0) {
    const at = rest.findIndex((w) => /^-[a-z]*c$/.test(w));
    return at < 0
      ? { stdout: '', stderr: `${name}: ${rest[0]}: No such file or directory\n`, code: 127 }
      : runText(rest[at + 1] ?? '', run, stdin, depth + 1);
  }
  if (name === 'eval') return runText(rest.join(' '), run, stdin, depth + 1);
  const wrapper = WRAPPERS[name];
  if (wrapper && !(name === 'command' && rest[0] === '-v'))
    return wrapped(name, wrapper, rest, run, stdin, depth);
  const command = run.find(name);
  if (!command) return { stdout: '', stderr: `sh: ${words[0]}: not found\n`, code: 127 };
  const result = command(rest, run.machine, stdin);
  run.output += result.stdout.length + result.stderr.length;
  if (run.output > MAX_OUTPUT) {
    run.exited = true;
    return { stdout: '', stderr: 'sh: too much output\n', code: 2 };
  }
  return result;
}

function wrapped(
  name: string,
  withValue: readonly string[],
  rest: readonly string[],
  run: Run,
  stdin: string,
  depth: number,
): GuestResult {
  let i = 0;
  while (i < rest.length && rest[i]!.startsWith('-')) i += withValue.includes(rest[i]!.slice(1)) ? 2 : 1;
  while (name === 'env' && /^\w+=/.test(rest[i] ?? '')) i++;
  const limit = name === 'timeout' ? rest[i++] : undefined;
  const inner = rest.slice(i);
  if (inner.length === 0) return NOTHING;
  const result = execute(inner, run, stdin, depth + 1);
  // What would have waited longer than it was allowed to is cut off.
  return result.waited && limit !== undefined ? { stdout: '', stderr: '', code: 124 } : result;
}

function devTcp(path: string, run: Run): GuestResult {
  const [, , kind, host, port] = path.split('/');
  const probe = run.find('nc');
  if (!probe || host === undefined || port === undefined)
    return { stdout: '', stderr: `bash: ${path}: No such file or directory\n`, code: 1 };
  const result = probe(
    kind === 'udp' ? ['-u', '-z', '-v', host, port] : ['-z', '-v', host, port],
    run.machine,
    '',
  );
  if (result.code === 0) return NOTHING;
  const why = /refused/.test(result.stderr)
    ? 'Connection refused'
    : /getaddrinfo/.test(result.stderr)
      ? 'Name or service not known'
      : 'Connection timed out';
  return {
    stdout: '',
    stderr: `bash: connect: ${why}\nbash: ${path}: ${why}\n`,
    code: 1,
    waited: why === 'Connection timed out',
  };
}

/** Files cannot be written in the guest: `>` to anywhere makes the text disappear. */
function redirected(
  result: GuestResult,
  redirects: readonly Redirection[],
  run: Run,
  depth: number,
): GuestResult {
  let { stdout, stderr } = result;
  for (const r of redirects) {
    if (r.type !== 'Redirect') continue;
    const fd = r.descriptor?.type === 'FileDescriptor' ? r.descriptor.value : 1;
    const to = r.target ? expandWord(r.target, run, depth)[0] : '';
    if (r.operator === '&>' || r.operator === '&>>') stdout = stderr = '';
    else if (r.operator === '>&') {
      if (fd === 2 && to === '1') [stdout, stderr] = [stdout + stderr, ''];
      else if (fd === 1 && to === '2') [stdout, stderr] = ['', stdout + stderr];
    } else if (r.operator === '>' || r.operator === '>>' || r.operator === '>|') {
      if (fd === 2) stderr = '';
      else stdout = '';
    }
  }
  return { ...result, stdout, stderr };
}

function expandWord(word: Word, run: Run, depth: number): readonly string[] {
  const { name, variables } = run.machine;
  const substitute: Scope['substitute'] = (script) =>
    depth > MAX_DEPTH ? '' : runList(script.commands, run, '', depth + 1).stdout;
  return expand(word, { name, variables, substitute });
}
