import { readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Connection, openHostProxy, readPlace } from '../../src/flight/host-proxy.ts';
import { fly, folder, nodeEngine } from './kit.ts';

const made: string[] = [];
const servers: Server[] = [];
let named = 0;
let other = 0;
beforeAll(async () => {
  for (const text of ['named', 'other']) {
    const server = createServer((_, answer) => answer.end(text));
    servers.push(server);
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  }
  [named = 0, other = 0] = servers.map((s) => (s.address() as AddressInfo).port);
});
afterAll(() => {
  for (const server of servers) server.close();
  for (const dir of made) rmSync(dir, { recursive: true, force: true });
});

/** Tries every address three ways and keeps what it learnt as evidence. */
const ENGINE = nodeEngine(
  `const net = await import('node:net'); const said = {};
   for (const url of input.config.urls) {
     try { const r = await fetch(url); said[url] = r.status + ' ' + (await r.text()).trim(); } catch (e) { said[url] = 'none'; }
     const { hostname, port } = new URL(url);
     said['direct ' + url] = await new Promise((done) => { const s = net.connect(port, hostname, () => done('open')); s.on('error', (e) => done(e.code)); });
   }
   ok([put('said', {}, JSON.stringify(said))]);`,
);

async function learnt(network: object | undefined, urls: readonly string[]) {
  const steps = [{ id: 's', engine: './engine.mjs', config: { urls }, ...(network ? { network } : {}) }];
  const dir = folder({ 'workflow.yaml': JSON.stringify({ id: 'n', steps }), 'engine.mjs': ENGINE });
  made.push(dir);
  const { code, json } = await fly(dir);
  expect({ code, error: json.error }).toEqual({ code: 0, error: null });
  const flight = join(dir, '.writ/flights', json.flight_id);
  const events = readFileSync(join(flight, 'audit.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((l) => JSON.parse(l));
  return {
    said: JSON.parse(readFileSync(join(flight, 'steps/s/artifacts/said/body.data'), 'utf8')),
    events: events.filter((e) => String(e.event_type).startsWith('network_')),
  };
}

describe('the network of an engine', () => {
  it('[FLT-B2] reaches the host and port its step names, and nothing else; both are on record', async () => {
    const [a, b] = [`http://127.0.0.1:${named}/`, `http://127.0.0.1:${other}/`];
    const { said, events } = await learnt({ 'flight-plan': [`127.0.0.1:${named}`] }, [a, b]);
    expect(said[a]).toBe('200 named');
    expect(said[b]).toBe(`403 the step does not name 127.0.0.1:${other}`);
    // Past the proxy there is no network at all.
    expect(said[`direct ${a}`]).toBe('ECONNREFUSED');
    expect(said[`direct ${b}`]).toBe('ECONNREFUSED');
    expect(events.map((e) => e.event_type)).toEqual(['network_connection', 'network_refused']);
    expect(events[1].message).toContain(`127.0.0.1:${other}`);
  });

  it('[FLT-B2] has none when nothing is named, nor in the mode it is not named for', async () => {
    const url = `http://127.0.0.1:${named}/`;
    for (const network of [undefined, { 'take-off': [`127.0.0.1:${named}`] }]) {
      const { said, events } = await learnt(network, [url]);
      expect(said).toEqual({ [url]: 'none', [`direct ${url}`]: 'ECONNREFUSED' });
      expect(events).toEqual([]);
    }
  });
});

describe('the proxy to named hosts', () => {
  async function through(hosts: readonly string[], request: string): Promise<[string, Connection[]]> {
    const dir = folder({});
    made.push(dir);
    const seen: Connection[] = [];
    const socket = join(dir, 'proxy');
    const proxy = await openHostProxy({ socket, hosts, onConnection: (c) => seen.push(c) });
    const answer = await new Promise<string>((done) => {
      let text = '';
      const client = connect(socket, () => client.write(request));
      client.on('data', (chunk) => (text += chunk));
      client.on('close', () => done(text));
      client.on('error', () => done(text));
      client.setTimeout(10_000, () => client.destroy());
    });
    await proxy.close();
    return [answer, seen];
  }
  const tunnel = (to: string) => `CONNECT ${to} HTTP/1.1\r\nhost: ${to}\r\n\r\n`;

  it('tunnels to what is named', async () => {
    const echo = createTcpServer((socket) => socket.end('hello from inside'));
    await new Promise<void>((ready) => echo.listen(0, '127.0.0.1', ready));
    const { port } = echo.address() as AddressInfo;
    const [answer, seen] = await through([`127.0.0.1:${port}`], tunnel(`127.0.0.1:${port}`));
    echo.close();
    expect(answer).toContain('200 Connection Established');
    expect(answer).toContain('hello from inside');
    expect(seen).toEqual([{ host: '127.0.0.1', port, address: '127.0.0.1', refused: null }]);
  });

  it('a name that leads to this machine is refused, unless that address is named too', async () => {
    const [answer, seen] = await through([`localhost:${named}`], tunnel(`localhost:${named}`));
    expect(answer).toMatch(/^HTTP\/1.1 403/);
    expect(seen[0]?.refused).toContain('this machine itself');
    const both = [`localhost:${named}`, `127.0.0.1:${named}`, `[::1]:${named}`];
    const [, allowed] = await through(
      both,
      `GET http://localhost:${named}/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
    );
    expect(allowed[0]?.refused).toBeNull();
  });

  it.each([
    ['another spelling of a refused address', tunnel('2130706433:80')],
    ['the metadata service', tunnel('169.254.169.254:80')],
    ['no port', tunnel('example.org')],
    ['nothing', tunnel('')],
    ['a relative address', 'GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n'],
    ['another scheme', 'GET file:///etc/passwd HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'],
    ['no HTTP', 'SSH-2.0-x\r\n\r\n'],
  ])('%s is refused', async (_, request) => {
    const [answer] = await through([`127.0.0.1:${named}`], request);
    expect(answer).not.toContain('200');
  });

  it('reads hosts the way people write them, and nothing that is none', () => {
    expect(readPlace('API.Example.org.')).toEqual({ host: 'api.example.org', port: 443 });
    expect(readPlace('[::1]:8443')).toEqual({ host: '::1', port: 8443 });
    for (const text of ['', '*', '*.example.org', 'http://x', 'a b', 'x:0', 'x:99999', 'x/y', '-x'])
      expect([text, readPlace(text)]).toEqual([text, undefined]);
  });
});
