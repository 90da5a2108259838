import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const OLDEST = 24;

/** Runs `src/<entry>.ts` in a checkout, `dist/<entry>.js` in an installed package. */
export function launch(entry) {
  if (process.argv.length === 3 && (process.argv[2] === '--version' || process.argv[2] === '-V')) {
    process.stdout.write(`${JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version}\n`);
    return;
  }
  if (Number(process.versions.node.split('.')[0]) < OLDEST) return relaunch();
  const source = join(root, 'src', `${entry}.ts`);
  const target = existsSync(source) ? source : join(root, 'dist', `${entry}.js`);
  import('node:module').then(({ enableCompileCache }) => {
    enableCompileCache?.();
    return import(pathToFileURL(target).href);
  });
}

/** The host's Node is too old: use the one that came with the package. */
function relaunch() {
  const node = packagedNode();
  if (node === undefined) {
    process.stderr.write(
      `writ needs Node ${OLDEST} or newer; this is ${process.version}.\n  try: npm install in ${root}, which brings one along, or install Node ${OLDEST}+\n`,
    );
    process.exitCode = 1;
    return;
  }
  // child_process is otherwise the sandbox's alone; this replaces our own process before any of Writ runs.
  import('node:child_process').then(({ spawn }) => {
    const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
    child.on('exit', (code, signal) => {
      process.exitCode = signal ? 128 + (signal === 'SIGINT' ? 2 : 15) : (code ?? 1);
    });
  });
}

function packagedNode() {
  try {
    const require = createRequire(join(root, 'package.json'));
    const manifest = require.resolve('node/package.json');
    const binary = join(dirname(manifest), require(manifest).bin.node);
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}
