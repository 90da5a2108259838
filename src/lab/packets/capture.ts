import type { Timeline, World } from '../world/types.ts';

export interface CaptureFilter {
  /** `Any` when left out. */
  readonly protocol?: 'TCP' | 'UDP' | 'Any';
  /** One address, a range `a-b`, or several joined by `;`. */
  readonly localIPAddress?: string;
  readonly remoteIPAddress?: string;
  /** One port, a range `80-85`, or several joined by `;`. */
  readonly localPort?: string;
  readonly remotePort?: string;
}

export interface CaptureOptions {
  readonly vm: string;
  readonly startMs: number;
  readonly durationMs: number;
  readonly bytesPerPacket?: number;
  readonly filters?: readonly CaptureFilter[];
  readonly maxBytes?: number;
  readonly resolution?: 'us' | 'ns';
}

export interface CaptureResult {
  readonly bytes: Uint8Array;
  readonly packets: number;
  /** Why the capture ended before its time, if it did. */
  readonly cutShort: 'packets' | 'bytes' | null;
}

export function synthesizeCapture(world: World | Timeline, options: CaptureOptions): Uint8Array {
  return captureStatistics(world, options).bytes;
}

export function captureStatistics(world: World | Timeline, options: CaptureOptions): CaptureResult {
  throw new Error(`not yet: ${options.vm} ${typeof world}`);
}
