import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/shell/classify/index.ts';
import type { ShellClass } from '../../../src/shell/types.ts';

interface Row {
  readonly command: string;
  readonly label: ShellClass;
  readonly kind: string;
  readonly reason: string;
}

const folder = new URL('../corpus/', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
const rows = (name: string): Row[] =>
  readFileSync(new URL(name, folder), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
const all = files.flatMap(rows);

describe('corpus', () => {
  it('[SHC-14] holds at least 600 different commands, each with a label and a reason', () => {
    expect(new Set(all.map((row) => row.command)).size).toBe(all.length);
    expect(all.length).toBeGreaterThanOrEqual(600);
    expect(
      all.filter(
        (row) => row.reason.length < 8 || row.kind === '' || !/^(SAFE|RISKY|FORBIDDEN)$/.test(row.label),
      ),
    ).toEqual([]);
  });

  for (const name of files) {
    it(`[SHC-14] every command of ${name} has its class`, () => {
      const wrong = rows(name)
        .map((row) => ({ row, got: classify(row.command) }))
        .filter(({ row, got }) => got.classification !== row.label)
        .map(
          ({ row, got }) =>
            `${JSON.stringify(row.command)}: ${got.classification} (${got.rule}), not ${row.label}: ${row.reason}`,
        );
      expect(wrong).toEqual([]);
    });
  }

  it('[SHC-10] nothing forbidden can be executed, and everything SAFE can', () => {
    for (const row of all) {
      const { classification, pipeline } = classify(row.command);
      if (classification === 'FORBIDDEN') expect(pipeline, row.command).toBeNull();
      if (classification === 'SAFE') expect(pipeline, row.command).toHaveLength(1);
    }
  });
});
