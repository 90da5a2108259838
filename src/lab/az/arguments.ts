/**
 * Command line → command and values, the way the real CLI reads it: options may be abbreviated while they
 * are unambiguous, `--name=value` works, `-gfoo` works, values of list options run to the next option.
 */
import { AzError, usage } from './errors.ts';
import { type ArgumentSpec, type CommandSpec, commandNames, commandSpec } from './grammar.ts';

export interface Parsed {
  readonly spec: CommandSpec;
  /** By the argument's first long name, e.g. `--resource-group`. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

export type Invocation =
  | { readonly kind: 'command'; readonly parsed: Parsed }
  /** `az`, `az network --help`: which words lead there. */
  | { readonly kind: 'help'; readonly words: readonly string[] };

export function parseInvocation(argv: readonly string[]): Invocation {
  const firstOption = argv.findIndex((word) => word.startsWith('-'));
  const words = firstOption < 0 ? argv : argv.slice(0, firstOption);
  const options = firstOption < 0 ? [] : argv.slice(firstOption);
  const asksHelp = options.some((o) => o === '--help' || o === '-h');
  const spec = longestCommand(words);
  if (!spec) return group(words, asksHelp);
  if (asksHelp) return { kind: 'help', words: spec.name.split(' ') };
  const extra = words.slice(spec.name.split(' ').length);
  const parsed = { spec, values: readOptions(spec, options, extra) };
  complain(parsed);
  return { kind: 'command', parsed };
}

function longestCommand(words: readonly string[]): CommandSpec | undefined {
  for (let count = Math.min(words.length, 6); count > 0; count--) {
    const spec = commandSpec(words.slice(0, count).join(' '));
    if (spec) return spec;
  }
  return undefined;
}

function group(words: readonly string[], asksHelp: boolean): Invocation {
  if (words.length === 0) return { kind: 'help', words };
  const names = commandNames();
  const isGroup = (path: readonly string[]) => names.some((n) => n.startsWith(`${path.join(' ')} `));
  if (isGroup(words)) {
    if (asksHelp) return { kind: 'help', words };
    throw usage('the following arguments are required: _subcommand');
  }
  let known = 0;
  while (known < words.length && isGroup(words.slice(0, known + 1))) known++;
  const wrong = words[known]!;
  const siblings = names
    .filter((n) => known === 0 || n.startsWith(`${words.slice(0, known).join(' ')} `))
    .map((n) => n.split(' ')[known]!);
  const near = [...new Set(siblings)].find((s) => distance(s, wrong) <= 2);
  const hint = near === undefined ? '' : `\nDid you mean '${near}' ?`;
  throw usage(`'${wrong}' is misspelled or not recognized by the system.${hint}`);
}

function readOptions(
  spec: CommandSpec,
  options: readonly string[],
  extra: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, readonly string[]>();
  const unknown: string[] = [...extra];
  let i = 0;
  while (i < options.length) {
    const word = options[i++]!;
    const found = word.startsWith('-') ? findArgument(spec, word) : undefined;
    if (!found) {
      unknown.push(word);
      continue;
    }
    const { argument, inline } = found;
    const taken: string[] = inline === undefined ? [] : [inline];
    const most =
      argument.count === '0'
        ? 0
        : argument.count === '1' || argument.count === '?'
          ? 1
          : Number.POSITIVE_INFINITY;
    while (taken.length < most && inline === undefined && i < options.length && !isOption(spec, options[i]!))
      taken.push(options[i++]!);
    if (taken.length === 0 && argument.count === '1')
      throw usage(`argument ${argument.names.join('/')}: expected one argument`);
    if (taken.length === 0 && argument.count === '+')
      throw usage(`argument ${argument.names.join('/')}: expected at least one argument`);
    checkChoices(spec, argument, word.split('=')[0]!, taken);
    values.set(keyOf(argument), taken);
  }
  if (unknown.length > 0) throw usage(`unrecognized arguments: ${unknown.join(' ')}`);
  return values;
}

/** A value may begin with a minus when it is a number; anything else with a minus is an option. */
function isOption(spec: CommandSpec, word: string): boolean {
  if (!word.startsWith('-') || word === '-') return false;
  return !/^-\d/.test(word) || findArgument(spec, word) !== undefined;
}

function findArgument(
  spec: CommandSpec,
  word: string,
): { readonly argument: ArgumentSpec; readonly inline: string | undefined } | undefined {
  const equals = word.startsWith('--') ? word.indexOf('=') : -1;
  const name = equals < 0 ? word : word.slice(0, equals);
  const inline = equals < 0 ? undefined : word.slice(equals + 1);
  const exact = spec.arguments.find((a) => a.names.includes(name));
  if (exact) return { argument: exact, inline };
  if (name.startsWith('--')) {
    const near = spec.arguments.filter((a) => a.names.some((n) => n.startsWith(name)));
    if (near.length > 1) {
      const all = near.map((a) => a.names.find((n) => n.startsWith(name))).join(', ');
      throw usage(`ambiguous option: ${name} could match ${all}`);
    }
    return near[0] && { argument: near[0], inline };
  }
  // -gname: a short option with its value attached.
  const short = spec.arguments.find((a) => a.names.includes(name.slice(0, 2)));
  if (!short || name.length <= 2) return undefined;
  return { argument: short, inline: name.slice(2).replace(/^=/, '') };
}

function checkChoices(
  spec: CommandSpec,
  argument: ArgumentSpec,
  used: string,
  taken: readonly string[],
): void {
  if (argument.choices === null) return;
  const wrong = taken.find((v) => !argument.choices!.some((c) => c.toLowerCase() === v.toLowerCase()));
  if (wrong === undefined) return;
  const option = used.startsWith('--') ? used : keyOf(argument);
  throw usage(
    `az ${spec.name}: '${wrong}' is not a valid value for '${option}'. Allowed values: ${argument.choices.join(', ')}.`,
  );
}

export function keyOf(argument: ArgumentSpec): string {
  return argument.names.find((n) => n.startsWith('--')) ?? argument.names[0]!;
}

/** What is missing, in the words of the real CLI (which has three ways to say it). */
function complain({ spec, values }: Parsed): void {
  const missing = spec.arguments.filter((a) => a.required && !values.has(keyOf(a)));
  if (missing.length > 0)
    throw usage(`the following arguments are required: ${missing.map((a) => a.names.join('/')).join(', ')}`);
  const parts = spec.arguments.filter((a) => a.idPart !== null);
  if (parts.length === 0 || values.has('--ids')) return;
  const absent = parts.filter((a) => !a.optionalPart && !values.has(keyOf(a)));
  if (absent.length === 0) return;
  if (spec.kind === 'aaz')
    throw new AzError(`InvalidArgumentValue: Missing required field: ${absent[0]!.names[0]}`, 1);
  throw new AzError(`(${absent.map(keyOf).join(' ')} | --ids) are required`, 1);
}

/** Edit distance, for "did you mean". */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}
