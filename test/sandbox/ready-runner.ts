import { makeReady } from '../../src/sandbox/index.ts';
import { specFor } from './bench-of-one.ts';

/** A program of its own that makes a sandbox ready, and is killed before it has used it. */
const [inside = '', mark = ''] = process.argv.slice(2);
const argv = ['/bin/sh', '-c', 'echo ran > ran'];
const spec = specFor(argv, {
  cwd: inside,
  env: { PATH: '/usr/bin:/bin', READY_TEST: mark },
  profile: { kind: 'bubblewrap', network: 'none', writable: [inside] },
});
// The first one finds out what this machine can do.
await (await makeReady(spec))?.discard();
process.stdout.write('begins\n');
await makeReady(spec);
process.stdout.write('ready\n');
setInterval(() => {}, 1000);
