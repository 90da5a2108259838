import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/shell/classify/index.ts';

const LONG = process.env['WRIT_LONG'] === '1';

function sound(text: string): void {
  const got = classify(text);
  expect(['SAFE', 'RISKY', 'FORBIDDEN']).toContain(got.classification);
  expect([0, 1, 2, 3]).toContain(got.tier);
  expect(got.reason.length).toBeGreaterThan(5);
  const [start, end] = got.span;
  expect(start).toBeGreaterThanOrEqual(0);
  expect(end).toBeGreaterThanOrEqual(start);
  expect(end).toBeLessThanOrEqual(text.length);
  expect(classify(text)).toEqual(got);
}

const HOSTILE: Readonly<Record<string, (n: number) => string>> = {
  substitutions: (n) => '$('.repeat(n / 2),
  'closed substitutions': (n) => '$('.repeat(n / 4) + ')'.repeat(n / 4),
  'quoted substitutions': (n) => '"$('.repeat(n / 3),
  backticks: (n) => '`'.repeat(n),
  braces: (n) => '{a,'.repeat(n / 3),
  brackets: (n) => '['.repeat(n),
  parentheses: (n) => '('.repeat(n),
  'here-documents': (n) => '<<b '.repeat(n / 4),
  arithmetic: (n) => `$((${'1+'.repeat(n / 2)}1))`,
  chains: (n) => 'a;'.repeat(n / 2),
  pipes: (n) => 'a|'.repeat(n / 2),
  words: (n) => 'a '.repeat(n / 2),
  'one word': (n) => 'a'.repeat(n),
  'one argument': (n) => `ping ${'a'.repeat(n)}`,
  blanks: (n) => `${' '.repeat(n)}ping 10.0.0.1\n`,
  quotes: (n) => "'".repeat(n),
  'double quotes': (n) => '"'.repeat(n),
  backslashes: (n) => '\\'.repeat(n),
  wrappers: (n) => `${'env '.repeat(n / 4)}x`,
  evals: (n) => `${'eval '.repeat(n / 5)}x`,
  'growing variables': () =>
    `${Array.from({ length: 60 }, (_, i) => `a${i + 1}=$a${i}$a${i}`).join(';')};echo $a60`,
  'many braces': () => `echo ${'{a,b}{a,b}{a,b}{a,b}{a,b}{a,b} '.repeat(20)}`,
  'dots and slashes': (n) => `rm -rf ${'../'.repeat(n / 3)}x`,
  surrogates: (n) => '\ud800'.repeat(n),
  nul: (n) => '\0'.repeat(n),
  query: (n) => `az vm list --query "${'[?a]'.repeat(n / 4)}"`,
  'nested functions': () => Array.from({ length: 80 }, (_, i) => `f${i}(){ f${i + 1}|f${i + 2}; }`).join(';'),
};

describe('a class for every text', () => {
  it('[SHC-12] any text has a class, a reason and a span inside it, twice the same', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 60 }), sound), {
      numRuns: LONG ? 50_000 : 2000,
    });
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 }), (codes) =>
        sound(String.fromCharCode(...codes)),
      ),
      { numRuns: LONG ? 50_000 : 1000 },
    );
    for (const text of [
      '',
      ' ',
      '\n',
      '\0',
      '\ud800',
      '\uffff',
      "'",
      '"',
      '`',
      '$',
      '\\',
      '(',
      '{',
      '<<',
      'a <<',
      'case',
      'for',
      '[[',
      '((',
      '${',
      '$((',
    ])
      sound(text);
  });

  for (const [name, make] of Object.entries(HOSTILE)) {
    it(`[SHC-13] ${name}: a class soon, whatever the length`, () => {
      for (const length of [1000, 8000, 65_000, 1_000_000]) {
        const text = make(length);
        const started = performance.now();
        const got = classify(text);
        // Far above what it takes; a square or worse would be far above this.
        expect(performance.now() - started, `${name} at ${text.length}`).toBeLessThan(3000);
        if (length > 65_536 && text.length > 65_536) expect(got.classification).not.toBe('SAFE');
      }
    });
  }

  it('[SHC-13] what is forbidden is found in a text too long to be read', () => {
    for (const text of [
      `${' '.repeat(200_000)}rm -rf /`,
      `${'a;'.repeat(100_000)}rm -rf /;${'b;'.repeat(100_000)}`,
      `${'$('.repeat(300)}; reboot`,
    ]) {
      expect(classify(text).classification).toBe('FORBIDDEN');
    }
    expect(classify(`echo '${'x'.repeat(100_000)}; rm -rf /'`).classification).toBe('RISKY');
  });

  it('[SHC-12] a reader that runs out of stack ends in RISKY, or stricter', () => {
    const deep = `echo $((${'1+'.repeat(30_000)}1))`;
    expect(classify(deep)).toMatchObject({ classification: 'RISKY', pipeline: null });
    expect(classify(`${deep}; rm -rf /`).classification).toBe('FORBIDDEN');
  });

  it('[SHC-12] what is not a text has a class too', () => {
    expect(classify(undefined as unknown as string)).toMatchObject({
      classification: 'RISKY',
      pipeline: null,
    });
    expect(classify(42 as unknown as string)).toMatchObject({ classification: 'RISKY', pipeline: null });
  });
});

describe('speed', () => {
  it('[SHC-16] typical commands take a few microseconds each', () => {
    const commands = [
      'az network nsg rule list --nsg-name prod-nsg --resource-group prod-rg -o json',
      'az vm show --name web-vm-01 --resource-group prod-rg --query "[?a && b]" -o json',
      'ping -c 4 10.0.2.5',
      'dig redis.corp.internal @10.0.0.4 +short',
      'curl -s -o /dev/null -w "%{http_code}" https://app.example.com/health',
      'ss -tulnp',
      'ip route get 10.0.2.5',
    ];
    const rounds = 3000;
    const once = (): number => {
      const before = process.cpuUsage();
      for (let i = 0; i < rounds; i += 1)
        for (const command of commands) classify(`${command}${i % 2 === 0 ? ' ' : ''}`);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / (rounds * commands.length);
    };
    once();
    // Processor time, so that other work on the machine does not count; the bench measures the figure itself.
    expect(Math.min(once(), once(), once(), once())).toBeLessThan(5);
  });
});
