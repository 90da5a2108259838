import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAnonymizer } from '../../src/shell/process/anonymize.ts';
import { fits, MAX_CHARS, MAX_LINES } from '../../src/shell/process/limits.ts';
import { processOutput, processStderr } from '../../src/shell/process/process.ts';

const process = (text: string) => processOutput(Buffer.from(text), Buffer.byteLength(text));
const rows = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    id: i,
    name: `vm-${i}`,
    tags: { a: 1 },
    zones: [1, 2, 3, 4, 5, 6, 7],
  }));

describe('small output', () => {
  it.each(['', 'ok\n', 'no newline', '{"a":1}', '[1,2,3]', '\t\u001b[31mred\u001b[0m\n', 'Grüße 你好\n'])(
    '[SHL-30] %j is left exactly as it was',
    (text) => {
      const { text: seen, metadata } = process(text);
      expect(seen).toBe(text);
      expect(metadata).toMatchObject({
        truncation_applied: false,
        redactions_applied: false,
        redaction_count: 0,
      });
      expect(metadata.total_bytes).toBe(Buffer.byteLength(text));
      expect(metadata.lines_shown).toBe(metadata.total_lines);
    },
  );
});

describe('JSON', () => {
  it('[SHL-31] an array keeps its first three items and the last one, with a marker between, and stays JSON', () => {
    const text = JSON.stringify(rows(500), null, 2);
    const { text: seen, metadata } = process(text);
    const items = JSON.parse(seen) as { id?: number }[];
    expect(items.map((item) => item.id ?? item)).toEqual([0, 1, 2, '[… 496 items omitted …]', 499]);
    expect(metadata).toMatchObject({
      truncation_applied: true,
      output_type: 'json_array',
      items_total: 500,
      items_shown: 4,
      total_lines: text.split('\n').length,
      lines_shown: (seen as string).split('\n').length,
    });
  });

  it('[SHL-31] an object keeps all its top-level keys; arrays inside follow the same rule, down to depth three', () => {
    const value = { list: rows(300), deep: { a: { b: { c: { d: 1 } } } }, plain: 'x', n: 3, none: null };
    const seen = JSON.parse(process(JSON.stringify(value)).text) as Record<string, unknown>;
    expect(Object.keys(seen)).toEqual(Object.keys(value));
    expect((seen.list as unknown[]).length).toBe(5);
    expect(seen).toMatchObject({ plain: 'x', n: 3, none: null, deep: { a: { b: '{… 1 keys omitted}' } } });
  });

  it('[SHL-31] whatever JSON comes in, JSON comes out, within the limits', () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue({ maxDepth: 5 }), { minLength: 1 }),
        fc.integer({ min: 1, max: 400 }),
        (values, times) => {
          const value = Array.from({ length: times }, () => values).flat();
          for (const whole of [value, { items: value, first: values[0] }]) {
            const { text } = process(JSON.stringify(whole, null, 1));
            expect(() => JSON.parse(text)).not.toThrow();
            expect(fits(text)).toBe(true);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('[SHL-31] stays JSON when secrets in it are replaced', () => {
    const keys = [{ keyName: 'key1', value: Buffer.alloc(64, 7).toString('base64').replace('Bwc', 'aZ9') }];
    const { text, metadata } = process(JSON.stringify(keys));
    expect(JSON.parse(text)).toEqual([{ keyName: 'key1', value: expect.stringContaining('[REDACTED:') }]);
    expect(metadata.redaction_count).toBe(1);
  });
});

describe('other formats', () => {
  it('[SHL-32] a log keeps its first 20 and last 10 lines and says how many are missing', () => {
    const lines = Array.from({ length: 1000 }, (_, i) => `2026-01-15 14:30:00 INFO line ${i}`);
    const { text, metadata } = process(`${lines.join('\n')}\n`);
    const seen = (text as string).split('\n');
    expect(seen.slice(0, 20)).toEqual(lines.slice(0, 20));
    expect(seen[20]).toBe('[… 970 of 1000 lines omitted …]');
    expect(seen.slice(21)).toEqual(lines.slice(-10));
    expect(metadata).toMatchObject({
      output_type: 'log',
      total_lines: 1000,
      lines_shown: 30,
      truncation_applied: true,
    });
  });

  it('[SHL-32] a table keeps its header and first rows', () => {
    const table = [
      'Name    State',
      '------  -------',
      ...Array.from({ length: 900 }, (_, i) => `vm-${i}   Running`),
    ];
    const { text, metadata } = process(table.join('\n'));
    expect((text as string).split('\n').slice(0, 3)).toEqual(table.slice(0, 3));
    expect(text).toContain('lines omitted');
    expect(metadata).toMatchObject({ output_type: 'table', lines_shown: MAX_LINES - 1, total_lines: 902 });
  });

  it('[SHL-32] binary output is replaced by its size', () => {
    const bytes = Buffer.from([0, 1, 2, 255, 254, 3, 0, 9]);
    const { text, metadata } = processOutput(bytes, 4711);
    expect(text).toBe('[binary output: 4711 bytes]');
    expect(metadata).toMatchObject({ output_type: 'binary', total_bytes: 4711, truncation_applied: true });
  });

  it('[SHL-32] any text fits afterwards, and says so', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme', maxLength: 300 })),
        fc.integer({ min: 1, max: 300 }),
        (lines, times) => {
          const text = Array.from({ length: times }, () => lines)
            .flat()
            .join('\n');
          const { text: seen, metadata } = process(text);
          expect((seen as string).length).toBeLessThanOrEqual(MAX_CHARS + 4000);
          if (!metadata.truncation_applied) expect(metadata.lines_shown).toBe(metadata.total_lines);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('[SHL-32] what was dropped while it streamed counts as truncated', () => {
    expect(processOutput(Buffer.from('abc'), 99).metadata).toMatchObject({
      truncation_applied: true,
      total_bytes: 99,
    });
  });
});

describe('order of redaction and truncation', () => {
  it('[SHL-33] a private key whose end would be cut away is redacted first', () => {
    const body = Array.from({ length: 2000 }, (_, i) => `${'Ab3/'.repeat(15)}${String(i).padStart(4, '0')}`);
    const { text, metadata } = process(
      `-----BEGIN RSA PRIVATE KEY-----\n${body.join('\n')}\n-----END RSA PRIVATE KEY-----\n`,
    );
    expect(text).not.toContain('Ab3/');
    expect(metadata.redaction_categories).toEqual(['private_key']);
  });

  it('[SHL-34] stderr is redacted and never truncated', () => {
    const line = 'error: password=Winter!Sun99 rejected\n';
    const { text, count } = processStderr(Buffer.from(line.repeat(5000)));
    expect(text).not.toContain('Winter!Sun99');
    expect(count).toBe(5000);
    expect((text as string).split('\n').length).toBe(5001);
  });
});

describe('anonymisation', () => {
  it('[SHL-35] private addresses, ranges and resource ids become placeholders that stay the same', () => {
    const anonymizer = createAnonymizer();
    const text =
      'from 10.0.1.4 to 10.0.1.4 via 192.168.7.1 in 10.0.0.0/16, not 8.8.8.8; fe80::42:acff:fe11:2 fd00::1/64\n' +
      '/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/v';
    const first = processOutput(Buffer.from(text), text.length, anonymizer);
    expect(first.text).toBe(
      'from <ip-1> to <ip-1> via <ip-2> in <cidr-1>, not 8.8.8.8; <ip-3> <cidr-2>\n<resource-1>',
    );
    const again = processOutput(Buffer.from('10.0.1.4 10.0.1.5'), 17, anonymizer);
    expect(again.text).toBe('<ip-1> <ip-4>');
    expect(again.metadata).toMatchObject({ anonymization_applied: true, anonymization_mappings_count: 7 });
  });

  it('[SHL-35] is off unless asked for', () => {
    const { text, metadata } = process('10.0.1.4');
    expect(text).toBe('10.0.1.4');
    expect('anonymization_applied' in metadata).toBe(false);
  });

  it('[SHL-35] leaves versions, times and public addresses alone', () => {
    const text = 'v10.1.2.3.4 1.10.0.0.1 203.0.113.7 20:10:30 abcfe80::1 2001:db8::1 999.10.1.1.1';
    expect(createAnonymizer().apply(text)).toBe(text);
  });
});
