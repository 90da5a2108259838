import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The caller's end of a streamed answer.
 *
 * O1 What is written in one turn of the loop leaves as one chunk of the transfer encoding, in one write. The
 *    head leaves with it, or alone when there is nothing yet.
 * O2 The digest is of what was written, in order.
 */
export class Outlet {
  readonly #res: ServerResponse;
  /** Set when chunks can be framed here, which saves most of the work of a small write. */
  readonly #socket: Socket | undefined;
  readonly #hash = createHash('sha256');
  #pending: Buffer[] = [];
  #size = 0;
  #headOut = false;

  constructor(res: ServerResponse, headers: Readonly<Record<string, string>>) {
    this.#res = res;
    res.writeHead(200, headers);
    // HTTP/1.0 knows no chunks; an answer that stands in line behind another has no socket yet.
    this.#socket = res.chunkedEncoding && res.socket !== null ? res.socket : undefined;
    process.nextTick(flush, this);
  }

  write(bytes: Buffer): void {
    if (this.#size === 0) process.nextTick(flush, this);
    this.#pending.push(bytes);
    this.#size += bytes.length;
  }

  /** Clients do not show comments, but they keep the line open; they are not part of the answer. */
  comment(text: string): void {
    this.flush();
    if (!this.#res.destroyed) this.#res.write(`: ${text}\n\n`);
  }

  flush(): void {
    const head = !this.#headOut;
    this.#headOut = true;
    if (this.#size === 0) {
      if (head) this.#res.flushHeaders();
      return;
    }
    const [pending, size] = [this.#pending, this.#size];
    this.#pending = [];
    this.#size = 0;
    const socket = this.#socket;
    if (socket === undefined) {
      if (head) this.#res.flushHeaders();
      for (const bytes of pending) {
        this.#hash.update(bytes);
        this.#res.write(bytes);
      }
      return;
    }
    const frame = framed(pending, size);
    this.#hash.update(frame.subarray(frame.length - 2 - size, frame.length - 2));
    if (!head) {
      socket.write(frame);
      return;
    }
    socket.cork();
    this.#res.flushHeaders();
    socket.write(frame);
    socket.uncork();
  }

  /** SHA-256 of all that was written. Once, at the end. */
  digest(): string {
    this.flush();
    return this.#hash.digest('hex');
  }

  /** The caller reads slower than we write. */
  get full(): boolean {
    return (this.#socket ?? this.#res).writableNeedDrain;
  }

  get gone(): boolean {
    return this.#res.destroyed;
  }

  /** Hears when the caller has caught up, and when it is gone; until `stop` is called. */
  watch(onDrain: () => void, onGone: () => void): { stop(): void } {
    const drains = this.#socket ?? this.#res;
    drains.on('drain', onDrain);
    this.#res.on('close', onGone);
    return {
      stop: () => {
        drains.off('drain', onDrain);
        this.#res.off('close', onGone);
      },
    };
  }
}

const flush = (outlet: Outlet) => outlet.flush();

const CR = 13;
const LF = 10;

/** All of it as one chunk: its length in hexadecimal, itself, each ended by CR LF. */
function framed(pieces: readonly Buffer[], size: number): Buffer {
  const head = `${size.toString(16)}\r\n`;
  const frame = Buffer.allocUnsafe(head.length + size + 2);
  let at = frame.write(head, 0, 'latin1');
  for (const piece of pieces) at += piece.copy(frame, at);
  frame[at] = CR;
  frame[at + 1] = LF;
  return frame;
}
