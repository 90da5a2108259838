/** The allow list: every program that may be SAFE, by name. */
import { AZURE } from '../azure/az.ts';
import { CAPTURES } from './captures.ts';
import { CURL } from './curl.ts';
import { DNS } from './dns.ts';
import { INTERFACES } from './interfaces.ts';
import { IP } from './ip.ts';
import { MAC } from './mac.ts';
import { PROBES } from './probes.ts';
import type { Program } from './program.ts';
import { SOCKETS } from './sockets.ts';

export const PROGRAMS: readonly Program[] = [
  ...PROBES,
  ...DNS,
  ...SOCKETS,
  ...INTERFACES,
  ...IP,
  ...MAC,
  ...CAPTURES,
  ...CURL,
  ...AZURE,
];

/** Folders only the system's own administration writes to. */
const SYSTEM_FOLDERS = ['/bin', '/sbin', '/usr/bin', '/usr/sbin'];

/** Every spelling under which a program is trusted: its bare name, and its path in a trusted folder. */
export function trustedNames(programs: readonly Program[]): ReadonlyMap<string, Program> {
  const found = new Map<string, Program>();
  for (const program of programs) {
    for (const name of program.names) {
      for (const spelling of [
        name,
        ...[...SYSTEM_FOLDERS, ...program.folders].map((folder) => `${folder}/${name}`),
      ]) {
        if (found.has(spelling)) throw new Error(`program listed twice: ${spelling}`);
        found.set(spelling, program);
      }
    }
  }
  return found;
}
