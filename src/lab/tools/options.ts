/** Options of the classic network tools: one letter, value attached or next; long ones with two minuses. */
export interface ToolOptions {
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, string>;
  readonly rest: readonly string[];
}

/** `withValue` holds the letters (and long names) that take a value. */
export function toolOptions(argv: readonly string[], withValue: readonly string[]): ToolOptions {
  const flags = new Set<string>();
  const values = new Map<string, string>();
  const rest: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i]!;
    if (word === '--') {
      rest.push(...argv.slice(i + 1));
      break;
    }
    if (word.startsWith('--')) {
      const equals = word.indexOf('=');
      const name = equals < 0 ? word.slice(2) : word.slice(2, equals);
      if (equals >= 0) values.set(name, word.slice(equals + 1));
      else if (withValue.includes(name)) values.set(name, argv[++i] ?? '');
      else flags.add(name);
    } else if (word.startsWith('-') && word.length > 1) {
      for (let j = 1; j < word.length; j++) {
        const letter = word[j]!;
        if (!withValue.includes(letter)) {
          flags.add(letter);
          continue;
        }
        values.set(letter, j + 1 < word.length ? word.slice(j + 1) : (argv[++i] ?? ''));
        break;
      }
    } else rest.push(word);
  }
  return { flags, values, rest };
}

/** A number within bounds, or the default: tools of the lab never run for ever. */
export function bounded(text: string | undefined, fallback: number, low: number, high: number): number {
  const value = Number(text ?? fallback);
  return Number.isFinite(value) ? Math.min(high, Math.max(low, value)) : fallback;
}
