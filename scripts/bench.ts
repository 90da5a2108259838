/** `npm run bench [-- --quick] [room…]`: measures what the design promises and writes bench/results.json. */
import { globSync, writeFileSync } from 'node:fs';
import { arch, cpus, platform } from 'node:os';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Bench, BenchRow } from '../bench/bench.ts';

const words = process.argv.slice(2);
const quick = words.includes('--quick');
const only = words.filter((word) => !word.startsWith('-'));
const results: Record<string, readonly BenchRow[]> = {};
let missed = 0;

for (const file of globSync('bench/*.bench.ts').sort()) {
  const room = basename(file, '.bench.ts');
  if (only.length > 0 && !only.includes(room)) continue;
  const { bench } = (await import(pathToFileURL(resolve(file)).href)) as { bench: Bench };
  process.stdout.write(`\n${bench.name}\n`);
  const rows = await bench.run({ quick });
  results[room] = rows;
  for (const row of rows) {
    const verdict = judge(row);
    if (verdict === false) missed++;
    const mark = verdict === undefined ? ' ' : verdict ? '✓' : '✗';
    process.stdout.write(
      `  ${mark} ${row.what}: ${format(row.value)} ${row.unit}${row.spread ? ` (spread ${row.spread})` : ''}${row.target ? `  target ${row.target}` : ''}\n      inside the clock: ${row.inside}\n`,
    );
  }
}

writeFileSync(
  'bench/results.json',
  `${JSON.stringify({ measured_at: new Date().toISOString(), quick, machine: { node: process.version, platform: platform(), arch: arch(), cpu: cpus()[0]?.model ?? '?', cores: cpus().length }, results }, null, 2)}\n`,
);
process.stdout.write(
  `\nwritten: bench/results.json; ${missed === 0 ? 'every target met' : `${missed} target(s) missed`}\n`,
);

/** True or false against the target, undefined where there is none. */
function judge({ value, target }: BenchRow): boolean | undefined {
  const parsed = /^(>=|<=)\s*([\d.,]+)/.exec(target);
  if (!parsed) return undefined;
  const limit = Number(parsed[2]!.replaceAll(',', ''));
  return parsed[1] === '>=' ? value >= limit : value <= limit;
}

function format(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3);
}
