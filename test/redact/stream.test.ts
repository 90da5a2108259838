import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redact, redactionStream } from '../../src/redact/index.ts';
import { readCorpus } from './corpus.ts';

const corpus = readCorpus(3);

function streamed(text: string, cuts: readonly number[], limit?: number): string {
  const stream = redactionStream(limit);
  let out = '';
  let from = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    out += stream.push(text.slice(from, Math.max(from, cut)));
    from = Math.max(from, cut);
  }
  return out + stream.push(text.slice(from)) + stream.end();
}

describe('redaction of a stream', () => {
  it('[RED-08] gives what redacting the whole would give, wherever the pieces are cut', () => {
    const filler = 'Jan 15 14:30:01 web-vm-01 kernel: eth0: link up, 1000 Mbps\n'.repeat(6000);
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...corpus.map((row) => row.text)), { minLength: 1, maxLength: 20 }),
        fc.array(fc.nat(800_000), { maxLength: 12 }),
        (rows, cuts) => {
          const text = `${rows.join('\n')}\n${filler}${rows.join('\n\n')}\n${filler}`;
          expect(streamed(text, cuts) === (redact(text).text as string)).toBe(true);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('[RED-08] never shows a key that is longer than it can hold', () => {
    const key = 'QUJDREVG'.repeat(400_000);
    const text = `before\n-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n[after]`;
    const cuts = Array.from({ length: 60 }, (_, i) => i * 60_000);
    const out = streamed(text, cuts, 1_000_000);
    expect(out).not.toContain('QUJDREVG');
    expect(out.startsWith('before\n[REDACTED:private_key]')).toBe(true);
    expect(out.endsWith('[after]')).toBe(true);
  });
});
