import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { CommandRunner } from '../../src/flight/index.ts';
import { proposeFlight, resumeFlight } from '../../src/flight/index.ts';
import { fly, folder, inProcess, writ } from './kit.ts';

const made: string[] = [];
afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true });
});
function place(files: Record<string, string>): string {
  const dir = folder(files);
  made.push(dir);
  return dir;
}

describe('the engine files', () => {
  it('[FLT-E2][FLT-F19] plans with a diff as evidence, then creates, patches and deletes', async () => {
    const changes = [
      { create: 'new/a.txt', content: 'one\n' },
      { patch: 'b.txt', find: 'old', replace: 'new' },
      { delete: 'c.txt' },
    ];
    const dir = place({
      'workflow.yaml': JSON.stringify({
        id: 'f',
        steps: [{ id: 's', engine: 'files', config: { changes } }],
      }),
      'b.txt': 'x\nold\ny\n',
      'c.txt': 'bye\n',
    });
    const { code, json } = await fly(dir);
    expect({ code, error: json.error }).toEqual({ code: 0, error: null });
    expect(readFileSync(join(dir, 'new/a.txt'), 'utf8')).toBe('one\n');
    expect(readFileSync(join(dir, 'b.txt'), 'utf8')).toBe('x\nnew\ny\n');
    expect(existsSync(join(dir, 'c.txt'))).toBe(false);
    const diff = readFileSync(
      join(dir, '.writ/flights', json.flight_id, 'steps/s/artifacts/diff/body.data'),
      'utf8',
    );
    expect(diff).toContain('-old\n+new\n');
    expect(diff).toContain('--- a/c.txt\n+++ /dev/null\n');
  });

  it.each([['../x.txt'], ['/etc/x'], ['.git/config'], ['link/x.txt']])('%s is refused', async (path) => {
    const dir = place({
      'workflow.yaml': JSON.stringify({
        id: 'f',
        steps: [{ id: 's', engine: 'files', config: { changes: [{ create: path, content: 'x' }] } }],
      }),
    });
    execFileSync('ln', ['-s', '/tmp', join(dir, 'link')]);
    expect((await fly(dir)).json.state).toBe('FAILED');
  });
});

describe('the engine git', () => {
  it('[FLT-E2] makes a branch and a commit from a patch', async () => {
    const patch = '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n';
    const dir = place({
      'workflow.yaml': JSON.stringify({
        id: 'g',
        steps: [
          {
            id: 's',
            engine: 'git',
            config: { branch: 'fix/a', message: 'two is better', patch, author: 'Ada <ada@example.org>' },
          },
        ],
      }),
      'a.txt': 'one\n',
    });
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'safe.directory=*', ...args], {
        cwd: dir,
        encoding: 'utf8',
      });
    git('init', '-q', '-b', 'main');
    git('add', 'a.txt', 'workflow.yaml');
    git('commit', '-q', '-m', 'first');
    const { code, json } = await fly(dir);
    expect({ code, error: json.error }).toEqual({ code: 0, error: null });
    expect(git('log', '-1', '--format=%an %s', 'fix/a').trim()).toBe('Ada two is better');
    expect(git('show', 'fix/a:a.txt')).toBe('two\n');
    expect(git('show', 'main:a.txt')).toBe('one\n');
  });
});

describe('the engine command', () => {
  function runner(results: Record<string, number>): CommandRunner & { readonly ran: string[] } {
    const ran: string[] = [];
    return {
      ran,
      judge: () => ({ evaluator: 'shell', verdict: 'allow', rule: 'test', reason: 'test' }),
      run: async (argv) => {
        ran.push(argv.join(' '));
        return { exitCode: results[argv.join(' ')] ?? 0, output: '', error: null };
      },
    };
  }
  const steps = (config: object) =>
    JSON.stringify({ id: 'c', steps: [{ id: 's', engine: 'command', config }] });
  const plan = {
    commands: [
      { argv: ['do', 'one'], undo: ['undo', 'one'], precondition: ['pre', 'one'] },
      { argv: ['do', 'two'], undo: ['undo', 'two'] },
    ],
    check: ['check'],
  };

  it('[FLT-F20] runs preconditions, commands and the check, word for word', async () => {
    const dir = place({ 'workflow.yaml': steps(plan) });
    const commands = runner({});
    const { code } = await fly(dir, 'workflow.yaml', { commands });
    expect(code).toBe(0);
    expect(commands.ran).toEqual(['pre one', 'do one', 'do two', 'check']);
  });

  it.each([
    ['pre one', ['pre one']],
    ['do two', ['pre one', 'do one', 'do two', 'undo two', 'undo one']],
    ['check', ['pre one', 'do one', 'do two', 'check', 'undo two', 'undo one']],
  ])('undoes in reverse when %s fails', async (failing, order) => {
    const dir = place({ 'workflow.yaml': steps(plan) });
    const commands = runner({ [failing]: 1 });
    const { code, json } = await fly(dir, 'workflow.yaml', { commands });
    expect({ code, state: json.state }).toEqual({ code: 1, state: 'FAILED' });
    expect(commands.ran).toEqual(order);
  });

  it('through the real shell: a risky command waits for a person, a forbidden one is denied', async () => {
    const dir = place({
      'workflow.yaml': steps({
        commands: [{ argv: ['touch', 'made.txt'], undo: ['rm', 'made.txt'] }],
        check: ['ls', 'made.txt'],
      }),
      'bad.yaml': steps({ commands: [{ argv: ['rm', '-rf', '/'] }] }),
    });
    expect((await writ(dir, ['flight', 'run', 'bad.yaml', '--json'])).code).toBe(3);
    const { code, json } = await writ(dir, ['flight', 'run', 'workflow.yaml', '--json']);
    expect(code).toBe(4);
    await writ(dir, [
      'approvals',
      'approve',
      json.pending_approvals[0] ?? '',
      '--as',
      'ada',
      '--role',
      'any',
    ]);
    const done = await writ(dir, ['flight', 'resume', json.flight_id, '--json']);
    expect({ code: done.code, error: done.json.error }).toEqual({ code: 0, error: null });
    expect(existsSync(join(dir, 'made.txt'))).toBe(true);
  });

  it('a proposal is a workflow that waits for its role', async () => {
    const workflow = proposeFlight({
      id: 'fix-route',
      commands: [{ argv: ['do', 'it'], undo: ['undo', 'it'] }],
      checks: [['check']],
      role: 'network-lead',
      reason: 'the route is gone',
    });
    const dir = place({ 'workflow.yaml': workflow });
    const commands = runner({});
    const { code, json } = await fly(dir, 'workflow.yaml', { commands });
    expect(code).toBe(4);
    const id = json.pending_approvals[0] ?? '';
    await inProcess(dir, ({ queue }) =>
      queue.respond(id, { approved: true, approver: 'ada', role: 'network-lead' }),
    );
    const done = await inProcess(dir, (deps) => resumeFlight(deps, json.flight_id), { commands });
    expect(done.status.state).toBe('COMPLETED');
    expect(commands.ran).toEqual(['do it', 'check']);
  });
});
