import { foldChecksum, put16, sum16 } from './bytes.ts';

export const ICMP_BYTES = 8;
/** An error quotes the offending IP header and the first eight bytes after it. */
export const QUOTED_BYTES = 28;

export const ICMP = {
  echoReply: { type: 0, code: 0 },
  hostUnreachable: { type: 3, code: 1 },
  portUnreachable: { type: 3, code: 3 },
  fragmentationNeeded: { type: 3, code: 4 },
  adminProhibited: { type: 3, code: 13 },
  echoRequest: { type: 8, code: 0 },
  ttlExceeded: { type: 11, code: 0 },
} as const;

export interface IcmpKind {
  readonly type: number;
  readonly code: number;
}

/**
 * Writes the header in front of `bodyBytes` already in place. The two words after the checksum are the
 * identifier and sequence of an echo, or unused and next-hop MTU of an error.
 */
export function putIcmp(
  buffer: Uint8Array,
  at: number,
  kind: IcmpKind,
  words: readonly [number, number],
  bodyBytes: number,
): void {
  buffer[at] = kind.type;
  buffer[at + 1] = kind.code;
  put16(buffer, at + 2, 0);
  put16(buffer, at + 4, words[0]);
  put16(buffer, at + 6, words[1]);
  put16(buffer, at + 2, foldChecksum(sum16(buffer, at, at + ICMP_BYTES + bodyBytes)));
}
