import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openTape, placeOf } from '../../../src/gateways/mcp/tape.ts';
import { eventually } from '../state.ts';
import { call, gateways, oddServer, textOf } from './help.ts';

const t = gateways();

describe('a stream whose connection broke', () => {
  const config = { default: 'allow' as const, anonymous: 'raw', servers: [oddServer()] };
  const headers = (session?: string) => ({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(session === undefined ? {} : { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }),
  });
  const post = (url: string, body: object, session?: string, signal?: AbortSignal) =>
    fetch(url, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: headers(session),
      signal: signal ?? null,
    });
  const get = (url: string, session: string, seen?: string, signal?: AbortSignal) =>
    fetch(url, {
      headers: { ...headers(session), ...(seen === undefined ? {} : { 'last-event-id': seen }) },
      signal: signal ?? null,
    });
  const begin = async (url: string) => {
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    };
    const answer = await post(url, { jsonrpc: '2.0', id: 0, method: 'initialize', params });
    await answer.text();
    return answer.headers.get('mcp-session-id')!;
  };
  const slowly = (id: number, steps = 4, pauseMs = 100, bytes = 0) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'slow', arguments: { steps, pauseMs, bytes }, _meta: { progressToken: id } },
  });
  const idsIn = (text: string) => [...text.matchAll(/^id: (.+)$/gm)].map(([, id]) => id!);
  const progressIn = (text: string) => [...text.matchAll(/"progress":(\d+)/g)].map(([, n]) => Number(n));
  /** Reads until the text has what is looked for, then lets the connection go. */
  const readUntil = async (answer: Response, found: RegExp, gone: AbortController) => {
    let text = '';
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (found.test(text)) break;
    }
    gone.abort();
    return text;
  };

  it('[GW-M41] is taken up where it was: nothing twice, nothing missing, and the call is made once', async () => {
    const url = await t.gatewayOf(config).listen();
    const session = await begin(url);
    const gone = new AbortController();
    const before = await readUntil(await post(url, slowly(1), session, gone.signal), /"progress":1/, gone);
    // It began with a place to come back to, before anything was said.
    expect(before).toMatch(/^id: \S+\nretry: \d+\ndata: \n\n/);
    const rest = await (await get(url, session, idsIn(before).at(-1))).text();
    expect([...progressIn(before), ...progressIn(rest)]).toEqual([1, 2, 3, 4]);
    expect(rest).toContain('slowly done');
    // Whoever asks again from the beginning hears all of it again; from the end, nothing.
    const again = await (await get(url, session, idsIn(before)[0])).text();
    expect(progressIn(again)).toEqual([1, 2, 3, 4]);
    expect(again).toContain('slowly done');
    expect(await (await get(url, session, idsIn(rest).at(-1))).text()).toBe('');
    expect(t.state.records().filter((r) => r.name === 'slow' && r.phase === 'intent')).toHaveLength(1);
  });

  it('ids that never were, are gone, or belong to somebody else get an error', async () => {
    const url = await t.gatewayOf(config).listen();
    const [session, other] = [await begin(url), await begin(url)];
    const gone = new AbortController();
    const before = await readUntil(await post(url, slowly(1, 2), session, gone.signal), /"progress":1/, gone);
    const seen = idsIn(before).at(-1)!;
    for (const id of ['x', '99-1', '1-99', '-1', `${seen}0`, '1'.repeat(5000)])
      expect((await get(url, session, id)).status).toBe(400);
    expect((await get(url, other, seen)).status).toBe(400);
    expect((await get(url, 'no-such-session', seen)).status).toBe(404);
    expect(await (await get(url, session, seen)).text()).toContain('slowly done');
  });

  it('an answer too large to be kept is told of, and only the last streams are kept', async () => {
    const url = await t.gatewayOf(config).listen();
    const session = await begin(url);
    const firsts: string[] = [];
    for (let i = 1; i <= 10; i++) {
      const text = await (await post(url, slowly(i, 1, 1), session)).text();
      firsts.push(idsIn(text)[0]!);
    }
    expect((await get(url, session, firsts[0])).status).toBe(400);
    expect(await (await get(url, session, firsts.at(-1))).text()).toContain('slowly done');
    const gone = new AbortController();
    const large = slowly(11, 3, 200, 200_000);
    const before = await readUntil(await post(url, large, session, gone.signal), /"progress":1/, gone);
    const rest = await (await get(url, session, idsIn(before)[0])).text();
    // Back before the answer was there, it comes whole; asked for again, it is not there any more.
    expect(rest.length).toBeGreaterThan(200_000);
    const away = new AbortController();
    const second = await readUntil(
      await post(url, { ...large, id: 12 }, session, away.signal),
      /"progress":/,
      away,
    );
    await eventually(
      () => t.state.records().filter((r) => r.type === 'mcp.response').length >= 13 || undefined,
    );
    expect(await (await get(url, session, idsIn(second)[0])).text()).toContain('too large to be kept');
  });

  it('the listening stream gives what was said meanwhile', async () => {
    const url = await t.gatewayOf(config).listen();
    const session = await begin(url);
    const gone = new AbortController();
    const first = await readUntil(await get(url, session, undefined, gone.signal), /data: \n\n/, gone);
    const grow = { name: 'echo', arguments: { grow: true } };
    await (await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: grow }, session)).text();
    const back = new AbortController();
    const missed = await readUntil(
      await get(url, session, idsIn(first)[0], back.signal),
      /list_changed/,
      back,
    );
    expect(missed).toContain('notifications/tools/list_changed');
  });

  it('the client of the SDK comes back by itself and gets its answer', async () => {
    const url = await t.gatewayOf(config).listen();
    let cuts = 0;
    const cutting: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init);
      const slow = String(init?.body).includes('"slow"') && cuts++ === 0;
      if (!slow || answer.body === null) return answer;
      // The line breaks after the first events.
      let left = 2;
      const cut = new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, out) => (left-- > 0 ? out.enqueue(chunk) : out.error(new TypeError('terminated'))),
      });
      return new Response(answer.body.pipeThrough(cut), { status: answer.status, headers: answer.headers });
    };
    const { client } = await t.httpClient(url, undefined, undefined, cutting);
    const told: number[] = [];
    const options = { onprogress: ({ progress }: { progress: number }) => void told.push(progress) };
    expect(textOf(await call(client, 'slow', { steps: 6, pauseMs: 100 }, options))).toBe('slowly done');
    expect(cuts).toBe(1);
    expect(told.at(-1)).toBe(6);
    expect(new Set(told).size).toBe(told.length);
  });
});

describe('a tape', () => {
  it('gives what came after a place, or says that some of it is gone', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat({ max: 40_000 }), { maxLength: 60 }),
        fc.integer({ min: -2, max: 62 }),
        (sizes, place) => {
          const tape = openTape(7);
          const said = sizes.map((size, i) => ({ text: `${i} ${'x'.repeat(size)}`, id: '' }));
          for (const event of said) event.id = tape.keep(event.text);
          const given = tape.after(place);
          if (given === undefined) return;
          expect(given).toEqual(said.slice(place));
          expect(given.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(128 * 1024);
          expect(given.map(({ id }) => placeOf(id)?.place)).toEqual(given.map((_, i) => place + i + 1));
        },
      ),
    );
    const tape = openTape(1);
    for (let i = 0; i < 600; i++) tape.keep(String(i));
    expect(tape.after(99)).toBeUndefined();
    expect(tape.after(100)).toHaveLength(500);
    expect(tape.after(600)).toEqual([]);
    expect(tape.after(601)).toBeUndefined();
  });
});
