import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * What the README tells a newcomer to type, typed. A command that is added there must be added here: with the
 * exit code a newcomer without Azure gets, or with the reason why it cannot be run in a test.
 */
const EXPECTED: readonly (
  | readonly [start: string, exit: 0 | 1 | 2, says: RegExp]
  | readonly [start: string]
)[] = [
  ['lab list', 0, /redis-behind-dead-nva/],
  // Without az the record says exit 127; the command itself is harmless and runs.
  ['shell run -- az', 1, /no such program/],
  ['shell classify', 0, /^RISKY/],
  ['run examples/plans/hello', 0, /3 of 3 done/],
  ['audit verify', 0, /intact/],
  ['flight run examples', 0, /COMPLETED/],
  ['pcap analyze', 0, /\.html/],
  ['doctor', 0, /node/],
  // Need Azure, run for minutes, or serve until they are stopped; they have tests of their own.
  ['investigate'],
  ['lab bench'],
  ['gateway mcp'],
  ['gateway llm'],
];

const shown = [...readFileSync('README.md', 'utf8').matchAll(/`npx writ ([^`]+)`/g)].map(
  (match) => match[1]!,
);
const WRIT = resolve('bin/writ.js');

describe('the commands of the README', () => {
  const root = mkdtempSync(join(tmpdir(), 'writ-readme-'));
  cpSync('examples', join(root, 'examples'), { recursive: true });
  // A capture with no packet in it is still one.
  writeFileSync(
    join(root, 'capture.pcap'),
    Buffer.from('d4c3b2a1020004000000000000000000ffff000001000000', 'hex'),
  );

  it.each(shown)('npx writ %s', (line) => {
    const expected = EXPECTED.find(([start]) => line.startsWith(start));
    expect(expected, 'say in test/readme.test.ts what this command does').toBeDefined();
    const [, exit, says] = expected!;
    if (exit === undefined) return;
    const words = (line.match(/'[^']*'|"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^['"]|['"]$/g, ''));
    const { PATH: _path, ...env } = process.env;
    const run = spawnSync(process.execPath, [WRIT, ...words], {
      cwd: root,
      encoding: 'utf8',
      env: { ...env, PATH: '/usr/bin:/bin', NO_COLOR: '1' },
      timeout: 60_000,
    });
    expect([run.status, says!.test(run.stdout + run.stderr)]).toEqual([exit, true]);
  });
});
