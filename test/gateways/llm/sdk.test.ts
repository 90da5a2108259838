import { describe, expect, it } from 'vitest';
import { gatewayTests } from './help.ts';

const { start } = gatewayTests();

describe('the official SDKs, unchanged', () => {
  it('[GW-L24] [GW-L2] openai: chat, stream, responses, embeddings, models', async () => {
    const { openai, upstream, chat } = await start();
    expect((await chat('hello')).choices[0]!.message.content).toBe('echo hello');
    let text = '';
    for await (const piece of await openai.chat.completions.create({
      model: 'm-1',
      stream: true,
      messages: [{ role: 'user', content: 'x' }],
    }))
      text += piece.choices[0]?.delta.content ?? '';
    expect(text).toBe('Hello');
    expect((await openai.responses.create({ model: 'm-1', input: 'x' })).output_text).toBe('from responses');
    expect(
      (await openai.embeddings.create({ model: 'm-1', input: 'x', encoding_format: 'float' })).data[0]!
        .embedding,
    ).toEqual([0.5, 0.25]);
    expect((await openai.models.list()).data.map((m) => m.id)).toEqual(['m-1']);
    expect(new Set(upstream.seen.map((s) => s.headers.authorization))).toEqual(new Set(['Bearer key-oai']));
  });

  it('[GW-L24] @google/genai: generate, stream, embed', async () => {
    const { google, upstream } = await start();
    expect((await google.models.generateContent({ model: 'm-2', contents: 'x' })).text).toBe(
      'gemini says hi',
    );
    let text = '';
    for await (const piece of await google.models.generateContentStream({ model: 'm-2', contents: 'x' }))
      text += piece.text;
    expect(text).toBe('one two');
    expect(
      (await google.models.embedContent({ model: 'm-2', contents: 'x' })).embeddings?.[0]?.values,
    ).toEqual([1, 2]);
    expect(new Set(upstream.seen.map((s) => s.headers['x-goog-api-key']))).toEqual(new Set(['key-goo']));
  });
});
