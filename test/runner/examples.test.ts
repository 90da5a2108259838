import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { project } from './project.ts';

const examples = fileURLToPath(new URL('../../examples', import.meta.url));
const used: ReturnType<typeof project>[] = [];
afterAll(() => {
  for (const home of used) home.remove();
});

/** An example in a folder of its own, as a newcomer would copy it. */
function copyOf(name: string) {
  const home = project();
  used.push(home);
  cpSync(`${examples}/${name}`, home.path, { recursive: true });
  return home;
}

describe('examples', () => {
  it('[RUN-32] each plan has a valid policy whose cases pass', () => {
    for (const name of readdirSync(`${examples}/plans`)) {
      const home = copyOf(`plans/${name}`);
      const tested = home.writ('policy', 'test', 'policy.yaml', '--json');
      expect([name, tested.code, tested.stderr]).toEqual([name, 0, '']);
      expect(tested.json().files[0].passed).toBeGreaterThan(0);
      expect(home.writ('policy', 'check', 'policy.yaml').code).toBe(0);
    }
  }, 60_000);

  it('hello runs to its end', () => {
    const home = copyOf('plans/hello');
    const got = home.writ('run', 'plan.yaml', '--policy', 'policy.yaml', '--json');
    expect(got.code).toBe(0);
    expect(got.json().steps[2].output.stdout).toContain('Hello from a plan.');
    expect(home.read('out/note.txt')).toBe('Hello from a plan.\n');
  });

  it('release notes are written, and every injected wish is denied', () => {
    const home = copyOf('plans/release-notes');
    const git = (...args: string[]) =>
      spawnSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { cwd: home.path });
    git('init', '-q');
    git('add', '.');
    git('commit', '-q', '-m', 'first');
    const got = home.writ('run', 'plan.yaml', '-p', 'policy.yaml', '--keep-going', '--json');
    expect(got.code).toBe(3);
    expect(got.json().steps.map((s: { status: string }) => s.status)).toEqual([
      'success',
      'success',
      'success',
      'denied',
      'denied',
      'denied',
    ]);
    expect(home.read('out/NOTES.md')).toContain('first');
  });

  it('approval waits, is approved, and goes on', () => {
    const home = copyOf('plans/approval');
    const waiting = home.writ('run', 'plan.yaml', '-p', 'policy.yaml', '--json');
    expect(waiting.code).toBe(4);
    const { run_id, steps } = waiting.json();
    expect(home.writ('approvals', 'list', '--status', 'pending', '--json').json().approvals).toHaveLength(1);
    expect(home.writ('run', '--resume', run_id).code).toBe(4);
    expect(home.writ('approvals', 'approve', steps[1].decision.approval_id, '--as', 'alice').code).toBe(0);
    const done = home.writ('run', '--resume', run_id, '--json');
    expect([done.code, done.json().status]).toEqual([0, 'completed']);
    expect(home.read('out/published/final.txt')).toContain('draft.txt');
  }, 60_000);

  it('[TOOL-33] the third-party tool passes its cases and runs in a plan', () => {
    const home = copyOf('tools');
    const tested = home.writ('tool', 'test', 'text-count.ts', '--json');
    expect([tested.code, tested.stderr]).toEqual([0, '']);
    expect(tested.json()).toMatchObject({ tool: 'text.count', passed: 4, failed: 0 });
    const got = home.writ('run', 'plan.yaml', '-p', 'policy.yaml', '--json');
    expect([got.code, got.json().steps[0].output]).toEqual([0, { bytes: 24, lines: 2, words: 5 }]);
    expect(home.writ('replay', got.json().run_id, '--verify', '--json').json().steps).toEqual(
      got.json().steps,
    );
  }, 60_000);
});
