import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { schemas } from '../../scripts/schemas.ts';
import { durationMs, loadConfig } from '../../src/cli/config.ts';

const folder = mkdtempSync(join(tmpdir(), 'writ-config-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function withConfig(text: string) {
  writeFileSync(join(folder, 'writ.yaml'), text);
  return () => loadConfig(folder);
}

describe('writ.yaml', () => {
  it('[CLI-05] an unknown key is refused with file, line and what to do', () => {
    expect(withConfig('shell:\n  anonymise: true\n')).toThrow(
      /writ\.yaml:2:3: unknown key "anonymise" in shell/,
    );
  });

  it('[CLI-05] a wrong value names the key and what to write', () => {
    expect(withConfig('approvals:\n  expires: soon\n')).toThrow(
      /writ\.yaml:2:3: approvals\.expires: write a duration such as/,
    );
  });

  it('an empty or absent file is an empty configuration', () => {
    expect(withConfig('')()).toEqual({});
    rmSync(join(folder, 'writ.yaml'));
    expect(loadConfig(folder)).toEqual({});
  });

  it('durations', () => {
    expect([durationMs('30s'), durationMs('10m'), durationMs('4h'), durationMs('2d')]).toEqual([
      30_000, 600_000, 14_400_000, 172_800_000,
    ]);
  });

  it('[CLI-06] the published schema is the one the program uses (npm run build renews it)', () => {
    for (const [file, text] of schemas()) expect(readFileSync(file, 'utf8')).toBe(text);
  });
});
