/**
 * Keeps the first `limit` bytes of a stream and counts the rest. Chunks are copied into one growing
 * buffer: a child that writes a byte at a time must not cost an object per byte.
 */
export class Capture {
  readonly #limit: number;
  #buffer = Buffer.alloc(0);
  #kept = 0;
  #total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get total(): number {
    return this.#total;
  }

  get truncated(): boolean {
    return this.#total > this.#kept;
  }

  readonly push = (chunk: Uint8Array): void => {
    this.#total += chunk.byteLength;
    const room = Math.min(chunk.byteLength, this.#limit - this.#kept);
    if (room <= 0) return;
    this.#reserve(this.#kept + room);
    this.#buffer.set(room === chunk.byteLength ? chunk : chunk.subarray(0, room), this.#kept);
    this.#kept += room;
  };

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#kept);
  }

  #reserve(size: number): void {
    if (size <= this.#buffer.byteLength) return;
    const grown = Buffer.allocUnsafe(
      Math.min(this.#limit, Math.max(size, this.#buffer.byteLength * 2, 4096)),
    );
    grown.set(this.#buffer.subarray(0, this.#kept));
    this.#buffer = grown;
  }
}
