import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WritError } from '../../src/core/index.ts';
import { loadPlan } from '../../src/runner/index.ts';
import { fillReferences } from '../../src/runner/references.ts';

function mistake(text: string): WritError {
  try {
    loadPlan(text, 'plan.yaml');
  } catch (error) {
    if (error instanceof WritError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}
const steps = (text: string) => `version: "1.0"\nname: x\nsteps:\n${text}`;

describe('plan', () => {
  it('[RUN-01] YAML and JSON give the same plan', () => {
    const yaml = loadPlan(steps('  - { tool: fs.read, id: a, args: { path: ./x } }\n'), 'p.yaml').plan;
    const json = loadPlan(
      '{"version":"1.0","name":"x","steps":[{"tool":"fs.read","id":"a","args":{"path":"./x"}}]}',
      'p.json',
    ).plan;
    expect(json).toEqual(yaml);
  });

  it('[RUN-02] every mistake has a number, a place and what to write', () => {
    const cases: readonly (readonly [string, RegExp, RegExp])[] = [
      ['version: 1.0\nsteps: [{tool: x}]', /plan\.yaml:1:1: version: write version: "1\.0"/, /./],
      [
        steps('  - { tool: fs.read, arg: {} }\n'),
        /plan\.yaml:4:\d+: unknown key "arg" in steps\.0/,
        /write args; known keys here: tool, id, args/,
      ],
      [steps('  - { args: {} }\n'), /plan\.yaml:4:\d+: steps\.0\.tool/, /./],
      [steps('  - { tool: 5 }\n'), /expected text, found 5/, /./],
      [steps('  []\n'), /plan\.yaml:\d/, /./],
      ['version: "1.0"\nsteps: []', /at least one step/, /./],
      ['version: "1.0"\nsteps: x', /plan\.yaml:2:1: steps/, /./],
      ['', /./, /./],
      ['[1, 2', /plan\.yaml:1/, /./],
      [steps('  - { tool: a.b, id: "1 x" }\n'), /an id has letters/, /./],
      [
        steps('  - { tool: a.b, id: x }\n  - { tool: a.b, id: x }\n'),
        /plan\.yaml:5:\d+: there are two steps with the id "x"/,
        /./,
      ],
      [steps('  - { tool: a.b, args: { n: .inf } }\n'), /not a JSON number/, /./],
      [steps('  - { tool: a.b, args: { x: !!js/function "f" } }\n'), /tag/i, /./],
      ['version: "1.0"\nversion: "1.0"\nsteps: [{tool: a.b}]', /stands twice/, /./],
      [`{"version":"1.0","steps":[{"tool":"a.b","extra":1}]}`, /plan\.yaml:1:\d+: unknown key "extra"/, /./],
    ];
    for (const [text, message, suggestion] of cases) {
      const error = mistake(text);
      expect(error.code, text).toBe(3001);
      expect(error.exit, text).toBe(2);
      expect(error.message).toMatch(message);
      expect(error.suggestion ?? '').toMatch(suggestion);
    }
  });

  it('[RUN-03] references to unknown, later or own steps, and cycles, are refused when the plan is read', () => {
    expect(mistake(steps('  - { tool: a.b, args: { x: "${nope.data.y}" } }\n')).message).toMatch(
      /plan\.yaml:4:\d+: .*"nope", which does not exist/,
    );
    expect(
      mistake(steps('  - { tool: a.b, args: { x: "${b.data.y}" } }\n  - { tool: a.b, id: b }\n')).message,
    ).toContain('later step');
    expect(mistake(steps('  - { tool: a.b, id: a, args: { x: "${a.data.y}" } }\n')).message).toContain(
      'itself',
    );
    expect(
      mistake(
        steps(
          '  - { tool: a.b, id: a, args: { x: "${b.data.y}" } }\n  - { tool: a.b, id: b, args: { x: "${a.data.y}" } }\n',
        ),
      ).message,
    ).toContain('cycle');
    expect(mistake(steps('  - { tool: a.b, args: { x: "${HOME}" } }\n')).suggestion).toContain('$${HOME}');
    expect(mistake(steps('  - { tool: a.b, args: { x: "${a.status}" } }\n')).message).toContain(
      'not a reference',
    );
    expect(loadPlan(steps('  - { tool: a.b, args: { x: "$${HOME}" } }\n'), 'p').plan.steps).toHaveLength(1);
  });

  it('[RUN-04] a bomb, a monster or garbage is refused by a bound, quickly', () => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghi'
      .split('')
      .map((c, i) => `${c}: &${c} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(',')}]`)
      .join('\n')}\n`;
    const started = performance.now();
    expect(mistake(`${bomb}version: "1.0"\nsteps: [{tool: a.b, args: {x: *i}}]`).code).toBe(3001);
    expect(
      mistake(`version: "1.0"\nsteps: [{tool: a.b, args: {x: ${'['.repeat(20_000)}${']'.repeat(20_000)}}}]`)
        .code,
    ).toBe(3001);
    expect(
      mistake(
        `{"version":"1.0","steps":[{"tool":"a.b","args":{"x":${'['.repeat(50_000)}${']'.repeat(50_000)}}}]}`,
      ).code,
    ).toBe(3001);
    expect(mistake('x'.repeat(17 * 1024 * 1024)).message).toContain('larger than');
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  it('values are put in as data, once, and keep their type', () => {
    const outputs = new Map([['a', { n: 5, list: ['x'], text: '${b.data.secret}', o: { k: 1 }, '': 1 }]]);
    const fill = (x: string) => fillReferences({ x }, outputs);
    expect(fill('${a.data.n}')).toEqual({ ok: true, args: { x: 5 } });
    expect(fill('n=${a.data.n}!')).toEqual({ ok: true, args: { x: 'n=5!' } });
    expect(fill('${a.data.list.0}')).toEqual({ ok: true, args: { x: 'x' } });
    expect(fill('${a.data.o}')).toEqual({ ok: true, args: { x: { k: 1 } } });
    expect(fill('${a.data.text} ${a.data.n}')).toEqual({ ok: true, args: { x: '${b.data.secret} 5' } });
    expect(fill('$${a.data.n}')).toEqual({ ok: true, args: { x: '${a.data.n}' } });
    for (const missing of [
      '${a.data.zzz}',
      '${a.data.list.9}',
      '${a.data.n.x}',
      '${a.data.constructor}',
      '${a.data.__proto__}',
      'v: ${a.data.o}',
    ])
      expect(fill(missing), missing).toMatchObject({ ok: false });
  });

  it('property: text without references comes out as it went in', () => {
    fc.assert(
      fc.property(
        fc.string().filter((s) => !s.includes('${')),
        (x) => {
          expect(fillReferences({ x, y: [x, { z: x }] }, new Map())).toEqual({
            ok: true,
            args: { x, y: [x, { z: x }] },
          });
        },
      ),
      { numRuns: 200 },
    );
  });

  it('property: a plan is read or refused, never anything else', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.string().map((s) => `version: "1.0"\nsteps:\n  - tool: ${s}\n`),
        ),
        (text) => {
          try {
            loadPlan(text, 'p');
          } catch (error) {
            expect(error).toBeInstanceOf(WritError);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});
