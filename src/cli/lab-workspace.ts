import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Clock } from '../core/index.ts';
import { labClock, prepareLab, worldFile } from '../lab/index.ts';
import type { Cli } from './cli.ts';

/** A simulated world made ready for an investigation: stand-ins first on PATH, time as fast as asked. */
export interface LabWorkspace {
  readonly dir: string;
  readonly bin: string;
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly symptom: string;
  readonly capture: { readonly storageAccount?: string; readonly resourceGroup?: string };
}

export async function openLabWorkspace(
  cli: Cli,
  world: string,
  speed: number,
  dir?: string,
): Promise<LabWorkspace> {
  const file = worldFile(
    isAbsolute(world) || !existsSync(join(cli.cwd, world)) ? world : join(cli.cwd, world),
  );
  const lab = await prepareLab(file, dir ?? mkdtempSync(join(tmpdir(), 'writ-lab-')), { speed });
  // The investigator's own infrastructure: an account that lets anyone in, as an operator would set aside.
  const account = lab.world.storage.find(
    (s) => s.default_action === 'Allow' && s.containers.includes('captures'),
  );
  return {
    dir: lab.dir,
    bin: lab.bin,
    env: { WRIT_LAB_DIR: lab.dir },
    clock: labClock(speed),
    symptom: lab.world.symptom,
    capture: account ? { storageAccount: account.name, resourceGroup: account.group } : {},
  };
}
