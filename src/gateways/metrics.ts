/** Counters in the text format that Prometheus reads. Labels come from configuration, never from callers' text. */
export interface Metrics {
  count(name: string, labels?: Readonly<Record<string, string>>, by?: number): void;
  text(): string;
}

const MAX_SERIES = 2000;

export function createMetrics(prefix: string): Metrics {
  const series = new Map<string, number>();
  return {
    count: (name, labels = {}, by = 1) => {
      const shown = Object.entries(labels)
        .map(([key, value]) => `${key}="${value.replace(/[\\"\n]/g, '_')}"`)
        .join(',');
      const id = `${prefix}_${name}${shown === '' ? '' : `{${shown}}`}`;
      // A bound whatever labels turn up: a series too many is dropped, memory stays.
      if (series.has(id) || series.size < MAX_SERIES) series.set(id, (series.get(id) ?? 0) + by);
    },
    text: () =>
      [...series]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([id, value]) => `${id} ${value}\n`)
        .join(''),
  };
}
