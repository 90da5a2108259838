/** TLS as seen from outside: a hello with the server's name, then records nobody can read. */
import { mix } from './sim/random.ts';

const TYPE = { changeCipher: 20, handshake: 22, data: 23 } as const;

function bytes16(value: number): number[] {
  return [(value >> 8) & 255, value & 255];
}

function extension(type: number, data: readonly number[]): number[] {
  return [...bytes16(type), ...bytes16(data.length), ...data];
}

function handshake(type: number, body: readonly number[]): number[] {
  const message = [type, 0, ...bytes16(body.length), ...body];
  return [TYPE.handshake, 3, 3, ...bytes16(message.length), ...message];
}

function random32(seed: number): number[] {
  return Array.from({ length: 32 }, (_, index) => mix(seed, index) & 255);
}

const KEY_SHARE_GROUP = [0, 0x1d]; // x25519
const TLS13 = [3, 4];

function clientHello(host: string, seed: number): number[] {
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

function serverHello(seed: number): number[] {
  const extensions = [
    ...extension(43, TLS13),
    ...extension(51, [...KEY_SHARE_GROUP, 0, 32, ...random32(seed + 3)]),
  ];
  const body = [3, 3, ...random32(seed + 2), 0, 0x13, 1, 0, ...bytes16(extensions.length), ...extensions];
  return handshake(2, body);
}

const RECORD_HEADER = 5;

function record(length: number): number[] {
  return [TYPE.data, 3, 3, ...bytes16(length - RECORD_HEADER)];
}

/**
 * What a piece of the stream begins with: the hello and a record in the first one, a record in the others. `null`
 * when the piece is too short for that.
 */
export function tlsHead(
  subject: { readonly forward: boolean; readonly host: string; readonly seed: number },
  index: number,
  length: number,
): readonly number[] | null {
  if (length <= RECORD_HEADER) return null;
  if (index > 0) return record(length);
  const hello = subject.forward ? clientHello(subject.host, subject.seed) : serverHello(subject.seed);
  const opening = [...hello, TYPE.changeCipher, 3, 3, 0, 1, 1];
  if (length === opening.length) return opening;
  if (length < opening.length + RECORD_HEADER + 1) return record(length);
  return [...opening, ...record(length - opening.length)];
}
