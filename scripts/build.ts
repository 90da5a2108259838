/** `npm run build`: compiles `src` to `dist` and writes the published JSON schemas. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { schemas } from './schemas.ts';

rmSync('dist', { recursive: true, force: true });
mkdirSync('schemas', { recursive: true });
for (const [file, text] of schemas()) writeFileSync(file, text);
const compiled = spawnSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
process.exitCode = compiled.status ?? 1;
