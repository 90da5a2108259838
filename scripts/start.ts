/** `npm start`: set-up, then what a newcomer should see first. Arguments go to `writ investigate`. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { ensureSystemPackages } from './system-packages.ts';

const missing = ensureSystemPackages(['bwrap']);
for (const line of missing) process.stderr.write(`writ: missing ${line}\n`);

const writ = (...words: readonly string[]) =>
  spawnSync(process.execPath, ['bin/writ.js', ...words], { stdio: 'inherit' }).status ?? 1;
const [first, ...rest] = process.argv.slice(2);
const world = first !== undefined && !first.startsWith('-') ? first : 'redis-behind-dead-nva';
const flags = first === world ? rest : process.argv.slice(2);

if (existsSync(`worlds/${world}.yaml`)) {
  process.stderr.write(
    `writ: an investigation in the lab world "${world}" (others: npx writ lab list). RISKY commands ask you; npm start -- --yes approves them all.\n\n`,
  );
  process.exitCode = writ('investigate', '--lab', world, ...flags);
} else {
  process.exitCode = writ('doctor');
}
