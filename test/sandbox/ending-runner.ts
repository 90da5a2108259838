import { existsSync } from 'node:fs';
import { run } from '../../src/sandbox/index.ts';
import { specFor } from './bench-of-one.ts';
import { writForArgv } from './test-writ.ts';

/** A program of its own that ends while its child still runs. */
const [note = '', how = ''] = process.argv.slice(2);
const argv = ['/bin/sh', '-c', `echo $$ > ${note}; exec sleep 60`];
const running = run(await writForArgv(argv), specFor(argv, { timeoutMs: 60_000 }));
const timer = setInterval(() => {
  if (!existsSync(note)) return;
  clearInterval(timer);
  setTimeout(() => {
    if (how === 'exit') process.exit(7);
    if (how === 'throw') throw new Error('a bug');
  }, 200);
}, 10);
await running;
