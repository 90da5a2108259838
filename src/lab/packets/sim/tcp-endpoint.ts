/**
 * One end of a TCP conversation: handshake, acknowledgments, closing, resets; data goes through the sender and
 * receiver halves. What the application does with it is the conversation's business (`tcp-conversation.ts`).
 */
import { FLAG, type TcpOptions } from '../wire/tcp.ts';
import type { EventQueue } from './events.ts';
import { TcpReceiver } from './tcp-receiver.ts';
import { type Outgoing, TcpSender } from './tcp-sender.ts';

export interface Segment {
  /** Relative to the sender's and the receiver's initial sequence numbers. */
  readonly offset: number;
  readonly ack: number;
  readonly flags: number;
  /** As it goes on the wire: scaled except in a SYN. */
  readonly window: number;
  readonly length: number;
  readonly options: TcpOptions;
}

export interface EndpointSettings {
  readonly mss: number;
  readonly buffer: number;
  readonly scale: number;
  /** Start of this host's timestamp clock, milliseconds. */
  readonly clockBase: number;
}

export interface Application {
  connected(): void;
  /** Data is waiting to be read. */
  readable(): void;
  /** The peer has sent all it will. */
  peerClosed(): void;
  ended(): void;
}

type State = 'closed' | 'listen' | 'syn_sent' | 'syn_received' | 'open' | 'done';

const DELAYED_ACK_US = 40_000;
/** Linux acknowledges the first segments of a connection at once. */
const QUICK_ACKS = 8;
const MAX_SYN_RETRIES = 6;
const TIMESTAMP_BYTES = 12;
export const HEADER_AND_TIMESTAMP = 40 + TIMESTAMP_BYTES;

export class TcpEndpoint {
  state: State = 'closed';
  readonly sender: TcpSender;
  readonly receiver: TcpReceiver;
  readonly #events: EventQueue;
  readonly #settings: EndpointSettings;
  readonly #transmit: (segment: Segment) => void;
  readonly #app: Application;
  #peerScale = 0;
  #echo = 0;
  #unacknowledged = 0;
  #quick = QUICK_ACKS;
  #ackTimer = false;
  #synTries = 0;
  /** Closed in good order: a FIN that comes again is still acknowledged. */
  #timeWait = false;

  constructor(
    events: EventQueue,
    settings: EndpointSettings,
    transmit: (segment: Segment) => void,
    app: Application,
  ) {
    this.#events = events;
    this.#settings = settings;
    this.#transmit = transmit;
    this.#app = app;
    this.receiver = new TcpReceiver(settings.buffer, settings.scale);
    this.sender = new TcpSender(events, settings.mss - TIMESTAMP_BYTES, (out) => this.#sendData(out));
  }

  connect(): void {
    this.state = 'syn_sent';
    this.#sendSyn(FLAG.syn);
  }

  listen(): void {
    this.state = 'listen';
  }

  /** Ends at once, telling the peer. */
  reset(): void {
    if (this.state === 'done') return;
    this.#emit(FLAG.rst | FLAG.ack, this.sender.nxt, 0, 0);
    this.stop();
  }

  /** Ends at once, telling nobody. */
  stop(): void {
    if (this.state === 'done') return;
    this.state = 'done';
    this.sender.stopped = true;
    this.#app.ended();
  }

  receive(segment: Segment): void {
    const { flags } = segment;
    if (this.#timeWait && (flags & FLAG.fin) !== 0) this.acknowledge();
    if (this.state === 'done' || this.state === 'closed') return;
    if ((flags & FLAG.rst) !== 0) {
      this.stop();
      return;
    }
    if (segment.options.timestamp !== undefined) this.#echo = segment.options.timestamp.value;
    if ((flags & FLAG.syn) !== 0) {
      this.#receiveSyn(segment);
      return;
    }
    if (this.state === 'syn_received' && segment.ack >= 1) this.#open();
    if (this.state !== 'open') return;
    const bare = segment.length === 0 && (flags & FLAG.fin) === 0;
    this.#sample(segment);
    this.sender.onAck(segment.ack, segment.window << this.#peerScale, segment.options.sack ?? [], bare);
    if (!bare) this.#receiveData(segment);
    if (this.sender.finished && this.receiver.finReached) {
      this.#timeWait = true;
      this.stop();
    }
  }

  #receiveSyn(segment: Segment): void {
    this.#peerScale = segment.options.windowScale ?? 0;
    if (segment.options.mss !== undefined) {
      this.sender.mss = Math.min(this.sender.mss, segment.options.mss - TIMESTAMP_BYTES);
    }
    switch (this.state) {
      case 'listen':
        this.state = 'syn_received';
        this.#sendSyn(FLAG.syn | FLAG.ack);
        return;
      case 'syn_received':
        // The client asks again: our answer was lost. Answer at once, the timer keeps its own pace.
        this.#emitSyn(FLAG.syn | FLAG.ack);
        return;
      case 'syn_sent':
        if ((segment.flags & FLAG.ack) === 0) return;
        this.#sample(segment);
        this.sender.onAck(1, segment.window, [], false);
        this.acknowledge();
        this.#open();
        return;
      case 'open':
        // The last ACK of the handshake was lost.
        this.acknowledge();
        return;
      case 'closed':
      case 'done':
        return;
    }
  }

  #open(): void {
    this.state = 'open';
    this.#app.connected();
  }

  #sample(segment: Segment): void {
    const echoed = segment.options.timestamp?.echo ?? 0;
    if (echoed === 0 || (segment.ack <= this.sender.una && segment.ack !== 1)) return;
    const rttMs = (this.#timestamp() - echoed) | 0;
    if (rttMs >= 0) this.sender.sampleRtt(Math.max(300, rttMs * 1000));
  }

  #receiveData(segment: Segment): void {
    const fin = (segment.flags & FLAG.fin) !== 0;
    const finBefore = this.receiver.finReached;
    const taken = this.receiver.take(segment.offset, segment.length, fin);
    const nowClosed = this.receiver.finReached && !finBefore;
    this.#unacknowledged += 1;
    if (taken === 'in_order' && segment.length > 0) this.#app.readable();
    if (nowClosed && this.state === 'open') this.#app.peerClosed();
    // The application may have answered, and its data carried the acknowledgment along.
    if (this.#unacknowledged === 0 || this.state === 'done') return;
    if (taken !== 'in_order' || nowClosed || this.#unacknowledged >= 2 || this.#quick > 0) this.acknowledge();
    else this.#acknowledgeLater();
  }

  acknowledge(): void {
    this.#quick -= 1;
    this.#emit(FLAG.ack, this.sender.nxt, 0, this.receiver.advertise());
  }

  #acknowledgeLater(): void {
    if (this.#ackTimer) return;
    this.#ackTimer = true;
    this.#events.after(DELAYED_ACK_US, () => {
      this.#ackTimer = false;
      if (this.state === 'open' && this.#unacknowledged > 0) this.acknowledge();
    });
  }

  #sendData(out: Outgoing): void {
    let flags: number = FLAG.ack;
    if (out.push) flags |= FLAG.psh;
    if (out.fin) flags |= FLAG.fin;
    this.#emit(flags, out.offset, out.length, this.receiver.advertise());
  }

  #emit(flags: number, offset: number, length: number, window: number): void {
    this.#unacknowledged = 0;
    const sack = this.receiver.sack();
    this.#transmit({
      offset,
      ack: this.receiver.next,
      flags,
      window: window >>> this.receiver.scale,
      length,
      options: {
        timestamp: { value: this.#timestamp(), echo: this.#echo },
        ...(sack.length > 0 && (flags & FLAG.rst) === 0 ? { sack } : {}),
      },
    });
  }

  /** Sends the SYN (or SYN-ACK) and repeats it after 1, 2, 4, 8 … seconds. */
  #sendSyn(flags: number): void {
    const waiting = this.state;
    this.#emitSyn(flags);
    const wait = 1_000_000 * 2 ** this.#synTries;
    this.#synTries += 1;
    this.#events.after(wait, () => {
      if (this.state !== waiting) return;
      if (this.#synTries > MAX_SYN_RETRIES) this.stop();
      else this.#sendSyn(flags);
    });
  }

  #emitSyn(flags: number): void {
    // A window in a SYN is never scaled; the buffer may be larger than 16 bits can say.
    const window = Math.min(65_535, this.receiver.buffer, 64_240);
    this.#transmit({
      offset: 0,
      ack: (flags & FLAG.ack) === 0 ? 0 : this.receiver.next,
      flags,
      window,
      length: 0,
      options: {
        mss: this.#settings.mss,
        sackPermitted: true,
        timestamp: { value: this.#timestamp(), echo: (flags & FLAG.ack) === 0 ? 0 : this.#echo },
        windowScale: this.#settings.scale,
      },
    });
  }

  #timestamp(): number {
    const nowMs = this.#events.originMs + Math.floor(this.#events.now / 1000);
    return (this.#settings.clockBase + nowMs) >>> 0;
  }
}
