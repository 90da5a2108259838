import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { PreparedLab } from '../../src/lab/index.ts';

/** `az` in a lab, typed by somebody else: what happens to a cloud behind an orchestrator's back. */
export function testAz(lab: PreparedLab, command: string): string {
  return execFileSync(join(lab.bin, 'az'), command.split(' '), { encoding: 'utf8' });
}
