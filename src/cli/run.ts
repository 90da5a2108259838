import { main } from './main.ts';

/** Entry point behind `bin/writ.js`. Output is flushed before the process ends. */
process.exitCode = await main(process.argv.slice(2));
