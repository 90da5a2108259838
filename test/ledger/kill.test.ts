import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/index.ts';
import {
  loadOrCreateSigner,
  loadPublicKeys,
  openIntents,
  openJournal,
  readJournal,
  verifyJournal,
  worstStatus,
} from '../../src/ledger/index.ts';
import { tempDir } from './helpers.ts';

const WRITER = new URL('./kill-writer.ts', import.meta.url).pathname;
const KILLS = process.env.WRIT_LONG === '1' ? 500 : 30;

/** Runs the writer and kills it after a while; answers the lines it managed to say. */
async function runAndKill(dir: string, round: number, afterMs: number): Promise<string[]> {
  const child = spawn(process.execPath, [WRITER, dir, String(round), round % 3 === 0 ? 'each' : 'group'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  let timer: NodeJS.Timeout | undefined;
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (text: string) => {
    // The clock starts when it has said something, now and then already when it starts.
    timer ??= setTimeout(() => child.kill('SIGKILL'), afterMs);
    said += text;
  });
  if (round % 7 === 0) timer = setTimeout(() => child.kill('SIGKILL'), 100 + afterMs * 2);
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
    child.on('close', (c, s) => resolve([c, s]));
  });
  clearTimeout(timer);
  expect([code, signal], said).toEqual([null, 'SIGKILL']);
  // A line the kill cut in two was not said.
  return said.split('\n').slice(0, -1);
}

it(
  `[LED-21] ${KILLS} times kill -9 of a process appending intents and outcomes: nothing acknowledged is lost`,
  async () => {
    const dir = tempDir(tmpdir());
    const path = join(dir, 'j.jsonl');
    const publicKeys = () => loadPublicKeys(join(dir, 'keys'));
    const acknowledged = new Set<string>();
    let [torn, adopted, unsettled] = [0, 0, 0];
    for (let round = 1; round <= KILLS; round++) {
      for (const line of await runAndKill(dir, round, Math.random() * 60)) {
        const [what, rest, more] = line.split(' ');
        if (what === 'open') {
          torn += rest === 'torn' ? 1 : 0;
          adopted += Number(more);
        } else acknowledged.add(line);
      }
      const { verdicts } = await verifyJournal(path, { publicKeys: publicKeys(), lookAgainMs: 0 });
      const status = worstStatus(verdicts.map((v) => v.status));
      // A kill before the first checkpoint leaves nothing at all.
      if (acknowledged.size > 0) expect(status, JSON.stringify(verdicts)).not.toBe('tampered');
      if (status !== 'intact') unsettled += 1;
    }
    const signer = loadOrCreateSigner(join(dir, 'keys'));
    await (await openJournal({ path, clock: systemClock, signer })).close();
    const { verdicts } = await verifyJournal(path, { publicKeys: publicKeys() });
    expect(worstStatus(verdicts.map((v) => v.status)), JSON.stringify(verdicts)).toBe('intact');

    const records = [];
    for await (const item of readJournal(path)) {
      if (item.kind === 'problem') expect.unreachable(`${item.file}:${item.line}: ${item.what}`);
      else records.push(item.record);
    }
    const found = new Set(
      records.filter((r) => typeof r.phase === 'string').map((r) => `${r.phase} ${r.what}`),
    );
    expect([...acknowledged].filter((line) => !found.has(line))).toEqual([]);
    expect(acknowledged.size).toBeGreaterThan(KILLS);
    // What was begun and never ended is unknown, and every intent that was acknowledged is one or the other.
    const open = new Set((await openIntents(records)).map((i) => i.record.what));
    const ended = records.filter((r) => r.phase === 'outcome').length;
    expect(open.size + ended).toBe(records.filter((r) => r.phase === 'intent').length);
    console.log(
      `${KILLS} kills: ${acknowledged.size} acknowledged records, all found; ${records.length} in ${verdicts.length} segments; ` +
        `${torn} torn tails, ${adopted} records adopted, ${open.size} intents unknown, ${unsettled} times unsettled after the kill`,
    );
  },
  process.env.WRIT_LONG === '1' ? 900_000 : 120_000,
);
