import { loopback } from './state.ts';

interface OtlpValue {
  readonly stringValue?: string;
  readonly intValue?: number | string;
  readonly doubleValue?: number;
  readonly boolValue?: boolean;
  readonly arrayValue?: { readonly values: readonly OtlpValue[] };
}
interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}
interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly OtlpAttribute[];
  readonly status: { readonly code?: number };
}

export interface SeenSpan extends Omit<OtlpSpan, 'attributes'> {
  readonly service: unknown;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** An OTLP/HTTP collector on loopback: reads the JSON form of the export requests it gets. */
export async function collector() {
  const spans: SeenSpan[] = [];
  const server = await loopback(({ path, headers, body }, res) => {
    const right = path === '/v1/traces' && headers['content-type'] === 'application/json';
    if (right) spans.push(...read(body));
    res.writeHead(right ? 200 : 400, { 'content-type': 'application/json' }).end('{}');
  });
  return { spans, seen: server.seen, endpoint: `${server.url}/v1/traces`, close: server.close };
}

function read(body: string): SeenSpan[] {
  const sent = JSON.parse(body) as {
    readonly resourceSpans: readonly {
      readonly resource: { readonly attributes: readonly OtlpAttribute[] };
      readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
    }[];
  };
  return sent.resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap((scope) => scope.spans)
      .map((span) => ({
        ...span,
        service: plain(resource.attributes)['service.name'],
        attributes: plain(span.attributes),
      })),
  );
}

const plain = (attributes: readonly OtlpAttribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));

function plainValue(value: OtlpValue): unknown {
  if (value.arrayValue) return value.arrayValue.values.map(plainValue);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.doubleValue ?? value.boolValue;
}
