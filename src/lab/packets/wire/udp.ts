import { foldChecksum, put16, sum16 } from './bytes.ts';
import { type Ipv4Header, pseudoHeaderSum } from './ipv4.ts';

export const UDP_BYTES = 8;

/** Writes the header in front of `payloadBytes` already in place. */
export function putUdp(
  buffer: Uint8Array,
  at: number,
  ip: Ipv4Header,
  ports: { readonly source: number; readonly destination: number },
  payloadBytes: number,
): void {
  const bytes = UDP_BYTES + payloadBytes;
  put16(buffer, at, ports.source);
  put16(buffer, at + 2, ports.destination);
  put16(buffer, at + 4, bytes);
  put16(buffer, at + 6, 0);
  const checksum = foldChecksum(sum16(buffer, at, at + bytes, pseudoHeaderSum(ip, bytes)));
  // Zero would mean "no checksum"; RFC 768 sends its other form.
  put16(buffer, at + 6, checksum === 0 ? 0xffff : checksum);
}
