/**
 * What TCP segments carry, as far as anything is said of it: DNS messages put together across segments, TLS
 * hellos and alerts, HTTP first lines.
 *
 * Bounds: a DNS message is at most 65,537 bytes; at most `MAX_PARTIAL` streams have one in the making.
 */
import { TCP_FLAG, TCP_VERDICT } from '../decode/bits.ts';
import { dnsMessage } from '../decode/dns.ts';
import type { Engine } from '../engine.ts';
import { u16be } from '../read/bytes.ts';
import { DnsAssembly } from './dns-assembly.ts';
import type { TcpTracker } from './tracker.ts';

const MAX_PARTIAL = 512;
const DNS_PORTS = new Set([53, 5353]);
/** Repetitions and late segments are not looked into: what they carry was or will be seen in order. */
const NOT_NEW = TCP_VERDICT.retransmission | TCP_VERDICT.out_of_order | TCP_VERDICT.keep_alive;

export class TcpPayloads {
  dropped = 0;
  readonly #assemblies = new Map<number, DnsAssembly>();

  take(
    e: Engine,
    t: TcpTracker,
    b: Uint8Array,
    o: number,
    end: number,
    wire: number,
    analysed: boolean,
  ): void {
    const first = b[o]!;
    if (DNS_PORTS.has(e.srcPort) || DNS_PORTS.has(e.dstPort)) {
      this.#dns(e, t, b, o, end, wire, analysed);
      return;
    }
    if (!e.facts || !analysed || (t.verdict & NOT_NEW) !== 0 || e.errorDepth > 0) return;
    if (first === 0x16 || first === 0x15) tlsNote(e, b, o, end);
    else if (first === 0x48) httpResponse(e, b, o, end);
    else if (first >= 0x43 && first <= 0x50) httpRequest(e, b, o, end);
  }

  forget(slot: number): void {
    if (this.#assemblies.size === 0) return;
    this.#assemblies.delete(slot * 2);
    this.#assemblies.delete(slot * 2 + 1);
  }

  #dns(
    e: Engine,
    t: TcpTracker,
    b: Uint8Array,
    o: number,
    end: number,
    wire: number,
    analysed: boolean,
  ): void {
    // A cut or quoted segment cannot be joined to others; it is read as far as it goes.
    if (!analysed || end < wire) {
      if ((t.verdict & NOT_NEW) === 0 && o + 2 < end) this.#message(e, b, o + 2, end, wire);
      return;
    }
    const key = t.slot * 2 + t.side;
    const assembly = this.#assemblies.get(key) ?? new DnsAssembly();
    const again = (t.verdict & (TCP_VERDICT.retransmission | TCP_VERDICT.spurious_retransmission)) !== 0;
    const readable = (t.verdict & NOT_NEW) === 0;
    // A SYN takes one number before its data.
    const seq = e.segment.seq + ((e.segment.flags & TCP_FLAG.syn) !== 0 ? 1 : 0);
    assembly.take(b, o, end, seq, e.frameNumber, again, readable, (bytes, from, to) =>
      this.#message(e, bytes, from, to, to),
    );
    if (!assembly.waiting) this.#assemblies.delete(key);
    else if (this.#assemblies.size < MAX_PARTIAL) this.#assemblies.set(key, assembly);
    else this.dropped++;
  }

  #message(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
    e.overTcp = true;
    dnsMessage(e, b, o, end, wire, 'dns');
    e.overTcp = false;
  }
}

function tlsNote(e: Engine, b: Uint8Array, o: number, end: number): void {
  if (o + 7 > end || b[o + 1] !== 3) return;
  if (b[o] === 0x15) {
    // Longer alerts are encrypted.
    if (u16be(b, o + 3) === 2) e.apps.alert(e, b[o + 5]!, b[o + 6]!);
  } else if (b[o + 5] === 1) e.apps.clientHello(e, b, o, end);
}

function httpResponse(e: Engine, b: Uint8Array, o: number, end: number): void {
  if (o + 12 > end || b[o + 1] !== 0x54 || b[o + 2] !== 0x54 || b[o + 3] !== 0x50 || b[o + 4] !== 0x2f)
    return;
  const status = (b[o + 9]! - 48) * 100 + (b[o + 10]! - 48) * 10 + (b[o + 11]! - 48);
  if (b[o + 8] === 0x20 && status >= 100 && status <= 999) e.apps.httpStatus(e.frameNumber, status);
}

const METHODS = ['GET ', 'POST ', 'PUT ', 'HEAD ', 'DELETE ', 'OPTIONS ', 'PATCH ', 'CONNECT '].map((word) =>
  Array.from(word, (char) => char.charCodeAt(0)),
);

function httpRequest(e: Engine, b: Uint8Array, o: number, end: number): void {
  for (const method of METHODS) {
    if (b[o] !== method[0] || o + method.length > end) continue;
    if (method.every((byte, i) => b[o + i] === byte)) {
      e.apps.httpRequest();
      return;
    }
  }
}
