import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

/**
 * The same calls by the same client, direct and through something in between. Client, gateway and server
 * are processes of their own; the client is this one.
 */
export interface Measured {
  /** Milliseconds of each call, one at a time, sorted. */
  readonly alone: readonly number[];
  /** Calls a second of each round with many at once, sorted. */
  readonly rates: readonly number[];
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const NODE = process.execPath;
const toolServer = here('./tool-server.ts');
const writ = here('../../bin/writ.js');
const mcpProxy = here('../../node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs');
const WARM_UP = 1000;
export const CALLS_A_TURN = 25;
export const LANES = 64;
const CALLS_A_LANE = 50;

type Way = (place: Place) => Promise<Transport>;

/** A folder and the processes of one measurement, all gone at its end. */
interface Place {
  readonly dir: string;
  readonly started: ChildProcess[];
}

const config = (place: Place, downstream: object): string => {
  const file = join(place.dir, 'mcp.json');
  writeFileSync(
    file,
    JSON.stringify({ servers: [{ name: 'echo', ...downstream }], default: 'allow', anonymous: 'bench' }),
  );
  return file;
};

const onStdio = (args: readonly string[], cwd: string): Transport =>
  new StdioClientTransport({ command: NODE, args: [...args], cwd, stderr: 'ignore' }) as Transport;
const onHttp = (url: string): Transport => new StreamableHTTPClientTransport(new URL(url)) as Transport;

async function httpServer(place: Place): Promise<string> {
  return (await firstLine(place, [toolServer, 'http'])).trim();
}

async function writHttp(place: Place, downstream: object): Promise<string> {
  const args = [writ, 'gateway', 'mcp', '--config', config(place, downstream), '--json'];
  return (JSON.parse(await firstLine(place, args)) as { listening: string }).listening;
}

function firstLine(place: Place, args: readonly string[]): Promise<string> {
  const child = spawn(NODE, args, { cwd: place.dir, stdio: ['ignore', 'pipe', 'ignore'] });
  place.started.push(child);
  return new Promise((resolve, reject) => {
    child.stdout.once('data', (said) => resolve(String(said)));
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}`)));
  });
}

/** mcp-proxy binds where it is told and says so on stderr; its port answers when it is ready. */
async function proxyHttp(place: Place): Promise<string> {
  const port = await freePort();
  const args = [mcpProxy, '--host', '127.0.0.1', '--port', String(port), '--server', 'stream'];
  place.started.push(spawn(NODE, [...args, '--', NODE, toolServer], { cwd: place.dir, stdio: 'ignore' }));
  const url = `http://127.0.0.1:${port}/mcp`;
  for (let i = 0; i < 200; i++) {
    const there = await fetch(url, { method: 'OPTIONS' }).then(
      () => true,
      () => false,
    );
    if (there) return url;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('mcp-proxy did not start');
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

export const WAYS = {
  'stdio, direct': async ({ dir }) => onStdio([toolServer], dir),
  'stdio, through Writ': async (place) =>
    onStdio(
      [writ, 'gateway', 'mcp', '--config', config(place, { command: [NODE, toolServer] }), '--stdio'],
      place.dir,
    ),
  'HTTP, direct': async (place) => onHttp(await httpServer(place)),
  'HTTP, through Writ to HTTP': async (place) =>
    onHttp(await writHttp(place, { url: await httpServer(place) })),
  'HTTP, through Writ to stdio': async (place) =>
    onHttp(await writHttp(place, { command: [NODE, toolServer] })),
  'HTTP, through mcp-proxy to stdio': async (place) => onHttp(await proxyHttp(place)),
} satisfies Record<string, Way>;
export type WayName = keyof typeof WAYS;

/** One way with everything it needs running. */
interface Opened {
  readonly call: () => Promise<unknown>;
  readonly close: () => Promise<void>;
}

async function open(name: WayName): Promise<Opened> {
  const place: Place = { dir: mkdtempSync(join(tmpdir(), 'writ-bench-mcp-')), started: [] };
  const client = new Client({ name: 'bench', version: '1' });
  const close = async () => {
    await client.close();
    await Promise.all(place.started.map(ended));
    rmSync(place.dir, { recursive: true, force: true });
  };
  try {
    await client.connect(await WAYS[name](place));
  } catch (error) {
    await close();
    throw error;
  }
  return { call: () => client.callTool({ name: 'echo', arguments: { a: 1 } }), close };
}

/**
 * All ways stand open and take turns, a few calls each, so that whatever the machine does meanwhile falls on
 * all of them alike. Then the same with many calls at once.
 */
export async function measureInTurn(
  names: readonly WayName[],
  { turns, rounds }: { readonly turns: number; readonly rounds: number },
): Promise<ReadonlyMap<WayName, Measured>> {
  const lines: { readonly name: WayName; readonly way: Opened; alone: number[]; rates: number[] }[] = [];
  try {
    for (const name of names) lines.push({ name, way: await open(name), alone: [], rates: [] });
    for (const { way } of lines) await timed(WARM_UP, way.call);
    for (let turn = 0; turn < turns; turn++)
      for (const { way, alone } of lines) alone.push(...(await timed(CALLS_A_TURN, way.call)));
    for (let round = 0; round < rounds; round++)
      for (const { way, rates } of lines) rates.push(await rateOf(way));
    return new Map(
      lines.map(({ name, alone, rates }) => [
        name,
        { alone: alone.sort(ascending), rates: rates.sort(ascending) },
      ]),
    );
  } finally {
    for (const { way } of lines) await way.close();
  }
}

async function rateOf({ call }: Opened): Promise<number> {
  const start = performance.now();
  await Promise.all(Array.from({ length: LANES }, () => timed(CALLS_A_LANE, call)));
  return (CALLS_A_LANE * LANES) / ((performance.now() - start) / 1000);
}

const ascending = (a: number, b: number) => a - b;

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await gone;
}

async function timed(n: number, once: () => Promise<unknown>): Promise<number[]> {
  const spent: number[] = [];
  for (let i = 0; i < n; i++) {
    const start = performance.now();
    await once();
    spent.push(performance.now() - start);
  }
  return spent;
}

export const at = (sorted: readonly number[], q: number) =>
  sorted[Math.floor(sorted.length * q)] ?? Number.NaN;
