import { hash as digest } from 'node:crypto';
import type { FirstBad } from '../types.ts';
import { locateLine } from './locate-line.ts';
import type { Source } from './source.ts';

/**
 * Follows the chain through one segment. It hashes the bytes it finds and believes nothing else.
 *
 * V1 A line counts only if it ends with LF and its last member is the SHA-256 of everything before it.
 * V2 It must carry the next sequence number and the hash of the line before.
 * V3 Scanning stops at the first line that does not; nothing after it is believed.
 */
export class SegmentScan {
  readonly #source: Source;
  readonly #start: { readonly first: number; readonly before: string };
  #buffer: Buffer;
  /** Hashes of records a checkpoint may speak of, also one that is written while we read. */
  readonly #hashes = new Map<number, string>();
  sequence: number;
  head: string;
  /** Length of the file up to the last good line. */
  bytes = 0;
  lines = 0;
  bad: Bad | null = null;

  constructor(source: Source, start: { readonly first: number; readonly before: string }) {
    this.#source = source;
    this.#start = start;
    this.#buffer = Buffer.allocUnsafe(Math.min(CHUNK, Math.max(source.size(), MIN_CHUNK)));
    this.sequence = start.first - 1;
    this.head = start.before;
    this.#hashes.set(this.sequence, this.head);
  }

  hashAt(sequence: number): string | undefined {
    return sequence === this.sequence ? this.head : this.#hashes.get(sequence);
  }

  /** Goes on to the present end of the file, yielding to the event loop between chunks. */
  async advance(rememberFrom: number): Promise<void> {
    if (this.bad?.kind === 'wrong') return;
    this.bad = null;
    for (;;) {
      const left = this.#source.size() - this.bytes;
      if (left <= 0) return;
      const view = this.#buffer.subarray(0, Math.min(left, this.#buffer.length));
      const have = this.#source.read(view, this.bytes);
      const before = this.bytes;
      this.#takeLines(view.subarray(0, have), rememberFrom);
      if (this.bad) return;
      if (this.bytes === before) {
        if (have === left || have < view.length) this.#judgeRest(view.subarray(0, have));
        else if (!this.#grow()) this.#stop(null, 'the line is longer than a record can be');
        if (this.bad) return;
      }
      await new Promise(setImmediate);
    }
  }

  #takeLines(view: Buffer, rememberFrom: number): void {
    let from = 0;
    for (let end = view.indexOf(LF); end !== -1; end = view.indexOf(LF, from)) {
      const found = checkLine(view, from, end, this.sequence + 1, this.head);
      if (!found.ok) {
        this.#stop(found.sequence, found.what);
        if (found.link) this.#blameFork(found.link, view.toString('latin1', from, end));
        return;
      }
      this.sequence += 1;
      this.head = found.hash;
      this.lines += 1;
      this.bytes += end + 1 - from;
      if (this.sequence >= rememberFrom && this.#hashes.size < MAX_REMEMBERED)
        this.#hashes.set(this.sequence, this.head);
      from = end + 1;
    }
  }

  /** What stands behind the last LF: cut off by a crash or a cut, unless it is more than a record. */
  #judgeRest(rest: Buffer): void {
    const expected = this.sequence + 1;
    const brace = rest.lastIndexOf(CLOSE);
    const whole = brace !== -1 && checkLine(rest, 0, brace + 1, expected, this.head).ok;
    if (whole && brace + 1 < rest.length) {
      this.#stop(expected, 'the line feed behind the record was changed');
      return;
    }
    const what = whole
      ? 'the line feed behind the last record is missing'
      : `the last line is torn: ${rest.length} bytes without a line feed`;
    const place = { line: this.lines + 1, sequence: whole ? expected : null, byte: this.bytes };
    this.bad = { kind: 'torn', alike: true, ...place, what };
  }

  #stop(sequence: number | null, what: string): void {
    const alike = this.lines > 0 || what !== NO_HASH;
    this.bad = { kind: 'wrong', alike, line: this.lines + 1, sequence, byte: this.bytes, what };
  }

  /**
   * A sound record that follows an earlier one than the last: the line that took its place is the first bad
   * one, not this. Lines and sequences go together up to here, so the place is found by counting lines.
   */
  #blameFork({ sequence, before }: Link, text: string): void {
    const { first } = this.#start;
    if (sequence < first || sequence > this.sequence) return;
    const line = sequence - first + 1;
    const place = locateLine(this.#source, line, this.bytes);
    if (!place || place.text === text) return;
    const previous = line === 1 ? this.#start.before : place.previous.slice(-66, -2);
    if (previous !== before) return;
    const what = `line ${this.lines + 1} is also record ${sequence}, and also follows record ${sequence - 1}`;
    this.bad = { kind: 'wrong', alike: true, line, sequence, byte: place.byte, what };
    this.lines = line - 1;
  }

  #grow(): boolean {
    if (this.#buffer.length >= MAX_LINE) return false;
    this.#buffer = Buffer.allocUnsafe(Math.min(this.#buffer.length * 4, MAX_LINE));
    return true;
  }
}

export interface Bad extends FirstBad {
  /** `torn`: unfinished at the very end. `wrong`: contradicts the chain. */
  readonly kind: 'torn' | 'wrong';
  /** False when even the first line has nothing of a record. */
  readonly alike: boolean;
}

const CHUNK = 1024 * 1024;
const MIN_CHUNK = 4096;
const MAX_LINE = 8 * 1024 * 1024;
const MAX_REMEMBERED = 65_536;
const LF = 0x0a;
const COMMA = 0x2c;
const CLOSE = 0x7d;
const QUOTE = 0x22;
/** `,"hash":"` + 64 digits + `"}` */
const TRAILER = 75;
const NO_HASH = 'does not end with its hash';

type Checked =
  | { readonly ok: true; readonly hash: string }
  | { readonly ok: false; readonly sequence: number | null; readonly what: string; readonly link?: Link };

/** What a record that is sound in itself says about its place. */
interface Link {
  readonly sequence: number;
  readonly before: string;
}

function checkLine(view: Buffer, from: number, end: number, sequence: number, before: string): Checked {
  const comma = end - TRAILER;
  if (comma <= from || !hasTrailer(view, comma, end)) return wrong(view, from, end, NO_HASH);
  const claimed = view.toString('latin1', comma + 9, end - 2);
  // The comma stands in for the closing brace while the digest is taken: no copy of the line.
  view[comma] = CLOSE;
  const found = digest('sha256', view.subarray(from, comma + 1), 'hex');
  view[comma] = COMMA;
  if (found !== claimed) return wrong(view, from, end, 'its hash is not that of its bytes');
  const record = linkOfFlat(view, from, end) ?? parse(view, from, end);
  if (!record) return wrong(view, from, end, 'not a JSON object');
  if (record.sequence === sequence && record.prev_hash === before) return { ok: true, hash: found };
  const what =
    record.sequence === sequence
      ? 'prev_hash is not the hash of the record before'
      : `record ${String(record.sequence)} where ${sequence} should be`;
  const link = { sequence: Number(record.sequence), before: String(record.prev_hash) };
  return { ...wrong(view, from, end, what), link };
}

function hasTrailer(view: Buffer, comma: number, end: number): boolean {
  return (
    view[comma] === COMMA &&
    view[comma + 1] === QUOTE &&
    view[comma + 2] === 0x68 && // h
    view[comma + 3] === 0x61 && // a
    view[comma + 4] === 0x73 && // s
    view[comma + 5] === 0x68 && // h
    view[comma + 6] === QUOTE &&
    view[comma + 7] === 0x3a && // :
    view[comma + 8] === QUOTE &&
    view[end - 2] === QUOTE &&
    view[end - 1] === CLOSE
  );
}

// Searched for without the quotation mark in front, which is the commonest character of all.
const PREV_HASH = Buffer.from('prev_hash":"');
const SEQUENCE = Buffer.from('sequence":');
const OPEN = 0x7b;

/**
 * The two members of a record without inner objects, found by their names: inside strings quotation marks are
 * escaped, so in such a line the names stand nowhere else. Null when it is not so simple. Whether the line is
 * JSON at all need not be asked: its bytes are what was hashed, and only what was signed for is believed.
 */
function linkOfFlat(view: Buffer, from: number, end: number): { sequence: number; prev_hash: string } | null {
  const inner = view.indexOf(OPEN, from + 1);
  if (inner !== -1 && inner < end) return null;
  const before = view.indexOf(PREV_HASH, from) + PREV_HASH.length;
  const after = before + 64;
  if (before < from + PREV_HASH.length || after >= end || view[after] !== QUOTE) return null;
  if (!isKey(view, before - PREV_HASH.length)) return null;
  // Keys are sorted: the sequence follows.
  let at = view.indexOf(SEQUENCE, after) + SEQUENCE.length;
  if (at < after || at >= end || !isKey(view, at - SEQUENCE.length)) return null;
  let sequence = 0;
  for (let digit = view[at]! - 48; digit >= 0 && digit <= 9; digit = view[++at]! - 48)
    sequence = sequence * 10 + digit;
  if (view[at] !== COMMA || !Number.isSafeInteger(sequence)) return null;
  return { sequence, prev_hash: view.toString('latin1', before, after) };
}

/** A name begins behind a quotation mark that is not escaped. */
function isKey(view: Buffer, at: number): boolean {
  return view[at - 1] === QUOTE && (view[at - 2] === COMMA || view[at - 2] === OPEN);
}

/** Bytes above 0x7f stand inside strings only, so Latin-1 is enough, and quicker, to find two members. */
function parse(view: Buffer, from: number, end: number): { sequence?: unknown; prev_hash?: unknown } | null {
  try {
    const value: unknown = JSON.parse(view.toString('latin1', from, end));
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

function wrong(view: Buffer, from: number, end: number, what: string) {
  const sequence = parse(view, from, end)?.sequence;
  return { ok: false as const, sequence: Number.isSafeInteger(sequence) ? (sequence as number) : null, what };
}
