import { readFileSync } from 'node:fs';

/** One source of truth for the version: package.json. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;
