import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/index.ts';
import { applyEdit, type Edit, policyFromJson } from '../../src/policy/index.ts';
import { explainCall } from '../../src/runner/index.ts';
import { createRegistry } from '../../src/tools/index.ts';
import { workbench } from '../tools/road.ts';

const bench = workbench();
afterAll(bench.remove);
beforeAll(async () => {
  for (const name of ['a.txt', 'docs/b.md', 'docs/x.key', '.env', 'odd [name].txt', 'out/o.txt'])
    await bench.file(name, 'content');
  symlinkSync('/etc/hostname', join(bench.path, 'link'));
});

const registry = createRegistry();
const explain = (policy: Json, call: { readonly tool: string; readonly args: JsonObject }) =>
  explainCall(call, policyFromJson(policy, 'policy.yaml'), registry, {
    workingDir: bench.path,
    masked: [join(bench.path, '.writ')],
  });

const some = (...items: readonly string[]) =>
  fc.subarray([...items], { maxLength: Math.min(3, items.length) });
const globs = some(
  './**',
  './*.txt',
  './docs/**',
  './out/**',
  '**/*.key',
  '/etc/*',
  './odd \\[name\\].txt',
  '.env',
);
const domains = some(
  'api.example.com',
  '*.example.com',
  '[::1]',
  '127.0.0.1',
  '169.254.169.254',
  '*',
  'x.test:81',
);
const programs = some('ls', 'cat', 'sh', 'env', 'git', 'find', 'echo', '/usr/bin/id');
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const block = (keys: Record<string, fc.Arbitrary<unknown>>) =>
  maybe(fc.record(Object.fromEntries(Object.entries(keys).map(([key, value]) => [key, maybe(value)]))));

const files = {
  allow_paths: globs,
  deny_paths: globs,
  allow_hidden: fc.boolean(),
  max_size_bytes: fc.constantFrom(0, 3, 100),
  require_approval: fc.oneof(fc.boolean(), globs),
  max_calls: fc.constantFrom(0, 5),
};
const policies = fc.record({
  max_calls_per_tool: maybe(fc.constantFrom(0, 2)),
  tools: fc.record({
    'fs.read': block(files),
    'fs.write': block(files),
    'http.get': block({
      allow_domains: domains,
      deny_domains: domains,
      deny_private_ips: fc.boolean(),
      require_approval: fc.oneof(fc.boolean(), domains),
    }),
    'shell.run': block({
      allow_executables: programs,
      allow_interpreters: some('sh', 'find', 'env'),
      deny_tokens: some('curl', 'cat', 'git push'),
      allow_paths: globs,
      deny_paths: globs,
      require_approval: fc.oneof(fc.boolean(), some('ls', 'git status')),
    }),
  }),
});
const path = fc.constantFrom(
  'a.txt',
  'docs/x.key',
  '.env',
  'link',
  '/etc/hostname',
  'odd [name].txt',
  'out/new.txt',
);
const calls = fc.oneof(
  path.map((p) => ({ tool: 'fs.read', args: { path: p } })),
  path.map((p) => ({ tool: 'fs.write', args: { path: p, content: 'four' } })),
  fc
    .constantFrom(
      'api.example.com',
      'example.com',
      '[::1]:8080',
      '127.1',
      '169.254.169.254',
      'x.test:82',
      'localhost',
    )
    .map((host) => ({ tool: 'http.get', args: { url: `http://${host}/` } })),
  fc
    .constantFrom<string[]>(
      ['ls'],
      ['cat', 'link'],
      ['cat', 'docs/x.key', '.env'],
      ['sh', '-c', 'echo hi > a.txt; cat a.txt'],
      ['sh', '-c', 'curl $X'],
      ['env', 'FOO_PATH=1', 'git', 'push'],
      ['find', '.', '-delete'],
      ['git', 'status'],
      ['id'],
      ['rm', '-rf', 'out'],
    )
    .map((cmd) => ({ tool: 'shell.run', args: { cmd } })),
);

describe('the smallest change', () => {
  it(
    '[POL-26] really flips the decision when it is made, and no part of it is idle',
    async () => {
      let flips = 0;
      await fc.assert(
        fc.asyncProperty(policies, calls, async (drawn, call) => {
          const policy = JSON.parse(JSON.stringify(drawn)) as Json;
          const before = await explain(policy, call);
          if (before.change === null) return;
          const edits = before.change.edits.map(({ edit }) => edit as unknown as Edit);
          const after = await explain(edits.reduce(applyEdit, policy), call);
          expect(after.decision, JSON.stringify(edits)).toBe(before.change.to);
          expect(after.decision).not.toBe(before.decision);
          flips++;
          for (const [i] of edits.entries()) {
            const fewer = await explain(edits.toSpliced(i, 1).reduce(applyEdit, policy), call).catch(
              () => before,
            );
            expect(fewer.decision, `${JSON.stringify(edits)} without ${i}`).toBe(before.decision);
          }
        }),
        { numRuns: process.env.WRIT_LONG ? 3000 : 250 },
      );
      expect(flips).toBeGreaterThan(50);
    },
    process.env.WRIT_LONG ? 600_000 : 60_000,
  );
});
