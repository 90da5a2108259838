import { spawnSync } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DnsServer, dnsServer } from './dns-server.ts';
import { workbench } from './road.ts';

const bench = workbench();
let server: Server;
let dns: DnsServer;
let port: number;
const requests: { readonly url: string; readonly headers: IncomingMessage['headers'] }[] = [];

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
const pages: Record<string, Handler> = {
  '/hello': (_q, r) => r.end('hello'),
  '/missing': (_q, r) => r.writeHead(404).end('no'),
  '/declared': (_q, r) => r.writeHead(200, { 'content-length': 5_000_000 }).end('x'.repeat(5_000_000)),
  '/endless': (_q, r) => {
    const timer = setInterval(() => r.write('x'.repeat(65_536)), 1);
    r.on('close', () => clearInterval(timer));
  },
  '/bomb': (_q, r) =>
    r.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(50_000_000))),
  '/nested': (_q, r) =>
    r.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end(gzipSync(gzipSync(Buffer.alloc(20_000_000)))),
  '/deep': (_q, r) => r.writeHead(200, { 'content-encoding': 'gzip, gzip, gzip, gzip' }).end('x'),
  '/slow': (_q, r) => void setTimeout(() => r.end('late'), 10_000).unref(),
  '/drip': (_q, r) => {
    const timer = setInterval(() => r.write('.'), 100);
    r.on('close', () => clearInterval(timer));
  },
  '/binary': (_q, r) => r.end(Buffer.from([0xff, 0xfe])),
};

beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push({ url: request.url ?? '', headers: request.headers });
    const url = new URL(request.url ?? '/', 'http://x');
    const to = url.searchParams.get('to');
    if (url.pathname === '/go' && to !== null)
      response.writeHead(Number(url.searchParams.get('code') ?? 302), { location: to }).end('moved');
    else (pages[url.pathname] ?? ((_q, r) => r.writeHead(404).end()))(request, response);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  port = (server.address() as AddressInfo).port;
  dns = await dnsServer((name, n) => {
    if (name === 'api.test' || name === 'other.test' || name === 'local.test') return ['127.0.0.1'];
    if (name === 'private.test') return ['192.168.1.1'];
    if (name === 'metadata.test') return ['169.254.169.254'];
    if (name === 'mixed.test') return ['8.8.8.8', '10.0.0.1'];
    if (name === 'flip.test') return n === 1 ? ['127.0.0.1'] : ['127.0.0.2'];
    return undefined;
  });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  dns.close();
  bench.remove();
});

const OPEN =
  'allow_domains: [api.test, other.test], deny_private_ips: false, max_response_bytes: 10000, timeout_seconds: 5';
const get = (url: string, rules = OPEN, more: object = {}) =>
  bench.call(
    `tools: { http.get: { ${rules} } }`,
    'http.get',
    { url: url.replace('PORT', String(port)), ...more },
    { dnsServers: [dns.address] },
  );

describe('http.get', () => {
  it('[TOOL-22] gets a page: url, status, headers, body, size', async () => {
    expect(await get('http://api.test:PORT/hello?x=1')).toMatchObject({
      status: 'success',
      data: {
        url: `http://api.test:${port}/hello?x=1`,
        status: 200,
        body: 'hello',
        size_bytes: 5,
        truncated: false,
        headers: { 'content-length': '5' },
      },
    });
    expect(await get('http://api.test:PORT/missing')).toMatchObject({
      status: 'success',
      data: { status: 404, body: 'no' },
    });
    expect(await get('http://api.test:PORT/binary')).toMatchObject({
      data: { body: '//4=', encoding: 'base64' },
    });
    expect(requests.at(-1)?.headers.host).toBe(`api.test:${port}`);
  });

  it('[TOOL-23] other schemes, unlisted hosts, no URL: denied before anything is resolved', async () => {
    const before = dns.questions.length;
    for (const url of [
      'api.test/hello',
      '//api.test/hello',
      'ftp://api.test/x',
      'file:///etc/passwd',
      'file://api.test/x',
      'http://evil.test/',
      'gopher://api.test/',
      '',
      'http://',
      'javascript:1',
    ])
      expect(await get(url), url).toMatchObject({ status: 'denied' });
    expect(dns.questions.length).toBe(before);
    for (const headers of [
      { Host: 'evil' },
      { 'Transfer-Encoding': 'chunked' },
      { 'Proxy-Authorization': 'x' },
      { 'X-A': 'b\r\nX-C: d' },
      { 'bad name': 'x' },
    ])
      expect(await get('http://api.test:PORT/hello', OPEN, { headers })).toMatchObject({
        status: 'denied',
        rule: 'http.get.headers',
      });
  });

  it('[TOOL-24] a name that leads to a private address is refused, every address counts', async () => {
    for (const name of ['local.test', 'private.test', 'metadata.test', 'mixed.test'])
      expect(await get(`http://${name}:PORT/hello`, `allow_domains: [${name}]`), name).toMatchObject({
        status: 'denied',
        rule: 'http.get.deny_private_ips',
      });
    for (const host of [
      '127.0.0.1',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '127.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      'localhost',
      '169.254.169.254',
      '100.100.100.200',
      '[64:ff9b::7f00:1]',
    ])
      expect(await get(`http://${host}:PORT/hello`, `allow_domains: ["*"]`), host).toMatchObject({
        status: 'denied',
        rule: 'http.get.deny_private_ips',
      });
    expect(
      await get('http://metadata.test/', 'allow_domains: [metadata.test], deny_private_ips: false'),
    ).toMatchObject({ status: 'denied' });
    expect(await get('http://nowhere.test/', 'allow_domains: [nowhere.test]')).toMatchObject({
      status: 'error',
      error: expect.stringContaining('cannot be resolved'),
    });
    expect(requests.filter((r) => r.headers.host?.startsWith('local.test'))).toEqual([]);
  });

  it('[TOOL-25] the name is asked once, and the connection goes to the address that was judged', async () => {
    const before = dns.questions.filter((name) => name === 'flip.test').length;
    expect(
      await get('http://flip.test:PORT/hello', 'allow_domains: [flip.test], deny_private_ips: false'),
    ).toMatchObject({ status: 'success' });
    expect(dns.questions.filter((name) => name === 'flip.test').length - before).toBe(1);
  });

  it('[TOOL-26] each redirect is judged like a request of its own', async () => {
    const go = (to: string, rules?: string) =>
      get(`http://api.test:PORT/go?to=${encodeURIComponent(to.replace('PORT', String(port)))}`, rules);
    expect(await go('/hello')).toMatchObject({
      status: 'success',
      data: { body: 'hello', redirects: [`http://api.test:${port}/hello`] },
    });
    expect(await go('http://other.test:PORT/hello')).toMatchObject({
      status: 'success',
      data: { body: 'hello' },
    });
    expect(await go('http://evil.test:PORT/hello')).toMatchObject({
      status: 'denied',
      rule: 'http.get.allow_domains',
    });
    expect(await go('http://127.0.0.1:PORT/hello')).toMatchObject({ status: 'denied' });
    expect(
      await go('http://169.254.169.254/latest', `${OPEN.replace('[api.test', '["*", api.test')}`),
    ).toMatchObject({ status: 'denied' });
    expect(await go('file:///etc/passwd')).toMatchObject({ status: 'denied', rule: 'http.get.scheme' });
    expect(await go('ftp://api.test/')).toMatchObject({ status: 'denied' });
    expect(await go(`/go?to=${encodeURIComponent('http://evil.test/')}`)).toMatchObject({ status: 'denied' });
    expect(await go('/go?to=/go', `${OPEN}, max_redirects: 3`)).toMatchObject({
      status: 'success',
      data: { status: 404 },
    });
    const loop = encodeURIComponent(`http://api.test:${port}/go?to=LOOP`);
    pages['/loop'] = (_q, r) => r.writeHead(302, { location: '/loop' }).end();
    expect(await get('http://api.test:PORT/loop')).toMatchObject({
      status: 'error',
      error: expect.stringContaining('redirects'),
    });
    expect(loop).toContain('LOOP');
  });

  it('[TOOL-26] a redirect cannot lead past an approval: nobody was asked about the other host', async () => {
    const url = `http://api.test:PORT/go?to=${encodeURIComponent(`http://other.test:${port}/hello`)}`;
    expect(await get(url, `${OPEN}, require_approval: [other.test]`)).toMatchObject({
      status: 'denied',
      rule: 'http.get.require_approval',
      reason: expect.stringContaining('other.test'),
    });
    expect(await get(url, `${OPEN}, require_approval: ["other.test:1"]`)).toMatchObject({
      status: 'success',
    });
    expect(
      await get('http://other.test:PORT/hello', `${OPEN}, require_approval: [other.test]`),
    ).toMatchObject({
      status: 'denied',
      error: expect.stringContaining('a person is needed'),
    });
  });

  it('[TOOL-27] credentials do not follow a redirect to another server', async () => {
    await get(
      `http://user:pass@api.test:PORT/go?to=${encodeURIComponent(`http://other.test:${port}/hello`)}`,
      OPEN,
      { headers: { Cookie: 'c=1', 'X-Plain': 'y', 'Accept-Language': 'de' } },
    );
    const [first, second] = requests.slice(-2);
    expect(first?.headers.authorization).toBe(`Basic ${Buffer.from('user:pass').toString('base64')}`);
    expect(second?.headers).not.toHaveProperty('authorization');
    expect(second?.headers).not.toHaveProperty('cookie');
    expect(second?.headers).not.toHaveProperty('x-plain');
    expect(second?.headers['accept-language']).toBe('de');
    const got = await get('http://user:pass@api.test:PORT/hello');
    expect(JSON.stringify(got.data)).not.toContain('pass');
  });

  it('[TOOL-28] size is capped while it streams, whatever it unpacks to', async () => {
    expect(await get('http://api.test:PORT/declared')).toMatchObject({
      status: 'denied',
      rule: 'http.get.max_response_bytes',
    });
    for (const page of ['endless', 'bomb', 'nested']) {
      const memory = process.memoryUsage().rss;
      const got = await get(`http://api.test:PORT/${page}`);
      expect(got, page).toMatchObject({ status: 'success', data: { truncated: true, size_bytes: 10_000 } });
      expect(process.memoryUsage().rss - memory, page).toBeLessThan(60_000_000);
    }
    expect(await get('http://api.test:PORT/deep')).toMatchObject({ status: 'error' });
    expect(await get('http://api.test:PORT/hello', `${OPEN.replace('10000', '0')}`)).toMatchObject({
      status: 'denied',
    });
  });

  it('[TOOL-29] the policy’s timeout holds, for silence and for drips', async () => {
    for (const page of ['slow', 'drip']) {
      const started = performance.now();
      const got = await get(
        `http://api.test:PORT/${page}`,
        OPEN.replace('timeout_seconds: 5', 'timeout_seconds: 0.5'),
        { timeout: 30, timeout_seconds: 30 },
      );
      expect(got, page).toMatchObject({ status: 'error', error: expect.stringMatching(/^2003: /) });
      expect(performance.now() - started).toBeLessThan(4000);
    }
  });

  it('[TOOL-30] proxies of the environment are not used', async () => {
    let proxied = 0;
    const proxy = createServer((_q, r) => {
      proxied++;
      r.end('proxied');
    });
    await new Promise<void>((ready) => proxy.listen(0, '127.0.0.1', ready));
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const names = ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'HTTPS_PROXY'];
    for (const name of names) process.env[name] = address;
    expect(await get('http://api.test:PORT/hello')).toMatchObject({ data: { body: 'hello' } });
    for (const name of names) delete process.env[name];
    proxy.close();
    expect(proxied).toBe(0);
  });

  it('[TOOL-31] the TLS handshake still carries the name', async () => {
    let hello = '';
    const tcp = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (chunk) => {
        hello = chunk.toString('latin1');
        socket.destroy();
      });
    });
    await new Promise<void>((ready) => tcp.listen(0, '127.0.0.1', ready));
    expect(await get(`https://api.test:${(tcp.address() as AddressInfo).port}/`)).toMatchObject({
      status: 'error',
    });
    tcp.close();
    expect(hello).toContain('api.test');
  });

  // Needs addresses that look public: they are given to the loopback of a network namespace of its own.
  const namespace =
    spawnSync('unshare', ['-rn', 'ip', 'addr', 'add', '93.184.216.34/32', 'dev', 'lo']).status === 0;
  it.skipIf(!namespace)(
    '[TOOL-32] DNS rebinding: a name that flips to loopback after the check reaches nothing there',
    () => {
      const script = fileURLToPath(new URL('./rebinding-main.ts', import.meta.url));
      const got = spawnSync(
        'unshare',
        [
          '-rn',
          'sh',
          '-c',
          'ip link set lo up && ip addr add 93.184.216.34/32 dev lo && exec "$@"',
          'sh',
          process.execPath,
          script,
        ],
        { encoding: 'utf8', timeout: 25_000 },
      );
      expect(got.stderr).toBe('');
      const { public: first, flipped, mixed, redirected, secretHits, questions } = JSON.parse(got.stdout);
      expect(first).toMatchObject({ status: 'success', data: { body: 'public' } });
      expect(questions).toBe(1);
      expect(flipped).toMatchObject({ status: 'denied' });
      expect(mixed).toMatchObject({ status: 'denied' });
      expect(redirected).toMatchObject({ status: 'denied' });
      expect(secretHits).toBe(0);
    },
  );
});
