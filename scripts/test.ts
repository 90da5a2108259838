/**
 * `npm test`: set-up, then types, lint and every test, then a closing summary that counts what was skipped
 * for want of a program and which requirements are still open. Arguments after `--` go to vitest.
 */
import { spawnSync } from 'node:child_process';
import { requirements } from '../test/requirements.ts';
import { ensureSystemPackages } from './system-packages.ts';

const missing = ensureSystemPackages();
const vitestArguments = process.argv.slice(2);

interface Stage {
  readonly name: string;
  readonly command: readonly string[];
}

const stages: readonly Stage[] = [
  { name: 'types', command: ['tsc', '-p', 'tsconfig.json'] },
  { name: 'lint', command: ['biome', 'ci', '--error-on-warnings', '.'] },
  { name: 'tests', command: ['vitest', 'run', ...vitestArguments] },
];

const outcomes = stages.map(({ name, command }) => {
  const started = performance.now();
  process.stdout.write(`\n── ${name} ──\n`);
  const [program, ...args] = command;
  const status = spawnSync(program!, args, { stdio: 'inherit' }).status ?? 1;
  return { name, status, seconds: (performance.now() - started) / 1000 };
});

process.stdout.write('\n── summary ──\n');
for (const { name, status, seconds } of outcomes) {
  process.stdout.write(`${status === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds.toFixed(1)} s)\n`);
}
for (const line of missing) process.stdout.write(`missing, its tests are skipped: ${line}\n`);
const open = requirements.filter((r) => r.state === 'open');
process.stdout.write(`requirements: ${requirements.length - open.length} met, ${open.length} open\n`);
for (const { id, text } of open) process.stdout.write(`  open ${id}: ${text}\n`);
process.exitCode = outcomes.some((o) => o.status !== 0) ? 1 : 0;
