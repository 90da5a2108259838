import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resumeFlight, settleFlight, verifyFlightFile } from '../../src/flight/index.ts';
import { fly, inProcess, NOTE_ENGINE, tempFolders, WRIT, workflow } from './kit.ts';

const place = tempFolders();
const one = '  - id: one\n    engine: ./engine.sh\n';
const waiting = `${one}    approval: { role: lead }\n`;

async function parked() {
  const dir = place({ 'workflow.yaml': workflow(waiting), 'engine.sh': NOTE_ENGINE });
  const { json } = await fly(dir);
  const file = (name: string) => join(dir, '.writ/flights', json.flight_id, name);
  return { dir, id: json.flight_id, approval: json.pending_approvals[0] ?? '', file };
}

describe('the log', () => {
  it('[FLT-U9][FLT-U14][FLT-O50][FLT-O55] any changed byte, removed, swapped or added line is found; nothing is run', async () => {
    const { dir, id, file } = await parked();
    for (const name of ['wal.jsonl', 'audit.jsonl'] as const) {
      const good = readFileSync(file(name));
      const verdict = () =>
        inProcess(dir, async ({ ledger }) => verifyFlightFile(file(name), ledger.trustedKeys).verdicts[0]);
      expect((await verdict())?.status).toBe('intact');
      await fc.assert(
        fc.asyncProperty(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
          const bad = Buffer.from(good);
          bad[at] = (bad[at] ?? 0) ^ by;
          writeFileSync(file(name), bad);
          expect((await verdict())?.status).not.toBe('intact');
        }),
        { numRuns: 40 },
      );
      const lines = good.toString('utf8').trimEnd().split('\n');
      for (const damage of [
        lines.slice(0, -1),
        lines.slice(1),
        [...lines.slice(0, 2), ...lines.slice(3)],
        [lines[1], lines[0], ...lines.slice(2)],
        [...lines, lines.at(-1)],
      ]) {
        writeFileSync(file(name), `${damage.join('\n')}\n`);
        expect((await verdict())?.status).not.toBe('intact');
        await expect(inProcess(dir, (deps) => resumeFlight(deps, id))).rejects.toMatchObject({ exit: 5 });
        writeFileSync(file(name), good);
      }
      writeFileSync(file(name), good);
    }
    expect(existsSync(join(dir, 'note.txt'))).toBe(false);
  });

  it('[FLT-O55] damage halts with a critical event', async () => {
    const { dir, id, file } = await parked();
    const lines = readFileSync(file('wal.jsonl'), 'utf8').trimEnd().split('\n');
    writeFileSync(file('wal.jsonl'), `${lines.slice(0, -1).join('\n')}\n`);
    await expect(inProcess(dir, (deps) => resumeFlight(deps, id))).rejects.toMatchObject({ exit: 5 });
    expect(readFileSync(file('audit.jsonl'), 'utf8')).toContain('"event_type":"integrity_halt"');
    expect(readFileSync(join(dir, '.writ/ledger/flights.jsonl'), 'utf8')).toContain('flight.halted');
  });

  it('[FLT-O49][FLT-U12][FLT-O48][FLT-O54] a torn last line is set aside and recorded; the approval stays pending', async () => {
    const { dir, id, file } = await parked();
    appendFileSync(file('wal.jsonl'), '{"sequence":99,"tor');
    const answer = await inProcess(dir, (deps) => resumeFlight(deps, id));
    expect(answer).toMatchObject({ exit: 4, status: { state: 'AWAITING_APPROVAL' } });
    expect(readFileSync(file('audit.jsonl'), 'utf8')).toContain('torn last line');
  });
});

describe('an interrupted take-off', () => {
  /** An engine whose take-off never returns, and a driver that dies during it. */
  const stuck = NOTE_ENGINE.replace(
    'cat "$CABINCREW_ARTIFACTS_DIR/note/body.data" >> "$CABINCREW_WORKSPACE/note.txt"',
    '$&; sleep 60',
  );

  it('[FLT-O51] is never repeated in silence: it waits for a person, who settles it', async () => {
    const dir = place({ 'workflow.yaml': workflow(one), 'engine.sh': stuck });
    const note = join(dir, 'note.txt');
    // The file appears before its content does: wait for the whole effect.
    await killedWhen(dir, () => existsSync(note) && readFileSync(note, 'utf8') === 'hello\n');
    const id = readdirSync(join(dir, '.writ/flights'))[0] ?? '';
    const unknown = await inProcess(dir, (deps) => resumeFlight(deps, id));
    expect(unknown).toMatchObject({ exit: 4, status: { state: 'TAKEOFF_RUNNING' } });
    expect(unknown.status.error?.message).toContain('settle');
    expect(readFileSync(note, 'utf8')).toBe('hello\n');
    const person = {
      step: 'one',
      outcome: 'done' as const,
      by: 'ada',
      assertedBy: 'tester',
      reason: 'the note is there',
    };
    await inProcess(dir, (deps) => settleFlight(deps, id, person));
    expect((await inProcess(dir, (deps) => resumeFlight(deps, id))).status.state).toBe('COMPLETED');
    expect(readFileSync(join(dir, 'note.txt'), 'utf8')).toBe('hello\n');
  });

  it("asks the step's probe", async () => {
    const probe = '#!/bin/sh\ncat > /dev/null\ntest -e "$CABINCREW_WORKSPACE/note.txt"\n';
    const dir = place({
      'workflow.yaml': workflow(`${one}    probe: ./probe.sh\n`),
      'engine.sh': stuck,
      'probe.sh': probe,
    });
    const note = join(dir, 'note.txt');
    await killedWhen(dir, () => existsSync(note) && readFileSync(note, 'utf8') === 'hello\n');
    const id = readdirSync(join(dir, '.writ/flights'))[0] ?? '';
    expect((await inProcess(dir, (deps) => resumeFlight(deps, id))).status.state).toBe('COMPLETED');
  });
});

it('[FLT-E22] what stood ready for a step to come ends when the flight goes on without whoever made it', async () => {
  const { dir, id, file } = await parked();
  const env = { CABINCREW_ARTIFACTS_DIR: file('steps/two/artifacts') };
  const orphan = spawn('sleep', ['1000'], { env, stdio: 'ignore' });
  const gone = new Promise<string | null>((done) => orphan.on('exit', (_, signal) => done(signal)));
  try {
    expect((await inProcess(dir, (deps) => resumeFlight(deps, id))).exit).toBe(4);
    expect(await gone).toBe('SIGKILL');
    expect(readFileSync(file('audit.jsonl'), 'utf8')).toContain('"event_type":"engine_ended"');
  } finally {
    orphan.kill('SIGKILL');
  }
});

function killedWhen(dir: string, ready: () => boolean): Promise<void> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [WRIT, 'flight', 'run', 'workflow.yaml'], {
      cwd: dir,
      stdio: 'ignore',
    });
    const until = Date.now() + 20_000;
    const timer = setInterval(() => {
      if (!ready() && Date.now() < until) return;
      clearInterval(timer);
      child.kill('SIGKILL');
    }, 20);
    child.on('exit', () => (ready() ? done() : fail(new Error('the take-off never came'))));
  });
}
