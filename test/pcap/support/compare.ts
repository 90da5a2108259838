import { ours } from './ours.ts';
import { type FrameRecord, tshark } from './tshark.ts';

/** Every difference between the engine and tshark on one file, frame by frame; empty when they agree. */
export async function differences(path: string): Promise<string[]> {
  const reference = tshark(path);
  const own = await ours(path);
  const out: string[] = [];
  if (own.frames.length !== reference.frames.length)
    out.push(`packets: tshark ${reference.frames.length} (${reference.error}), ours ${own.frames.length}`);
  const n = Math.min(own.frames.length, reference.frames.length);
  const streams = { tcp: new Pairing(), udp: new Pairing() };
  for (let i = 0; i < n; i++) {
    const [want, got] = [reference.frames[i]!, own.frames[i]!];
    out.push(...frameDifferences(want, got));
    for (const kind of ['tcp', 'udp'] as const)
      if (!streams[kind].agrees(want[kind], got[kind]))
        out.push(`frame ${want.frame} ${kind} streams: tshark ${want[kind]}, ours ${got[kind]}`);
  }
  for (const frame of new Set([...reference.rtts.keys(), ...own.rtts.keys()])) {
    const [want, got] = [reference.rtts.get(frame), own.rtts.get(frame)];
    if (want === undefined || got === undefined || Math.abs(want - got) > 1e-3)
      out.push(`frame ${frame} ack rtt: tshark ${want}, ours ${got}`);
  }
  const tcp = new Set(reference.frames.flatMap((frame) => frame.tcp)).size;
  const udp = new Set(reference.frames.flatMap((frame) => frame.udp)).size;
  if (tcp !== own.engine.tcp.streams) out.push(`tcp streams: tshark ${tcp}, ours ${own.engine.tcp.streams}`);
  if (udp !== own.engine.udp.streams) out.push(`udp streams: tshark ${udp}, ours ${own.engine.udp.streams}`);
  return out;
}

function frameDifferences(want: FrameRecord, got: FrameRecord): string[] {
  const out: string[] = [];
  for (const key of ['time', 'length', 'captured', 'has', 'dns', 'icmp', 'icmpv6', 'arp', 'vlans'] as const) {
    const a = JSON.stringify(want[key]);
    const b = JSON.stringify(got[key]);
    if (a !== b) out.push(`frame ${want.frame} ${key}: tshark ${a}, ours ${b}`);
  }
  return out;
}

/** Streams may be numbered differently after one difference; what counts is that the same frames go together. */
class Pairing {
  readonly #there = new Map<number, number>();
  readonly #back = new Map<number, number>();

  agrees(want: readonly number[], got: readonly number[]): boolean {
    if (want.length !== got.length) return false;
    return want.every((id, i) => {
      const other = got[i]!;
      if (!this.#there.has(id) && !this.#back.has(other)) {
        this.#there.set(id, other);
        this.#back.set(other, id);
      }
      return this.#there.get(id) === other && this.#back.get(other) === id;
    });
  }
}
