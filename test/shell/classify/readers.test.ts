import fc from 'fast-check';
import { parse } from 'unbash';
import { describe, expect, it } from 'vitest';
import { readGrammar } from '../../../src/shell/classify/grammar.ts';
import { classify } from '../../../src/shell/classify/index.ts';
import { readPlain } from '../../../src/shell/classify/plain.ts';
import { unquote } from '../../../src/shell/classify/unquote.ts';
import { secondReading } from './second-grammar.ts';

const LONG = process.env['WRIT_LONG'] === '1';
const runs = (few: number) => ({ numRuns: LONG ? few * 50 : few });

const values = (stages: readonly (readonly { value: string }[])[]) =>
  stages.map((words) => words.map((word) => word.value));

/** Text of the plain subset and a little beyond its edge. */
const nearlyPlain = fc
  .array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.constantFrom(
          'ping',
          '-c',
          '1',
          'a.b',
          "'x y'",
          '"x y"',
          'a=b',
          '10.0.0.1',
          '--q=[1]',
          "a'b'c",
          '""',
        ),
      },
      { weight: 3, arbitrary: fc.constantFrom(' ', '  ', '|', ' | ') },
      {
        weight: 1,
        arbitrary: fc.constantFrom(
          '#',
          '^',
          '%',
          ',',
          '@',
          '+',
          ':',
          '/',
          '=',
          '!',
          '~',
          'if',
          'time',
          '\\',
          '$',
          "'",
          '"',
          '{',
          '}',
          ']',
          '||',
          '&',
          '\t',
        ),
      },
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));

/** Anything shell-like. */
const shellish = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'ping',
        'dig',
        'az vm list',
        'rm',
        '-rf',
        '/',
        'a',
        'x=1',
        'if',
        'then',
        'fi',
        'do',
        'done',
        'in',
        'case',
        'time',
        'function',
        '10.0.0.1',
      ),
      fc.constantFrom(
        ' ',
        ' ',
        ' ',
        '\n',
        '\t',
        ';',
        '&',
        '|',
        '&&',
        '||',
        '|&',
        '>',
        '<',
        '>>',
        '<<',
        '<<<',
        '<(',
        '2>&1',
      ),
      fc.constantFrom(
        "'",
        '"',
        '\\',
        '$',
        '`',
        '(',
        ')',
        '{',
        '}',
        '[',
        ']',
        '$(',
        '${',
        "$'",
        '$"',
        '*',
        '?',
        '~',
        '!',
        '#',
        '=',
        ',',
        '@(',
        '\\\n',
      ),
    ),
    { maxLength: 16 },
  )
  .map((parts) => parts.join(''));

describe('readers of a command', () => {
  it('[SHC-04] the fast reader and the full grammar read the plain subset alike', () => {
    let plain = 0;
    fc.assert(
      fc.property(nearlyPlain, (text) => {
        const fast = readPlain(text);
        if (fast === null) return;
        plain += 1;
        const tree = parse(text);
        expect(tree.errors ?? []).toEqual([]);
        const full = readGrammar(tree, text);
        expect(full.objection).toBeNull();
        expect(full.stages).toEqual(fast);
      }),
      runs(8000),
    );
    expect(plain).toBeGreaterThan(1000);
  });

  it('[SHC-05] what the fast reader accepts, a second grammar reads alike', () => {
    fc.assert(
      fc.property(nearlyPlain, (text) => {
        const fast = readPlain(text);
        if (fast !== null) expect(secondReading(text)).toEqual(values(fast));
      }),
      runs(1500),
    );
  });

  it('[SHC-05] whatever two grammars read differently is never SAFE and never executable', () => {
    fc.assert(
      fc.property(shellish, (text) => {
        const { classification, pipeline, rule } = classify(text);
        if (pipeline === null) {
          expect(classification).not.toBe('SAFE');
          return;
        }
        // Stderr redirections that change nothing are the one thing left out of what is executed.
        const read = rule === 'redirect.stderr' ? null : secondReading(text);
        if (read !== null) expect(read).toEqual(pipeline);
        else if (classification === 'SAFE')
          expect.fail(`SAFE, but the second grammar does not read it: ${JSON.stringify(text)}`);
      }),
      runs(3000),
    );
  });

  it('reads quotes, escapes and nothing else', () => {
    expect(unquote(`a'b c'"d"\\ e`)).toBe('ab cd e');
    expect(unquote('"a\\"b\\n\\\\"')).toBe('a"b\\n\\');
    expect(unquote("'open")).toBeNull();
    expect(unquote('"open')).toBeNull();
    expect(unquote('a$b')).toBeNull();
    expect(unquote('"`x`"')).toBeNull();
    expect(unquote('a\\')).toBeNull();
    expect(unquote('')).toBe('');
  });

  it('[SHC-04] refuses everything a shell would look at twice', () => {
    for (const text of [
      'a $b',
      'a `b`',
      'a *',
      'a ?',
      'a [b]',
      'a {b}',
      'a ~',
      'a \\b',
      'a;b',
      'a&b',
      'a>b',
      'a<b',
      'a(b)',
      'a||b',
      'a|&b',
      '|a',
      'a|',
      'A=b c',
      'if a',
      'time a',
      '# a',
      'a #b',
      "a 'b",
      'a "b',
      'a "$b"',
      'a\tb',
      'a\nb',
      'a\u00e9',
      '',
      ' ',
    ]) {
      expect(readPlain(text), text).toBeNull();
    }
    expect(readPlain('a#b')).toEqual([[{ value: 'a#b', start: 0, end: 3, glob: false }]]);
  });
});
