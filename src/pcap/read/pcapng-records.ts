/**
 * Blocks of pcapng that are records of the file but no packets: journal entries, system calls, custom blocks. They
 * are counted as frames without a link layer, as analysers do.
 */
import { u32be, u32le } from './bytes.ts';
import { clockwork, TimestampReader } from './pcapng-time.ts';
import { type FrameSink, NO_LINK, NO_TIME } from './sink.ts';

const JOURNAL = 9;
const CUSTOM = 0x0bad;
const CUSTOM_NOT_COPIED = 0x4000_0bad;
/** System calls as sysdig writes them: the old form, the one that counts parameters, the one with long ones. */
const SYSCALL = 0x204;
const SYSCALL_2 = 0x216;
const SYSCALL_2_LARGE = 0x221;

const FRAME = 12;
const SYSCALL_HEADER = 24;
const SYSCALL_2_HEADER = 28;
const SHORTEST_ENTRY = 23;
const REAL_TIME = '__REALTIME_TIMESTAMP=';
const NANOSECONDS = clockwork(9, 0)!;

/** One block: where it starts, how much of it is there, how long it says it is. */
export interface Block {
  readonly type: number;
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly visible: number;
  readonly claimed: number;
  readonly little: boolean;
}

/** Hands the record to the sink. Answers whether the block was one, or what is wrong with it. */
export function otherRecord(block: Block, sink: FrameSink): boolean | string {
  switch (block.type) {
    case JOURNAL:
      return journalEntry(block, sink);
    case CUSTOM:
    case CUSTOM_NOT_COPIED:
      return custom(block, sink);
    case SYSCALL:
      return systemCall(block, sink, SYSCALL_HEADER);
    case SYSCALL_2:
    case SYSCALL_2_LARGE:
      return systemCall(block, sink, SYSCALL_2_HEADER);
    default:
      return false;
  }
}

function custom({ bytes, start, claimed }: Block, sink: FrameSink): boolean | string {
  const length = claimed - FRAME - 4;
  if (length < 0) return `a custom block of ${claimed} bytes is too short`;
  sink.frame(bytes, start + FRAME, length, length, NO_TIME, 0, NO_LINK);
  return true;
}

function systemCall(block: Block, sink: FrameSink, header: number): boolean | string {
  const { bytes, start, claimed, little } = block;
  const captured = claimed - FRAME - header;
  if (captured < 0) return `a system call block of ${claimed} bytes is too short`;
  const time = new TimestampReader();
  // One number of 64 bits: its halves stand in the order of the section.
  time.read64(bytes, start + 10, little, NANOSECONDS);
  const length = (little ? u32le : u32be)(bytes, start + 26);
  sink.frame(bytes, start + 8 + header, captured, length, time.seconds, time.nanoseconds, NO_LINK);
  return true;
}

/** Text in lines of `FIELD=value`, padded with zeros that are no part of it. */
function journalEntry({ bytes, start, visible, claimed }: Block, sink: FrameSink): boolean | string {
  let length = claimed - FRAME;
  const whole = visible >= claimed;
  if (whole) while (length > 0 && bytes[start + 8 + length - 1] === 0) length--;
  if (length < SHORTEST_ENTRY) return `a journal entry of ${length} bytes is too short`;
  const shown = bytes.subarray(start + 8, start + 8 + Math.min(length, visible - 8));
  const text = Buffer.from(shown.buffer, shown.byteOffset, shown.length).toString('latin1');
  const at = text.indexOf(REAL_TIME);
  const stamp =
    at < 0 ? null : /^\d{1,19}/.exec(text.slice(at + REAL_TIME.length, at + REAL_TIME.length + 20));
  const micros = stamp === null ? undefined : BigInt(stamp[0]);
  const seconds = micros === undefined ? NO_TIME : Number(micros / 1_000_000n);
  const nanoseconds = micros === undefined ? 0 : Number(micros % 1_000_000n) * 1000;
  sink.frame(bytes, start + 8, length, length, seconds, nanoseconds, NO_LINK);
  return true;
}
