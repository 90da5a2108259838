import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** Looks as somebody who may not list everything: root may, so a process of root's becomes nobody first. */
const LOOK = `
const { findClosed } = await import(process.argv[1]);
if (process.getuid() === 0) process.setuid(65534);
const closing = { hidden: (path) => path.endsWith('.env'), fixed: () => false };
console.log(JSON.stringify(findClosed([process.argv[2]], closing)));
`;

it('[TOOL-38] a folder that cannot be looked through is closed: names in it could still be opened', () => {
  const root = mkdtempSync(join(tmpdir(), 'writ-closed-'));
  chmodSync(root, 0o755);
  const shut = join(root, 'shut');
  mkdirSync(shut);
  writeFileSync(join(shut, '.env'), 'KEY=1');
  chmodSync(shut, 0o111);
  const room = new URL('../../src/tools/denied-files.ts', import.meta.url).href;
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', LOOK, room, root], {
    encoding: 'utf8',
  });
  chmodSync(shut, 0o755);
  expect(JSON.parse(run.stdout)).toEqual({ masked: [shut], readonly: [] });
});
