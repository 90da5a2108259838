import { BASE64, flagsAt, skip, skipBack } from './chars.ts';
import type { Detector } from './scan.ts';

/**
 * PEM blocks. A private one goes from its first dash to its last, also when its end was cut off, when
 * it stands on one line, or when its line ends are written `\n`. A public one is stepped over whole.
 */
export const detectPemBegin: Detector = (scan, start, end) => {
  const { text } = scan;
  const label = labelAt(text, end);
  if (label === undefined) return false;
  const body = bodyEnd(text, label.end);
  if (!isPrivate(label.name)) {
    if (body.substance) scan.stepOver(body.end);
    return body.substance;
  }
  return body.substance && scan.take(start, body.end, 'private_key');
};

/** The end of a private block whose beginning is not there: the base64 lines before it belong to it. */
export const detectPemEnd: Detector = (scan, start, end) => {
  const { text } = scan;
  const label = labelAt(text, end);
  if (label === undefined || !isPrivate(label.name)) return false;
  // Back over lines of base64. Only the one next to the end may be short; a shorter one before is prose.
  let from = start;
  let at = start;
  let runs = 0;
  while (at > scan.floor) {
    const end = backOverGap(text, at, scan.floor);
    at = skipBack(text, end, BASE64, scan.floor);
    if (text[at - 1] === '\\' && 'nrt'.includes(text[at] ?? ' ')) at++;
    if (at === end || (end - at < 16 && runs > 0)) break;
    from = at;
    runs++;
  }
  if (start - from < 24) return false;
  return scan.take(from, label.end, 'private_key');
};

/** Line ends, padding and blanks before `i`, also as escapes. */
function backOverGap(text: string, i: number, floor: number): number {
  while (i > floor) {
    if (/[\s=]/.test(text[i - 1]!)) i--;
    else if (text[i - 2] === '\\' && (text[i - 1] === 'n' || text[i - 1] === 'r') && i - 2 >= floor) {
      i -= 2;
      while (i > floor && text[i - 1] === '\\') i--;
    } else break;
  }
  return i;
}

interface Label {
  readonly name: string;
  readonly end: number;
}

/** The words between `-----BEGIN ` and the closing dashes, at most 48 characters. */
function labelAt(text: string, at: number): Label | undefined {
  const slice = text.slice(at, at + 56);
  const close = slice.indexOf('-----');
  if (close < 0 || !/^[A-Z0-9 ]+$/.test(slice.slice(0, close))) return undefined;
  return { name: slice.slice(0, close), end: at + close + 5 };
}

function isPrivate(name: string): boolean {
  return name.includes('PRIVATE') || name.endsWith('SECRET KEY BLOCK');
}

const HEADER =
  /^(?:Proc-Type|DEK-Info|Version|Comment|Hash|MessageID|Charset|Subject|Key-[\w-]+|X-[\w-]+|localKeyID|friendlyName): ?/i;

/** Where the block ends, and whether it holds anything. Reads only what belongs to the block. */
function bodyEnd(text: string, at: number): { readonly end: number; readonly substance: boolean } {
  let i = at;
  let end = at;
  let substance = false;
  while (i < text.length) {
    const c = text.charCodeAt(i);
    if (c === 45) {
      // The dash of a diff.
      if ((flagsAt(text, i - 1) & 16) !== 0 && (flagsAt(text, i + 1) & BASE64) !== 0) {
        i++;
        continue;
      }
      if (!text.startsWith('-----END', i)) break;
      const label = labelAt(text, i + 9);
      return { end: label?.end ?? i + 8, substance };
    }
    if ((flagsAt(text, i) & BASE64) !== 0) {
      const stop = skip(text, i, BASE64);
      // The plus that joins strings in code is also a base64 character.
      if (stop - i === 1 && c === 43) {
        i = stop;
        continue;
      }
      const header = HEADER.exec(text.slice(i, i + 40));
      if (header !== null) {
        i = lineEnd(text, i + header[0].length);
        end = i;
        continue;
      }
      // A short word is the last line of a block, or the prose after a block that was cut off.
      if (stop - i < 16 && numbersLine(text, i, stop)) {
        i = stop + 1;
        continue;
      }
      if (stop - i < 16 && !closes(text, stop)) break;
      if (stop - i >= 16) substance = true;
      i = stop;
      end = i;
      continue;
    }
    const gap = gapEnd(text, i);
    if (gap === i) break;
    i = gap;
  }
  return { end, substance };
}

/** Line numbers that a listing puts before each line. */
function numbersLine(text: string, from: number, stop: number): boolean {
  const follows = text[stop];
  if (follows !== '\t' && follows !== ':' && follows !== ' ' && follows !== '|') return false;
  for (let i = from; i < stop; i++) if ((flagsAt(text, i) & 32) === 0) return false;
  return (
    (flagsAt(text, skip(text, stop + 1, 8, stop + 5)) & (BASE64 | 16)) !== 0 ||
    text.startsWith('-----', stop + 1)
  );
}

/** A short run ends the body when only padding and line ends stand between it and the END line. */
function closes(text: string, i: number): boolean {
  let j = i;
  while (j < i + 24 && j < text.length) {
    if (text.startsWith('-----END', j)) return true;
    const next = gapEnd(text, j);
    if (next === j) return false;
    j = next;
  }
  return false;
}

/** Line ends in every spelling: real, escaped once or more, blanks, quotes of joined strings, padding. */
function gapEnd(text: string, i: number): number {
  const c = text.charCodeAt(i);
  if (c === 32 || c === 9 || c === 10 || c === 13 || c === 61 || c === 34 || c === 39 || c === 44)
    return i + 1;
  if (c === 43 || c === 62 || c === 124) return i + 1;
  if (c === 92) {
    let j = i;
    while (text.charCodeAt(j) === 92) j++;
    const next = text[j];
    if (next === 'n' || next === 'r' || next === 't' || next === '\n' || next === '\r') return j + 1;
    return next === '"' || next === "'" ? j + 1 : i;
  }
  if (c === 37 && /^%(?:0[ad]|20|2b|2f|3d)/i.test(text.slice(i, i + 3))) return i + 3;
  if (c === 38) return i + (/^&#(?:10|13|x0?a|x0?d);/i.exec(text.slice(i, i + 7))?.[0].length ?? 0);
  return i;
}

function lineEnd(text: string, i: number): number {
  while (i < text.length && text[i] !== '\n' && !text.startsWith('\\n', i)) i++;
  return i;
}

/** base64 of a PEM block (`LS0tLS1CRUdJTi…`), as in Kubernetes secrets: taken when it is a private one. */
export const detectEncodedPem: Detector = (scan, start) => {
  const { text } = scan;
  const head = text.slice(start, start + 96);
  const decoded = Buffer.from(head, 'base64').toString('latin1');
  if (!/^-----BEGIN [A-Z0-9 ]*PRIVATE KEY/.test(decoded)) return false;
  let end = skip(text, start, BASE64);
  while (text[end] === '=') end++;
  return scan.take(start, end, 'private_key');
};

/** The first bytes of a private key in DER, base64 without its PEM lines. */
export const detectBareKey: Detector = (scan, start, end) => {
  const { text } = scan;
  let from = start;
  while (from > scan.floor && start - from < 8 && (flagsAt(text, from - 1) & BASE64) !== 0) from--;
  const before = flagsAt(text, from - 1) & BASE64;
  if (before !== 0) return false;
  const body = bareBody(text, end);
  return body - from >= 44 && scan.take(from, body, 'private_key');
};

function bareBody(text: string, at: number): number {
  let end = skip(text, at, BASE64);
  for (;;) {
    let i = end;
    while (text[i] === '=') i++;
    end = i;
    if (text[i] === '\r') i++;
    if (text[i] !== '\n') return end;
    const stop = skip(text, i + 1, BASE64);
    if (stop - i - 1 < 40 && text[stop] !== '=' && stop - i - 1 < 16) return end;
    end = stop;
  }
}

/** PuTTY keys: `Private-Lines: 14` and as many lines of base64. */
export const detectPutty: Detector = (scan, _start, end) => {
  const { text } = scan;
  const head = /^[:\s]*\d+\r?\n/.exec(text.slice(end, end + 12));
  if (head === null) return false;
  const from = end + head[0].length;
  const stop = bareBody(text, from);
  return stop - from >= 16 && scan.take(from, stop, 'private_key');
};
