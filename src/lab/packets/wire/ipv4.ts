import { foldChecksum, put16, put32, sum16 } from './bytes.ts';

export const IPV4_BYTES = 20;
export const PROTOCOL = { icmp: 1, tcp: 6, udp: 17 } as const;
export type IpProtocol = (typeof PROTOCOL)[keyof typeof PROTOCOL];

export interface Ipv4Header {
  readonly source: number;
  readonly destination: number;
  readonly protocol: IpProtocol;
  readonly id: number;
  readonly ttl: number;
  readonly dontFragment: boolean;
  /** Type of service; ICMP errors of Linux routers carry 0xc0. */
  readonly tos?: number;
}

/** `bodyBytes` is what follows the header. Returns the offset after the header. */
export function putIpv4(buffer: Uint8Array, at: number, header: Ipv4Header, bodyBytes: number): number {
  buffer[at] = 0x45;
  buffer[at + 1] = header.tos ?? 0;
  put16(buffer, at + 2, IPV4_BYTES + bodyBytes);
  put16(buffer, at + 4, header.id);
  put16(buffer, at + 6, header.dontFragment ? 0x4000 : 0);
  buffer[at + 8] = header.ttl;
  buffer[at + 9] = header.protocol;
  put16(buffer, at + 10, 0);
  put32(buffer, at + 12, header.source);
  put32(buffer, at + 16, header.destination);
  put16(buffer, at + 10, foldChecksum(sum16(buffer, at, at + IPV4_BYTES)));
  return at + IPV4_BYTES;
}

/** What TCP and UDP add to their checksum from the IP header. */
export function pseudoHeaderSum(header: Ipv4Header, bodyBytes: number): number {
  const { source, destination } = header;
  return (
    (source >>> 16) +
    (source & 0xffff) +
    (destination >>> 16) +
    (destination & 0xffff) +
    header.protocol +
    bodyBytes
  );
}
