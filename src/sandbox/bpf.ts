/**
 * The few words of classic BPF that a seccomp filter needs, with names for the places to jump to.
 * Offsets are those of `struct seccomp_data`.
 */
const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;

export const ALLOW = 0x7fff0000;
export const ERRNO = 0x00050000;

export type Word =
  | { readonly op: 'load'; readonly from: 'nr' | 'arch' | { readonly arg: number } }
  | { readonly op: 'if'; readonly test: '==' | '>=' | '&'; readonly value: number; readonly go: string }
  | { readonly op: 'return'; readonly value: number }
  | { readonly op: 'place'; readonly name: string };

/** Little-endian `struct sock_filter[]`. Jumps go forward only, as the kernel demands. */
export function assemble(words: readonly Word[]): Uint8Array {
  const places = new Map<string, number>();
  let length = 0;
  for (const word of words) {
    if (word.op === 'place') places.set(word.name, length);
    else length++;
  }
  const bytes = Buffer.alloc(length * 8);
  let at = 0;
  for (const word of words) {
    if (word.op === 'place') continue;
    const [code, ifTrue, value] = encode(word, at, places);
    bytes.writeUInt16LE(code, at * 8);
    bytes.writeUInt8(ifTrue, at * 8 + 2);
    bytes.writeUInt8(0, at * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, at * 8 + 4);
    at++;
  }
  return bytes;
}

function encode(
  word: Exclude<Word, { op: 'place' }>,
  at: number,
  places: ReadonlyMap<string, number>,
): readonly [code: number, ifTrue: number, value: number] {
  switch (word.op) {
    case 'load':
      return [LOAD, 0, word.from === 'nr' ? 0 : word.from === 'arch' ? 4 : 16 + 8 * word.from.arg];
    case 'return':
      return [RETURN, 0, word.value];
    case 'if': {
      const target = places.get(word.go);
      const distance = target === undefined ? -1 : target - at - 1;
      if (distance < 0 || distance > 255) throw new RangeError(`BPF: no place ${word.go} within reach`);
      const codes = { '==': JUMP_EQUAL, '>=': JUMP_AT_LEAST, '&': JUMP_ANY_BIT };
      return [codes[word.test], distance, word.value];
    }
  }
}
