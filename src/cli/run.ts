import { main } from './main.ts';

// `writ … | head` closes the pipe: whoever read has had enough, which is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

/** Entry point behind `bin/writ.js`. Output is flushed before the process ends. */
process.exitCode = await main(process.argv.slice(2));
