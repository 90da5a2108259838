interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads the Prometheus text format by its grammar; throws at the first line that is not in it. */
export function parseMetrics(text: string) {
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  if (!text.endsWith('\n')) throw new Error('the last line does not end');
  for (const line of text.slice(0, -1).split('\n')) {
    const type = /^# TYPE ([a-zA-Z_:][\w:]*) (counter|gauge|histogram|summary|untyped)$/.exec(line);
    if (type) {
      if (types.has(type[1]!)) throw new Error(`twice: ${line}`);
      types.set(type[1]!, type[2]!);
      continue;
    }
    const found = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!found) throw new Error(`not a sample: ${line}`);
    const [, name, labels = '', value] = found;
    const pairs = [...labels.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/g)];
    if (pairs.map((p) => p[0]).join('') !== labels) throw new Error(`bad labels: ${line}`);
    const family = name!.replace(/_(bucket|sum|count)$/, '');
    if (!types.has(name!) && !types.has(family)) throw new Error(`no type before ${line}`);
    if (Number.isNaN(Number(value))) throw new Error(`no number: ${line}`);
    samples.push({
      name: name!,
      labels: Object.fromEntries(pairs.map((p) => [p[1]!, p[2]!])),
      value: Number(value),
    });
  }
  return { types, samples };
}
