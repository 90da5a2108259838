import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WritError } from '../../src/core/index.ts';
import { decideCall, findFlip, loadPolicy, PASSED, policyFromJson } from '../../src/policy/index.ts';

function mistake(text: string): WritError {
  try {
    loadPolicy(text, 'policy.yaml');
  } catch (error) {
    if (error instanceof WritError) return error;
    throw error;
  }
  throw new Error(`accepted: ${text.slice(0, 80)}`);
}

describe('policy file', () => {
  it('[POL-01] what is missing is closed: no tools, empty lists, defaults', () => {
    const { value } = loadPolicy('{}', 'p');
    expect(value).toMatchObject({ boundary: 'deny_by_default', tools: {}, global_timeout_seconds: 300 });
    const shell = loadPolicy('tools: { shell.run: {}, http.get: {}, fs.read: {} }', 'p').value.tools;
    expect(shell['shell.run']).toMatchObject({
      allow_executables: [],
      allow_interpreters: [],
      network: 'none',
      sandbox: 'workspace',
      default_deny_tokens: true,
    });
    expect(shell['http.get']).toMatchObject({ allow_domains: [], deny_private_ips: true });
    expect(shell['fs.read']).toMatchObject({ allow_paths: [], allow_hidden: false, allow_hard_links: false });
  });

  it('[POL-02] every mistake has a number, file, line, column, and what to write', () => {
    const cases: readonly (readonly [string, RegExp, RegExp])[] = [
      [
        'tools:\n  fs.raed: {}',
        /policy\.yaml:2:3: unknown key "fs\.raed" in tools/,
        /write fs\.read; known keys here: fs\.read, fs\.write/,
      ],
      [
        'tools:\n  fs.read:\n    allow_path: []',
        /policy\.yaml:3:5: unknown key "allow_path" in tools\.fs\.read/,
        /write allow_paths/,
      ],
      ['boundary: allow_all', /policy\.yaml:1:1: boundary/, /write "deny_by_default"/],
      [
        'tools:\n  fs.read: { max_size_bytes: big }',
        /policy\.yaml:2:\d+: tools\.fs\.read\.max_size_bytes: .*expected/,
        /a number, without quotes/,
      ],
      ['tools:\n  fs.read: { max_size_bytes: -1 }', /max_size_bytes/, /at least 0/],
      ['tools:\n  fs.read: { allow_paths: "./**" }', /expected a list/, /write allow_paths: \["\.\/\*\*"\]/],
      [
        'tools:\n  fs.read:\n    allow_paths:\n      - "./**"\n      - "!secret"',
        /policy\.yaml:5:\d+: .*negation/,
        /./,
      ],
      ['tools:\n  fs.read: { allow_paths: ["~/x"] }', /write the whole path/, /./],
      ['tools:\n  http.get: { allow_domains: ["https://x.com/"] }', /write a domain, not a URL/, /./],
      ['tools:\n  http.get: { allow_domains: ["a.*.com"] }', /\*\.example\.com/, /./],
      ['tools:\n  shell.run: { network: some }', /network/, /one of "none", "host"/],
      ['max_calls_per_tool: 1.5', /max_calls_per_tool/, /./],
      ['tools: []', /tools/, /./],
      ['tools: {}\ntools: {}', /stands twice/, /./],
      ['a: [', /policy\.yaml:1/, /./],
      ['x: !!python/object y', /tag/i, /./],
    ];
    for (const [text, message, suggestion] of cases) {
      const error = mistake(text);
      expect([error.code, error.exit], text).toEqual([3002, 2]);
      expect(error.message).toMatch(message);
      expect(error.suggestion ?? '').toMatch(suggestion);
    }
    const bomb = `a: &a [1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\ntools: { fs.read: { allow_paths: [*c,*c,*c,*c,*c,*c,*c,*c] } }`;
    expect(mistake(bomb).code).toBe(3002);
    expect(mistake(`# ${'x'.repeat(2_000_000)}`).message).toContain('larger than');
  });

  it('[POL-03] the digest is of what decides: order of keys, comments and cases do not count', () => {
    const a = loadPolicy('tools: { fs.read: { allow_paths: ["./**"], allow_hidden: true } }', 'a');
    const b = loadPolicy(
      '# hello\ncases:\n  - { tool: fs.read, args: { path: x }, expect: allow }\ntools:\n  fs.read:\n    allow_hidden: true\n    allow_paths: ["./**"]\n',
      'b',
    );
    expect(a.digest).toBe(b.digest);
    expect(loadPolicy('tools: { fs.read: { allow_paths: ["./*"] } }', 'c').digest).not.toBe(a.digest);
    expect(policyFromJson(a.json, 'd').digest).toBe(a.digest);
  });

  it('[POL-04] the order is tool, allow, deny, quota; the first failure decides', () => {
    const policy = loadPolicy(
      'max_calls_per_tool: 2\ntools:\n  fs.read: { max_calls: 1 }\n  fs.write: {}\n',
      'policy.yaml',
    );
    const call = (tool: string, used: number, judge?: () => never | typeof PASSED) =>
      decideCall(policy, { tool, used, judge: judge ?? (() => PASSED) });
    expect(call('http.get', 0)).toMatchObject({
      verdict: 'deny',
      rule: 'tools',
      file: 'policy.yaml',
      line: 2,
    });
    expect(decideCall(policy, { tool: 'fs.read', used: 0, judge: undefined })).toMatchObject({
      verdict: 'deny',
      rule: 'tools',
      line: 3,
    });
    expect(call('fs.read', 0)).toMatchObject({ verdict: 'allow', rule: 'fs.read.allow', line: 3 });
    expect(call('fs.read', 1)).toMatchObject({ verdict: 'deny', rule: 'fs.read.max_calls', line: 3 });
    expect(call('fs.write', 2)).toMatchObject({ verdict: 'deny', rule: 'max_calls_per_tool', line: 1 });
    const denied = decideCall(policy, {
      tool: 'fs.read',
      used: 9,
      judge: () => ({ verdict: 'deny', rule: 'allow_paths', at: ['allow_paths'], reason: 'no' }),
    });
    expect(denied).toMatchObject({ rule: 'fs.read.allow_paths' });
  });

  it('[POL-05] an error inside a check is a denial', () => {
    const policy = loadPolicy('tools: { fs.read: {} }', 'p');
    const decision = decideCall(policy, {
      tool: 'fs.read',
      used: 0,
      judge: () => {
        throw new TypeError('boom');
      },
    });
    expect(decision).toMatchObject({
      verdict: 'deny',
      rule: 'fs.read.error',
      reason: expect.stringContaining('boom'),
    });
  });

  it('property: any text is a policy or a numbered error', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.string().map((s) => `tools:\n  fs.read:\n    allow_paths: [${JSON.stringify(s)}]\n`),
        ),
        (text) => {
          try {
            expect(loadPolicy(text, 'p').digest).toMatch(/^[0-9a-f]{64}$/);
          } catch (error) {
            expect(error).toBeInstanceOf(WritError);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('edits that are proposed have been tried', () => {
    const json = { list: ['a'] };
    const flip = findFlip(
      json,
      (policy) =>
        (policy as { list: string[] }).list.includes('b')
          ? PASSED
          : {
              verdict: 'deny',
              rule: 'list',
              at: [],
              reason: '',
              mend: { op: 'add', at: ['list'], value: 'b' },
            },
      [],
    );
    expect(flip).toEqual({ to: 'allow', edits: [{ op: 'add', at: ['list'], value: 'b' }] });
    const useless = findFlip(
      json,
      () => ({ verdict: 'deny', rule: 'x', at: [], reason: '', mend: { op: 'set', at: ['y'], value: 1 } }),
      [],
    );
    expect(useless).toBeUndefined();
  });
});
