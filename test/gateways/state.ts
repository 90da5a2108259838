import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, openStateApprovals } from '../../src/authority/index.ts';
import { systemClock, systemIds } from '../../src/core/index.ts';
import { openLedger, statePaths } from '../../src/ledger/index.ts';

/** A state folder of its own for one test, with everything a gateway needs. */
export async function gatewayState() {
  const dir = mkdtempSync(join(tmpdir(), 'writ-gateway-'));
  const stateDir = join(dir, '.writ');
  const ledger = openLedger({ stateDir });
  const paths = statePaths(stateDir);
  const journal = await ledger.openJournal({ path: join(paths.ledger, 'gateway.jsonl') });
  const queue = openStateApprovals({ stateDir, clock: systemClock, ids: systemIds });
  const authority = createAuthority({ clock: systemClock, ids: systemIds, queue });
  return {
    dir,
    stateDir,
    ledger,
    queue,
    database: paths.database,
    deps: { clock: systemClock, ids: systemIds, authority, journal, queue },
    records: (): { [key: string]: unknown }[] =>
      readFileSync(join(paths.ledger, 'gateway.jsonl'), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
    files: () => readdirSync(paths.ledger),
    close: async () => {
      await queue.close();
      await journal.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export interface Arrived {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** An HTTP server on loopback that notes what arrives and answers as told. */
export async function loopback(answer: (arrived: Arrived, res: ServerResponse) => void | Promise<void>) {
  const seen: Arrived[] = [];
  const server = createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    const arrived = { method: req.method ?? '', path: req.url ?? '', headers: req.headers, body };
    seen.push(arrived);
    await answer(arrived, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export async function eventually<T>(look: () => T | undefined, ms = 10_000): Promise<T> {
  const until = Date.now() + ms;
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    if (Date.now() > until) throw new Error('it did not happen in time');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
