/** Text tools for pipes: enough to pick lines and columns out of what the diagnostic commands print. */
import { fail, out } from '../tools/context.ts';
import { toolOptions } from '../tools/options.ts';
import type { GuestCommand, GuestCommands } from './machine.ts';

const lines = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
const text = (list: readonly string[]): string => list.map((l) => `${l}\n`).join('');

const MAX_PATTERN = 200;
/** A repeated group that repeats inside can take for ever; nobody needs one to read `ss`. */
const EXPLOSIVE = /\([^()]*[+*][^()]*\)[+*{]/;

function pattern(
  source: string,
  extended: boolean,
  fixed: boolean,
  ignoreCase: boolean,
  word: boolean,
): RegExp | undefined {
  if (source.length > MAX_PATTERN || EXPLOSIVE.test(source)) return undefined;
  const escaped = source.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  // In a basic expression + ? | ( ) { } are themselves, and mean something after a backslash.
  const basic = source.replace(
    /\\([+?|(){}])|([+?|(){}])/g,
    (_, special?: string, plain?: string) => special ?? `\\${plain}`,
  );
  const body = fixed ? escaped : extended ? source : basic;
  const posix = fixed
    ? body
    : body
        .replaceAll('[[:space:]]', '\\s')
        .replaceAll('[[:digit:]]', '\\d')
        .replaceAll('[:digit:]', '\\d')
        .replaceAll('[:alpha:]', 'A-Za-z');
  try {
    return new RegExp(word ? `\\b(?:${posix})\\b` : posix, ignoreCase ? 'i' : '');
  } catch {
    return undefined;
  }
}

const grep =
  (extended: boolean, fixed: boolean): GuestCommand =>
  (argv, _machine, stdin) => {
    const { flags, values, rest } = toolOptions(argv, ['e', 'A', 'B', 'C', 'm', 'regexp']);
    const source = values.get('e') ?? values.get('regexp') ?? rest[0];
    if (source === undefined) return fail('Usage: grep [OPTION]... PATTERNS [FILE]...\n', 2);
    const wanted = pattern(
      source,
      extended || flags.has('E') || flags.has('P'),
      fixed || flags.has('F'),
      flags.has('i'),
      flags.has('w'),
    );
    if (!wanted) return fail('grep: invalid or too complex pattern\n', 2);
    const all = lines(stdin);
    const hit = (l: string) => wanted.test(l.slice(0, 4000)) !== flags.has('v');
    const after = Number(values.get('A') ?? values.get('C') ?? 0);
    const before = Number(values.get('B') ?? values.get('C') ?? 0);
    const hits = all
      .map((l, i) => (hit(l) ? i : -1))
      .filter((i) => i >= 0)
      .slice(0, Number(values.get('m') ?? all.length));
    if (flags.has('q')) return out('', hits.length > 0 ? 0 : 1);
    if (flags.has('c')) return out(`${hits.length}\n`, hits.length > 0 ? 0 : 1);
    const chosen = all.map((_, i) => i).filter((i) => hits.some((h) => i >= h - before && i <= h + after));
    const shown = flags.has('o')
      ? hits.map((i) => wanted.exec(all[i]!)?.[0] ?? '')
      : chosen.map((i) => (flags.has('n') ? `${i + 1}:${all[i]}` : all[i]!));
    return out(text(shown), hits.length > 0 ? 0 : 1);
  };

function count(argv: readonly string[]): number {
  const { values } = toolOptions(
    argv.map((w) => (/^-\d+$/.test(w) ? `-n${w.slice(1)}` : w)),
    ['n', 'c'],
  );
  return Number(values.get('n') ?? 10);
}

/** `awk '{print $1, $4}'`, with an optional `/pattern/` and -F: the rest of the language is not here. */
const awk: GuestCommand = (argv, _machine, stdin) => {
  const { values, rest } = toolOptions(argv, ['F', 'v']);
  const program = /^\s*(?:NR\s*>\s*(\d+)\s*)?(?:\/([^/]*)\/)?\s*(?:\{\s*print\s*([^}]*)\})?\s*$/.exec(
    rest[0] ?? '',
  );
  if (!program) return fail('awk: only {print …} with an optional /pattern/ is available here\n', 2);
  const wanted = program[2] === undefined ? undefined : pattern(program[2], true, false, false, false);
  const separator = values.get('F');
  const rows = lines(stdin)
    .slice(Number(program[1] ?? 0))
    .filter((l) => wanted?.test(l) ?? true);
  const items = (program[3] ?? '').trim() === '' ? ['$0'] : program[3]!.trim().split(/\s*,\s*|\s+(?=["$])/);
  return out(
    text(
      rows.map((row) => {
        const cells = separator === undefined ? row.trim().split(/\s+/) : row.split(separator);
        return items
          .map((item) => {
            const n = /^\$(\d+|NF)$/.exec(item)?.[1];
            if (n === undefined) return item.replace(/^"|"$/g, '');
            return n === '0' ? row : ((n === 'NF' ? cells.at(-1) : cells[Number(n) - 1]) ?? '');
          })
          .join(' ');
      }),
    ),
  );
};

const sort: GuestCommand = (argv, _machine, stdin) => {
  const { flags } = toolOptions(argv, ['k', 't']);
  const sorted = [...lines(stdin)].sort((a, b) =>
    flags.has('n') ? Number.parseFloat(a) - Number.parseFloat(b) : a < b ? -1 : a > b ? 1 : 0,
  );
  if (flags.has('r')) sorted.reverse();
  return out(text(flags.has('u') ? [...new Set(sorted)] : sorted));
};

const uniq: GuestCommand = (argv, _machine, stdin) => {
  const groups: { line: string; n: number }[] = [];
  for (const line of lines(stdin)) {
    const last = groups.at(-1);
    if (last?.line === line) last.n++;
    else groups.push({ line, n: 1 });
  }
  return out(
    text(groups.map((g) => (argv.includes('-c') ? `${String(g.n).padStart(7)} ${g.line}` : g.line))),
  );
};

const wc: GuestCommand = (argv, _machine, stdin) => {
  const numbers = [lines(stdin).length, stdin.split(/\s+/).filter((w) => w !== '').length, stdin.length];
  if (argv.includes('-l')) return out(`${numbers[0]}\n`);
  if (argv.includes('-c')) return out(`${numbers[2]}\n`);
  return out(`${numbers.map((n) => String(n).padStart(7)).join(' ')}\n`);
};

const cut: GuestCommand = (argv, _machine, stdin) => {
  const { values } = toolOptions(argv, ['d', 'f', 'c']);
  const wanted = (values.get('f') ?? '1').split(',').map(Number);
  const separator = values.get('d') ?? '\t';
  return out(
    text(lines(stdin).map((l) => wanted.map((n) => l.split(separator)[n - 1] ?? '').join(separator))),
  );
};

const echo: GuestCommand = (argv) => {
  const bare = argv.filter(
    (w, i) =>
      !(i === argv.findIndex((x) => !/^-[neE]+$/.test(x))
        ? false
        : /^-[neE]+$/.test(w) && argv.slice(0, i).every((x) => /^-[neE]+$/.test(x))),
  );
  const body = bare.join(' ');
  const unescaped = argv.includes('-e') ? body.replaceAll('\\n', '\n').replaceAll('\\t', '\t') : body;
  return out(argv[0] === '-n' ? unescaped : `${unescaped}\n`);
};

const printf: GuestCommand = (argv) => {
  const values = argv.slice(1);
  let i = 0;
  const body = (argv[0] ?? '').replace(/%[-\d.]*[sdf]/g, () => values[i++] ?? '');
  return out(body.replaceAll('\\n', '\n').replaceAll('\\t', '\t'));
};

/** `test` and `[`: strings and numbers; no file exists. */
const test: GuestCommand = (argv) => {
  const words = argv.at(-1) === ']' ? argv.slice(0, -1) : argv;
  const negated = words[0] === '!';
  const [a, op, b] = negated ? words.slice(1) : words;
  const truth = (() => {
    if (a === '-z') return (op ?? '') === '';
    if (a === '-n') return (op ?? '') !== '';
    if (a?.startsWith('-') && op !== undefined && b === undefined) return false;
    if (op === '=' || op === '==') return a === b;
    if (op === '!=') return a !== b;
    if (op === '-eq') return Number(a) === Number(b);
    if (op === '-ne') return Number(a) !== Number(b);
    if (op === '-gt') return Number(a) > Number(b);
    if (op === '-lt') return Number(a) < Number(b);
    return (a ?? '') !== '';
  })();
  return out('', truth !== negated ? 0 : 1);
};

const nothing: GuestCommand = () => out('');

export const textCommands: GuestCommands = {
  grep: grep(false, false),
  egrep: grep(true, false),
  fgrep: grep(false, true),
  head: (argv, _m, stdin) => out(text(lines(stdin).slice(0, count(argv)))),
  tail: (argv, _m, stdin) => {
    const from = argv.find((w) => /^\+\d+$/.test(w)) ?? argv.find((w) => /^-n\+\d+$/.test(w))?.slice(2);
    return out(
      text(from === undefined ? lines(stdin).slice(-count(argv)) : lines(stdin).slice(Number(from) - 1)),
    );
  },
  wc,
  sort,
  uniq,
  cut,
  awk,
  tr: (argv, _m, stdin) =>
    argv[0] === '-d'
      ? out(stdin.replaceAll(argv[1] ?? '', ''))
      : out(
          stdin.replaceAll((argv[0] ?? '').replaceAll('\\n', '\n'), (argv[1] ?? '').replaceAll('\\n', '\n')),
        ),
  tee: (_argv, _m, stdin) => out(stdin),
  column: (_argv, _m, stdin) => out(stdin),
  echo,
  printf,
  test,
  '[': test,
  true: nothing,
  ':': nothing,
  false: () => out('', 1),
  sleep: nothing,
  set: nothing,
  export: (argv, machine) => {
    for (const word of argv) {
      const [name, ...value] = word.split('=');
      if (name && value.length > 0) machine.variables.set(name, value.join('='));
    }
    return out('');
  },
  cd: nothing,
  wait: nothing,
};
