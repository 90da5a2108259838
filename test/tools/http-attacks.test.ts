import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workbench } from './road.ts';

/** A server that writes bytes of its own making: what no HTTP library would send. */
const bench = workbench();
const sockets = new Set<Socket>();
let server: Server;
let port: number;

const head = (...lines: readonly string[]) => `${['HTTP/1.1 200 OK', ...lines].join('\r\n')}\r\n\r\n`;
const packed = (name: string, body: Buffer) =>
  Buffer.concat([Buffer.from(head(`content-encoding: ${name}`, `content-length: ${body.length}`)), body]);
/** A frame of zstd that unpacks to nothing, however often it is repeated. */
const EMPTY_FRAME = Buffer.concat([Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0, 0, 1, 0]), Buffer.alloc(65_536)]);

const zeros = Buffer.alloc(40_000_000);
const brotli = (bytes: Buffer) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
const bombs = {
  br: packed('br', brotli(zeros)),
  zstd: packed('zstd', zstdCompressSync(zeros)),
  nested: packed('gzip, br', brotli(gzipSync(zeros))),
};
type Play = (socket: Socket) => void;
const forever = (socket: Socket, piece: string | Buffer) => {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
    socket.once('drain', more);
  };
  more();
};
const plays: Record<string, Play> = {
  '/br': (s) => s.end(bombs.br),
  '/zstd': (s) => s.end(bombs.zstd),
  '/gzip-in-br': (s) => s.end(bombs.nested),
  '/nothing-forever': (s) => {
    s.write(head('content-encoding: zstd', 'connection: close'));
    forever(s, EMPTY_FRAME);
  },
  '/not-gzip': (s) => s.end(packed('gzip', Buffer.from('plain'))),
  '/cut-gzip': (s) => s.end(packed('gzip', gzipSync('hello hello hello').subarray(0, 20))),
  '/header-bomb': (s) => {
    s.write('HTTP/1.1 200 OK\r\n');
    forever(s, `x-bomb: ${'y'.repeat(8000)}\r\n`);
  },
  '/one-header': (s) => {
    s.write('HTTP/1.1 200 OK\r\nx: ');
    forever(s, 'y'.repeat(65_536));
  },
  '/informational': (s) => forever(s, 'HTTP/1.1 102 Processing\r\n\r\n'),
  '/chunk-extension': (s) => {
    s.write(head('transfer-encoding: chunked'));
    s.write('5;');
    forever(s, 'x'.repeat(65_536));
  },
  '/chunk-junk': (s) => s.end(`${head('transfer-encoding: chunked')}zz\r\nhello\r\n`),
  '/chunk-size': (s) => s.end(`${head('transfer-encoding: chunked')}ffffffffffffffff\r\nhello\r\n0\r\n\r\n`),
  '/trailer-bomb': (s) => {
    s.write(`${head('transfer-encoding: chunked')}5\r\nhello\r\n0\r\n`);
    forever(s, `x-trailer: ${'y'.repeat(8000)}\r\n`);
  },
  '/two-lengths': (s) => s.end(`${head('content-length: 5', 'content-length: 7')}hello77`),
  '/negative': (s) => s.end(`${head('content-length: -5')}hello`),
  '/both': (s) => s.end(`${head('content-length: 5', 'transfer-encoding: chunked')}5\r\nhello\r\n0\r\n\r\n`),
  '/short': (s) => s.end(`${head('content-length: 50')}hello`),
  '/long': (s) => s.end(`${head('content-length: 5')}hello and far more than was said`),
  '/old': (s) => s.end('hello without any head'),
  '/nothing': (s) => s.end(),
  '/bad-location': (s) =>
    s.end('HTTP/1.1 302 Found\r\nlocation: http://[not an address/\r\ncontent-length: 0\r\n\r\n'),
  '/split-location': (s) =>
    s.end('HTTP/1.1 302 Found\r\nlocation: /a\x01b\r\nlocation: /c\r\ncontent-length: 0\r\n\r\n'),
};

beforeAll(async () => {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.once('data', (chunk) => plays[chunk.toString('latin1').split(' ')[1] ?? '']?.(socket));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
  bench.remove();
});

const get = (path: string, seconds = 20) =>
  bench.call(
    `tools: { http.get: { allow_domains: ["127.0.0.1"], deny_private_ips: false, max_response_bytes: 10000, timeout_seconds: ${seconds} } }`,
    'http.get',
    { url: `http://127.0.0.1:${port}${path}` },
  );

describe('hostile servers', () => {
  for (const path of ['/br', '/zstd', '/gzip-in-br'])
    it(`[TOOL-28] ${path}: a bomb stops at the bound`, async () => {
      const before = process.memoryUsage().rss;
      expect(await get(path)).toMatchObject({
        status: 'success',
        data: { truncated: true, size_bytes: 10_000 },
      });
      expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
    });

  for (const path of [
    '/nothing-forever',
    '/header-bomb',
    '/one-header',
    '/informational',
    '/chunk-extension',
    '/trailer-bomb',
  ])
    it(`[TOOL-39] ${path}: what never ends is ended, and nothing of it piles up`, async () => {
      const before = process.memoryUsage().rss;
      const got = await get(path, 1);
      expect(['error', 'denied'], JSON.stringify(got)).toContain(got.status);
      expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
    });

  for (const path of [
    '/not-gzip',
    '/cut-gzip',
    '/chunk-junk',
    '/chunk-size',
    '/two-lengths',
    '/negative',
    '/both',
    '/short',
    '/old',
    '/nothing',
    '/bad-location',
  ])
    it(`[TOOL-39] ${path}: an answer that contradicts itself is an error, never half a result`, async () => {
      const got = await get(path);
      expect(got, JSON.stringify(got)).toMatchObject({
        status: 'error',
        error: expect.stringMatching(/^2001: /),
      });
    });

  it('[TOOL-39] what comes after the declared end is not read', async () => {
    const got = await get('/long');
    if (got.status === 'success') expect(got.data).toMatchObject({ body: 'hello' });
    else expect(got.status).toBe('error');
    expect((await get('/split-location')).status).toBe('error');
  });
});
