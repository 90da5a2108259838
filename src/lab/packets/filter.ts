/** Azure's packet capture filters: protocol, local and remote address and port; a packet passes when one matches. */
import { CODES, EXIT, WritError } from '../../core/index.ts';
import { parseIp } from '../network/ipv4.ts';
import type { Packet } from './sim/packet.ts';

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

export interface PacketFilter {
  /** Nothing is filtered, so frames that are not IP are kept too. */
  readonly passesAll: boolean;
  passes(packet: Packet, way: 'out' | 'in'): boolean;
}

type Spans = readonly { readonly low: number; readonly high: number }[];

interface Rule {
  readonly protocol: 'TCP' | 'UDP' | 'Any';
  readonly localIp: Spans | null;
  readonly remoteIp: Spans | null;
  readonly localPort: Spans | null;
  readonly remotePort: Spans | null;
}

/** Absent filters let everything pass; an empty list lets nothing pass. */
export function compileFilters(filters: readonly CaptureFilter[] | undefined): PacketFilter {
  if (filters === undefined) return { passesAll: true, passes: () => true };
  const rules = filters.map(compileRule);
  return {
    passesAll: false,
    passes: (packet, way) => rules.some((rule) => matches(rule, packet, way)),
  };
}

function compileRule(filter: CaptureFilter): Rule {
  const protocol = filter.protocol ?? 'Any';
  if (protocol !== 'TCP' && protocol !== 'UDP' && protocol !== 'Any')
    throw wrong('protocol', String(protocol));
  return {
    protocol,
    localIp: spans(filter.localIPAddress, 'localIPAddress', parseIp),
    remoteIp: spans(filter.remoteIPAddress, 'remoteIPAddress', parseIp),
    localPort: spans(filter.localPort, 'localPort', parsePort),
    remotePort: spans(filter.remotePort, 'remotePort', parsePort),
  };
}

function parsePort(text: string): number | undefined {
  return /^\d{1,5}$/u.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}

function spans(
  text: string | undefined,
  field: string,
  parse: (text: string) => number | undefined,
): Spans | null {
  if (text === undefined || text.trim() === '') return null;
  return text.split(';').map((part) => {
    const [low, high, ...rest] = part.trim().split('-').map(parse);
    if (low === undefined || rest.length > 0 || (part.includes('-') && high === undefined))
      throw wrong(field, part);
    return { low, high: high ?? low };
  });
}

function wrong(field: string, value: string): WritError {
  return new WritError(CODES.invalid_input, `capture filter: ${field} cannot be ${JSON.stringify(value)}`, {
    suggestion:
      'Write one value, a range such as 80-85, or several joined by ";"; protocol is TCP, UDP or Any.',
    exit: EXIT.usage,
  });
}

function matches(rule: Rule, packet: Packet, way: 'out' | 'in'): boolean {
  const { body } = packet;
  const ported = body.kind === 'tcp' || body.kind === 'udp';
  if (rule.protocol !== 'Any' && rule.protocol.toLowerCase() !== body.kind) return false;
  const out = way === 'out';
  const local = out ? packet.source : packet.destination;
  const remote = out ? packet.destination : packet.source;
  if (!within(rule.localIp, local) || !within(rule.remoteIp, remote)) return false;
  if (rule.localPort === null && rule.remotePort === null) return true;
  if (!ported) return false;
  const localPort = out ? body.sourcePort : body.destinationPort;
  const remotePort = out ? body.destinationPort : body.sourcePort;
  return within(rule.localPort, localPort) && within(rule.remotePort, remotePort);
}

function within(list: Spans | null, value: number): boolean {
  return list === null || list.some(({ low, high }) => low <= value && value <= high);
}
