import { spawnSync } from 'node:child_process';

export const hasTshark = spawnSync('tshark', ['-v']).status === 0;

/** The numbers of the frames a display filter shows. */
export function tsharkFrames(file: string, filter: string, more: readonly string[] = []): number[] {
  const run = spawnSync(
    'tshark',
    ['-n', ...more, '-r', file, '-Y', filter, '-T', 'fields', '-e', 'frame.number'],
    {
      encoding: 'utf8',
      timeout: 20_000,
      maxBuffer: 1 << 26,
    },
  );
  if (run.status !== 0) throw new Error(`tshark refuses ${filter}: ${run.stderr}`);
  return run.stdout.split('\n').filter(Boolean).map(Number);
}
