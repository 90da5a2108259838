import { cpSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/core/index.ts';
import { type FlightDeps, listFlights, resumeFlight, runFlight } from '../../src/flight/index.ts';
import {
  approve,
  flightFile,
  fly,
  inProcess,
  NOTE_ENGINE,
  resume,
  tempFolders,
  workflow,
  writ,
} from './kit.ts';

const place = tempFolders();
const one = '  - id: one\n    engine: ./engine.sh\n    isolation: none\n';
const files = {
  'workflow.yaml': workflow(one),
  'waits.yaml': workflow(`${one}    approval: { role: lead }\n`),
  'engine.sh': NOTE_ENGINE,
};
const flightFolder = (dir: string, id: string) => join(dir, '.writ/flights', id);

interface Verified {
  readonly status: string;
  readonly files: readonly {
    readonly path: string;
    readonly status: string;
    readonly first_bad: { readonly what: string } | null;
  }[];
}

async function verify(dir: string, ...named: readonly string[]) {
  const { code, out } = await writ(dir, ['audit', 'verify', ...named, '--json']);
  const { status, files } = JSON.parse(out) as Verified;
  return { code, status, bad: files.filter((f) => f.status !== 'intact') };
}

/** A ledger whose catalogue is told nothing. */
function untold({ ledger }: FlightDeps): FlightDeps['ledger'] {
  const nothing = () => Promise.resolve();
  return { ...ledger, catalog: { ...ledger.catalog, opened: nothing, closed: nothing } };
}

describe('a flight whose folder is removed', () => {
  it('[FLT-U13][FLT-U14] is missed by verify, list, status, show and resume, each of which names it; another one stays whole', async () => {
    const dir = place(files);
    const [gone, stays] = [(await fly(dir)).json.flight_id, (await fly(dir)).json.flight_id];
    expect(await verify(dir)).toMatchObject({ code: 0, status: 'intact' });
    rmSync(flightFolder(dir, gone), { recursive: true });
    const { code, bad } = await verify(dir);
    expect(code).toBe(5);
    expect(bad).toMatchObject([{ path: `.writ/flights/${gone}/wal.jsonl`, status: 'incomplete' }]);
    expect(await verify(dir, `.writ/flights/${gone}`)).toMatchObject({ code: 5, status: 'incomplete' });
    expect(await verify(dir, `.writ/flights/${stays}`)).toMatchObject({ code: 0, status: 'intact' });
    const list = await writ(dir, ['flight', 'list', '--json']);
    expect(list.code).toBe(5);
    expect(JSON.parse(list.out).flights).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ flight_id: gone, state: 'MISSING' }),
        expect.objectContaining({ flight_id: stays, state: 'COMPLETED' }),
      ]),
    );
    for (const what of ['status', 'show', 'resume']) {
      const answer = await writ(dir, ['flight', what, gone]);
      expect(answer.code).toBe(5);
      expect(answer.err).toContain(`flight ${gone}: its folder is gone`);
    }
    expect(readFileSync(join(dir, '.writ/ledger/flights.jsonl'), 'utf8')).toContain(gone);
    expect((await writ(dir, ['flight', 'status', 'flt_never'])).code).toBe(2);
  });

  it('[FLT-U13] may go once somebody has said so, with a reason that is kept', async () => {
    const dir = place(files);
    const { flight_id: id } = (await fly(dir)).json;
    const folder = `.writ/flights/${id}`;
    expect((await writ(dir, ['audit', 'retire', folder, '--reason', 'older than a year'])).code).toBe(0);
    expect(await verify(dir)).toMatchObject({ code: 0 });
    rmSync(join(dir, folder), { recursive: true });
    expect(await verify(dir)).toMatchObject({ code: 0, status: 'intact' });
    expect(JSON.parse((await writ(dir, ['flight', 'list', '--json'])).out)).toEqual({ flights: [] });
    const asked = await writ(dir, ['flight', 'status', id]);
    expect(asked.code).toBe(2);
    expect(asked.err).toContain('older than a year');
    expect((await writ(dir, ['audit', 'retire', '.writ/flights/flt_never', '--reason', 'x'])).code).toBe(2);
  });

  it.each([
    [
      'emptied',
      (dir: string, id: string) =>
        ['wal.jsonl', 'audit.jsonl', 'state.json'].map((name) => truncateSync(flightFile(dir, id, name))),
    ],
    ['without its log', (dir: string, id: string) => rmSync(flightFile(dir, id, 'wal.jsonl'))],
    [
      'another under its name',
      (dir: string, id: string, other: string) => {
        rmSync(flightFolder(dir, id), { recursive: true });
        cpSync(flightFolder(dir, other), flightFolder(dir, id), { recursive: true });
      },
    ],
  ])('[FLT-U13] is told from one that is %s: that is an integrity error too', async (_, damage) => {
    const dir = place(files);
    const [id, other] = [(await fly(dir)).json.flight_id, (await fly(dir)).json.flight_id];
    damage(dir, id, other);
    expect((await verify(dir)).code).toBe(5);
    expect((await resume(dir, id)).code).toBe(5);
    const listed = await inProcess(dir, (deps) => listFlights(deps));
    expect(listed.find((f) => f.flight_id === id)?.state).toMatch(/^(MISSING|DAMAGED)$/);
  });
});

describe('an earlier state of a flight', () => {
  it('[FLT-U13][FLT-O55] put back as a whole is found, and goes on nowhere', async () => {
    const dir = place(files);
    const { json } = await fly(dir, 'waits.yaml');
    const copy = join(place({}), 'copy');
    cpSync(flightFolder(dir, json.flight_id), copy, { recursive: true });
    await approve(dir, json);
    expect((await resume(dir, json.flight_id)).json.state).toBe('COMPLETED');
    rmSync(flightFolder(dir, json.flight_id), { recursive: true });
    cpSync(copy, flightFolder(dir, json.flight_id), { recursive: true });
    const { code, bad } = await verify(dir);
    expect(code).toBe(5);
    expect(bad[0]?.first_bad?.what).toContain('the catalogue remembers');
    expect(await resume(dir, json.flight_id)).toMatchObject({
      code: 5,
      error: expect.stringContaining('an earlier state was put back'),
    });
    expect(readFileSync(join(dir, 'note.txt'), 'utf8')).toBe('hello\n');
  });
});

describe('the list of flights', () => {
  it('[FLT-U13][FLT-U12] has a flight before anything runs; one that a crash kept from it had done nothing, and is listed when it goes on', async () => {
    const dir = place(files);
    await inProcess(dir, async (deps) => {
      const { catalog } = deps.ledger;
      const dies = { ...catalog, opened: () => Promise.reject(new Error('killed here')) };
      const run = runFlight(
        { ...deps, ledger: { ...deps.ledger, catalog: dies } },
        join(dir, 'workflow.yaml'),
      );
      await expect(run).rejects.toThrow('killed here');
    });
    const [found] = await inProcess(dir, (deps) => listFlights(deps));
    const id = found?.flight_id ?? '';
    expect(found?.state).toBe('INIT');
    expect(existsSync(flightFile(dir, id, 'steps/one'))).toBe(false);
    // Nothing contradicts, nothing vouches; what is gone is told otherwise.
    expect(await verify(dir)).toMatchObject({ code: 5, status: 'not_established' });
    expect((await resume(dir, id)).json.state).toBe('COMPLETED');
    expect(await verify(dir)).toMatchObject({ code: 0, status: 'intact' });
    rmSync(flightFolder(dir, id), { recursive: true });
    expect(await verify(dir)).toMatchObject({ code: 5, status: 'incomplete' });
  });

  it('[FLT-U13] does not know of a folder that was made and nothing more', async () => {
    const dir = place(files);
    const { flight_id: id } = (await fly(dir)).json;
    for (const name of ['wal.jsonl', 'audit.jsonl'])
      cpSync(join(dir, 'engine.sh'), flightFile(dir, `${id}x`, name), { recursive: true });
    // Half of the first line is all that a crash left.
    truncateSync(flightFile(dir, `${id}x`, 'wal.jsonl'), 7);
    truncateSync(flightFile(dir, `${id}x`, 'audit.jsonl'));
    expect(await verify(dir)).toMatchObject({ code: 0, status: 'intact' });
    expect((await resume(dir, `${id}x`)).code).toBe(2);
  });

  it('[FLT-U13] is missed when it is gone', async () => {
    const dir = place(files);
    await fly(dir);
    for (const name of ['catalog.jsonl', 'catalog.jsonl.checkpoint']) rmSync(join(dir, '.writ/ledger', name));
    const { code, bad } = await verify(dir);
    expect(code).toBe(5);
    expect(bad[0]?.first_bad?.what).toContain('which was listed once');
  });

  it('[FLT-U13] flights from before there was one verify, and join it when they go on', async () => {
    const dir = place(files);
    const id = await inProcess(dir, async (deps) => {
      const old = { ...deps, ledger: untold(deps) };
      const { status } = await runFlight(old, join(dir, 'waits.yaml'));
      forgetListing(flightFile(dir, status.flight_id, 'state.json'), deps);
      return status.flight_id;
    });
    expect(await verify(dir)).toMatchObject({ code: 0, status: 'intact' });
    await inProcess(dir, (deps) => resumeFlight(deps, id));
    expect(await verify(dir)).toMatchObject({ code: 0, status: 'intact' });
    rmSync(flightFolder(dir, id), { recursive: true });
    expect((await verify(dir)).bad).toMatchObject([{ path: `.writ/flights/${id}/wal.jsonl` }]);
  });
});

/** A checkpoint as it was signed when flights were not listed. */
function forgetListing(file: string, { ledger }: FlightDeps): void {
  const { signature: _, checkpoint, ...rest } = JSON.parse(readFileSync(file, 'utf8'));
  const { listed: __, ...reach } = checkpoint;
  const body = { ...rest, checkpoint: reach };
  const signature = Buffer.from(ledger.signer.sign(Buffer.from(canonicalJson(body)))).toString('base64');
  writeFileSync(file, canonicalJson({ ...body, signature }));
}
