import type { Engine } from '../engine.ts';
import { i32be, u32be } from '../read/bytes.ts';

const COOKIE = 0x63825363;
const OPTIONS = 240;

/** BOOTP with DHCP options: the message type, who serves, which transaction. */
export function dhcp(e: Engine, b: Uint8Array, o: number, end: number, _wire: number): void {
  if (!e.facts || o + OPTIONS > end || e.errorDepth > 0 || u32be(b, o + 236) !== COOKIE) return;
  let type = 0;
  let server = 0;
  let at = o + OPTIONS;
  while (at + 2 <= end) {
    const option = b[at]!;
    if (option === 255) break;
    if (option === 0) {
      at++;
      continue;
    }
    const length = b[at + 1]!;
    if (at + 2 + length > end) break;
    if (option === 53 && length === 1) type = b[at + 2]!;
    if (option === 54 && length === 4) server = i32be(b, at + 2);
    at += 2 + length;
  }
  if (type !== 0) e.apps.dhcp(e.frameNumber, type, server, i32be(b, o + 4));
}
