import type { CaptureProblem } from '../analysis.ts';

/** Seconds of a record that has no time, and the link type of one that is no packet. */
export const NO_TIME = Number.NaN;
export const NO_LINK = -1;

/** Where a parser hands its frames. The bytes are borrowed: they are overwritten after the call returns. */
export interface FrameSink {
  frame(
    bytes: Uint8Array,
    start: number,
    captured: number,
    length: number,
    seconds: number,
    nanoseconds: number,
    link: number,
  ): void;
}

/** What is known of the container once its headers were read. */
export interface ContainerFacts {
  kind: 'pcap' | 'pcapng';
  /** The words analysers use for it, e.g. `Wireshark/tcpdump/... - nanosecond pcap`. */
  fileType: string;
  interfaces: number;
  snaplen: number | null;
  /** Link types in order of appearance in headers. */
  links: number[];
}

/**
 * A push parser: it is given whatever bytes are there and says how far it got. It never asks for more than
 * `MAX_NEED` bytes at once, so a fixed buffer is enough whatever a file claims.
 */
export interface CaptureParser {
  readonly container: ContainerFacts;
  readonly problems: CaptureProblem[];
  /** True once the parser met damage it cannot step over. */
  stopped: boolean;
  /** Consumes what it can of bytes[start, end) and answers the new start. `last`: nothing will follow. */
  consume(bytes: Uint8Array, start: number, end: number, last: boolean): number;
  /** The file ended with `left` bytes unconsumed. */
  finish(left: number): void;
}

/** Largest contiguous piece a parser may need: a standard record with its headers, with room to spare. */
export const MAX_NEED = 270_336;
