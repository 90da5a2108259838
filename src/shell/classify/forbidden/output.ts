/** What some programs will print, when that can be told from their arguments and their input alone. */

import { readFind } from './find.ts';
import { UNKNOWN } from './marks.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  a: '',
  b: '',
  f: '\f',
  v: '\v',
  e: '\x1b',
};

function decodeEscapes(text: string): string {
  return text.replace(
    /\\(x[0-9a-fA-F]{1,2}|0[0-7]{0,3}|[1-7][0-7]{0,2}|u[0-9a-fA-F]{1,4}|.)/gs,
    (whole, code: string) => {
      if (/^[xu]/.test(code) && code.length > 1)
        return String.fromCharCode(Number.parseInt(code.slice(1), 16));
      if (/^[0-7]+$/.test(code)) return String.fromCharCode(Number.parseInt(code, 8) & 0xff);
      return ESCAPES[code] ?? whole;
    },
  );
}

function printf(args: readonly string[]): string | null {
  const format = args[args[0] === '--' ? 1 : 0];
  if (format === undefined) return null;
  const values = args.slice(args[0] === '--' ? 2 : 1);
  let next = 0;
  let text = '';
  do {
    const before = next;
    text += format.replace(/%(?:%|b|s|c|q)/g, (item) => {
      if (item === '%%') return '%';
      const value = values[next] ?? '';
      next += 1;
      return item === '%b' ? decodeEscapes(value) : item === '%c' ? value.slice(0, 1) : value;
    });
    if (next === before) break;
  } while (next < values.length && text.length < 8192);
  return decodeEscapes(text);
}

/** The output as text, or null when it cannot be known. `input` is what comes in on the pipe. */
export function knownOutput(
  name: string,
  args: readonly string[],
  input: string | null,
  cwd: string | null,
): string | null {
  if (args.some((arg) => arg.includes(UNKNOWN))) return null;
  switch (name) {
    case 'echo': {
      let i = 0;
      let escapes = false;
      for (; /^-[neE]+$/.test(args[i] ?? ''); i += 1) if (args[i]!.includes('e')) escapes = true;
      const text = args.slice(i).join(' ');
      // Some shells read escapes without being asked; either reading may be the one.
      return escapes || /\\[x0-7]/.test(text) ? decodeEscapes(text) : text;
    }
    case 'printf':
      return printf(args);
    case 'yes':
      return args.join(' ');
    case 'cat':
    case 'tee':
    case 'head':
    case 'tail':
      return args.every((arg) => arg.startsWith('-')) ? input : null;
    case 'rev':
      return input === null
        ? null
        : input
            .split('\n')
            .map((line) => [...line].reverse().join(''))
            .join('\n');
    case 'base64':
      return input !== null && args.some((arg) => /^(?:-[a-zA-Z]*[dD]|--d.*)$/.test(arg))
        ? Buffer.from(input, 'base64').toString('latin1')
        : null;
    case 'xxd':
      return input !== null && args.some((arg) => /^-[a-z]*r/.test(arg))
        ? Buffer.from(input.replace(/\s/g, ''), 'hex').toString('latin1')
        : null;
    case 'find':
      return readFind(args, cwd).everything ? '/' : null;
    case 'which':
    case 'command':
    case 'type':
      return args.at(-1) ?? null;
    default:
      return null;
  }
}
