import { run } from '../../src/sandbox/index.ts';
import { specFor } from './bench-of-one.ts';
import { writForArgv } from './test-writ.ts';

/** A program of its own that is killed while its sandboxed child is busy. */
const [inside = '', note = ''] = process.argv.slice(2);
const argv = [
  '/bin/sh',
  '-c',
  `setsid sh -c 'while :; do date +%s%N > ${note}; sleep 0.02; done' & sleep 60`,
];
await run(
  await writForArgv(argv),
  specFor(argv, { cwd: inside, profile: { kind: 'bubblewrap', network: 'none', writable: [inside] } }),
);
