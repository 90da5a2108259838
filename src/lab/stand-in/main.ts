/**
 * What every launcher in a lab's `bin/` runs. Kept small: it is bundled when a lab is prepared, and each call
 * must answer in little more than the time Node takes to start.
 */
import { writeSync } from 'node:fs';
import { openLab } from '../lab/open.ts';
import type { ToolName } from '../tools/index.ts';

export async function main(tool: string, dir: string): Promise<void> {
  const answer = await run(tool, process.argv.slice(2), dir).catch((error: unknown) => ({
    code: 1,
    stdout: '',
    stderr: `writ lab: ${error instanceof Error ? error.message : String(error)}\n`,
  }));
  process.exitCode = answer.code;
  write(2, answer.stderr);
  write(1, answer.stdout);
}

async function run(tool: string, argv: readonly string[], dir: string) {
  const realMs = Date.now();
  if (tool === 'az') {
    const { runAz } = await import('../az/run.ts');
    return runAz(argv, { dir, cwd: process.cwd(), env: process.env, realMs });
  }
  const { runTool } = await import('../tools/index.ts');
  const { toolContext } = await import('../tools/context.ts');
  const lab = await openLab(dir, realMs, process.env);
  const ctx = toolContext(lab.world, { kind: 'local' }, lab.now, `${tool} ${argv.join(' ')}`);
  return runTool(tool as ToolName, argv, ctx);
}

/** Straight to the descriptor: setting up Node's streams would take a good part of the whole call. */
function write(descriptor: 1 | 2, text: string): void {
  let rest: Buffer = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A pipe that is full for the moment is left to the stream; one that is closed is nobody's concern.
      if (code === 'EAGAIN') (descriptor === 1 ? process.stdout : process.stderr).write(rest);
      else if (code !== 'EPIPE') throw error;
      return;
    }
  }
}
