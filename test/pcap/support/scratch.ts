import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';

/** A folder of its own for a test file, gone afterwards. */
export function scratch(): { readonly path: (name: string) => string } {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'writ-pcap-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return { path: (name) => join(folder, name) };
}
