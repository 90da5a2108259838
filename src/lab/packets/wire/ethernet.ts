import { put16, put32 } from './bytes.ts';

/** Six bytes; kept as a view so that copying into a frame is one `set`. */
export type Mac = Uint8Array;

export const ETHERNET_BYTES = 14;
export const ARP_BYTES = 28;
const ETHERTYPE_IPV4 = 0x0800;
const ETHERTYPE_ARP = 0x0806;

/** Azure's fabric answers every ARP request, on the subnet or off it, with this one address. */
export const FABRIC_MAC: Mac = Uint8Array.of(0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc);
export const BROADCAST_MAC: Mac = Uint8Array.of(255, 255, 255, 255, 255, 255);

export function parseMac(text: string): Mac {
  return Uint8Array.from(text.split(/[:-]/u), (byte) => Number.parseInt(byte, 16));
}

export function putEthernet(buffer: Uint8Array, at: number, destination: Mac, source: Mac): void {
  buffer.set(destination, at);
  buffer.set(source, at + 6);
  put16(buffer, at + 12, ETHERTYPE_IPV4);
}

export interface Arp {
  readonly operation: 'request' | 'reply';
  readonly senderMac: Mac;
  readonly senderIp: number;
  /** Zeroes in a request. */
  readonly targetMac: Mac;
  readonly targetIp: number;
}

/** Writes the whole frame; returns the offset after it. */
export function putArpFrame(buffer: Uint8Array, at: number, arp: Arp): number {
  buffer.set(arp.operation === 'request' ? BROADCAST_MAC : arp.targetMac, at);
  buffer.set(arp.senderMac, at + 6);
  put16(buffer, at + 12, ETHERTYPE_ARP);
  const body = at + ETHERNET_BYTES;
  put16(buffer, body, 1);
  put16(buffer, body + 2, ETHERTYPE_IPV4);
  buffer[body + 4] = 6;
  buffer[body + 5] = 4;
  put16(buffer, body + 6, arp.operation === 'request' ? 1 : 2);
  buffer.set(arp.senderMac, body + 8);
  put32(buffer, body + 14, arp.senderIp);
  buffer.set(arp.targetMac, body + 18);
  put32(buffer, body + 24, arp.targetIp);
  return body + ARP_BYTES;
}
