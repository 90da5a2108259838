import { isJsonObject, type Json } from '../../core/index.ts';

/**
 * Server-sent events, as many at a time as have arrived whole.
 *
 * E1 The bytes of whole events are handed on as they came; nothing is printed anew.
 * E2 Lines end with LF, CR LF or CR, as the standard says.
 * E3 Bounded: an event that does not end is an error, not memory; bytes wait in one buffer that doubles.
 */
export interface SseBatch {
  readonly bytes: Buffer;
  readonly text: string;
  readonly events: readonly SseEvent[];
}

export interface SseEvent {
  /** Its data lines joined; empty for comments and keep-alives. */
  readonly data: string;
  /** Where it begins in the text of its batch. */
  readonly from: number;
}

export interface SseReader {
  /** The events that are whole now, if any. */
  push(chunk: Buffer): SseBatch | undefined;
  /** What is left when the stream ends: an event without its blank line. */
  end(): SseBatch | undefined;
}

export class SseOverflow extends Error {
  override readonly name = 'SseOverflow';
}

const LF = 10;
const CR = 13;
const BLANK_LINE = /(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r(?!\n))/g;
/** The longest blank line and the line end before it are four bytes; three of them may have come before. */
const OVERLAP = 3;

export function sseReader(limit: number): SseReader {
  let held = Buffer.alloc(0);
  let length = 0;
  const hold = (piece: Buffer) => {
    const needed = length + piece.length;
    if (needed > limit) throw new SseOverflow(`an event is larger than ${limit} bytes`);
    if (needed > held.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, held.length * 2, 1024));
      held.copy(larger, 0, 0, length);
      held = larger;
    }
    piece.copy(held, length);
    length = needed;
  };
  const release = (last: Buffer): Buffer => {
    if (length === 0) return last;
    const whole = Buffer.concat([held.subarray(0, length), last]);
    length = 0;
    return whole;
  };
  return {
    push: (chunk) => {
      // Providers send whole events: mostly nothing is held and the chunk ends with a blank line.
      if (length === 0 && chunk.at(-1) === LF && chunk.at(-2) === LF) return batchOf(chunk);
      const before = Math.min(length, OVERLAP);
      const window = before === 0 ? chunk : Buffer.concat([held.subarray(length - before, length), chunk]);
      const cut = lastBlankLine(window) - before;
      if (cut <= 0) {
        hold(chunk);
        return undefined;
      }
      const whole = release(chunk.subarray(0, cut));
      if (cut < chunk.length) hold(chunk.subarray(cut));
      return batchOf(whole);
    },
    end: () => {
      const rest = release(Buffer.alloc(0));
      return rest.toString('latin1').trim() === '' ? undefined : batchOf(Buffer.concat([rest, NEWLINES]));
    },
  };
}

const NEWLINES = Buffer.from('\n\n');

/** The end of the last blank line, or 0. */
function lastBlankLine(window: Buffer): number {
  if (!window.includes(CR)) {
    const at = window.lastIndexOf('\n\n');
    return at === -1 ? 0 : at + 2;
  }
  const text = window.toString('latin1');
  let end = 0;
  for (let at = blankLineEnd(text, 0); at !== -1; at = blankLineEnd(text, at)) end = at;
  return end;
}

/** Where the next blank line ends, or -1. */
function blankLineEnd(text: string, from: number): number {
  BLANK_LINE.lastIndex = from;
  return BLANK_LINE.test(text) ? BLANK_LINE.lastIndex : -1;
}

function batchOf(bytes: Buffer): SseBatch {
  const text = bytes.toString('utf8');
  const events: SseEvent[] = [];
  const plain = !text.includes('\r');
  let from = 0;
  while (from < text.length) {
    const end = plain ? plainEnd(text, from) : mixedEnd(text, from);
    events.push({ data: plain ? plainData(text, from, end) : dataOf(text.slice(from, end)), from });
    from = end;
  }
  return { bytes, text, events };
}

function plainEnd(text: string, from: number): number {
  const at = text.indexOf('\n\n', from);
  return at === -1 ? text.length : at + 2;
}

function mixedEnd(text: string, from: number): number {
  const at = blankLineEnd(text, from);
  return at === -1 ? text.length : at;
}

/** One `data: ` line and nothing else, as nearly every event is; the general reading otherwise. */
function plainData(text: string, from: number, end: number): string {
  const single = text.startsWith('data: ', from) && text.indexOf('\n', from) === end - 2;
  return single ? text.slice(from + 6, end - 2) : dataOf(text.slice(from, end));
}

function dataOf(event: string): string {
  return event
    .split(/\r\n|\r|\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(line[5] === ' ' ? 6 : 5))
    .join('\n');
}

/** Pieces as events. Those of the Responses API carry their type as a name beside the data. */
export function printEvents(pieces: readonly Json[]): Buffer {
  const lines = pieces.map((piece) => {
    const type = isJsonObject(piece) && typeof piece.type === 'string' ? piece.type : '';
    return `${/^[\w.]+$/.test(type) ? `event: ${type}\n` : ''}data: ${JSON.stringify(piece)}\n\n`;
  });
  return Buffer.from(lines.join(''));
}
