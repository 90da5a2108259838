/** TLS as seen from outside: a hello with the server's name, then records nobody can read. */
import type { Content } from './sim/packet.ts';
import { mix } from './sim/random.ts';
import { put16 } from './wire/bytes.ts';

const RECORD_HEADER = 5;
const RECORD_BODY = 8192;
const TYPE = { changeCipher: 20, handshake: 22, data: 23 } as const;

/** Bytes that look like cipher text. */
const CIPHER = Uint8Array.from({ length: RECORD_BODY }, (_, index) => mix(index, 0x715) & 255);

function bytes16(value: number): number[] {
  return [(value >> 8) & 255, value & 255];
}

function extension(type: number, data: readonly number[]): number[] {
  return [...bytes16(type), ...bytes16(data.length), ...data];
}

function handshake(type: number, body: readonly number[]): Uint8Array {
  const message = [type, 0, ...bytes16(body.length), ...body];
  return Uint8Array.from([TYPE.handshake, 3, 3, ...bytes16(message.length), ...message]);
}

function random32(seed: number): number[] {
  return Array.from({ length: 32 }, (_, index) => mix(seed, index) & 255);
}

const KEY_SHARE_GROUP = [0, 0x1d]; // x25519
const TLS13 = [3, 4];

function clientHello(host: string, seed: number): Uint8Array {
  const name = [...Buffer.from(host.slice(0, 200), 'latin1')];
  const extensions = [
    ...extension(0, [...bytes16(name.length + 3), 0, ...bytes16(name.length), ...name]),
    ...extension(10, [0, 2, ...KEY_SHARE_GROUP]),
    ...extension(13, [0, 2, 4, 3]),
    ...extension(43, [2, ...TLS13]),
    ...extension(51, [0, 36, ...KEY_SHARE_GROUP, 0, 32, ...random32(seed + 1)]),
  ];
  const body = [
    3,
    3,
    ...random32(seed),
    0,
    0,
    2,
    0x13,
    1,
    1,
    0,
    ...bytes16(extensions.length),
    ...extensions,
  ];
  return handshake(1, body);
}

function serverHello(seed: number): Uint8Array {
  const extensions = [
    ...extension(43, TLS13),
    ...extension(51, [...KEY_SHARE_GROUP, 0, 32, ...random32(seed + 3)]),
  ];
  const body = [3, 3, ...random32(seed + 2), 0, 0x13, 1, 0, ...bytes16(extensions.length), ...extensions];
  return handshake(2, body);
}

/**
 * The whole of one direction, `bytes` long: hello, change of cipher, then application data. What is too short
 * for a hello is a single record, or bare cipher text.
 */
export function tlsStream(subject: {
  readonly forward: boolean;
  readonly bytes: number;
  readonly host: string;
  readonly seed: number;
}): Content {
  const hello = subject.forward ? clientHello(subject.host, subject.seed) : serverHello(subject.seed);
  const opening = Uint8Array.from([...hello, TYPE.changeCipher, 3, 3, 0, 1, 1]);
  // The rest must hold at least one whole record, or nothing at all.
  const fits = subject.bytes === opening.length || subject.bytes > opening.length + RECORD_HEADER;
  const head = fits ? opening : new Uint8Array(0);
  const recordBody = recordBodyFor(subject.bytes - head.length);
  return {
    fill: (buffer, at, offset, length) => {
      let done = 0;
      if (offset < head.length) {
        done = Math.min(length, head.length - offset);
        buffer.set(head.subarray(offset, offset + done), at);
      }
      while (done < length) done += putRecords(buffer, at + done, offset + done - head.length, length - done);
    },
  };

  /** Writes up to the end of the record that holds `place` (counted from the end of the head). */
  function putRecords(buffer: Uint8Array, at: number, place: number, length: number): number {
    const within = place % (RECORD_HEADER + recordBody);
    if (within < RECORD_HEADER) {
      const left = subject.bytes - head.length - (place - within) - RECORD_HEADER;
      const header = Uint8Array.of(TYPE.data, 3, 3, 0, 0);
      put16(header, 3, Math.max(0, Math.min(recordBody, left)));
      const piece = Math.min(length, RECORD_HEADER - within);
      buffer.set(header.subarray(within, within + piece), at);
      return piece;
    }
    const from = within - RECORD_HEADER;
    const piece = Math.min(length, recordBody - from);
    buffer.set(CIPHER.subarray(from, from + piece), at);
    return piece;
  }
}

/** A record size that leaves no last piece too small to be a record. */
function recordBodyFor(total: number): number {
  for (let body = RECORD_BODY; body > RECORD_BODY - 64; body -= 1) {
    const rest = total % (RECORD_HEADER + body);
    if (rest === 0 || rest > RECORD_HEADER) return body;
  }
  return RECORD_BODY;
}
