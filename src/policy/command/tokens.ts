import { isUnderstood, programFamily } from './inspect.ts';
import { type InnerCommand, type Inspection, shortLetters } from './inspection.ts';

/**
 * Deny tokens and approval tokens: `sudo`, `rm -rf`, `git push`, `> /dev`.
 *
 * T1 A token is matched by structure first: program, flags in any order and spelling, operands in order.
 * T2 A token from the policy is also looked for as words, whatever the program, in every argument.
 * T3 A built-in token is looked for as words only where an argument could be run: `echo su` is only text.
 */
export interface Token {
  readonly text: string;
  /** Position in the policy's own list; undefined for a built-in one. */
  readonly index: number | undefined;
  matches(inspection: Inspection): boolean;
}

/** In force unless the policy says `default_deny_tokens: false`. */
export const DEFAULT_DENY_TOKENS: readonly string[] = [
  'sudo',
  'su',
  'doas',
  'pkexec',
  'rm -rf',
  'mkfs',
  'mkswap',
  'dd',
  '> /dev',
  'chmod 777',
  'shutdown',
  'reboot',
  'halt',
  'poweroff',
  'wipefs',
  'shred',
];

export function compileToken(text: string, index: number | undefined): Token {
  const words = text.trim().split(/\s+/);
  const first = words[0] as string;
  const textual = wordPattern(words);
  const matches = first.startsWith('>')
    ? redirection(first.length > 1 ? first.slice(1) : (words[1] ?? ''), textual)
    : (inspection: Inspection) => {
        if (inspection.commands.some((command) => isCommand(words, command))) return true;
        if (inspection.unproven.length > 0 && inspection.code.some((code) => textual.test(code))) return true;
        return inspection.commands.some((command) => {
          if (index === undefined && (command.builtin || isUnderstood(command.argv[0] ?? ''))) return false;
          return textual.test(command.argv.join(' ')) || command.argv.some((arg) => textual.test(arg));
        });
      };
  return { text, index, matches };
}

/** A token as an approval rule: structure only, since a word in a message needs nobody's consent. */
export function matchesStructure(text: string, inspection: Inspection): boolean {
  const words = text.trim().split(/\s+/);
  return inspection.commands.some((command) => isCommand(words, command));
}

function wordPattern(words: readonly string[]): RegExp {
  const source = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s*');
  const separated = words.length > 1 ? source.replaceAll('\\s*', '\\s+') : source;
  const open = /^\w/.test(words[0] ?? '') ? '(?<!\\w)' : '';
  const close = /\w$/.test(words.at(-1) ?? '') ? '(?!\\w)' : '';
  return new RegExp(`${open}${(words[0] ?? '').startsWith('>') ? source : separated}${close}`, 'i');
}

/** Devices every command has open or may: they hold nothing. */
export const HARMLESS_DEVICES = /^\/dev\/(null|zero|full|random|urandom|stdin|stdout|stderr|fd\/[012])$/;

function redirection(target: string, textual: RegExp): (inspection: Inspection) => boolean {
  const below = target.endsWith('/') ? target : `${target}/`;
  return (inspection) =>
    inspection.writes.some(
      (path) => !HARMLESS_DEVICES.test(path) && (path === target || path.startsWith(below)),
    ) ||
    (inspection.unproven.length > 0 &&
      inspection.code.some((code) => textual.test(code.replace(/>\s*\/dev\/(null|stdout|stderr)\b/g, ''))));
}

/** Long names that mean the same as a letter, for the flags people deny. */
const LETTER: Record<string, string> = {
  recursive: 'r',
  force: 'f',
  verbose: 'v',
  hard: 'H',
  delete: 'D',
  all: 'a',
};

function isCommand(words: readonly string[], command: InnerCommand): boolean {
  const [program, ...rest] = words as [string, ...string[]];
  const name = (command.argv[0] ?? '').slice((command.argv[0] ?? '').lastIndexOf('/') + 1).toLowerCase();
  const wanted = program.toLowerCase();
  // mkfs.ext4 is mkfs; python3.12 is python.
  const same = name === wanted || name.startsWith(`${wanted}.`) || programFamily(name) === wanted;
  if (!same) return false;
  const flags = new Set(command.argv.slice(1).flatMap(flagsOf));
  const operands = command.argv.slice(1).filter((arg) => !arg.startsWith('-'));
  let at = 0;
  for (const word of rest) {
    if (word.startsWith('-')) {
      if (!flagsOf(word).every((flag) => flags.has(flag))) return false;
      continue;
    }
    while (at < operands.length && !sameOperand(word, operands[at] as string)) at++;
    if (at++ >= operands.length) return false;
  }
  return true;
}

/** `-rf` gives r and f; `--recursive`, and any front of it, gives r; `-R` counts as `-r`. */
function flagsOf(arg: string): readonly string[] {
  if (arg.startsWith('--') && arg.length > 3) {
    const name = (arg.slice(2).split('=')[0] as string).toLowerCase();
    const known = Object.keys(LETTER).find((long) => long.startsWith(name));
    return known === undefined ? [name] : [LETTER[known] as string, known];
  }
  return [...shortLetters(arg)].map((letter) => (letter === 'R' ? 'r' : letter));
}

function sameOperand(wanted: string, given: string): boolean {
  if (wanted.toLowerCase() === given.toLowerCase()) return true;
  if (!/^[0-7]{3,4}$/.test(wanted)) return false;
  // A file mode: 777, 0777 and 1777 open the file to everyone, and so do the letters for it.
  const mode = Number.parseInt(wanted, 8) & 0o777;
  if (/^[0-7]{3,5}$/.test(given)) return (Number.parseInt(given, 8) & 0o777) === mode;
  return (
    mode === 0o777 &&
    /^(a|ugo|ogu|gou|guo|uog|oug)?[+=]([rwxXst]*)$/.test(given) &&
    /r/.test(given) &&
    /w/.test(given) &&
    /x/i.test(given)
  );
}
