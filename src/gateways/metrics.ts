/**
 * Numbers in the text format that Prometheus reads.
 *
 * M1 Label values come from configuration or from fixed lists, never from callers' text.
 * M2 Bounded whatever labels turn up: a series too many is dropped.
 */
export interface Metrics {
  /** Adds to a counter; its name ends with `_total`. */
  count(name: string, labels?: Labels, by?: number): void;
  /** A duration, into a histogram. */
  observe(name: string, seconds: number, labels?: Labels): void;
  /** A value that goes up and down, read when asked. */
  gauge(name: string, read: () => number): void;
  text(): string;
}

type Labels = Readonly<Record<string, string>>;

interface Histogram {
  readonly labels: Labels;
  readonly buckets: number[];
  count: number;
  sum: number;
}

const MAX_SERIES = 2000;
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export function createMetrics(prefix: string): Metrics {
  const counters = new Map<string, Map<string, number>>();
  const histograms = new Map<string, Map<string, Histogram>>();
  const gauges = new Map<string, () => number>();
  let series = 0;
  const slot = <T>(families: Map<string, Map<string, T>>, name: string, id: string, fresh: () => T) => {
    const family = families.get(name) ?? new Map<string, T>();
    families.set(name, family);
    const known = family.get(id);
    if (known !== undefined || series >= MAX_SERIES) return known;
    series++;
    const made = fresh();
    family.set(id, made);
    return made;
  };
  return {
    count: (name, labels = {}, by = 1) => {
      const id = print(labels);
      const now = slot(counters, name, id, () => 0);
      if (now !== undefined) counters.get(name)?.set(id, now + by);
    },
    observe: (name, seconds, labels = {}) => {
      const found = slot(histograms, name, print(labels), () => ({
        labels,
        buckets: BOUNDS.map(() => 0),
        count: 0,
        sum: 0,
      }));
      if (found === undefined) return;
      found.count++;
      found.sum += seconds;
      for (let i = BOUNDS.length - 1; i >= 0 && seconds <= BOUNDS[i]!; i--) found.buckets[i]!++;
    },
    gauge: (name, read) => void gauges.set(name, read),
    text: () => {
      const lines: string[] = [];
      for (const [name, family] of sorted(counters)) {
        lines.push(`# TYPE ${prefix}_${name} counter`);
        for (const [id, value] of sorted(family)) lines.push(`${prefix}_${name}${id} ${value}`);
      }
      for (const [name, read] of sorted(gauges))
        lines.push(`# TYPE ${prefix}_${name} gauge`, `${prefix}_${name} ${read()}`);
      for (const [name, family] of sorted(histograms)) {
        lines.push(`# TYPE ${prefix}_${name} histogram`);
        for (const [, found] of sorted(family)) lines.push(...histogramLines(`${prefix}_${name}`, found));
      }
      return lines.map((line) => `${line}\n`).join('');
    },
  };
}

function histogramLines(name: string, { labels, buckets, count, sum }: Histogram): string[] {
  const id = print(labels);
  return [
    ...BOUNDS.map((bound, i) => `${name}_bucket${print({ ...labels, le: String(bound) })} ${buckets[i]}`),
    `${name}_bucket${print({ ...labels, le: '+Inf' })} ${count}`,
    `${name}_sum${id} ${sum}`,
    `${name}_count${id} ${count}`,
  ];
}

function print(labels: Labels): string {
  const shown = Object.entries(labels).map(
    ([key, value]) => `${key}="${value.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))}"`,
  );
  return shown.length === 0 ? '' : `{${shown.join(',')}}`;
}

function sorted<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
