/** Big-endian numbers and the Internet checksum: what every header needs. */

export function put16(buffer: Uint8Array, at: number, value: number): void {
  buffer[at] = (value >>> 8) & 255;
  buffer[at + 1] = value & 255;
}

export function put32(buffer: Uint8Array, at: number, value: number): void {
  buffer[at] = (value >>> 24) & 255;
  buffer[at + 1] = (value >>> 16) & 255;
  buffer[at + 2] = (value >>> 8) & 255;
  buffer[at + 3] = value & 255;
}

/**
 * Sum of 16-bit words, carries not yet folded. At most 65,535 bytes of 16-bit words plus a start value fit
 * a double exactly, so there is nothing to fold inside the loop.
 */
export function sum16(buffer: Uint8Array, from: number, to: number, start = 0): number {
  let sum = start;
  let at = from;
  for (; at + 1 < to; at += 2) sum += (buffer[at]! << 8) | buffer[at + 1]!;
  if (at < to) sum += buffer[at]! << 8;
  return sum;
}

/** The Internet checksum (RFC 1071) from an unfolded sum. */
export function foldChecksum(sum: number): number {
  let folded = sum;
  while (folded > 0xffff) folded = (folded & 0xffff) + Math.floor(folded / 0x10000);
  return ~folded & 0xffff;
}
