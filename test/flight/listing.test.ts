import { cpSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { otherFormats } from '../../src/cli/other-formats.ts';
import { canonicalJson } from '../../src/core/index.ts';
import {
  type FlightDeps,
  flightStatus,
  listFlights,
  resumeFlight,
  runFlight,
} from '../../src/flight/index.ts';
import { loadPublicKeys, statePaths, usualDirs, verifyState, worstStatus } from '../../src/ledger/index.ts';
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

/** As `writ audit verify` does, without the time a new process takes. */
async function verify(dir: string) {
  const stateDir = join(dir, '.writ');
  const { catalog, keys } = statePaths(stateDir);
  const publicKeys = loadPublicKeys(keys);
  const others = otherFormats(stateDir, publicKeys);
  const found = await verifyState(catalog, usualDirs(stateDir, join(dir, 'audit')), { publicKeys }, others);
  return {
    status: worstStatus(found.map((v) => v.status)),
    bad: found
      .filter((v) => v.status !== 'intact')
      .map((v) => ({ path: relative(dir, v.path), status: v.status, what: v.first_bad?.what })),
  };
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
    expect(await verify(dir)).toMatchObject({ status: 'intact' });
    rmSync(flightFolder(dir, gone), { recursive: true });
    const path = `.writ/flights/${gone}/wal.jsonl`;
    expect(await verify(dir)).toMatchObject({ status: 'incomplete', bad: [{ path }] });
    for (const named of [[], [`.writ/flights/${stays}`, `.writ/flights/${gone}`]]) {
      const answer = await writ(dir, ['audit', 'verify', ...named]);
      expect(answer.code).toBe(5);
      expect(answer.out).toMatch(new RegExp(`incomplete +${path}`));
      expect(answer.out).not.toMatch(new RegExp(`incomplete +\\S+${stays}`));
    }
    const list = await writ(dir, ['flight', 'list', '--json']);
    expect(list.code).toBe(5);
    expect(JSON.parse(list.out).flights).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ flight_id: gone, state: 'MISSING' }),
        expect.objectContaining({ flight_id: stays, state: 'COMPLETED' }),
      ]),
    );
    const shown = await writ(dir, ['flight', 'show', gone]);
    expect(shown.code).toBe(5);
    expect(shown.err).toContain(`flight ${gone}: its folder is gone`);
    const status = (id: string) => inProcess(dir, (deps) => flightStatus(deps, id));
    await expect(status(gone)).rejects.toMatchObject({ exit: 5 });
    await expect(status('flt_never')).rejects.toMatchObject({ exit: 2 });
    expect((await resume(dir, gone)).code).toBe(5);
    expect(readFileSync(join(dir, '.writ/ledger/flights.jsonl'), 'utf8')).toContain(gone);
  });

  it('[FLT-U13] may go once somebody has said so, with a reason that is kept', async () => {
    const dir = place(files);
    const { flight_id: id } = (await fly(dir)).json;
    const folder = `.writ/flights/${id}`;
    expect((await writ(dir, ['audit', 'retire', folder, '--reason', 'older than a year'])).code).toBe(0);
    expect(await verify(dir)).toMatchObject({ status: 'intact' });
    rmSync(join(dir, folder), { recursive: true });
    expect(await verify(dir)).toMatchObject({ status: 'intact' });
    expect(await inProcess(dir, (deps) => listFlights(deps))).toEqual([]);
    await expect(inProcess(dir, (deps) => flightStatus(deps, id))).rejects.toMatchObject({
      exit: 2,
      message: expect.stringContaining('older than a year'),
    });
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
    expect((await verify(dir)).status).not.toBe('intact');
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
    const { bad } = await verify(dir);
    expect(bad[0]?.what).toContain('the catalogue remembers');
    expect(await resume(dir, json.flight_id)).toMatchObject({
      code: 5,
      error: expect.stringContaining('an earlier state was put back'),
    });
    expect(readFileSync(join(dir, 'note.txt'), 'utf8')).toBe('hello\n');
  });
});

describe('a flight that a crash ended with its last entry', () => {
  it('[FLT-U12][FLT-U14][FLT-O42] is resumed to complete its record: events say so, all is vouched for again', async () => {
    const dir = place(files);
    const { json } = await fly(dir, 'waits.yaml');
    const [state, events] = ['state.json', 'audit.jsonl'].map((name) =>
      flightFile(dir, json.flight_id, name),
    ) as [string, string];
    const before = readFileSync(state);
    await approve(dir, json);
    expect((await resume(dir, json.flight_id)).code).toBe(0);
    // The log is whole, the last event torn, the checkpoint an older one.
    truncateSync(events, readFileSync(events).length - 20);
    writeFileSync(state, before);
    expect(await verify(dir)).toMatchObject({ status: 'incomplete' });
    expect(await resume(dir, json.flight_id)).toMatchObject({ code: 0, json: { state: 'COMPLETED' } });
    expect(readFileSync(events, 'utf8')).toContain('"event_type":"recovered"');
    expect(await verify(dir)).toMatchObject({ status: 'intact' });
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
    expect(await verify(dir)).toMatchObject({ status: 'not_established' });
    expect((await resume(dir, id)).json.state).toBe('COMPLETED');
    expect(await verify(dir)).toMatchObject({ status: 'intact' });
    rmSync(flightFolder(dir, id), { recursive: true });
    expect(await verify(dir)).toMatchObject({ status: 'incomplete' });
  });

  it('[FLT-U13] does not know of a folder that was made and nothing more', async () => {
    const dir = place(files);
    const { flight_id: id } = (await fly(dir)).json;
    for (const name of ['wal.jsonl', 'audit.jsonl'])
      cpSync(join(dir, 'engine.sh'), flightFile(dir, `${id}x`, name), { recursive: true });
    // Half of the first line is all that a crash left.
    truncateSync(flightFile(dir, `${id}x`, 'wal.jsonl'), 7);
    truncateSync(flightFile(dir, `${id}x`, 'audit.jsonl'));
    expect(await verify(dir)).toMatchObject({ status: 'intact' });
    expect((await resume(dir, `${id}x`)).code).toBe(2);
  });

  it('[FLT-U13] is missed when it is gone', async () => {
    const dir = place(files);
    await fly(dir);
    for (const name of ['catalog.jsonl', 'catalog.jsonl.checkpoint']) rmSync(join(dir, '.writ/ledger', name));
    const { bad } = await verify(dir);
    expect(bad[0]?.what).toContain('which was listed once');
  });

  it('[FLT-U13] flights from before there was one verify, and join it when they go on', async () => {
    const dir = place(files);
    const id = await inProcess(dir, async (deps) => {
      const old = { ...deps, ledger: untold(deps) };
      const { status } = await runFlight(old, join(dir, 'waits.yaml'));
      forgetListing(flightFile(dir, status.flight_id, 'state.json'), deps);
      return status.flight_id;
    });
    expect(await verify(dir)).toMatchObject({ status: 'intact' });
    await inProcess(dir, (deps) => resumeFlight(deps, id));
    expect(await verify(dir)).toMatchObject({ status: 'intact' });
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
