import type { Json, JsonObject } from '../../core/index.ts';

/** An `az` command taken apart: `network nsg rule update` and its options, each with its words. */
export interface AzCall {
  readonly argv: readonly string[];
  readonly command: string;
  readonly options: ReadonlyMap<string, readonly string[]>;
}

const LONG: Readonly<Record<string, string>> = { '-g': '--resource-group', '-n': '--name' };

/** Undefined for what is not an `az` command with long options; nothing is guessed. */
export function readAzCall(argv: readonly string[]): AzCall | undefined {
  if (argv[0] !== 'az') return undefined;
  const first = argv.findIndex((word) => word.startsWith('-'));
  const command = argv.slice(1, first < 0 ? argv.length : first).join(' ');
  const options = new Map<string, string[]>();
  let current: string[] | undefined;
  for (const word of first < 0 ? [] : argv.slice(first)) {
    if (word.startsWith('-') && !/^-\d/.test(word)) {
      const equals = word.startsWith('--') ? word.indexOf('=') : -1;
      const given = equals < 0 ? word : word.slice(0, equals);
      const name = LONG[given] ?? given;
      if (!name.startsWith('--') || options.has(name)) return undefined;
      current = equals < 0 ? [] : [word.slice(equals + 1)];
      options.set(name, current);
    } else current?.push(word);
  }
  return { argv, command, options };
}

export function option(call: AzCall, name: string): string {
  return call.options.get(name)?.join(' ') ?? '';
}

/** The named options as words again, those that were given. */
export function given(call: AzCall, ...names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    const values = call.options.get(name);
    return values === undefined ? [] : [name, ...values];
  });
}

/** A read whose answer is one JSON document. */
export function azRead(command: string, options: readonly string[], query: string): readonly string[] {
  return ['az', ...command.split(' '), ...options, '--query', query, '--output', 'json'];
}

export function az(command: string, ...options: readonly string[]): readonly string[] {
  return ['az', ...command.split(' '), ...options];
}

/** A field that the command line takes as words: Azure keeps one value and a list apart. */
export function wordsIn(state: JsonObject, one: string, many: string): readonly string[] {
  const list = state[many];
  if (Array.isArray(list) && list.length > 0) return list.map(String);
  return typeof state[one] === 'string' && state[one] !== '' ? [state[one]] : [];
}

export function textIn(state: JsonObject, key: string): string {
  const value: Json | undefined = state[key];
  return value === undefined || value === null ? '' : String(value);
}
