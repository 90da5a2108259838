/** TCP options the analysis uses: maximum segment size and window scale of SYNs, and where those of MPTCP begin. */
import { u16be } from '../read/bytes.ts';

export class TcpOptions {
  mss = 0;
  /** -1 when absent. */
  windowScale = -1;
  sackPermitted = false;
  /** Where the first option of MPTCP is, -1 when there is none. */
  mptcp = -1;
}

/** Largest shift that makes sense; larger ones are taken as this. */
const MAX_SHIFT = 14;
export const MPTCP = 30;

/** Reads options in [start, limit); false when the capture ends before they do. */
export function readOptions(
  into: TcpOptions,
  b: Uint8Array,
  start: number,
  limit: number,
  end: number,
): boolean {
  into.mss = 0;
  into.windowScale = -1;
  into.sackPermitted = false;
  into.mptcp = -1;
  let o = start;
  while (o < limit) {
    if (o >= end) return false;
    const kind = b[o]!;
    if (kind === 0) return true;
    if (kind === 1) {
      o++;
      continue;
    }
    if (o + 1 >= limit) return true;
    if (o + 1 >= end) return false;
    const length = b[o + 1]!;
    if (length < 2 || o + length > limit) return true;
    if (o + length > end) return false;
    if (kind === 2 && length === 4) into.mss = u16be(b, o + 2);
    else if (kind === 3 && length === 3) into.windowScale = Math.min(MAX_SHIFT, b[o + 2]!);
    else if (kind === 4) into.sackPermitted = true;
    else if (kind === MPTCP && length > 2 && into.mptcp < 0) into.mptcp = o;
    o += length;
  }
  return true;
}
