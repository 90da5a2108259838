import { storageAdmission } from '../network/storage.ts';
import { type Connection, connect, transferMs, usualReply } from './connect.ts';
import { fail, type Target, type ToolContext, type ToolResult, target } from './context.ts';
import { toolOptions } from './options.ts';

const WITH_VALUE = [
  'm',
  'o',
  'w',
  'X',
  'H',
  'd',
  'A',
  'u',
  'e',
  'T',
  'b',
  'c',
  'F',
  'x',
  'K',
  'r',
  'E',
  'y',
  'Y',
  'max-time',
  'connect-timeout',
  'output',
  'write-out',
  'request',
  'header',
  'data',
  'resolve',
  'interface',
  'retry',
  'retry-delay',
  'user-agent',
  'user',
  'cacert',
  'cert',
  'key',
  'proxy',
  'limit-rate',
  'data-binary',
  'data-raw',
  'upload-file',
  'url',
];

/** Ports whose servers speak something other than HTTP. */
const NOT_HTTP = new Set([
  21, 22, 23, 25, 53, 111, 389, 445, 1433, 2049, 3306, 3389, 5432, 5672, 6379, 9092, 11211, 27017,
]);

interface Request {
  readonly scheme: string;
  readonly host: string;
  readonly port: number;
  readonly path: string;
}

export function curl(argv: readonly string[], ctx: ToolContext): ToolResult {
  const options = toolOptions(argv, WITH_VALUE);
  const { flags, values } = options;
  const url = values.get('url') ?? options.rest[0];
  if (url === undefined)
    return fail("curl: (2) no URL specified\ncurl: try 'curl --help' for more information\n", 2);
  const request = parseUrl(url);
  if (!request) return fail(`curl: (3) URL using bad/illegal format or missing URL\n`, 3);
  const limit = seconds(values.get('m') ?? values.get('max-time'));
  const connectLimit = Math.min(limit, seconds(values.get('connect-timeout')));
  const to = resolved(ctx, request, values.get('resolve'));
  const say = quietly(flags);
  if (to.address === null)
    return say(
      `curl: (6) Could not resolve host: ${request.host}\n`,
      6,
      render(values, request, '', 0, 0, 0),
    );
  const connection = connect(
    ctx,
    to.address,
    request.port,
    connectLimit === Number.POSITIVE_INFINITY ? undefined : connectLimit,
  );
  const verbose =
    flags.has('v') || flags.has('verbose') ? `*   Trying ${to.address}:${request.port}...\n` : '';
  const early = notConnected(connection, request, connectLimit < Number.POSITIVE_INFINITY);
  if (early)
    return say(
      `${verbose}${early.text}`,
      early.code,
      render(values, request, to.address, 0, 0, connection.ms),
    );
  const reply = converse(ctx, connection as Connection & { kind: 'connected' }, request, to.address, limit);
  const connected =
    verbose === ''
      ? ''
      : `${verbose}* Connected to ${request.host} (${to.address}) port ${request.port} (#0)\n`;
  if (reply.kind === 'error')
    return say(
      `${connected}${reply.text}`,
      reply.code,
      render(values, request, to.address, 0, connection.ms, reply.ms),
    );
  const failing = (flags.has('f') || flags.has('fail')) && reply.status >= 400;
  const head = flags.has('I') || flags.has('head');
  const headers = head || flags.has('i') || flags.has('include') ? `${reply.headers}\r\n` : '';
  const body = head ? '' : reply.body;
  const discarded = (values.get('o') ?? values.get('output')) !== undefined;
  const written = render(values, request, to.address, reply.status, connection.ms, reply.ms);
  const arrows =
    verbose === ''
      ? ''
      : `> ${values.get('X') ?? values.get('request') ?? 'GET'} ${request.path} HTTP/1.1\n> Host: ${request.host}\n>\n${reply.headers.replace(/^/gm, '< ').trimEnd()}\n`;
  if (failing)
    return say(
      `${connected}${arrows}curl: (22) The requested URL returned error: ${reply.status}\n`,
      22,
      written,
    );
  return { stdout: `${discarded ? '' : headers + body}${written}`, stderr: `${connected}${arrows}`, code: 0 };
}

function parseUrl(text: string): Request | undefined {
  const match =
    /^(?:([a-z][a-z0-9+.-]*):\/\/)?(?:[^@/]*@)?(\[[^\]]+\]|[^:/?#]+)(?::(\d{1,5}))?([/?#].*)?$/i.exec(text);
  if (!match) return undefined;
  const scheme = (match[1] ?? 'http').toLowerCase();
  const usual = scheme === 'https' ? 443 : scheme === 'telnet' ? 23 : 80;
  return { scheme, host: match[2]!, port: Number(match[3] ?? usual), path: match[4] ?? '/' };
}

function seconds(text: string | undefined): number {
  const value = Number(text);
  return text === undefined || !Number.isFinite(value) || value <= 0
    ? Number.POSITIVE_INFINITY
    : value * 1000;
}

/** `--resolve host:port:address` answers before DNS does. */
function resolved(ctx: ToolContext, request: Request, fixed: string | undefined): Target {
  const [host, port, address] = fixed?.split(':') ?? [];
  if (host === request.host && Number(port) === request.port && address !== undefined)
    return { shown: host, address, resolution: null };
  return target(ctx, request.host);
}

/** -s hides errors, -S shows them all the same. */
function quietly(flags: ReadonlySet<string>) {
  const hidden = (flags.has('s') || flags.has('silent')) && !flags.has('S') && !flags.has('show-error');
  return (text: string, code: number, written: string): ToolResult => ({
    stdout: written,
    stderr: hidden ? '' : text,
    code,
  });
}

function notConnected(
  c: Connection,
  request: Request,
  limited: boolean,
): { text: string; code: number } | undefined {
  const ms = Math.round(c.ms);
  switch (c.kind) {
    case 'connected':
      return undefined;
    case 'refused':
      return {
        text: `curl: (7) Failed to connect to ${request.host} port ${request.port} after ${ms} ms: Connection refused\n`,
        code: 7,
      };
    case 'timeout':
      return limited
        ? { text: `curl: (28) Connection timed out after ${ms + 1} milliseconds\n`, code: 28 }
        : {
            text: `curl: (28) Failed to connect to ${request.host} port ${request.port} after ${ms} ms: Connection timed out\n`,
            code: 28,
          };
  }
}

type Reply =
  | {
      readonly kind: 'page';
      readonly status: number;
      readonly headers: string;
      readonly body: string;
      readonly ms: number;
    }
  | { readonly kind: 'error'; readonly text: string; readonly code: number; readonly ms: number };

function converse(
  ctx: ToolContext,
  c: Connection & { kind: 'connected' },
  request: Request,
  address: string,
  limit: number,
): Reply {
  const timeout = (ms: number): Reply => ({
    kind: 'error',
    text: `curl: (28) Operation timed out after ${Math.round(ms) + 1} milliseconds with 0 bytes received\n`,
    code: 28,
    ms,
  });
  const patience = Number.isFinite(limit) ? limit : 300_000;
  if (request.scheme === 'telnet') return timeout(patience);
  const { vm, attempt: a } = c;
  if (vm && vm.app.resets_pct > 0 && ctx.random() * 100 < vm.app.resets_pct)
    return {
      kind: 'error',
      text: 'curl: (56) Recv failure: Connection reset by peer\n',
      code: 56,
      ms: c.ms * 2,
    };
  if (NOT_HTTP.has(request.port) && vm)
    return { kind: 'error', text: 'curl: (1) Received HTTP/0.9 when not allowed\n', code: 1, ms: c.ms * 2 };
  // A program that does not read its socket answers late, if at all.
  if (vm?.app.reads_slowly && a) return timeout(patience);
  const tls = request.scheme === 'https' ? 3600 : 0;
  const bytes = usualReply(ctx, vm, request.port);
  const moved = transferMs(ctx, a, Math.max(tls, bytes));
  if (moved === null || c.ms + moved > patience) return timeout(patience);
  const ms = c.ms * (tls > 0 ? 3 : 2) + moved;
  return page(
    ctx,
    a?.trace.storage?.allowed === false || deniedStorage(ctx, address),
    ms,
    a?.trace.storage !== null && a?.trace.storage !== undefined,
    bytes,
  );
}

function deniedStorage(ctx: ToolContext, address: string): boolean {
  if (ctx.origin.kind === 'vm') return false;
  const account = ctx.world.storage.find((s) => s.name === address);
  return account !== undefined && !storageAdmission(ctx.world, account, ctx.origin).allowed;
}

function page(ctx: ToolContext, forbidden: boolean, ms: number, storage: boolean, bytes: number): Reply {
  const date = new Date(ctx.now).toUTCString();
  if (storage) {
    const [status, code, message] = forbidden
      ? [403, 'AuthorizationFailure', 'This request is not authorized to perform this operation.']
      : [
          400,
          'InvalidQueryParameterValue',
          'Value for one of the query parameters specified in the request URI is invalid.',
        ];
    const body = `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>${message}\nTime:${new Date(ctx.now).toISOString()}</Message></Error>`;
    const headers = `HTTP/1.1 ${status} ${message}\r\nContent-Length: ${body.length}\r\nContent-Type: application/xml\r\nServer: Windows-Azure-Blob/1.0 Microsoft-HTTPAPI/2.0\r\nx-ms-error-code: ${code}\r\nDate: ${date}\r\n`;
    return { kind: 'page', status: status as number, headers, body, ms };
  }
  const body = bytes > 2000 ? `OK\n${'.'.repeat(Math.min(bytes, 4000) - 4)}\n` : 'OK\n';
  return {
    kind: 'page',
    status: 200,
    headers: `HTTP/1.1 200 OK\r\nServer: nginx/1.18.0 (Ubuntu)\r\nDate: ${date}\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\nConnection: keep-alive\r\n`,
    body,
    ms,
  };
}

/** `-w`: the variables people ask for when they measure. */
function render(
  values: ReadonlyMap<string, string>,
  request: Request,
  ip: string,
  status: number,
  connectMs: number,
  totalMs: number,
): string {
  const format = values.get('w') ?? values.get('write-out');
  if (format === undefined) return '';
  const s = (ms: number) => (ms / 1000).toFixed(6);
  const known: Record<string, string> = {
    http_code: String(status).padStart(3, '0'),
    response_code: String(status).padStart(3, '0'),
    time_namelookup: s(1),
    time_connect: s(connectMs),
    time_appconnect: s(request.scheme === 'https' ? connectMs * 2 : 0),
    time_starttransfer: s(totalMs),
    time_total: s(totalMs),
    remote_ip: ip,
    remote_port: String(request.port),
    url_effective: `${request.scheme}://${request.host}${request.path}`,
  };
  return format
    .replace(/%\{(\w+)\}/g, (_, key: string) => known[key] ?? '')
    .replaceAll('\\n', '\n')
    .replaceAll('\\t', '\t');
}
