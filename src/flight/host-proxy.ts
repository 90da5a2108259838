import { lookup } from 'node:dns/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { messageOf } from '../core/index.ts';
import { canonicalAddress, privateReason } from '../policy/index.ts';

/**
 * An HTTP proxy on a Unix socket that leads to named hosts and to nothing else.
 *
 * HP1 A host and its port are named, or the connection is refused. Names are compared whole: no wildcards.
 * HP2 Names are resolved here, and the address that was checked is the one that is dialled.
 * HP3 An address that is not public (this machine, private networks, metadata services) must be named itself.
 * HP4 Every attempt is told to `onConnection`, allowed or not. Connections and their time are bounded.
 */
export interface Connection {
  readonly host: string;
  readonly port: number;
  readonly address: string | null;
  readonly refused: string | null;
}

export interface HostProxy {
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 64;
const DIAL_MS = 15_000;
const IDLE_MS = 300_000;
/** Headers that speak of one hop. */
const HOP = /^(?:proxy-.*|connection|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

interface Place {
  readonly host: string;
  readonly port: number;
}

/** `host`, `host:port`, `[v6]:port`; the port is 443 unless it is named. Undefined for anything else. */
export function readPlace(text: string): Place | undefined {
  const match = /^(?:\[([0-9a-f:.%]+)\]|([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?))\.?(?::(\d{1,5}))?$/i.exec(text);
  const port = Number(match?.[3] ?? 443);
  if (match === null || port < 1 || port > 65_535) return undefined;
  const host = (match[1] ?? match[2] ?? '').toLowerCase();
  return { host: canonicalAddress(host) ?? host, port };
}

export function openHostProxy(options: {
  readonly socket: string;
  readonly hosts: readonly string[];
  readonly onConnection: (made: Connection) => void;
}): Promise<HostProxy> {
  const named = options.hosts.flatMap((text) => readPlace(text) ?? []);
  const isNamed = (host: string, port: number) => named.some((n) => n.host === host && n.port === port);
  const live = new Set<Duplex>();

  /** Where to dial, or why not. */
  const judge = async (place: Place | undefined): Promise<Connection> => {
    if (place === undefined)
      return { host: '?', port: 0, address: null, refused: 'this is not a host and a port' };
    const no = (refused: string) => ({ ...place, address: null, refused });
    if (!isNamed(place.host, place.port)) return no(`the step does not name ${place.host}:${place.port}`);
    const found = await lookup(place.host, { all: true }).catch((error: unknown) => messageOf(error));
    if (typeof found === 'string') return no(found);
    const open = found.find(
      ({ address }) =>
        privateReason(address) === undefined || isNamed(canonicalAddress(address) ?? address, place.port),
    );
    const first = found[0]?.address ?? '';
    if (open === undefined)
      return no(
        `${place.host} is ${first}, ${privateReason(first)}: name ${first}:${place.port} too if that is meant`,
      );
    return { ...place, address: open.address, refused: null };
  };
  const decide = async (place: Place | undefined): Promise<Connection> => {
    const made = await judge(place);
    options.onConnection(made);
    return made;
  };

  const forward = async (incoming: IncomingMessage, answer: ServerResponse) => {
    const url = URL.canParse(incoming.url ?? '') ? new URL(incoming.url ?? '') : undefined;
    const plain = url?.protocol === 'http:' && url.username === '' ? url : undefined;
    const made = await decide(plain && readPlace(`${plain.hostname}:${plain.port || 80}`));
    if (made.refused !== null || made.address === null || plain === undefined)
      return void answer.writeHead(403, { 'content-type': 'text/plain' }).end(`${made.refused}\n`);
    const headers = Object.fromEntries(Object.entries(incoming.headers).filter(([name]) => !HOP.test(name)));
    const onward = request({
      host: made.address,
      port: made.port,
      method: incoming.method,
      path: `${plain.pathname}${plain.search}`,
      headers: { ...headers, host: plain.host },
      timeout: IDLE_MS,
    });
    onward.on('timeout', () => onward.destroy());
    onward.on('response', (said) => {
      answer.writeHead(said.statusCode ?? 502, said.headers);
      said.pipe(answer);
    });
    onward.on('error', () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end()));
    answer.on('close', () => onward.destroy());
    incoming.pipe(onward);
  };

  const tunnel = async (incoming: IncomingMessage, inner: Duplex, head: Buffer) => {
    const made = await decide(readPlace(incoming.url ?? ''));
    if (made.refused !== null || made.address === null)
      return void inner.end(`HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\n\r\n${made.refused}\n`);
    const outer: Socket = connect({ host: made.address, port: made.port, allowHalfOpen: true });
    live.add(outer);
    outer.setTimeout(DIAL_MS, () => outer.destroy());
    outer.on('connect', () => {
      outer.setTimeout(IDLE_MS);
      inner.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      outer.write(head);
      outer.pipe(inner).pipe(outer);
    });
    inner.on('error', () => outer.destroy());
    inner.on('close', () => outer.destroy());
    outer.on('error', () => inner.destroy());
    outer.on('close', () => {
      live.delete(outer);
      inner.destroy();
    });
  };

  const server = createServer((incoming, answer) => void forward(incoming, answer));
  server.maxConnections = MAX_CONNECTIONS;
  server.on('connection', (inner) => {
    live.add(inner);
    inner.on('close', () => live.delete(inner));
  });
  server.on('connect', (incoming, inner, head) => void tunnel(incoming, inner, head));
  server.on('clientError', (_, inner) => inner.destroy());
  return new Promise((ready, failed) => {
    server.on('error', failed);
    server.listen(options.socket, () =>
      ready({
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            for (const one of live) one.destroy();
          }),
      }),
    );
  });
}
