import { foldChecksum, put16, put32, sum16 } from './bytes.ts';
import { type Ipv4Header, PROTOCOL, pseudoHeaderSum } from './ipv4.ts';

export const TCP_BYTES = 20;
export const FLAG = { fin: 1, syn: 2, rst: 4, psh: 8, ack: 16 } as const;

export interface SackBlock {
  readonly from: number;
  readonly to: number;
}

export interface TcpOptions {
  readonly mss?: number;
  readonly sackPermitted?: boolean;
  readonly windowScale?: number;
  readonly timestamp?: { readonly value: number; readonly echo: number };
  /** Those that do not fit the header (three do, beside a timestamp) are left out. */
  readonly sack?: readonly SackBlock[];
}

export interface TcpHeader {
  readonly sourcePort: number;
  readonly destinationPort: number;
  readonly sequence: number;
  readonly acknowledgment: number;
  readonly flags: number;
  readonly window: number;
  readonly options?: TcpOptions | undefined;
}

const NOP = 1;

const MAX_OPTION_BYTES = 40;

/** Bytes the options take, padded to words as Linux lays them out. */
export function optionBytes(options: TcpOptions | undefined): number {
  if (options === undefined) return 0;
  const blocks = sackBlocks(options).length;
  return fixedBytes(options) + (blocks > 0 ? 4 + 8 * blocks : 0);
}

function fixedBytes(options: TcpOptions): number {
  let bytes = 0;
  if (options.mss !== undefined) bytes += 4;
  // SACK-permitted takes the place of the two NOPs before a timestamp; alone it needs two NOPs itself.
  if (options.timestamp !== undefined) bytes += 12;
  else if (options.sackPermitted === true) bytes += 4;
  if (options.windowScale !== undefined) bytes += 4;
  return bytes;
}

function sackBlocks(options: TcpOptions): readonly SackBlock[] {
  if (options.sack === undefined) return [];
  return options.sack.slice(0, Math.floor((MAX_OPTION_BYTES - fixedBytes(options) - 4) / 8));
}

function putOptions(buffer: Uint8Array, start: number, options: TcpOptions): number {
  let at = start;
  if (options.mss !== undefined) {
    buffer[at] = 2;
    buffer[at + 1] = 4;
    put16(buffer, at + 2, options.mss);
    at += 4;
  }
  if (options.timestamp !== undefined || options.sackPermitted === true) {
    buffer[at] = options.sackPermitted === true ? 4 : NOP;
    buffer[at + 1] = options.sackPermitted === true ? 2 : NOP;
    at += 2;
    if (options.timestamp === undefined) {
      buffer[at] = NOP;
      buffer[at + 1] = NOP;
      at += 2;
    } else {
      buffer[at] = 8;
      buffer[at + 1] = 10;
      put32(buffer, at + 2, options.timestamp.value);
      put32(buffer, at + 6, options.timestamp.echo);
      at += 10;
    }
  }
  if (options.windowScale !== undefined) {
    buffer[at] = NOP;
    buffer[at + 1] = 3;
    buffer[at + 2] = 3;
    buffer[at + 3] = options.windowScale;
    at += 4;
  }
  const blocks = sackBlocks(options);
  if (blocks.length > 0) {
    buffer[at] = NOP;
    buffer[at + 1] = NOP;
    buffer[at + 2] = 5;
    buffer[at + 3] = 2 + 8 * blocks.length;
    at += 4;
    for (const block of blocks) {
      put32(buffer, at, block.from);
      put32(buffer, at + 4, block.to);
      at += 8;
    }
  }
  return at;
}

/** Writes header and options in front of `payloadBytes` already in place, and the checksum over it all. */
export function putTcp(
  buffer: Uint8Array,
  at: number,
  ip: Ipv4Header,
  tcp: TcpHeader,
  payloadBytes: number,
): void {
  const headerBytes = TCP_BYTES + optionBytes(tcp.options);
  put16(buffer, at, tcp.sourcePort);
  put16(buffer, at + 2, tcp.destinationPort);
  put32(buffer, at + 4, tcp.sequence);
  put32(buffer, at + 8, tcp.acknowledgment);
  buffer[at + 12] = (headerBytes / 4) << 4;
  buffer[at + 13] = tcp.flags;
  put16(buffer, at + 14, tcp.window);
  put16(buffer, at + 16, 0);
  put16(buffer, at + 18, 0);
  if (tcp.options !== undefined) putOptions(buffer, at + TCP_BYTES, tcp.options);
  const bytes = headerBytes + payloadBytes;
  const sum = pseudoHeaderSum({ ...ip, protocol: PROTOCOL.tcp }, bytes);
  put16(buffer, at + 16, foldChecksum(sum16(buffer, at, at + bytes, sum)));
}
