import type { Attributes, Span, SpanContext } from '@opentelemetry/api';
import type { TracerProvider, TracerProviderOptions } from '@opentelemetry/sdk-trace';
import { z } from 'zod';
import { type JsonObject, messageOf } from '../core/index.ts';
import { shown } from './shown.ts';

/**
 * OpenTelemetry spans of governed calls, when configured.
 *
 * T1 The packages are loaded only when an endpoint is configured, and nothing here can fail a call: spans are
 *    for looking on, the ledger is the record.
 * T2 Spans hold names, numbers and verdicts. Prompts, arguments and answers never go into one, and texts that
 *    callers chose (names of models and tools) are redacted and short.
 * T3 A trace begun by the caller goes on: its `traceparent` is the parent, and what is passed on names our span.
 */
export const telemetrySchema = z.strictObject({
  /** Where spans go, by OTLP over HTTP: `http://127.0.0.1:4318/v1/traces`. */
  otlp_endpoint: z.url({ protocol: /^https?$/ }),
  service_name: z.string().min(1).max(100).default('writ-gateway'),
  /** The share of traces begun here that is kept; a trace begun by a caller keeps the caller's choice. */
  sample_ratio: z.number().min(0).max(1).default(1),
});
export type TelemetryConfig = z.output<typeof telemetrySchema>;

export type SpanFacts = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** One call's span. Everything may be called when telemetry is off. */
export interface CallSpan {
  /** The headers that carry the trace on: `traceparent`, and `tracestate` when there is one. Empty when off. */
  readonly carry: Readonly<Record<string, string>>;
  set(facts: SpanFacts): void;
  /** With an error (a short code such as `denied` or `503`) the span has failed. */
  end(error?: string): void;
}

export interface Telemetry {
  /**
   * `parent` is what came with the request: HTTP headers for models, `params._meta` for MCP.
   *
   * @example an MCP tool call
   *   const span = await ctx.telemetry.start(`tools/call ${tool}`, params._meta, {
   *     'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': tool, 'mcp.method.name': 'tools/call' });
   *   try { …; span.end(reply.ok ? undefined : 'denied') } catch (error) { span.end('internal'); throw error }
   */
  start(name: string, parent: TraceParent | undefined, facts: SpanFacts): Promise<CallSpan>;
  /** Sends what is left. */
  close(): Promise<void>;
}

export interface TraceParent {
  readonly traceparent?: unknown;
  readonly tracestate?: unknown;
}

const SILENT: CallSpan = { carry: {}, set: () => undefined, end: () => undefined };
const OFF: Telemetry = { start: async () => SILENT, close: async () => undefined };

export function openTelemetry(
  config: TelemetryConfig | undefined,
  log?: (line: JsonObject) => void,
): Telemetry {
  if (config === undefined) return OFF;
  const loading = load(config).catch((error) => {
    log?.({ event: 'telemetry.unavailable', reason: messageOf(error).slice(0, 300) });
    return undefined;
  });
  return {
    start: async (name, parent, facts) => {
      const loaded = await loading;
      return loaded === undefined ? SILENT : loaded.start(name, parent, facts);
    },
    close: async () => {
      const loaded = await loading;
      await loaded?.provider.shutdown().catch(() => undefined);
    },
  };
}

async function load(config: TelemetryConfig) {
  const [api, sdk, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
  ]);
  const exporter = new OTLPTraceExporter({ url: config.otlp_endpoint, timeoutMillis: 2000 });
  const provider: TracerProvider = new sdk.TracerProvider({
    resource: resourceOf({ 'service.name': config.service_name }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(config.sample_ratio) }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter, scheduledDelayMillis: 1000 })],
  });
  const tracer = provider.getTracer('writ');
  const start = (name: string, parent: TraceParent | undefined, facts: SpanFacts): CallSpan => {
    const remote = parentOf(parent);
    const context =
      remote === undefined
        ? api.ROOT_CONTEXT
        : api.trace.setSpanContext(api.ROOT_CONTEXT, {
            ...remote.span,
            ...(remote.state === undefined ? {} : { traceState: api.createTraceState(remote.state) }),
          });
    const span = tracer.startSpan(
      shown(name),
      { kind: api.SpanKind.CLIENT, attributes: attributesOf(facts) },
      context,
    );
    return {
      carry: carried(span),
      set: (more) => void span.setAttributes(attributesOf(more)),
      end: (error) => {
        if (error !== undefined) {
          span.setAttribute('error.type', shown(error));
          span.setStatus({ code: api.SpanStatusCode.ERROR });
        }
        span.end();
      },
    };
  };
  return { provider, start };
}

/** What the SDK asks of a resource, without another package for two words. */
function resourceOf(attributes: Attributes): NonNullable<TracerProviderOptions['resource']> {
  const resource: NonNullable<TracerProviderOptions['resource']> = {
    attributes,
    merge: (other) => (other === null ? resource : resourceOf({ ...attributes, ...other.attributes })),
    getRawAttributes: () => Object.entries(attributes),
  };
  return resource;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** The caller's place in its trace, when what it sent is well-formed; anything else begins a trace of our own. */
export function parentOf(
  parent: TraceParent | undefined,
): { readonly span: SpanContext; readonly state: string | undefined } | undefined {
  const text = parent?.traceparent;
  const found = typeof text === 'string' && text.length <= 100 ? TRACEPARENT.exec(text) : null;
  if (found === null) return undefined;
  const [, version, traceId, spanId, flags] = found as unknown as [string, string, string, string, string];
  if (version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  if (version === '00' && text !== `00-${traceId}-${spanId}-${flags}`) return undefined;
  const state = parent?.tracestate;
  return {
    span: { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true },
    state: typeof state === 'string' && /^[\x20-\x7e]{1,512}$/.test(state) ? state : undefined,
  };
}

function carried(span: Span): Readonly<Record<string, string>> {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const state = traceState?.serialize();
  return {
    traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
    ...(state === undefined || state === '' ? {} : { tracestate: state }),
  };
}

function attributesOf(facts: SpanFacts): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(facts)) {
    if (typeof value === 'string') attributes[name] = shown(value);
    else if (typeof value === 'object') attributes[name] = value.map((text) => shown(text));
    else if (value !== undefined) attributes[name] = value;
  }
  return attributes;
}
