import { hash as digest } from 'node:crypto';
import { canonicalJson } from '../core/index.ts';

/**
 * The same bytes as `encodeRecordV1`, made quickly and straight into the batch that goes to the disk.
 * A property test holds the two together.
 *
 * F1 JSON.stringify of an object with sorted keys is canonical JSON, as long as every value is a
 *    primitive or an array of primitives, numbers are finite, strings well-formed, and no key is treated
 *    specially by the engine (array indices come first, `__proto__` is no property).
 * F2 Whatever is not proven to be so takes the slow road.
 */
export class FastEncoderV1 {
  readonly #shapes: Shape[] = [];

  /** The canonical JSON of a record without its `hash`. */
  body(
    entry: { readonly [key: string]: unknown },
    sequence: number,
    timestamp: string,
    prevHash: string,
  ): string {
    const shape = this.#shapeOf(Object.keys(entry));
    if (shape.plain && fill(shape, entry)) {
      const { record } = shape;
      record.sequence = sequence;
      record.timestamp = timestamp;
      record.prev_hash = prevHash;
      return JSON.stringify(record);
    }
    return canonicalJson({ ...entry, sequence, timestamp, prev_hash: prevHash });
  }

  /** Entries of one journal come in few shapes: the order of their keys is worked out once. */
  #shapeOf(keys: readonly string[]): Shape {
    const known = this.#shapes.find((shape) => sameKeys(shape.keys, keys));
    if (known) return known;
    const shape = {
      keys,
      // Made once with its keys in order; every record of this shape is written into it.
      record: Object.fromEntries([...new Set([...keys, ...OWN])].sort().map((key) => [key, undefined])),
      plain: keys.every((key) => !/^\d+$/.test(key) && key !== '__proto__' && key.isWellFormed()),
    };
    if (this.#shapes.length >= MAX_SHAPES) this.#shapes.shift();
    this.#shapes.push(shape);
    return shape;
  }
}

interface Shape {
  readonly keys: readonly string[];
  readonly record: Record<string, unknown>;
  readonly plain: boolean;
}

const MAX_SHAPES = 8;
const OWN = ['sequence', 'timestamp', 'prev_hash'];

/** False as soon as a value needs the slow road. */
function fill({ keys, record }: Shape, entry: { readonly [key: string]: unknown }): boolean {
  for (const key of keys) {
    const value = entry[key];
    if (!isSimple(value)) return false;
    record[key] = value;
  }
  return true;
}

function sameKeys(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function isSimple(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed();
    case 'number':
      return Number.isFinite(value);
    case 'boolean':
    case 'undefined':
      return true;
    case 'object':
      return value === null || (Array.isArray(value) && isSimpleArray(value));
    default:
      return false;
  }
}

function isSimpleArray(items: readonly unknown[]): boolean {
  if (Object.getPrototypeOf(items) !== Array.prototype || 'toJSON' in items) return false;
  for (const item of items) {
    if (item === undefined || (typeof item === 'object' && item !== null) || !isSimple(item)) return false;
  }
  return true;
}

/** Bytes that `writeRecord` may need for a body: a safe guess for short ones, counted for long ones. */
export function roomFor(body: string): number {
  return (body.length > 4096 ? Buffer.byteLength(body) : body.length * 3) + TRAILER_ROOM;
}

const TRAILER_ROOM = 80;

/** Writes a whole line at `offset`; answers its hash and its length. */
export function writeRecord(buffer: Buffer, offset: number, body: string): { hash: string; bytes: number } {
  const length = buffer.write(body, offset, 'utf8');
  const hash = digest('sha256', buffer.subarray(offset, offset + length), 'hex');
  // The closing brace gives way to the hash, which ends every line.
  const trailer = buffer.write(`,"hash":"${hash}"}\n`, offset + length - 1, 'latin1');
  return { hash, bytes: length - 1 + trailer };
}
