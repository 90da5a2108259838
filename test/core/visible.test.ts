import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { visible } from '../../src/core/index.ts';

const hostile = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      '\u001b',
      '\n',
      '\r',
      '\u0008',
      '\u202e',
      '\u2066',
      '\u200b',
      '\ufeff',
      '⟨',
      '⟩',
      '\ud800',
      '\u009b',
    ),
    fc.integer({ min: 0, max: 0x10ffff }).map((n) => String.fromCodePoint(n)),
    fc.constantFrom('a', ' ', 'é', '日', '\\'),
  ),
});

describe('visible', () => {
  it.each([
    ['\u001b[2J', '⟨ESC⟩[2J'],
    ['rm\u202Egpj.exe', 'rm⟨U+202E⟩gpj.exe'],
    ['a\u200bb\ufeff', 'a⟨U+200B⟩b⟨U+FEFF⟩'],
    ['a\r\nb\tc', 'a⟨CR⟩⟨LF⟩b⟨TAB⟩c'],
    ['\u009b31m', '⟨U+009B⟩31m'],
    ['\u00a0\u3000', '⟨U+00A0⟩⟨U+3000⟩'],
    ['\u{e0041}\u3164\u2800', '⟨U+E0041⟩⟨U+3164⟩⟨U+2800⟩'],
    ['\ud83d', '⟨U+D83D⟩'],
    ['plain ASCII ~!@#$%^&*()', 'plain ASCII ~!@#$%^&*()'],
    ['größe 日本 😀', 'größe 日本 😀'],
  ])('[CORE-08] shows %j', (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it('[CORE-08] leaves nothing a terminal would act on or a person would not see', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const shown = visible(text);
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u);
        expect(shown.isWellFormed()).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('[CORE-08] different texts never look the same', () => {
    const names: Record<string, number> = { LF: 10, CR: 13, TAB: 9, ESC: 27, NUL: 0, DEL: 127 };
    const back = (shown: string) =>
      shown.replace(/⟨(?:U\+([0-9A-F]+)|([A-Z]+))⟩/g, (_, hex?: string, name?: string) =>
        String.fromCodePoint(hex === undefined ? (names[name ?? ''] ?? -1) : Number.parseInt(hex, 16)),
      );
    fc.assert(
      fc.property(hostile, (text) => {
        expect(back(visible(text))).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps line feeds, and only those, when asked', () => {
    expect(visible('a\nb\r\u001bc', 'newlines')).toBe('a\nb⟨CR⟩⟨ESC⟩c');
  });
});
