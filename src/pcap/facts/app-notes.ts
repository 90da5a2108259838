/** Notes on applications: TLS names and alerts, HTTP status lines, DHCP messages. Never payload beyond these. */
import { type DhcpFacts, type HttpFacts, LIST_BOUND, type TlsFacts } from '../analysis.ts';
import type { Engine } from '../engine.ts';
import { u16be } from '../read/bytes.ts';
import { counting } from './tally.ts';
import { addressText, ipv4Text, safeText } from './text.ts';

const MAX_NAMES = 8192;

const ALERTS: Readonly<Record<number, string>> = {
  0: 'close_notify',
  10: 'unexpected_message',
  20: 'bad_record_mac',
  40: 'handshake_failure',
  42: 'bad_certificate',
  43: 'unsupported_certificate',
  44: 'certificate_revoked',
  45: 'certificate_expired',
  46: 'certificate_unknown',
  47: 'illegal_parameter',
  48: 'unknown_ca',
  49: 'access_denied',
  50: 'decode_error',
  51: 'decrypt_error',
  70: 'protocol_version',
  71: 'insufficient_security',
  80: 'internal_error',
  86: 'inappropriate_fallback',
  90: 'user_canceled',
  109: 'missing_extension',
  112: 'unrecognized_name',
  116: 'certificate_required',
  120: 'no_application_protocol',
};

const DHCP_TYPES = [
  '',
  'DISCOVER',
  'OFFER',
  'REQUEST',
  'DECLINE',
  'ACK',
  'NAK',
  'RELEASE',
  'INFORM',
] as const;

export class AppNotes {
  #hellos = 0;
  readonly #names = counting(MAX_NAMES);
  readonly #alerts = counting(4096);
  #requests = 0;
  #responses = 0;
  readonly #statuses = counting(1000);
  readonly #dhcpTypes = counting(32);
  readonly #dhcpServers = new Set<string>();
  readonly #discovers = new Map<number, number>();
  readonly #dhcpFrames: number[] = [];

  /** A ClientHello at the start of a segment: its server name, if the segment holds it. */
  clientHello(e: Engine, b: Uint8Array, o: number, end: number): void {
    this.#hellos++;
    const name = serverName(b, o, end);
    if (name === undefined) return;
    const entry = this.#names.of(safeText(name).toLowerCase());
    if (entry === undefined) return;
    entry.value.count++;
    entry.frame(e.frameNumber);
  }

  alert(e: Engine, level: number, description: number): void {
    const text = ALERTS[description] ?? `alert ${description}`;
    const severity = level === 1 ? 'warning' : level === 2 ? 'fatal' : 'other';
    const key = `${addressText(e.src, e.family)} ${addressText(e.dst, e.family)} ${severity} ${text}`;
    const entry = this.#alerts.of(key);
    if (entry === undefined) return;
    entry.value.count++;
    entry.frame(e.frameNumber);
  }

  httpRequest(): void {
    this.#requests++;
  }

  httpStatus(frame: number, status: number): void {
    this.#responses++;
    const entry = this.#statuses.of(String(status));
    if (entry === undefined) return;
    entry.value.count++;
    entry.frame(frame);
  }

  dhcp(frame: number, type: number, server: number, transaction: number): void {
    const entry = this.#dhcpTypes.of(DHCP_TYPES[type] ?? `type ${type}`);
    if (entry !== undefined) entry.value.count++;
    if (this.#dhcpFrames.length < 5) this.#dhcpFrames.push(frame);
    if (server !== 0 && this.#dhcpServers.size < LIST_BOUND) this.#dhcpServers.add(ipv4Text(server));
    if (type === 1 && this.#discovers.size < 65_536) this.#discovers.set(transaction, frame);
    else if (type === 2 || type === 5 || type === 6) this.#discovers.delete(transaction);
  }

  tls(): TlsFacts | null {
    if (this.#hellos === 0 && this.#alerts.total === 0) return null;
    return {
      client_hellos: this.#hellos,
      server_names: {
        total: this.#names.total,
        items: this.#names
          .top(LIST_BOUND, ({ value }) => value.count)
          .map(({ key, value, frames }) => ({ name: key, count: value.count, sample_frames: frames })),
      },
      alerts: {
        total: this.#alerts.total,
        items: this.#alerts
          .top(LIST_BOUND, ({ value }) => value.count)
          .map(({ key, value, frames }) => {
            const [src = '', dst = '', level = '', ...rest] = key.split(' ');
            return {
              src,
              dst,
              level: level === 'warning' || level === 'fatal' ? level : 'other',
              description: rest.join(' '),
              count: value.count,
              sample_frames: frames,
            };
          }),
      },
    };
  }

  http(): HttpFacts | null {
    if (this.#requests + this.#responses === 0) return null;
    return {
      requests: this.#requests,
      responses: this.#responses,
      statuses: this.#statuses
        .top(100, ({ value }) => value.count)
        .map(({ key, value, frames }) => ({
          status: Number(key),
          count: value.count,
          sample_frames: frames,
        })),
    };
  }

  dhcpFacts(): DhcpFacts | null {
    if (this.#dhcpTypes.total === 0) return null;
    const messages = this.#dhcpTypes
      .top(32, ({ value }) => value.count)
      .map(({ key, value }) => ({ type: key, count: value.count }));
    return {
      messages,
      servers: [...this.#dhcpServers],
      discovers_unanswered: this.#discovers.size,
      naks: messages.find(({ type }) => type === 'NAK')?.count ?? 0,
      sample_frames: this.#dhcpFrames,
    };
  }
}

/** Walks a ClientHello inside one TLS record to the server_name extension. */
function serverName(b: Uint8Array, o: number, end: number): string | undefined {
  let at = o + 9 + 2 + 32;
  if (at >= end) return undefined;
  at += 1 + b[at]!;
  if (at + 2 > end) return undefined;
  at += 2 + u16be(b, at);
  if (at >= end) return undefined;
  at += 1 + b[at]!;
  if (at + 2 > end) return undefined;
  const stop = Math.min(end, at + 2 + u16be(b, at));
  at += 2;
  while (at + 4 <= stop) {
    const type = u16be(b, at);
    const length = u16be(b, at + 2);
    if (type === 0 && length >= 5 && at + 9 <= stop) {
      const size = Math.min(u16be(b, at + 7), stop - (at + 9), 255);
      return String.fromCharCode(...b.subarray(at + 9, at + 9 + size));
    }
    at += 4 + length;
  }
  return undefined;
}
