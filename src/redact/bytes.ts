import { isUtf8 } from 'node:buffer';

/**
 * Bytes ↔ text without loss: a byte that is no UTF-8 becomes a lone surrogate (U+DC80 to U+DCFF) and back,
 * so what is not redacted comes out as it went in, whatever it is.
 */
const ESCAPED = 0xdc00;

export function decodeBytes(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  const parts: string[] = [];
  for (let i = 0; i < bytes.length; ) {
    const valid = validEnd(bytes, i);
    if (valid > i) parts.push(Buffer.from(bytes.subarray(i, valid)).toString('utf8'));
    if (valid < bytes.length) parts.push(String.fromCharCode(ESCAPED + bytes[valid]!));
    i = valid + 1;
  }
  return parts.join('');
}

export function encodeBytes(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text, 'utf8');
  const parts: Buffer[] = [];
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c < ESCAPED + 0x80 || c > ESCAPED + 0xff) continue;
    const before = text.charCodeAt(i - 1);
    if (before >= 0xd800 && before <= 0xdbff) continue; // the second half of a pair
    parts.push(Buffer.from(text.slice(from, i), 'utf8'), Buffer.of(c - ESCAPED));
    from = i + 1;
  }
  parts.push(Buffer.from(text.slice(from), 'utf8'));
  return Buffer.concat(parts);
}

/** How many bytes at the end begin a character whose rest has not arrived (0 to 3). */
export function unfinished(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0xc0) === 0x80) continue;
    const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return wanted > back ? back : 0;
  }
  return 0;
}

/** End of the run of whole, valid characters that begins at `i`. */
function validEnd(bytes: Uint8Array, i: number): number {
  while (i < bytes.length) {
    const byte = bytes[i]!;
    const size = byte < 0x80 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 0;
    if (size === 0 || i + size > bytes.length) return i;
    if (size > 1 && !isUtf8(bytes.subarray(i, i + size))) return i;
    i += size;
  }
  return i;
}
