import type { Analysis, TcpStream } from '../analysis.ts';
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
  /** A display filter with what it must match: anyone can run it again. */
  readonly predicate: string;
  readonly remediation: readonly string[];
}

export function rule(id: string, find: (analysis: Analysis) => readonly FindingFacts[]): FindingRule {
  return {
    id,
    find: (analysis) =>
      find(analysis).map((facts, i, all) => ({
        id: all.length === 1 ? id : `${id}-${i + 1}`,
        ...facts,
        frames: facts.frames.slice(0, 10),
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

export const between = (s: TcpStream) =>
  `${s.client.address}:${s.client.port} → ${s.server.address}:${s.server.port}`;

/** Streams of one rule grouped by the service they go to: one finding a service, not one a stream. */
export function byServer(
  streams: readonly TcpStream[],
): readonly (readonly [string, readonly TcpStream[]])[] {
  const groups = new Map<string, TcpStream[]>();
  for (const s of streams) {
    const key = `${s.server.address}:${s.server.port}`;
    const group = groups.get(key) ?? [];
    group.push(s);
    groups.set(key, group);
  }
  return [...groups].sort((a, b) => b[1].length - a[1].length).slice(0, 5);
}
