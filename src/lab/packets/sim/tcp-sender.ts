/**
 * The sending half of a TCP endpoint: congestion window, retransmission, zero-window probing.
 *
 * Offsets count from the initial sequence number: 0 is the SYN, data begins at 1, the FIN follows the data.
 *
 * 1. `una <= nxt <= max`; bytes below `una` are never sent again.
 * 2. Never more than min(congestion window, peer window) in flight, except one-byte probes of a closed window.
 * 3. Three duplicate ACKs retransmit the first hole, and each further one the next hole SACK shows. When SACK
 *    then shows no hole at all, nothing was lost but overtaken: recovery is undone, and next time it takes more.
 * 4. A timeout halves the threshold, closes the window to one segment and doubles the timer (from 200 ms, as Linux).
 */
import type { EventQueue } from './events.ts';
import { RangeSet } from './ranges.ts';

export interface Outgoing {
  readonly offset: number;
  readonly length: number;
  readonly push: boolean;
  readonly fin: boolean;
}

const MIN_RTO_US = 200_000;
const MAX_RTO_US = 60_000_000;
const INITIAL_WINDOW_SEGMENTS = 10;
const MAX_DUPLICATES = 9;

export class TcpSender {
  una = 1;
  nxt = 1;
  max = 1;
  /** End of what the application has written. */
  written = 1;
  finQueued = false;
  mss: number;
  rtoUs = 1_000_000;
  stopped = false;
  readonly #events: EventQueue;
  readonly #emit: (segment: Outgoing) => void;
  readonly #sacked = new RangeSet();
  #cwnd: number;
  #ssthresh = Number.POSITIVE_INFINITY;
  #peerEdge = 1;
  #peerWindow = 0;
  #widestWindow = 0;
  #duplicates = 0;
  /** End of what was in flight when recovery began; `null` outside recovery. */
  #recover: number | null = null;
  #retransmittedTo = 1;
  /** What recovery goes back to when it turns out to have been for nothing. */
  #undoWindow = 0;
  #undoThreshold = Number.POSITIVE_INFINITY;
  #firstRetransmitted = 1;
  #duplicateLimit = 3;
  #srttUs: number | null = null;
  #rttvarUs = 0;
  #deadline: number | null = null;
  #timerRunning = false;
  #probeWaitUs: number | null = null;

  constructor(events: EventQueue, mss: number, emit: (segment: Outgoing) => void) {
    this.#events = events;
    this.#emit = emit;
    this.mss = mss;
    this.#cwnd = INITIAL_WINDOW_SEGMENTS * mss;
  }

  get finished(): boolean {
    return this.finQueued && this.una > this.written;
  }

  get allAcknowledged(): boolean {
    return this.una >= this.written;
  }

  write(bytes: number): void {
    this.written += bytes;
    this.pump();
  }

  close(): void {
    this.finQueued = true;
    this.pump();
  }

  /** The application gives up: what is not yet on the wire is forgotten, the FIN follows what is. */
  abandonUnsent(): void {
    this.written = Math.min(this.written, this.max);
    this.close();
  }

  /** The network said how much fits: cut segments smaller and send the lost ones again at once. */
  limitSegment(mss: number): void {
    if (mss >= this.mss) return;
    this.mss = mss;
    this.nxt = this.una;
    this.pump();
  }

  sampleRtt(rttUs: number): void {
    if (this.#srttUs === null) {
      this.#srttUs = rttUs;
      this.#rttvarUs = rttUs / 2;
    } else {
      this.#rttvarUs = 0.75 * this.#rttvarUs + 0.25 * Math.abs(this.#srttUs - rttUs);
      this.#srttUs = 0.875 * this.#srttUs + 0.125 * rttUs;
    }
    // Linux keeps the variance part at no less than the minimum, which is why idle paths wait 200 ms and more.
    this.rtoUs = Math.min(MAX_RTO_US, this.#srttUs + Math.max(MIN_RTO_US, 4 * this.#rttvarUs));
  }

  onAck(ack: number, window: number, sack: readonly { from: number; to: number }[], bare: boolean): void {
    if (this.stopped || ack > this.max + 1) return;
    const sameWindow = window === this.#peerWindow;
    this.#peerWindow = window;
    this.#peerEdge = Math.max(this.#peerEdge, ack + window);
    if (window === 0) this.#peerEdge = ack;
    this.#widestWindow = Math.max(this.#widestWindow, window);
    for (const block of sack) if (block.from >= ack) this.#sacked.add(block.from, block.to);

    if (ack > this.una) this.#advance(ack);
    else if (ack === this.una && bare && sameWindow && this.max > this.una) this.#duplicate();
    this.pump();
  }

  #advance(ack: number): void {
    const acked = ack - this.una;
    this.una = ack;
    this.nxt = Math.max(this.nxt, ack);
    this.max = Math.max(this.max, ack);
    this.#sacked.dropBelow(ack);
    this.#probeWaitUs = null;
    const holes = this.#sacked.highest > ack;
    if (this.#recover !== null && ack < this.#recover && holes) {
      this.#cwnd = Math.max(this.mss, this.#cwnd - acked + this.mss);
      if (this.una >= this.#retransmittedTo) this.#retransmitFrom(this.una);
    } else if (this.#recover !== null && ack < this.#recover && ack > this.#firstRetransmitted) {
      this.#undo();
    } else {
      if (this.#recover !== null) this.#cwnd = Math.max(2 * this.mss, this.#ssthresh);
      this.#recover = null;
      this.#duplicates = 0;
      if (this.#cwnd < this.#ssthresh) this.#cwnd += Math.min(acked, 2 * this.mss);
      else this.#cwnd += Math.max(1, (this.mss * this.mss) / this.#cwnd);
    }
    this.#restartTimer();
  }

  #undo(): void {
    this.#recover = null;
    this.#duplicates = 0;
    this.#cwnd = this.#undoWindow;
    this.#ssthresh = this.#undoThreshold;
    this.#duplicateLimit = Math.min(MAX_DUPLICATES, this.#duplicateLimit + 2);
  }

  #duplicate(): void {
    this.#duplicates += 1;
    if (this.#recover !== null) {
      this.#cwnd += this.mss;
      const hole = this.#sacked.firstGap(Math.max(this.una, this.#retransmittedTo));
      if (hole < this.#sacked.highest) this.#retransmitFrom(hole);
      return;
    }
    if (this.#duplicates !== this.#duplicateLimit) return;
    this.#undoWindow = this.#cwnd;
    this.#undoThreshold = this.#ssthresh;
    this.#firstRetransmitted = Math.min(this.una + this.mss, this.written);
    this.#ssthresh = Math.max(2 * this.mss, (this.max - this.una) / 2);
    this.#cwnd = this.#ssthresh + 3 * this.mss;
    this.#recover = this.max;
    this.#retransmitFrom(this.una);
    this.#restartTimer();
  }

  #retransmitFrom(offset: number): void {
    const length = Math.max(
      0,
      Math.min(this.mss, this.written - offset, this.#sacked.nextFrom(offset) - offset),
    );
    this.#retransmittedTo = offset + Math.max(1, length);
    this.#send(offset, length);
  }

  /** Sends what the windows allow. */
  pump(): void {
    if (this.stopped) return;
    for (;;) {
      if (this.nxt < this.max) this.nxt = Math.min(this.max, this.#sacked.firstGap(this.nxt));
      const inFlight = this.nxt - this.una - this.#sacked.bytes;
      if (this.nxt >= this.written) {
        if (!this.finQueued || this.nxt > this.written) break;
        this.#send(this.nxt, 0);
        this.nxt += 1;
        this.max = Math.max(this.max, this.nxt);
        continue;
      }
      const room = this.#peerEdge - this.nxt;
      let length = Math.min(this.mss, this.written - this.nxt, this.#sacked.nextFrom(this.nxt) - this.nxt);
      if (length > room) {
        // Rather wait than send scraps (RFC 1122 4.2.3.4), unless nothing else would ever move.
        if (room <= 0 || (inFlight > 0 && room < this.#widestWindow / 2)) break;
        length = room;
      }
      if (inFlight > 0 && inFlight + length > this.#cwnd) break;
      this.#send(this.nxt, length);
      this.nxt += length;
      // A FIN that leaves with the last data takes the sequence number after it.
      if (this.nxt === this.written && this.finQueued) this.nxt += 1;
      this.max = Math.max(this.max, this.nxt);
    }
    if (this.max > this.una) this.#startTimer();
    else if (this.nxt < this.written) this.#probeLater();
  }

  #send(offset: number, length: number): void {
    const end = offset + length;
    this.#emit({
      offset,
      length,
      push: length > 0 && end === this.written,
      fin: this.finQueued && end === this.written,
    });
  }

  #startTimer(): void {
    if (this.#deadline === null) this.#restartTimer();
  }

  #restartTimer(): void {
    this.#deadline = this.max > this.una ? this.#events.now + this.rtoUs : null;
    if (this.#deadline !== null && !this.#timerRunning) this.#wait(this.#deadline);
  }

  /** One event at a time: when it fires early because the deadline moved, it waits for the rest. */
  #wait(until: number): void {
    this.#timerRunning = true;
    this.#events.at(until, () => {
      this.#timerRunning = false;
      if (this.stopped || this.#deadline === null) return;
      if (this.#events.now < this.#deadline) this.#wait(this.#deadline);
      else this.#timeout();
    });
  }

  #timeout(): void {
    this.#ssthresh = Math.max(2 * this.mss, (this.max - this.una) / 2);
    this.#cwnd = this.mss;
    this.#duplicates = 0;
    this.#recover = null;
    this.#retransmittedTo = this.una;
    this.rtoUs = Math.min(MAX_RTO_US, this.rtoUs * 2);
    this.nxt = this.una;
    this.#deadline = null;
    this.pump();
    this.#restartTimer();
  }

  /** The peer's window is closed and nothing is in flight: ask with one byte, ever less often. */
  #probeLater(): void {
    if (this.#probeWaitUs !== null) return;
    this.#probeWaitUs = Math.max(MIN_RTO_US, this.rtoUs);
    this.#probeAfter();
  }

  #probeAfter(): void {
    const wait = this.#probeWaitUs;
    if (wait === null) return;
    this.#events.after(wait, () => {
      if (this.stopped || this.#probeWaitUs !== wait) return;
      if (this.max > this.una || this.nxt >= this.written || this.#peerEdge > this.nxt) {
        this.#probeWaitUs = null;
        return;
      }
      this.#emit({ offset: this.nxt, length: 1, push: false, fin: false });
      this.#probeWaitUs = Math.min(MAX_RTO_US, wait * 2);
      this.#probeAfter();
    });
  }
}
