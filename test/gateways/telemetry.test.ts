import { afterEach, describe, expect, it } from 'vitest';
import { openTelemetry, parentOf, telemetrySchema } from '../../src/gateways/telemetry.ts';
import { collector } from './collector.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

describe('spans', () => {
  it('[GW-H5] reach a collector by OTLP, inside the trace of the caller, without secrets', async () => {
    const to = await collector();
    ends.push(to.close);
    const telemetry = openTelemetry(
      telemetrySchema.parse({ otlp_endpoint: to.endpoint, service_name: 'gw' }),
    );
    const parent = { traceparent: `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`, tracestate: 'vendor=1' };
    const span = await telemetry.start('tools/call echo', parent, {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'echo AKIAIOSFODNN7EXAMPLE '.repeat(20),
      'gen_ai.usage.input_tokens': 3,
    });
    span.set({ list: ['a', 'b'], absent: undefined });
    span.end('denied');
    const own = await telemetry.start('own', { traceparent: 'garbage' }, {});
    own.end();
    await telemetry.close();
    expect(span.carry.traceparent).toMatch(new RegExp(`^00-${'a1'.repeat(16)}-(?!b2b2)[0-9a-f]{16}-01$`));
    expect(span.carry.tracestate).toBe('vendor=1');
    const [sent, alone] = to.spans;
    expect(sent).toMatchObject({
      name: 'tools/call echo',
      service: 'gw',
      kind: 3,
      traceId: 'a1'.repeat(16),
      parentSpanId: 'b2'.repeat(8),
      status: { code: 2 },
      attributes: { 'gen_ai.usage.input_tokens': 3, list: ['a', 'b'], 'error.type': 'denied' },
    });
    expect(sent!.attributes).not.toHaveProperty('absent');
    expect(String(sent!.attributes['gen_ai.tool.name']).length).toBeLessThanOrEqual(200);
    expect(JSON.stringify(to.seen)).not.toContain('AKIAIOSFODNN7EXAMPLE');
    expect(alone!.parentSpanId ?? '').toBe('');
    expect(alone!.status.code ?? 0).toBe(0);
  });

  it('[GW-H5] off, or with nobody listening, calls go on', async () => {
    const off = openTelemetry(undefined);
    const silent = await off.start('x', undefined, {});
    expect(silent.carry).toEqual({});
    silent.end();
    await off.close();
    const nowhere = openTelemetry(telemetrySchema.parse({ otlp_endpoint: 'http://127.0.0.1:1/v1/traces' }));
    (await nowhere.start('x', undefined, {})).end();
    await nowhere.close();
  });

  it.each([
    [`00-${'0'.repeat(32)}-${'1'.repeat(16)}-01`],
    [`00-${'1'.repeat(32)}-${'0'.repeat(16)}-01`],
    [`ff-${'1'.repeat(32)}-${'1'.repeat(16)}-01`],
    [`00-${'1'.repeat(32)}-${'1'.repeat(16)}-01-more`],
    [`00-${'A'.repeat(32)}-${'1'.repeat(16)}-01`],
    [['list']],
    [undefined],
  ])('a parent that is not one is left aside: %s', (traceparent) => {
    expect(parentOf({ traceparent })).toBeUndefined();
  });
});
