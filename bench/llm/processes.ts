import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { sha256 } from '../../src/core/index.ts';
import type { Destination } from './load.ts';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const PORTKEY = at('../../node_modules/@portkey-ai/gateway/build/start-server.js');
const TOKENS = { plain: 'token-of-the-bench', budgeted: 'token-with-a-budget' };

export interface Running {
  readonly end: () => Promise<void>;
}

export async function startUpstream(
  chunks: number,
  everyMs: number,
): Promise<Running & { readonly url: string }> {
  const child = start([at('./upstream.ts'), String(chunks), String(everyMs)]);
  const port = Number(await firstLine(child));
  return { url: `http://127.0.0.1:${port}/v1`, end: ender(child) };
}

/** The gateway as people run it: its own process, its own state folder, everything recorded; with and without a budget. */
export async function startGateway(
  dir: string,
  upstream: string,
  flags: readonly string[] = [],
): Promise<Running & { readonly plain: Destination; readonly budgeted: Destination }> {
  const config = join(dir, 'llm.json');
  writeFileSync(
    config,
    JSON.stringify({
      default: 'deny',
      callers: [
        { name: 'bench', token_sha256: sha256(TOKENS.plain), models: ['*'] },
        {
          name: 'budgeted',
          token_sha256: sha256(TOKENS.budgeted),
          models: ['*'],
          budget: { per: 'day', tokens: 1e12 },
        },
      ],
      providers: [{ name: 'p', protocol: 'openai', base_url: upstream }],
      routes: [{ models: ['*'], targets: [{ provider: 'p' }] }],
      rules: [
        { name: 'bench-may', verdict: 'allow', callers: ['bench', 'budgeted'] },
        { name: 'no-leaks', on: 'response', verdict: 'deny', contains: ['BEGIN SYSTEM PROMPT'] },
      ],
    }),
  );
  const child = start(
    [
      ...flags,
      at('../../bin/writ.js'),
      'gateway',
      'llm',
      '--config',
      config,
      '--state-dir',
      join(dir, '.writ'),
      '--json',
    ],
    dir,
  );
  let text = '';
  for await (const line of createInterface({ input: child.stdout! })) {
    text += line;
    if (line.startsWith('}') || line.endsWith('}')) break;
  }
  const { listening } = JSON.parse(text) as { listening: string };
  const url = `${listening}/v1/chat/completions`;
  const to = (name: string, token: string) => ({ name, url, headers: { authorization: `Bearer ${token}` } });
  return {
    plain: to('writ', TOKENS.plain),
    budgeted: to('writ with a budget', TOKENS.budgeted),
    end: ender(child),
  };
}

/** The peer from npm, which records nothing. Undefined where it is not installed. */
export async function startPortkey(upstream: string): Promise<(Running & Destination) | undefined> {
  if (!existsSync(PORTKEY)) return undefined;
  const port = await freePort();
  const child = start(['--import', at('./mutable-headers.ts'), PORTKEY, `--port=${port}`, '--headless']);
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 100; tries++) {
    const up = await fetch(url).then(
      () => true,
      () => false,
    );
    if (up) break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    name: '@portkey-ai/gateway',
    url: `${url}/v1/chat/completions`,
    headers: {
      authorization: 'Bearer none',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': upstream,
    },
    end: ender(child),
  };
}

function start(args: readonly string[], cwd?: string): ChildProcess {
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'], ...(cwd ? { cwd } : {}) });
}

function ender(child: ChildProcess): () => Promise<void> {
  child.stdout?.resume();
  return async () => {
    if (child.exitCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    const hard = setTimeout(() => child.kill('SIGKILL'), 5000);
    await gone;
    clearTimeout(hard);
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) return line;
  throw new Error('the process ended before it said anything');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
