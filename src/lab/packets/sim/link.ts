import type { EventQueue } from './events.ts';
import type { Packet } from './packet.ts';
import { draw, drawBetween } from './random.ts';

/** What a NIC's wire does; microseconds and bytes. */
export interface LinkSpec {
  readonly lossPct: number;
  readonly delayUs: number;
  readonly jitterUs: number;
  /** Bytes a microsecond; `null` = no limit. */
  readonly rate: number | null;
  readonly mtu: number;
  readonly tellsMtu: boolean;
  readonly reorderPct: number;
  readonly corruptPct: number;
}

/** Draws of different questions about the same packet must not be the same draw. */
const ABOUT = { loss: 1, corrupt: 2, jitter: 3, reorder: 4, overtaken: 5 } as const;

/** A limited wire queues about this long before it drops, and never less than this many bytes. */
const QUEUE_US = 400_000;
const QUEUE_MIN_BYTES = 96_000;
/** A held packet goes on by itself when nothing comes to overtake it. */
const HOLD_US = 2_500;

/**
 * One direction of one NIC's wire. `spec` is a function of time because worlds change. The queue of a rate
 * limit is shared by all conversations; order, jitter and reordering are kept per lane.
 */
export class Link {
  readonly #events: EventQueue;
  readonly #salt: number;
  readonly #spec: (atUs: number) => LinkSpec;
  #queueFreeAt = 0;

  constructor(events: EventQueue, salt: number, spec: (atUs: number) => LinkSpec) {
    this.#events = events;
    this.#salt = salt;
    this.#spec = spec;
  }

  /** `onward` is called when the packet comes out, `tooBig` at once when it will not fit; otherwise it is lost. */
  carry(packet: Packet, onward: () => void, tooBig: (mtu: number) => void): void {
    const now = this.#events.now;
    const spec = this.#spec(now);
    if (packet.bytes > spec.mtu) {
      if (spec.tellsMtu) tooBig(spec.mtu);
      return;
    }
    if (spec.lossPct > 0 && this.#percent(packet, ABOUT.loss) < spec.lossPct) return;
    if (spec.corruptPct > 0 && this.#percent(packet, ABOUT.corrupt) < spec.corruptPct)
      packet.corrupted = true;

    let out = now;
    if (spec.rate !== null) {
      const limit = Math.max(QUEUE_MIN_BYTES, spec.rate * QUEUE_US);
      const waiting = Math.max(0, this.#queueFreeAt - now);
      if (waiting * spec.rate + packet.bytes > limit) return;
      out = now + waiting + packet.bytes / spec.rate;
      this.#queueFreeAt = out;
    }
    out += spec.delayUs;
    if (spec.jitterUs > 0) {
      const swing = drawBetween(this.#about(packet), ABOUT.jitter, -spec.jitterUs, spec.jitterUs);
      out = Math.max(now, out + swing);
    }
    // Jitter alone keeps the order of a conversation; only `reorderPct` changes it.
    const arrival = Math.max(out, packet.lane.lastArrival.get(this) ?? 0);
    if (spec.reorderPct > 0) this.#reorder(packet, spec, arrival, onward);
    else this.#release(packet, arrival, onward);
  }

  #reorder(packet: Packet, spec: LinkSpec, arrival: number, onward: () => void): void {
    const { held } = packet.lane;
    if (!held.has(this) && this.#percent(packet, ABOUT.reorder) < spec.reorderPct) {
      let gone = false;
      const release = () => {
        if (gone) return;
        gone = true;
        held.delete(this);
        onward();
      };
      // Mostly one packet overtakes, as on parallel paths of nearly equal length; sometimes a few.
      const luck = draw(this.#about(packet), ABOUT.overtaken);
      held.set(this, { overtakenBy: luck < 0.75 ? 1 : luck < 0.92 ? 2 : 4, release });
      this.#events.at(arrival + HOLD_US, release);
      return;
    }
    const waiting = held.get(this);
    this.#release(packet, arrival, onward);
    if (waiting === undefined) return;
    waiting.overtakenBy -= 1;
    if (waiting.overtakenBy === 0) this.#events.at(arrival + 1, waiting.release);
  }

  #release(packet: Packet, arrival: number, onward: () => void): void {
    packet.lane.lastArrival.set(this, arrival);
    if (arrival <= this.#events.now) onward();
    else this.#events.at(arrival, onward);
  }

  #about(packet: Packet): number {
    return (packet.lane.seed ^ this.#salt) + Math.imul(packet.serial, 0x9e3779b1);
  }

  #percent(packet: Packet, question: number): number {
    return draw(this.#about(packet), question) * 100;
  }
}
