import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, digestOf, isDigest, parseJson, sha256 } from '../../src/core/index.ts';

/** RFC 8785 appendix B: IEEE 754 bits and the text they must print as (null: refused). */
const NUMBERS: readonly (readonly [string, string | null])[] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['7fffffffffffffff', null],
  ['7ff0000000000000', null],
  ['fff0000000000000', null],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
];

function double(bits: string): number {
  return Buffer.from(bits, 'hex').readDoubleBE(0);
}

/** Every object's members in another order, all the way down. */
function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([k, v]) => [k, shuffled(v)]),
  );
}

/** The rule itself, one line a kind. */
function byTheBook(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(byTheBook).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((k) => `${JSON.stringify(k)}:${byTheBook((value as Record<string, unknown>)[k])}`).join()}}`;
}

/** Keys that an engine treats in its own way, among usual ones. */
const { tree } = fc.letrec((tie) => ({
  key: fc.oneof(
    fc.constantFrom('10', '9', '01', '-1', '__proto__', 'constructor', 'toJSON', '', 'a', 'B'),
    fc.string(),
  ),
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, -0, 1e21, 'x', '\u2028'),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.array(fc.tuple(tie('key'), tie('tree')), { maxLength: 30 }).map((entries) => {
      return Object.fromEntries(entries as [string, unknown][]);
    }),
  ),
}));

const json = fc.jsonValue({ stringUnit: 'grapheme' });

describe('canonical JSON', () => {
  it('[CORE-01] is what the rule says, whatever the keys are called', () => {
    fc.assert(fc.property(tree, (value) => canonicalJson(value) === byTheBook(value)));
  });

  it.each(NUMBERS)('[CORE-01] prints the number %s as RFC 8785 appendix B says', (bits, expected) => {
    if (expected === null) expect(() => canonicalJson(double(bits))).toThrow(TypeError);
    else expect(canonicalJson(double(bits))).toBe(expected);
  });

  it('[CORE-01] prints the example of RFC 8785 section 3.2.2', () => {
    const input = JSON.parse(`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/",
      "literals": [null, true, false]
    }`);
    expect(canonicalJson(input)).toBe(
      `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA'B\\"\\\\\\\\\\"/"}`,
    );
  });

  it('[CORE-01] orders members by UTF-16 code unit, as in section 3.2.3', () => {
    const input = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    const order = Object.values(JSON.parse(canonicalJson(input)) as Record<string, string>);
    // JSON.parse puts the integer-like key first, so read the order from the text itself.
    const text = canonicalJson(input);
    const sorted = [...order].sort((a, b) => text.indexOf(a) - text.indexOf(b));
    expect(sorted).toEqual([
      'Carriage Return',
      'One',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ]);
  });

  it('[CORE-02] refuses what has no canonical form', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const hopeless = [
      'a\ud800',
      { '\udc00': 1 },
      Number.NaN,
      1n,
      undefined,
      () => 1,
      Symbol('x'),
      [undefined],
      new Array(2),
      new Map([['a', 1]]),
      new Set([1]),
      new Date(0),
      Buffer.from('a'),
      cyclic,
    ];
    for (const value of hopeless) expect(() => canonicalJson(value)).toThrow();
  });

  it('reads what it printed back as the same data, whatever the data', () => {
    fc.assert(
      fc.property(json, (value) => {
        // -0 has no form of its own.
        const plain = JSON.parse(JSON.stringify(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(plain);
      }),
    );
  });

  it('[CORE-03] gives the same digest whatever the order of members, and another for other data', () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        expect(digestOf(shuffled(a))).toBe(digestOf(a));
        if (canonicalJson(a) !== canonicalJson(b)) expect(digestOf(a)).not.toBe(digestOf(b));
      }),
    );
  });

  it('leaves out undefined members and keeps a member called __proto__', () => {
    expect(canonicalJson({ b: undefined, a: 1 })).toBe('{"a":1}');
    expect(canonicalJson(JSON.parse('{"__proto__":{"x":1},"a":2}'))).toBe('{"__proto__":{"x":1},"a":2}');
    expect(canonicalJson(Object.assign(Object.create(null), { b: 1 }))).toBe('{"b":1}');
  });

  it('digests are SHA-256 in lower-case hexadecimal', () => {
    expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(sha256(new TextEncoder().encode('abc'))).toBe(sha256('abc'));
    expect(isDigest(sha256('x'))).toBe(true);
    for (const no of [sha256('x').toUpperCase(), `${sha256('x')}\n`, 'abc', 1, null])
      expect(isDigest(no)).toBe(false);
  });

  it('parseJson answers with the reason instead of throwing', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const parsed = parseJson(text);
        if (!parsed.ok) expect(parsed.reason).not.toBe('');
      }),
    );
  });
});
