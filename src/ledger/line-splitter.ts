import { MAX_LINE_BYTES } from './record-v1.ts';

/** One line of a file, without its LF, valid until the next chunk is pushed. */
export interface RawLine {
  readonly bytes: Buffer;
  /** 1-based, and where it starts. */
  readonly line: number;
  readonly byte: number;
  readonly terminated: boolean;
  /** Longer than any record may be; `bytes` is then empty. */
  readonly overlong: boolean;
}

const EMPTY = Buffer.alloc(0);
const LF = 0x0a;

/** Cuts chunks into lines with bounded memory: one chunk, and one line that is still incomplete. */
export class LineSplitter {
  #rest: Buffer = EMPTY;
  #skipped = 0;
  #line = 1;
  #byte: number;

  constructor(startByte = 0, startLine = 1) {
    this.#byte = startByte;
    this.#line = startLine;
  }

  *push(chunk: Buffer): Generator<RawLine> {
    let data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let from = 0;
    for (let end = data.indexOf(LF); end !== -1; end = data.indexOf(LF, from)) {
      const overlong = this.#skipped > 0 || end - from >= MAX_LINE_BYTES;
      yield this.#take(overlong ? EMPTY : data.subarray(from, end), end - from + 1, true, overlong);
      from = end + 1;
    }
    data = data.subarray(from);
    if (this.#skipped > 0 || data.length >= MAX_LINE_BYTES) {
      this.#skipped += data.length;
      this.#rest = EMPTY;
    } else {
      // A copy: the caller may reuse its chunk.
      this.#rest = data.length === 0 ? EMPTY : Buffer.from(data);
    }
  }

  /** What is left after the last LF, or null. */
  end(): RawLine | null {
    const left = this.#skipped + this.#rest.length;
    if (left === 0) return null;
    const overlong = this.#skipped > 0;
    const rest = this.#rest;
    this.#rest = EMPTY;
    return this.#take(overlong ? EMPTY : rest, rest.length, false, overlong);
  }

  #take(bytes: Buffer, length: number, terminated: boolean, overlong: boolean): RawLine {
    const line = { bytes, line: this.#line, byte: this.#byte, terminated, overlong };
    this.#byte += this.#skipped + length;
    this.#skipped = 0;
    this.#line += 1;
    return line;
  }
}
