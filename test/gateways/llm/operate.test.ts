import { execFileSync } from 'node:child_process';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/index.ts';
import { collector } from '../collector.ts';
import { eventually } from '../state.ts';
import { bothProtocols, completion, gatewayTests, json, TOKEN } from './help.ts';
import { parseMetrics } from './metrics-text.ts';

const { start, ends, state } = gatewayTests();

describe('TLS', () => {
  it('[GW-H2] serves with the certificate configured, also on other addresses, and nothing in the clear', async () => {
    const { dir } = state();
    const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    const make = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
    ];
    execFileSync('openssl', [...make, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
    const { gateway } = await start(
      bothProtocols,
      { listen: { host: '0.0.0.0', tls: { cert: 'cert.pem', key: 'key.pem' } } },
      {},
      { baseDir: dir },
    );
    const port = new URL(gateway.url).port;
    expect(gateway.url).toMatch(/^https:/);
    const ca = execFileSync('cat', [cert], { encoding: 'utf8' });
    const answer = await new Promise<string>((resolve, reject) => {
      const req = httpsRequest(
        { host: '127.0.0.1', port, path: '/v1/models', ca, headers: { authorization: `Bearer ${TOKEN}` } },
        (res) => {
          let text = '';
          res.on('data', (d) => {
            text += d;
          });
          res.on('end', () => resolve(text));
        },
      );
      req.on('error', reject).end();
    });
    expect(JSON.parse(answer).data).toEqual([{ id: 'm-1' }]);
    await expect(fetch(`http://127.0.0.1:${port}/v1/models`)).rejects.toThrow();
    await expect(
      start(bothProtocols, { listen: { tls: { cert: 'none.pem', key: 'none.pem' } } }, {}, { baseDir: dir }),
    ).rejects.toThrow(/none\.pem/);
  });
});

describe('logs and numbers', () => {
  it('[GW-H6] one line a request, however it ended, without secrets or texts', async () => {
    const lines: JsonObject[] = [];
    const { chat, openai, post, clients } = await start(
      bothProtocols,
      {},
      {},
      { log: (line) => lines.push(line) },
    );
    await chat('the quick brown fox');
    await openai.models.retrieve('sk-proj-Abcdefghij1234567890Abcdefghij1234567890').catch(() => undefined);
    await clients('nobody')
      .chat('x')
      .catch(() => undefined);
    await post('/v1/chat/completions', '{{{');
    await eventually(() => (lines.length === 4 ? true : undefined));
    expect(lines[0]).toMatchObject({
      event: 'llm.request',
      request_id: expect.stringMatching(/^llm_/),
      caller: 'alice',
      operation: 'chat.completions',
      model: 'm-1',
      verdict: 'allow',
      status: 200,
      code: null,
      target: 'oai/m-1',
      input_tokens: 10,
      output_tokens: 5,
      ms: expect.any(Number),
    });
    expect(lines.slice(1).map((l) => [l.caller, l.status, l.code])).toEqual([
      ['alice', 403, 'model_not_allowed'],
      [null, 401, 'invalid_api_key'],
      ['alice', 400, 'invalid_request'],
    ]);
    const text = JSON.stringify(lines);
    for (const hidden of ['brown fox', 'sk-proj-A', TOKEN, 'key-oai']) expect(text).not.toContain(hidden);
    const quiet: JsonObject[] = [];
    const failures = await start(bothProtocols, { log: 'failures' }, {}, { log: (line) => quiet.push(line) });
    await failures.chat('fine');
    await failures.post('/v1/chat/completions', '{{{');
    await eventually(() => quiet[0]);
    expect(quiet).toMatchObject([{ status: 400 }]);
  });

  it('[GW-H4] the numbers are in the text format that Prometheus reads', async () => {
    const { gateway, chat, post } = await start();
    await chat('x');
    await chat('y');
    await post('/v1/chat/completions', '{{{');
    const answer = await fetch(`${gateway.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(answer.headers.get('content-type')).toContain('version=0.0.4');
    const read = parseMetrics(await answer.text());
    const value = (name: string, labels: object) =>
      read.samples.find((s) => s.name === name && JSON.stringify(s.labels) === JSON.stringify(labels))?.value;
    expect(read.types.get('writ_llm_requests_total')).toBe('counter');
    expect(value('writ_llm_requests_total', { caller: 'alice', outcome: 'done' })).toBe(2);
    expect(value('writ_llm_requests_total', { caller: 'alice', outcome: 'invalid_request' })).toBe(1);
    expect(value('writ_llm_tokens_total', { caller: 'alice', kind: 'input' })).toBe(20);
    expect(value('writ_llm_open_requests', {})).toBe(1);
    expect(read.types.get('writ_llm_request_duration_seconds')).toBe('histogram');
    expect(value('writ_llm_request_duration_seconds_count', { caller: 'alice' })).toBe(3);
    expect(value('writ_llm_request_duration_seconds_bucket', { caller: 'alice', le: '+Inf' })).toBe(3);
  });
});

describe('spans', () => {
  it('[GW-H5] model calls are spans with the GenAI names, in the trace of the caller, passed on, without texts', async () => {
    const to = await collector();
    ends.push(to.close);
    const { gateway, post, upstream, chat } = await start(
      ({ body }, res) =>
        body.includes('fail')
          ? json(res, { error: { message: 'no' } }, 503)
          : json(res, { ...completion('the answer text'), model: 'm-1-0613' }),
      { telemetry: { otlp_endpoint: to.endpoint, service_name: 'llm' } },
    );
    const trace = 'ab'.repeat(16);
    const asked = {
      model: 'm-1',
      temperature: 0.5,
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hush hush' }],
    };
    await post('/v1/chat/completions', JSON.stringify(asked), {
      traceparent: `00-${trace}-${'cd'.repeat(8)}-01`,
    });
    await chat('fail').catch(() => undefined);
    await gateway.close();
    const [span, failed] = to.spans;
    expect(span).toMatchObject({
      name: 'chat m-1',
      service: 'llm',
      traceId: trace,
      parentSpanId: 'cd'.repeat(8),
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'm-1',
        'gen_ai.request.temperature': 0.5,
        'gen_ai.request.max_tokens': 9,
        'gen_ai.response.id': 'c',
        'gen_ai.response.model': 'm-1-0613',
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.usage.input_tokens': 10,
        'gen_ai.usage.output_tokens': 5,
        'writ.caller': 'alice',
        'writ.verdict': 'allow',
      },
    });
    expect(upstream.seen[0]!.headers.traceparent).toBe(`00-${trace}-${span!.spanId}-01`);
    expect(failed).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'upstream_error' } });
    const sent = JSON.stringify(to.seen);
    for (const hidden of ['hush hush', 'the answer text', TOKEN]) expect(sent).not.toContain(hidden);
  });
});
