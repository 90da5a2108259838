import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readDocument } from '../../src/core/document.ts';
import { duplicateKey, jsonOffset } from '../../src/core/json-places.ts';
import { readYaml } from '../../src/core/yaml-text.ts';

const schema = z.strictObject({
  version: z.literal('1.0').optional(),
  mode: z.enum(['fast', 'safe']).optional(),
  names: z.array(z.string().max(5)).max(3).optional(),
  count: z.int().min(1).max(9).optional(),
  ask: z.union([z.boolean(), z.array(z.string())]).optional(),
  anything: z.unknown().optional(),
});
const read = (text: string, maxBytes?: number) =>
  readDocument(text, schema, { file: 'f.yaml', ...(maxBytes === undefined ? {} : { maxBytes }) });
const mistake = (text: string, maxBytes?: number) => {
  try {
    read(text, maxBytes);
  } catch (error) {
    const { message, suggestion } = error as { message: string; suggestion: string };
    return `${message} | ${suggestion}`;
  }
  return 'no mistake';
};

describe('documents', () => {
  const mistakes: readonly (readonly [string, string])[] = [
    ['nmaes: [a]', 'f.yaml:1:1: unknown key "nmaes" in the document | write names;'],
    ['count: 2\nnames: a', 'f.yaml:2:1: names: expected a list, found "a" | write names: ["a"]'],
    ['names:', 'f.yaml:1:1: names: expected a list, found nothing (null) | write names: […]'],
    ['names: [a, 5]', 'f.yaml:1:12: names.1: expected text, found 5 | write text, in quotes'],
    ['names: [a, b, c, d]', 'f.yaml:1:1: names: has 4 entries | write at most 3 entries'],
    ['names: [abcdef]', 'f.yaml:1:9: names.0: has 6 characters | write at most 5 characters'],
    ['count: 0', 'f.yaml:1:1: count: 0 is out of bounds | write a number of at least 1'],
    ['count: "3"', 'f.yaml:1:1: count: expected a number, found "3" | write count: a number, without quotes'],
    ['mode: slow', 'f.yaml:1:1: mode: "slow" is not known | write one of "fast", "safe"'],
    ['version: 1.0', 'f.yaml:1:1: version: 1 is not known | write "1.0"'],
    ['ask: yes', 'f.yaml:1:1: ask: expected true or false or a list, found "yes" | write ask: ["yes"]'],
    ['', 'f.yaml:1:1: the document: expected a map, found nothing (null) | write { key: value }'],
    ['count: 1\r\ncount: 2\r\n', 'f.yaml:2:1: the key "count" stands twice | keep one of them'],
    ['{"count":1,\n "count":2}', 'f.yaml:2:2: the key "count" stands twice | keep one of them'],
    ['anything: {1: a, "1": b}', 'f.yaml:1:18: the key "1" stands twice | keep one of them'],
    ['{"anything":{"__proto__":{}}}', 'f.yaml:1:14: the key "__proto__" is never read | remove it'],
    ['anything:\n  __proto__: 1', 'f.yaml:2:3: the key "__proto__" is never read | remove it'],
    ['anything: !!js/function x', 'f.yaml:1:11: Unresolved tag'],
    ['count: 1\n---\ncount: 2', 'f.yaml:2:1: holds more than one document'],
    ['anything: &a [*a]', 'is nested more than 100 deep, or holds itself | flatten it'],
    [`anything: ${'['.repeat(101)}${']'.repeat(101)}`, 'is nested more than 100 deep'],
    [`{"anything":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'is nested more than 100 deep'],
    [`anything: ${'['.repeat(100_000)}`, 'is nested too deeply to be read'],
    [`anything: ${'[a,'.repeat(400_000)}`, 'has more than 1000000 words and marks, too many for YAML'],
  ];
  for (const [text, expected] of mistakes)
    it(`[RUN-04] ${JSON.stringify(text.slice(0, 40))}: says where and what to write`, () => {
      expect(mistake(text)).toContain(expected);
    });

  it('aliases cannot expand beyond the bound of the file, in number or in size', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x]'];
    for (let i = 1; i < 12; i++)
      lines.push(
        `a${i}: &a${i} [${Array(8)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      );
    expect(mistake(`anything:\n  ${lines.join('\n  ')}`)).toContain('its aliases cannot be expanded');
    const long = `anything: [&l "${'x'.repeat(1000)}"${', *l'.repeat(90)}]`;
    expect(mistake(long, 10_000)).toContain('holds more than 10000 bytes once its aliases are expanded');
    expect(mistake(long, 100_000)).toBe('no mistake');
  });

  it('a map of very many keys is read in linear time', () => {
    const keys = Array.from({ length: 60_000 }, (_, i) => `  k${i}: 1`).join('\n');
    expect(read(`anything:\n${keys}`).place(['anything', 'k59999'])).toEqual({ line: 60_001, column: 3 });
  });
});

describe('places in JSON', () => {
  const json = fc.object({
    key: fc.oneof(fc.constantFrom('a', 'b', 'a"b', 'é\\'), fc.string({ maxLength: 4 })),
    maxDepth: 3,
    withNullPrototype: false,
    values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.constant('}],:"\\')],
  });

  it('are those a YAML reader finds, for every path', () => {
    fc.assert(
      fc.property(json, fc.constantFrom(undefined, 1, 3), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        if (text.includes('__proto__')) return;
        const yaml = readYaml(text);
        for (const path of pathsOf(value))
          if (yaml.ok) expect(jsonOffset(text, path)).toBe(yaml.offset(path));
        expect(duplicateKey(text)).toBeUndefined();
      }),
      { numRuns: 150 },
    );
  });

  it('a repeated key is found however it is spelled and wherever it stands', () => {
    fc.assert(
      fc.property(
        json,
        fc.string({ maxLength: 5 }).filter((key) => key !== 'y'),
        (value, key) => {
          const spelled = JSON.stringify(key);
          const escaped = `"${[...key].map((c) => (c.length > 1 ? c : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)).join('')}"`;
          const text = `[{"x":${JSON.stringify(value)}},{${spelled}:1, "y" : {}, ${escaped} :2}]`;
          const found = duplicateKey(text);
          expect(found?.key).toBe(key);
          expect(JSON.parse(text.slice(found?.offset, text.lastIndexOf(':2')))).toBe(key);
        },
      ),
      { numRuns: 150 },
    );
  });
});

function pathsOf(value: unknown, front: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [front];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [front, ...entries.flatMap(([key, item]) => pathsOf(item, [...front, key]))];
}
