// Runs before anything is installed, on whatever Node the host has, so it is plain JavaScript without
// dependencies: brings the npm packages (and with them the right Node), then hands over to a script of ours.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'node_modules', '.writ-installed');
const lock = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex');

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
  process.stderr.write('writ: installing npm packages (npm ci) …\n');
  const done = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (done.status !== 0) {
    process.stderr.write('writ: npm ci failed; see above. Try it by hand in the project folder.\n');
    process.exit(done.status ?? 1);
  }
  writeFileSync(stamp, lock);
}

const node = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
const runtime = existsSync(node) && statSync(node).size > 0 ? node : process.execPath;
const [script, ...rest] = process.argv.slice(2);
const path = `${join(root, 'node_modules', '.bin')}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH}`;
const result = spawnSync(runtime, [join(root, 'scripts', script), ...rest], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, PATH: path },
});
process.exit(result.status ?? 1);
