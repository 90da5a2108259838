import type { Analysis, TcpStream } from '../analysis.ts';
import { endpointText } from '../facts/text.ts';
import type { Finding, Severity } from '../semantic/types.ts';

/** A rule looks at one analysis and answers what it found. Pure: the same analysis gives the same findings. */
export interface FindingRule {
  readonly id: string;
  readonly find: (analysis: Analysis) => readonly Finding[];
}

export interface FindingFacts {
  readonly severity: Severity;
  readonly title: string;
  readonly explanation: string;
  readonly frames: readonly number[];
  /** Made by `predicate`: a display filter anyone can run again, and what it must show. */
  readonly predicate: string;
  readonly remediation: readonly string[];
}

/** One rule speaks of at most this many services or machines: the report stays small for any capture. */
export const MOST = 3;
const MAX_FRAMES = 10;

export function rule(id: string, find: (analysis: Analysis) => readonly FindingFacts[]): FindingRule {
  return {
    id,
    find: (analysis) =>
      find(analysis).map((facts, i, all) => ({
        id: all.length === 1 ? id : `${id}-${i + 1}`,
        ...facts,
        frames: [...new Set(facts.frames)].sort((a, b) => a - b).slice(0, MAX_FRAMES),
      })),
  };
}

/** Streams a rule may look at: those with issues first, then the largest. */
export function streamsOf(analysis: Analysis): readonly TcpStream[] {
  const tcp = analysis.tcp;
  if (tcp === null) return [];
  const known = new Set(tcp.with_issues.items.map((s) => s.stream_id));
  return [...tcp.with_issues.items, ...tcp.largest.items.filter((s) => !known.has(s.stream_id))];
}

/** Streams of one rule that go to the same service: one finding a service, not one a stream. */
export interface ServiceGroup {
  readonly address: string;
  readonly port: number;
  /** `address:port`, brackets around IPv6. */
  readonly name: string;
  readonly streams: readonly TcpStream[];
}

export function byServer(streams: readonly TcpStream[]): readonly ServiceGroup[] {
  const groups = new Map<string, TcpStream[]>();
  for (const s of streams) {
    const key = endpointText(s.server.address, s.server.port);
    const group = groups.get(key) ?? [];
    group.push(s);
    groups.set(key, group);
  }
  return [...groups]
    .map(([name, group]) => ({ ...group[0]!.server, name, streams: group }))
    .sort((a, b) => b.streams.length - a.streams.length)
    .slice(0, MOST);
}

/** A few frames of each stream, so that every one has its say. */
export function framesOf(
  streams: readonly TcpStream[],
  of: (s: TcpStream) => readonly number[],
): readonly number[] {
  return streams.slice(0, MAX_FRAMES).flatMap((s) => of(s).slice(0, 3));
}

export const sidesOf = (s: TcpStream) => [s.from_client, s.from_server] as const;
