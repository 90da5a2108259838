/**
 * What every launcher in a lab's `bin/` runs. Kept small: it is bundled into one file when a lab is prepared,
 * and each call must answer in little more than the time Node takes to start.
 */
import { openLab } from '../lab/open.ts';
import type { ToolName } from '../tools/index.ts';

export async function main(tool: string, dir: string): Promise<void> {
  const argv = process.argv.slice(2);
  const answer = await run(tool, argv, dir);
  process.exitCode = answer.code;
  if (answer.stderr !== '') process.stderr.write(answer.stderr);
  if (answer.stdout !== '') process.stdout.write(answer.stdout);
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
