import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type Json } from '../../../src/core/index.ts';
import type { LlmRule } from '../../../src/gateways/llm/config.ts';
import { list, mapDeltas } from '../../../src/gateways/llm/protocol.ts';
import { streamRedactor } from '../../../src/gateways/llm/redact-stream.ts';
import { rulesFor } from '../../../src/gateways/llm/rules.ts';
import { printEvents, SseOverflow, sseReader } from '../../../src/gateways/llm/sse.ts';
import { streamJudge } from '../../../src/gateways/llm/stream-judge.ts';
import { redact } from '../../../src/redact/index.ts';

/** A text cut at arbitrary places. */
const pieces = (text: string, cuts: readonly number[]): string[] => {
  const at = [...new Set(cuts.map((c) => c % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, i) => text.slice(from, at[i] ?? text.length));
};
const delta = (content: string): Json => ({ choices: [{ index: 0, delta: { content } }] });

describe('reading events', () => {
  const line = fc.constantFrom(
    'data: {"a":1}',
    'data:x',
    ': note',
    'event: e',
    'id: 7',
    'data: ü🎈',
    'data: [DONE]',
  );
  const event = fc.array(line, { minLength: 1, maxLength: 4 });
  const end = fc.constantFrom('\n', '\r\n', '\r');

  it('the same events however the bytes are cut, and every byte is handed on', () => {
    fc.assert(
      fc.property(
        fc.array(event, { minLength: 1, maxLength: 6 }),
        end,
        fc.array(fc.nat(400)),
        (events, eol, cuts) => {
          const whole = Buffer.from(events.map((lines) => [...lines, '', ''].join(eol)).join(''));
          const wanted = events.map((lines) =>
            lines
              .filter((l) => l.startsWith('data:'))
              .map((l) => l.slice(5).replace(/^ /, ''))
              .join('\n'),
          );
          const reader = sseReader(10_000);
          const at = [...new Set(cuts.map((c) => c % (whole.length + 1)))].sort((a, b) => a - b);
          const parts = [0, ...at].map((from, i) => whole.subarray(from, at[i] ?? whole.length));
          const batches = [...parts.map((part) => reader.push(part)), reader.end()].flatMap((b) => b ?? []);
          const data = batches.flatMap((b) => b.events.map((e) => e.data));
          // A CR at the end of what has come may be followed by the LF that belongs to it: an empty event.
          expect(data.filter((d) => d !== '')).toEqual(wanted.filter((d) => d !== ''));
          expect(
            Buffer.concat(batches.map((b) => b.bytes))
              .toString()
              .trimEnd(),
          ).toBe(whole.toString().trimEnd());
        },
      ),
      { numRuns: 300 },
    );
  });

  it('an event without end is an error, not memory', () => {
    const reader = sseReader(1000);
    expect(() => {
      for (let i = 0; i < 2000; i++) reader.push(Buffer.from('x\n'));
    }).toThrow(SseOverflow);
  });
});

describe('judging in pieces', () => {
  const rule = (more: Partial<LlmRule>): LlmRule => ({ name: 'r', on: 'response', verdict: 'deny', ...more });
  const judgeFor = (...rules: LlmRule[]) =>
    streamJudge(rulesFor(rules, 'response', { caller: 'c', model: 'm', operation: 'o' }));

  it('[GW-L25] words are found wherever the stream cuts them, and nowhere else', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 40 }),
        fc.string({ maxLength: 40 }),
        fc.boolean(),
        fc.array(fc.nat(100)),
        (before, after, there, cuts) => {
          const text = `${before}${there ? 'Forbidden Words' : ''}${after}`;
          const judge = judgeFor(rule({ contains: ['forbidden words'] }));
          for (const piece of pieces(text, cuts)) judge.see(delta(piece));
          expect(judge.last().verdict).toBe(
            text.toLowerCase().includes('forbidden words') ? 'deny' : 'allow',
          );
        },
      ),
      { numRuns: 300 },
    );
  });

  it('channels are read apart, and conditions add up over the answer', () => {
    const apart = judgeFor(rule({ contains: ['secret plan'] }));
    apart.see({ choices: [{ index: 0, delta: { content: 'secret ' } }] });
    expect(apart.see({ choices: [{ index: 1, delta: { content: 'plan' } }] }).verdict).toBe('allow');
    expect(apart.see({ choices: [{ index: 0, delta: { content: 'plan' } }] }).verdict).toBe('deny');
    const both = judgeFor(rule({ tools: ['delete_*'], contains: ['prod'], larger_than_chars: 5 }));
    const call = (name: string, args: string): Json => ({
      choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { name, arguments: args } }] } }],
    });
    expect(both.see(call('delete', '{"db":"')).verdict).toBe('allow');
    expect(both.see(call('_all', 'pr')).verdict).toBe('allow');
    expect(both.see(call('', 'od"}')).verdict).toBe('deny');
    const reasoning = judgeFor(rule({ contains: ['hidden thought'] }));
    reasoning.see({ choices: [{ index: 0, delta: { reasoning_content: 'hidden th' } }] });
    expect(reasoning.see({ choices: [{ index: 0, delta: { reasoning_content: 'ought' } }] }).verdict).toBe(
      'deny',
    );
  });

  it('an answer of more parts than can be followed is denied', () => {
    const judge = judgeFor(rule({ contains: ['x'] }));
    for (let i = 0; i < 5000; i++) judge.see({ choices: [{ index: i, delta: { content: 'a' } }] });
    expect(judge.last().verdict).toBe('deny');
  });
});

describe('redacting in pieces', () => {
  const SECRETS = [
    'AKIAIOSFODNN7EXAMPLE',
    'password=Tr0ub4dor&3xyz',
    'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
  ];

  it('the texts of the pieces add up to the redacted text, and no piece shows a secret', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.lorem({ maxCount: 30 }), fc.constantFrom(...SECRETS)), {
          minLength: 1,
          maxLength: 12,
        }),
        fc.array(fc.nat(4000), { maxLength: 30 }),
        (words, cuts) => {
          const text = words.join(' \n ');
          const redactor = streamRedactor();
          const out = [
            ...pieces(text, cuts).flatMap((piece) => redactor.piece(delta(piece))),
            ...redactor.piece({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
            ...redactor.end(),
          ];
          let shown = '';
          for (const piece of out)
            mapDeltas(piece, (_, part) => {
              shown += part;
              return part;
            });
          expect(shown).toBe(redact(text).text);
          expect(redactor.changed()).toBe(shown !== text);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('what is held back comes before the end, without saying twice what is said once', () => {
    const redactor = streamRedactor();
    const first: Json = {
      choices: [
        {
          index: 0,
          delta: {
            role: 'assistant',
            tool_calls: [{ index: 0, id: 'c1', function: { name: 'f', arguments: '{"k":' } }],
          },
        },
      ],
    };
    redactor.piece(first);
    const out = redactor.piece({
      choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }],
      usage: { total_tokens: 1 },
    });
    expect(out).toHaveLength(2);
    expect(out[0]).toEqual({
      choices: [
        {
          index: 0,
          finish_reason: null,
          delta: { tool_calls: [{ index: 0, function: { arguments: '{"k":' } }] },
        },
      ],
    });
    const last = out[1]!;
    expect(isJsonObject(last) && list(last.choices)).toMatchObject([{ finish_reason: 'tool_calls' }]);
    expect(printEvents([{ type: 'response.x', a: 1 }]).toString()).toBe(
      'event: response.x\ndata: {"type":"response.x","a":1}\n\n',
    );
  });
});
