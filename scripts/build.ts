/** `npm run build`: compiles `src` to `dist`, bundles the lab's stand-ins, writes the published JSON schemas. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from '../src/lab/lab/stand-in-code.ts';
import { schemas } from './schemas.ts';

rmSync('dist', { recursive: true, force: true });
mkdirSync('schemas', { recursive: true });
for (const [file, text] of schemas()) writeFileSync(file, text);
const compiled = spawnSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
if (compiled.status === 0) {
  // The lab's stand-ins must start as fast as the real programs: one ready-made file each.
  const files = await bundle();
  mkdirSync('dist/lab/stand-in/bundle', { recursive: true });
  for (const [name, text] of files ?? []) writeFileSync(join('dist/lab/stand-in/bundle', name), text);
}
process.exitCode = compiled.status ?? 1;
