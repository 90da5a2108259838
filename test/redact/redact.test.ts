import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { REDACTION_CATEGORIES, redact, redactionStream } from '../../src/redact/index.ts';
import { readCorpus } from './corpus.ts';

const corpus = readCorpus(1);
const withSecrets = corpus.filter((row) => row.secrets.length > 0);
const harmless = corpus.filter((row) => row.secrets.length === 0);

describe('the corpus', () => {
  it('[RED-01] is large enough to mean something', () => {
    expect(withSecrets.length).toBeGreaterThanOrEqual(150);
    expect(harmless.length).toBeGreaterThanOrEqual(150);
  });

  it.each(withSecrets)(
    '[RED-02] $kind: the secret goes, what is around it stays',
    ({ text, secrets, keep }) => {
      const out = redact(text);
      for (const secret of secrets) expect(out.text).not.toContain(secret);
      for (const word of keep) expect(out.text).toContain(word);
      expect(out.count).toBeGreaterThan(0);
      expect(out.categories.length).toBeGreaterThan(0);
    },
  );

  it.each(harmless)('[RED-03] $kind stays byte for byte', ({ text }) => {
    expect(redact(text)).toEqual({ text, count: 0, categories: [] });
  });

  it.each(corpus)('[RED-05] $kind needs one pass only', ({ text }) => {
    // The stream passes once, `redact` until nothing changes.
    const stream = redactionStream();
    expect(stream.push(text) + stream.end()).toBe(redact(text).text);
  });

  it('[RED-02] holds for secrets made anew', () => {
    for (let seed = 2; seed < 8; seed++)
      for (const { kind, text, secrets, keep } of readCorpus(seed)) {
        const out = redact(text).text as string;
        if (secrets.length === 0) expect(out, kind).toBe(text);
        for (const secret of secrets) expect(out.includes(secret), `${kind}: ${text}`).toBe(false);
        for (const word of keep) expect(out.includes(word), `${kind}: ${text} lost ${word}`).toBe(true);
      }
  });

  it('[RED-04] uses every category of the design page, and no other', () => {
    const seen = new Set(withSecrets.flatMap((row) => redact(row.text).categories));
    expect([...seen].sort()).toEqual([...REDACTION_CATEGORIES].sort());
  });
});

/** Text as hostile as it gets: pieces of the corpus, anchors, quotes and noise in any order. */
const pieces = fc.oneof(
  fc.constantFrom(...corpus.map((row) => row.text)),
  fc.constantFrom(
    'password',
    '=',
    ':',
    '"',
    "'",
    '\\',
    '\n',
    ' ',
    '&',
    ';',
    '==',
    '://',
    '@',
    '-----BEGIN PRIVATE KEY-----',
  ),
  fc.constantFrom(
    '[REDACTED:password]',
    '[REDACTED:',
    'eyJ',
    'sig=',
    'Bearer ',
    'curl -u a:',
    '{',
    '}',
    '[',
    ']',
    ',',
    '\u001b[31m',
  ),
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const hostile = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(''));
const RUNS = process.env.WRIT_LONG === '1' ? 20_000 : 1500;

describe('properties', () => {
  it('[RED-05] is idempotent', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const once = redact(text).text;
        expect(redact(once)).toEqual({ text: once, count: 0, categories: [] });
      }),
      { numRuns: RUNS },
    );
  });

  it('[RED-06] keeps JSON readable: what parsed before parses after', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(...corpus.map((row) => row.text)), (value, text) => {
        const json = JSON.stringify({
          value,
          text,
          password: value,
          nested: JSON.stringify({ text, token: text }),
        });
        expect(() => JSON.parse(redact(json).text)).not.toThrow();
      }),
      { numRuns: RUNS },
    );
  });

  it('[RED-02] finds a secret wherever in a text it stands', () => {
    const sturdy = withSecrets.filter((row) =>
      /^(?:issuer|jwt|pem|azure\/keys-json|http\/bearer$)/.test(row.kind),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...sturdy),
        fc.lorem({ maxCount: 30 }),
        fc.lorem({ maxCount: 30 }),
        (row, before, after) => {
          const out = redact(`${before}\n${row.text}\n${after}`).text as string;
          for (const secret of row.secrets) expect(out.includes(secret)).toBe(false);
          expect(out.startsWith(before) && out.endsWith(after)).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });
});
