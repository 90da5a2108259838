import { describe, expect, it } from 'vitest';
import { chunk, gatewayTests, json, sse } from './help.ts';

const { start } = gatewayTests();

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('nothing of a request or an answer is lost on the way', () => {
  it('[GW-L24] openai: many fields, pictures, tools, formats, several answers, log probabilities', async () => {
    const answer = {
      id: 'chatcmpl-9',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'm-1-0613',
      system_fingerprint: 'fp_1',
      service_tier: 'default',
      choices: [0, 1].map((index) => ({
        index,
        message: {
          role: 'assistant',
          content: `answer ${index} — ünïcode 🎈`,
          refusal: null,
          annotations: [],
          reasoning_content: 'because',
          tool_calls: [
            { id: `call_${index}`, type: 'function', function: { name: 'look', arguments: '{"at":"moon"}' } },
          ],
        },
        logprobs: { content: [{ token: 'a', logprob: -0.31725305, bytes: [97], top_logprobs: [] }] },
        finish_reason: 'tool_calls',
      })),
      usage: {
        prompt_tokens: 82,
        completion_tokens: 17,
        total_tokens: 99,
        prompt_tokens_details: { cached_tokens: 0 },
      },
      provider_extension: { deep: [1, { x: 1e-7, big: 9007199254740991 }] },
    };
    const { openai, upstream } = await start((_, res) => json(res, answer));
    const asked = {
      model: 'm-1',
      n: 2,
      temperature: 0.2,
      seed: 7,
      logprobs: true,
      top_logprobs: 3,
      stop: ['\n\n'],
      logit_bias: { '50256': -100 },
      metadata: { team: 'x' },
      response_format: {
        type: 'json_schema' as const,
        json_schema: { name: 's', strict: true, schema: { type: 'object', properties: {} } },
      },
      tool_choice: 'auto' as const,
      parallel_tool_calls: false,
      tools: [
        {
          type: 'function' as const,
          function: { name: 'look', description: 'looks', parameters: { type: 'object', properties: {} } },
        },
      ],
      messages: [
        { role: 'developer' as const, content: 'be brief' },
        {
          role: 'user' as const,
          content: [
            { type: 'text' as const, text: 'what is this?' },
            {
              type: 'image_url' as const,
              image_url: { url: `data:image/png;base64,${PIXEL}`, detail: 'low' as const },
            },
            { type: 'input_audio' as const, input_audio: { data: PIXEL, format: 'wav' as const } },
          ],
        },
        {
          role: 'assistant' as const,
          content: null,
          tool_calls: [
            {
              id: 'call_a',
              type: 'function' as const,
              function: { name: 'look', arguments: '{"at":"sun"}' },
            },
          ],
        },
        { role: 'tool' as const, tool_call_id: 'call_a', content: 'bright' },
      ],
      vendor_field: { kept: true, nothing: null, list: [] },
    };
    const got = await openai.chat.completions.create(
      asked as Parameters<typeof openai.chat.completions.create>[0],
    );
    expect(JSON.parse(upstream.seen[0]!.body)).toEqual(asked);
    const { _request_id, ...plain } = got as unknown as Record<string, unknown>;
    expect(plain).toEqual(answer);
  });

  it('[GW-L24] openai: streamed tool calls, usage, several answers and comments arrive as they were sent', async () => {
    const call = (args: string, first = false) =>
      chunk({
        tool_calls: [
          {
            index: 0,
            ...(first ? { id: 'call_1', type: 'function' } : {}),
            function: { ...(first ? { name: 'look' } : {}), arguments: args },
          },
        ],
      });
    const events = [
      ': keep-alive\n\n',
      chunk({ role: 'assistant', content: null }),
      call('', true),
      call('{"at":'),
      call('"m🌕n"}'),
      `data: ${JSON.stringify({ id: 'c', choices: [{ index: 1, delta: { content: 'other' }, logprobs: null }] })}\n\n`,
      chunk({}, { finish_reason: 'tool_calls' }),
      `data: ${JSON.stringify({ id: 'c', choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } })}\n\n`,
      'data: [DONE]\n\n',
    ];
    const { openai, post } = await start((_, res) => sse(res, events, 2));
    const body = {
      model: 'm-1',
      stream: true as const,
      stream_options: { include_usage: true },
      messages: [{ role: 'user' as const, content: 'x' }],
    };
    const raw = await post('/v1/chat/completions', JSON.stringify(body));
    expect(raw.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(await raw.text()).toBe(events.join(''));
    let args = '';
    let other = '';
    let total: number | undefined;
    for await (const piece of await openai.chat.completions.create(body)) {
      args += piece.choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? '';
      if (piece.choices[0]?.index === 1) other += piece.choices[0].delta.content;
      total = piece.usage?.total_tokens ?? total;
    }
    expect({ args, other, total }).toEqual({ args: '{"at":"m🌕n"}', other: 'other', total: 7 });
  });

  it('[GW-L24] openai: the Responses API streams its named events', async () => {
    const event = (type: string, more: object) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
    const response = { id: 'resp_1', object: 'response', output: [], status: 'in_progress' };
    const { openai } = await start((_, res) =>
      sse(
        res,
        [
          event('response.created', { sequence_number: 0, response }),
          event('response.output_text.delta', {
            output_index: 0,
            content_index: 0,
            item_id: 'i',
            delta: 'Hel',
          }),
          event('response.output_text.delta', {
            output_index: 0,
            content_index: 0,
            item_id: 'i',
            delta: 'lo',
          }),
          event('response.completed', { response: { ...response, status: 'completed' } }),
        ],
        2,
      ),
    );
    const types: string[] = [];
    let text = '';
    for await (const piece of await openai.responses.create({ model: 'm-1', input: 'x', stream: true })) {
      types.push(piece.type);
      if (piece.type === 'response.output_text.delta') text += piece.delta;
    }
    expect(text).toBe('Hello');
    expect(types).toEqual([
      'response.created',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.completed',
    ]);
  });

  it('[GW-L24] gemini: function calls, signatures, system instructions, media, safety settings', async () => {
    const { google, upstream } = await start((_, res) =>
      json(res, {
        candidates: [
          {
            content: {
              role: 'model',
              parts: [
                { thought: true, text: 'hm' },
                { functionCall: { id: 'f1', name: 'look', args: { at: 'moon' } }, thoughtSignature: 'c2ln' },
              ],
            },
            finishReason: 'STOP',
            safetyRatings: [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'NEGLIGIBLE' }],
            avgLogprobs: -0.1,
          },
        ],
        usageMetadata: {
          promptTokenCount: 4,
          candidatesTokenCount: 2,
          thoughtsTokenCount: 3,
          totalTokenCount: 9,
        },
        modelVersion: 'm-2-001',
        responseId: 'r1',
      }),
    );
    const got = await google.models.generateContent({
      model: 'm-2',
      contents: [
        { role: 'user', parts: [{ text: 'look' }, { inlineData: { mimeType: 'image/png', data: PIXEL } }] },
        {
          role: 'model',
          parts: [{ functionCall: { name: 'look', args: { at: 'sun' } }, thoughtSignature: 'YWJj' }],
        },
        { role: 'user', parts: [{ functionResponse: { name: 'look', response: { seen: ['bright'] } } }] },
      ],
      config: {
        systemInstruction: 'be brief',
        temperature: 0,
        topK: 3,
        maxOutputTokens: 50,
        responseMimeType: 'application/json',
        tools: [{ functionDeclarations: [{ name: 'look', description: 'looks' }] }],
        thinkingConfig: { includeThoughts: true, thinkingBudget: 10 },
      },
    });
    expect(got.functionCalls).toEqual([{ id: 'f1', name: 'look', args: { at: 'moon' } }]);
    expect(got.candidates?.[0]?.content?.parts?.[1]?.thoughtSignature).toBe('c2ln');
    expect(got.usageMetadata?.thoughtsTokenCount).toBe(3);
    const sent = JSON.parse(upstream.seen[0]!.body);
    expect(sent.systemInstruction.parts[0].text).toBe('be brief');
    expect(sent.contents[0].parts[1].inlineData.data).toBe(PIXEL);
    expect(sent.contents[1].parts[0].thoughtSignature).toBe('YWJj');
    expect(sent.contents[2].parts[0].functionResponse.response).toEqual({ seen: ['bright'] });
    expect(sent.generationConfig).toMatchObject({
      topK: 3,
      maxOutputTokens: 50,
      thinkingConfig: { thinkingBudget: 10 },
    });
  });

  it('[GW-L24] gemini: tokens counted, models listed and looked up, only those the caller may use', async () => {
    const model = (name: string) => ({ name: `models/${name}`, displayName: name });
    const { google, openai, upstream } = await start(({ path }, res) => {
      if (path.endsWith(':countTokens')) return json(res, { totalTokens: 31 });
      if (path.startsWith('/v1beta/models?')) return json(res, { models: [model('m-2'), model('hidden')] });
      return json(res, path === '/v1/models/m-1' ? { id: 'm-1', object: 'model' } : model('m-2'));
    });
    expect((await google.models.countTokens({ model: 'm-2', contents: 'x' })).totalTokens).toBe(31);
    const listed: string[] = [];
    for await (const found of await google.models.list({ config: { pageSize: 5 } }))
      listed.push(found.name ?? '');
    expect(listed).toEqual(['models/m-2']);
    expect((await google.models.get({ model: 'm-2' })).displayName).toBe('m-2');
    expect((await openai.models.retrieve('m-1')).id).toBe('m-1');
    await expect(openai.models.retrieve('hidden')).rejects.toMatchObject({ status: 403 });
    expect(upstream.seen.some(({ path }) => path.includes('pageSize=5'))).toBe(true);
  });
});
