/**
 * Some systems wrote longer record headers under the same magic number. Nothing in the file says so: the first
 * records are read each way, and the way with the fewest contradictions is taken.
 */
import { u32be, u32le } from './bytes.ts';

export interface RecordLayout {
  readonly header: number;
  readonly fileType: string;
}

const STANDARD: RecordLayout = { header: 16, fileType: 'Wireshark/tcpdump/... - pcap' };

/** By magic number, in order of preference. */
export const STANDARD_LAYOUTS: readonly RecordLayout[] = [
  STANDARD,
  { header: 24, fileType: 'RedHat 6.1 tcpdump - pcap' },
  { header: 20, fileType: 'Nokia tcpdump - pcap' },
];
export const PATCHED_LAYOUTS: readonly RecordLayout[] = [
  { header: 24, fileType: 'Modified tcpdump - pcap' },
  { header: 28, fileType: 'SuSE 6.3 tcpdump - pcap' },
];

const RECORDS = 3;
const LARGEST = 262_144;
/** As many bytes as a guess may have to look at. */
export const GUESS_BYTES = RECORDS * (LARGEST + 28);
const LONGEST_PACKET = 128 * 1024 * 1024;

export interface GuessInput {
  readonly little: boolean;
  /** How the two lengths of a record stand: as written, swapped, or swapped where impossible otherwise. */
  readonly swapped: 0 | 1 | 2;
  readonly snaplen: number;
  readonly maxCaptured: number;
}

export function guessLayout(
  layouts: readonly RecordLayout[],
  b: Uint8Array,
  start: number,
  end: number,
  input: GuessInput,
): RecordLayout {
  let best = layouts[0] ?? STANDARD;
  let fewest = Number.POSITIVE_INFINITY;
  for (const layout of layouts) {
    const faults = faultsOf(layout.header, b, start, end, input);
    if (faults < fewest) {
      best = layout;
      fewest = faults;
    }
    if (faults === 0) break;
  }
  return best;
}

function faultsOf(header: number, b: Uint8Array, start: number, end: number, input: GuessInput): number {
  const u32 = input.little ? u32le : u32be;
  let o = start;
  for (let i = 0; i < RECORDS; i++) {
    if (o === end) return 0;
    if (o + header > end) return 1;
    let captured = u32(b, o + 8);
    let length = u32(b, o + 12);
    if (input.swapped === 1 || (input.swapped === 2 && captured > length))
      [captured, length] = [length, captured];
    const faults =
      Number(u32(b, o + 4) >= 1_000_000) +
      Number(captured > input.maxCaptured) +
      Number(length > LONGEST_PACKET) +
      Number(captured > input.snaplen) +
      Number(captured > length);
    if (faults > 0) return faults;
    o += header + captured;
    if (o > end) return 1;
  }
  return 0;
}
