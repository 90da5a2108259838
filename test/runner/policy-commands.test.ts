import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadPolicy } from '../../src/policy/index.ts';
import { explainCall } from '../../src/runner/index.ts';
import { project } from './project.ts';

const home = project([]);
afterAll(home.remove);
const ground = { workingDir: home.path, masked: [] };
const explain = (policy: string, tool: string, args: object) =>
  explainCall({ tool, args: args as never }, loadPolicy(policy, 'policy.yaml'), home.registry, ground);

beforeAll(() => {
  home.file('a.txt', 'hello');
  home.file('.env', 'x');
});

describe('policy explain', () => {
  it('[POL-26] names rule, file, line, reason, and edits that really flip the decision', async () => {
    const policy =
      'tools:\n  fs.read:\n    allow_paths: ["./docs/**"]\n    deny_paths: ["**/*.key"]\n  shell.run: { allow_executables: [git], require_approval: [git push] }\n  http.get: { allow_domains: [x.com], deny_domains: [b.x.com] }\n';
    const cases: readonly (readonly [string, object, object])[] = [
      [
        'fs.read',
        { path: 'a.txt' },
        {
          decision: 'deny',
          rule: 'fs.read.allow_paths',
          line: 3,
          change: { to: 'allow', edits: [{ say: 'add "./a.txt" to tools.fs.read.allow_paths' }] },
        },
      ],
      [
        'fs.read',
        { path: 'docs/x.key' },
        {
          rule: 'fs.read.deny_paths',
          line: 4,
          change: { to: 'allow', edits: [{ say: 'remove entry 1 of tools.fs.read.deny_paths' }] },
        },
      ],
      [
        'fs.read',
        { path: 'x.key' },
        {
          change: {
            to: 'allow',
            edits: [
              { say: expect.stringContaining('allow_paths') },
              { say: expect.stringContaining('deny_paths') },
            ],
          },
        },
      ],
      [
        'fs.read',
        { path: 'docs/a.txt' },
        {
          decision: 'allow',
          change: { to: 'deny', edits: [{ say: 'add "./docs/a.txt" to tools.fs.read.deny_paths' }] },
        },
      ],
      [
        'fs.write',
        { path: 'out/x', content: 'y' },
        {
          rule: 'tools',
          line: 1,
          change: {
            to: 'allow',
            edits: [{ say: 'add "./out/x" to tools.fs.write.allow_paths' }],
          },
        },
      ],
      ['fs.read', { path: 'a\0b' }, { decision: 'deny', change: null }],
      [
        'http.get',
        { url: 'https://y.com/' },
        { change: { edits: [{ say: 'add "y.com" to tools.http.get.allow_domains' }] } },
      ],
      [
        'http.get',
        { url: 'http://127.0.0.1/' },
        {
          change: {
            edits: [
              { say: expect.stringContaining('127.0.0.1') },
              { say: 'set tools.http.get.deny_private_ips to false' },
            ],
          },
        },
      ],
      [
        'shell.run',
        { cmd: ['git', 'push'] },
        {
          decision: 'require_approval',
          rule: 'shell.run.require_approval',
          line: 5,
          change: { to: 'allow' },
        },
      ],
      [
        'shell.run',
        { cmd: ['git', '-c', 'alias.x=!id', 'x'] },
        {
          rule: 'shell.run.allow_interpreters',
          change: { to: 'allow', edits: [{ say: 'add "git" to tools.shell.run.allow_interpreters' }] },
        },
      ],
      [
        'shell.run',
        { cmd: ['git', 'status'] },
        {
          decision: 'allow',
          change: { to: 'deny', edits: [{ say: 'remove entry 1 of tools.shell.run.allow_executables' }] },
        },
      ],
      ['no.tool', {}, { decision: 'deny', change: null }],
    ];
    for (const [tool, args, wanted] of cases)
      expect(await explain(policy, tool, args), `${tool} ${JSON.stringify(args)}`).toMatchObject(wanted);
  });

  it('is reached from the command line for a call and for a plan', () => {
    home.file('policy.yaml', 'tools:\n  fs.read: { allow_paths: ["./**"] }\n');
    home.file(
      'plan.yaml',
      'version: "1.0"\nsteps:\n  - { tool: fs.read, args: { path: a.txt } }\n  - { tool: fs.read, args: { path: .env } }\n',
    );
    const call = home.writ(
      'policy',
      'explain',
      'policy.yaml',
      '--tool',
      'fs.read',
      '--args',
      '{"path":".env"}',
      '--json',
    );
    expect(call.json()).toMatchObject({
      decision: 'deny',
      rule: 'fs.read.allow_hidden',
      line: 2,
      change: { to: 'allow' },
    });
    expect(
      home.writ('policy', 'explain', 'policy.yaml', '--plan', 'plan.yaml', '--json').json().steps,
    ).toHaveLength(2);
    expect(
      home.writ('policy', 'explain', 'policy.yaml', '--plan', 'plan.yaml', '--step', '1').stdout,
    ).toContain('allow_hidden');
    for (const bad of [['--tool', 'fs.read', '--args', 'nope'], [], ['--plan', 'plan.yaml', '--step', '9']])
      expect(home.writ('policy', 'explain', 'policy.yaml', ...bad).code).toBe(2);
  }, 60_000);
});

describe('policy check and test', () => {
  it('[POL-27] check exits 0 or 2, test exits 0 or 1 with what failed', () => {
    home.file(
      'good.yaml',
      'tools: { fs.read: { allow_paths: ["./**"] } }\ncases:\n  - { name: fine, tool: fs.read, args: { path: a.txt }, expect: allow }\n  - { name: closed, tool: fs.read, args: { path: .env }, expect: deny, rule: allow_hidden }\n',
    );
    home.file(
      'wrong.yaml',
      'tools: { fs.read: { allow_paths: ["./**"] } }\ncases:\n  - { name: surprise, tool: fs.read, args: { path: /etc/passwd }, expect: allow }\n  - { name: other rule, tool: fs.read, args: { path: .env }, expect: deny, rule: deny_paths }\n',
    );
    home.file('bad.yaml', 'tolls: {}\n');
    expect(home.writ('policy', 'check', 'good.yaml', '--json').json()).toMatchObject({
      files: [{ valid: true, tools: ['fs.read'], cases: 2 }],
    });
    const bad = home.writ('policy', 'check', 'bad.yaml', '--json');
    expect([bad.code, bad.json().error]).toMatchObject([
      2,
      {
        code: 3002,
        message: 'bad.yaml:1:1: unknown key "tolls" in the document',
        suggestion: expect.stringContaining('tools'),
      },
    ]);
    expect(home.writ('policy', 'check', 'missing.yaml').code).toBe(2);
    expect(home.writ('policy', 'test', 'good.yaml').code).toBe(0);
    const wrong = home.writ('policy', 'test', 'wrong.yaml', '--json');
    expect([wrong.code, wrong.json().files[0]]).toMatchObject([
      1,
      { passed: 0, failed: 2, cases: [{ name: 'surprise', line: 3 }, {}] },
    ]);
  }, 60_000);
});

describe('policy diff', () => {
  it('[POL-28] judges recorded calls again from recorded facts; newly allowed first', () => {
    home.file(
      'plan.json',
      JSON.stringify({
        version: '1.0',
        steps: [
          { tool: 'fs.read', args: { path: 'a.txt' } },
          { tool: 'fs.read', args: { path: '.env' } },
          { tool: 'shell.run', args: { cmd: ['echo', 'x'] } },
          { tool: 'http.get', args: { url: 'http://10.0.0.1/' } },
          { tool: 'shell.run', args: { cmd: ['ls'] } },
        ],
      }),
    );
    home.file(
      'old.yaml',
      'tools: { fs.read: { allow_paths: ["./**"] }, shell.run: { allow_executables: [echo] }, http.get: { allow_domains: ["*"] } }',
    );
    home.file(
      'new.yaml',
      'tools: { fs.read: { allow_paths: ["./**"], allow_hidden: true }, shell.run: { allow_executables: [ls], require_approval: [ls] }, http.get: { allow_domains: ["*"] } }',
    );
    const run = home.writ('run', 'plan.json', '-p', 'old.yaml', '--keep-going', '--json').json();
    expect(run.steps.map((s: { status: string }) => s.status)).toEqual([
      'success',
      'denied',
      'success',
      'denied',
      'denied',
    ]);
    const diff = home.writ('policy', 'diff', run.run_id, '--policy', 'new.yaml', '--json');
    expect(diff.code).toBe(0);
    expect(diff.json()).toMatchObject({ calls: 5 });
    expect(
      diff
        .json()
        .changed.map((c: { step: number; before: string; after: string }) => [c.step, c.before, c.after]),
    ).toEqual([
      [1, 'deny', 'allow'],
      [4, 'deny', 'require_approval'],
      [2, 'allow', 'deny'],
    ]);
    expect(home.writ('policy', 'diff', run.run_id, '--policy', 'old.yaml', '--json').json().changed).toEqual(
      [],
    );
    expect(home.writ('policy', 'diff', 'run_nope', '--policy', 'old.yaml').code).toBe(2);
  }, 60_000);
});
