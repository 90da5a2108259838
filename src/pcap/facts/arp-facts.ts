import { type ArpFacts, LIST_BOUND, SAMPLE_FRAMES } from '../analysis.ts';
import type { Engine } from '../engine.ts';
import { i32be, u32be } from '../read/bytes.ts';
import { ipv4Text, macText } from './text.ts';

const MAX_ADDRESSES = 65_536;
const MAX_MACS = 8;

interface Address {
  /** Requests since the last reply from it, and the frames of the first few: those beyond are of before. */
  waiting: number;
  readonly waitingFrames: number[];
  /** MACs as numbers below 2^48. */
  readonly macs: number[];
  readonly macFrames: number[];
}

/** Who asked for whom, who answered, and who claims an address that another claims too. */
export class ArpCollector {
  gratuitous = 0;
  dropped = 0;
  #requests = 0;
  #replies = 0;
  readonly #addresses = new Map<number, Address>();

  /** `o` is at the sender's hardware address of an Ethernet/IPv4 message. */
  message(e: Engine, b: Uint8Array, o: number, operation: number): void {
    const sender = i32be(b, o + 6);
    const target = i32be(b, o + 16);
    if (operation === 1) this.#requests++;
    else this.#replies++;
    // A probe asks on behalf of nobody: it claims nothing.
    if (sender !== 0) this.#claim(e, b, o, sender);
    if (sender === target) {
      if (sender !== 0) this.gratuitous++;
      return;
    }
    if (operation === 1) {
      const asked = this.#of(target);
      if (asked === undefined) return;
      if (asked.waiting < SAMPLE_FRAMES) asked.waitingFrames[asked.waiting] = e.frameNumber;
      asked.waiting++;
    } else {
      const answering = this.#of(sender);
      if (answering === undefined) return;
      answering.waiting = 0;
    }
  }

  facts(requests: number, replies: number): ArpFacts | null {
    if (requests + replies + this.#requests + this.#replies === 0) return null;
    const all = [...this.#addresses].map(([word, address]) => ({ ip: ipv4Text(word), address }));
    const unanswered = all
      .filter(({ address }) => address.waiting > 0)
      .sort((a, b) => b.address.waiting - a.address.waiting || (a.ip < b.ip ? -1 : 1));
    const duplicates = all
      .filter(({ address }) => address.macs.length > 1)
      .sort((a, b) => b.address.macs.length - a.address.macs.length || (a.ip < b.ip ? -1 : 1));
    return {
      requests,
      replies,
      gratuitous: this.gratuitous,
      unanswered: {
        total: unanswered.length,
        items: unanswered.slice(0, LIST_BOUND).map(({ ip, address }) => ({
          ip,
          count: address.waiting,
          sample_frames: address.waitingFrames.slice(0, address.waiting),
        })),
      },
      duplicates: {
        total: duplicates.length,
        items: duplicates.slice(0, LIST_BOUND).map(({ ip, address }) => ({
          ip,
          macs: address.macs.map(macText),
          sample_frames: [...address.macFrames],
        })),
      },
    };
  }

  #claim(e: Engine, b: Uint8Array, o: number, ip: number): void {
    const address = this.#of(ip);
    if (address === undefined) return;
    const mac = ((b[o]! << 8) | b[o + 1]!) * 0x1_0000_0000 + u32be(b, o + 2);
    if (address.macs.includes(mac) || address.macs.length >= MAX_MACS) return;
    address.macs.push(mac);
    if (address.macFrames.length < SAMPLE_FRAMES) address.macFrames.push(e.frameNumber);
  }

  #of(ip: number): Address | undefined {
    let address = this.#addresses.get(ip);
    if (address === undefined) {
      if (this.#addresses.size >= MAX_ADDRESSES) {
        this.dropped++;
        return undefined;
      }
      address = { waiting: 0, waitingFrames: [], macs: [], macFrames: [] };
      this.#addresses.set(ip, address);
    }
    return address;
  }
}
