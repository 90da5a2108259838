/**
 * Option grammars as data, and the one scanner that reads arguments by them.
 *
 * 1. An option nobody declared stops the scan with a verdict: unknown is unproven.
 * 2. Abbreviated long options are undeclared, even where the program would accept them.
 * 3. A value that looks like an option stops the scan: that is how one parser's value becomes another's flag.
 * 4. Options are recognised before and after operands, because some systems permute and some do not.
 */
import { at, type Rule, risky, type Verdict, type Word } from './rule.ts';

export type Check = (value: string) => Rule | null;

export interface Option {
  readonly name: string;
  readonly takes: 'nothing' | 'value' | 'attached';
  /** Refused whatever its value. */
  readonly refuse: Rule | null;
  readonly check: Check | null;
}

export interface OptionTable {
  /** By character code of the letter. */
  readonly short: readonly (Option | undefined)[];
  readonly long: ReadonlyMap<string, Option>;
  /** Whether `--name=value` is a form of this program. */
  readonly equals: boolean;
  /** Whether a word a shell might have expanded may stand as an operand (we pass it on unexpanded). */
  readonly globOperands: boolean;
}

export interface OptionSpec {
  /** Names separated by blanks, with their dashes. */
  readonly flags?: string;
  /** Options that take a value: names → what must hold for the value (null: anything). */
  readonly values?: readonly (readonly [names: string, check: Check | null])[];
  /** Options whose value can only be attached (`-iTCP`), and is optional. */
  readonly attached?: string;
  /** Options that are never read-only. `arity` says whether they take a value; it keeps the scan honest. */
  readonly refused?: readonly (readonly [rule: Rule, flags: string, values: string])[];
  readonly equals?: boolean;
  readonly globOperands?: boolean;
}

export const undeclaredOption = risky(
  'option.undeclared',
  1,
  'This option is not on the list of options known to be read-only for this program.',
  ['ping --frobnicate 10.0.0.1', 'dig -Q example.com', 'curl --dump x https://example.com', 'ss -k'],
  ['ping -c 1 10.0.0.1', 'curl --head https://example.com'],
);
export const missingValue = risky(
  'option.missing-value',
  1,
  'An option that needs a value has none, so the program may read the command differently.',
  ['ping 10.0.0.1 -c', 'curl https://example.com --max-time'],
  ['ping -c 1 10.0.0.1'],
);
export const optionAsValue = risky(
  'option.value-is-option',
  1,
  'The value of an option looks like another option, so the program may read the command differently.',
  ['tshark -Y -r -i any', 'curl -A -o https://example.com'],
  ['curl -D - https://example.com'],
);
export const unexpandedWord = risky(
  'word.glob',
  3,
  'A shell would replace this pattern with file names.',
  ['ping *', 'dig example.co?', 'whois [a-c].example', 'ss /tmp/*'],
  ["dig 'example.co?'", 'curl https://example.com/?a=1'],
);

export const OPTION_RULES: readonly Rule[] = [undeclaredOption, missingValue, optionAsValue, unexpandedWord];

function names(list: string): string[] {
  return list.split(' ').filter((name) => name !== '');
}

/** Compiles a specification; throws on a malformed or doubled declaration (the caller fails closed). */
export function optionTable(spec: OptionSpec): OptionTable {
  const short: (Option | undefined)[] = new Array(128).fill(undefined);
  const long = new Map<string, Option>();
  const add = (list: string, takes: Option['takes'], refuse: Rule | null, check: Check | null): void => {
    for (const name of names(list)) {
      const option: Option = { name, takes, refuse, check };
      if (/^--[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) {
        if (long.has(name)) throw new Error(`option declared twice: ${name}`);
        long.set(name, option);
      } else if (/^-[!-~]$/.test(name) && name !== '--') {
        const code = name.charCodeAt(1);
        if (short[code] !== undefined) throw new Error(`option declared twice: ${name}`);
        short[code] = option;
      } else {
        throw new Error(`malformed option name: ${name}`);
      }
    }
  };
  add(spec.flags ?? '', 'nothing', null, null);
  add(spec.attached ?? '', 'attached', null, null);
  for (const [list, check] of spec.values ?? []) add(list, 'value', null, check);
  for (const [rule, flags, values] of spec.refused ?? []) {
    add(flags, 'nothing', rule, null);
    add(values, 'value', rule, null);
  }
  return { short, long, equals: spec.equals ?? true, globOperands: spec.globOperands ?? false };
}

export interface Scan {
  /** The first objection, or null. */
  verdict: Verdict | null;
  readonly operands: Word[];
  /** Names of the options met, as declared. */
  readonly seen: string[];
}

function valueObjection(option: Option, value: string): Rule | null {
  if (value.length > 1 && value.charCodeAt(0) === 0x2d) return optionAsValue;
  return option.check === null ? null : option.check(value);
}

/** Reads `words` from index 1 on. Stops at the first objection. */
export function scanOptions(table: OptionTable, words: readonly Word[]): Scan {
  const scan: Scan = { verdict: null, operands: [], seen: [] };
  let literal = false;
  for (let i = 1; i < words.length; i += 1) {
    const word = words[i]!;
    const text = word.value;
    if (word.glob && !table.globOperands) {
      scan.verdict = at(unexpandedWord, word);
      return scan;
    }
    if (literal || text.length < 2 || text.charCodeAt(0) !== 0x2d) {
      scan.operands.push(word);
      continue;
    }
    if (text === '--') {
      literal = true;
      continue;
    }
    if (word.glob) {
      scan.verdict = at(unexpandedWord, word);
      return scan;
    }
    const used =
      text.charCodeAt(1) === 0x2d ? longOption(table, words, i, scan) : shortCluster(table, words, i, scan);
    if (scan.verdict !== null) return scan;
    i += used;
  }
  return scan;
}

/** Each reader returns how many further words it consumed. */
function longOption(table: OptionTable, words: readonly Word[], index: number, scan: Scan): number {
  const word = words[index]!;
  const text = word.value;
  const equals = text.indexOf('=');
  const name = equals === -1 ? text : text.slice(0, equals);
  const option = table.long.get(name);
  if (option === undefined || (equals !== -1 && (!table.equals || option.takes === 'nothing'))) {
    scan.verdict = at(option?.refuse ?? undeclaredOption, word);
    return 0;
  }
  scan.seen.push(option.name);
  if (option.refuse !== null) {
    scan.verdict = at(option.refuse, word);
    return 0;
  }
  if (option.takes === 'nothing' || (option.takes === 'attached' && equals === -1)) return 0;
  if (equals !== -1) return settle(option, word, word, text.slice(equals + 1), scan, 0);
  return nextValue(option, words, index, scan);
}

function shortCluster(table: OptionTable, words: readonly Word[], index: number, scan: Scan): number {
  const word = words[index]!;
  const text = word.value;
  for (let k = 1; k < text.length; k += 1) {
    const option = table.short[text.charCodeAt(k)];
    if (option === undefined) {
      scan.verdict = at(undeclaredOption, word);
      return 0;
    }
    scan.seen.push(option.name);
    if (option.refuse !== null) {
      scan.verdict = at(option.refuse, word);
      return 0;
    }
    if (option.takes === 'nothing') continue;
    if (k + 1 < text.length) return settle(option, word, word, text.slice(k + 1), scan, 0);
    if (option.takes === 'attached') return 0;
    return nextValue(option, words, index, scan);
  }
  return 0;
}

function nextValue(option: Option, words: readonly Word[], index: number, scan: Scan): number {
  const word = words[index]!;
  const next = words[index + 1];
  if (next === undefined) {
    scan.verdict = at(missingValue, word);
    return 0;
  }
  if (next.glob) {
    scan.verdict = at(unexpandedWord, next);
    return 0;
  }
  return settle(option, word, next, next.value, scan, 1);
}

function settle(option: Option, from: Word, to: Word, value: string, scan: Scan, used: number): number {
  const objection = valueObjection(option, value);
  if (objection !== null) scan.verdict = { rule: objection, start: from.start, end: to.end };
  return used;
}
