import { execFile } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { openStateApprovals } from '../../src/authority/index.ts';
import { EXIT, type JsonObject, systemClock, systemIds, WritError } from '../../src/core/index.ts';
import {
  type FlightAnswer,
  type FlightDeps,
  type FlightStatus,
  resumeFlight,
  runFlight,
} from '../../src/flight/index.ts';
import { openLedger } from '../../src/ledger/index.ts';

export const WRIT = fileURLToPath(new URL('../../bin/writ.js', import.meta.url));

export interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly json: FlightStatus;
}

/** `node bin/writ.js …` as a person would, in a folder. */
export function writ(
  cwd: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<Answer> {
  return new Promise((done) => {
    execFile(
      process.execPath,
      [WRIT, ...args],
      { cwd, env: { PATH: process.env.PATH ?? '', HOME: cwd, ...env }, maxBuffer: 64 * 1024 * 1024 },
      (error, out, err) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 137;
        let json = {} as FlightStatus;
        try {
          json = JSON.parse(out);
        } catch {
          // not every call prints JSON
        }
        done({ code, out, err, json });
      },
    );
  });
}

export function folder(files: Readonly<Record<string, string>>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-flight-')));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
    if (text.startsWith('#!')) chmodSync(join(root, name), 0o755);
  }
  return root;
}

/** Folders that are gone when the file's tests are done. */
export function tempFolders(): (files: Readonly<Record<string, string>>) => string {
  const made: string[] = [];
  afterAll(() => {
    for (const dir of made) rmSync(dir, { recursive: true, force: true });
  });
  return (files) => {
    const dir = folder(files);
    made.push(dir);
    return dir;
  };
}

/** A shell engine: describes one note, and at take-off appends it to a file. */
export const NOTE_ENGINE = `#!/bin/sh
set -e
cat > /dev/null
if [ "$CABINCREW_MODE" = flight-plan ]; then
  mkdir -p "$CABINCREW_ARTIFACTS_DIR/note"
  printf 'hello\\n' > "$CABINCREW_ARTIFACTS_DIR/note/body.data"
  printf '{"artifact_type":"file","action":"create","target":"note.txt","mime":"text/plain","body_file":"body.data"}' > "$CABINCREW_ARTIFACTS_DIR/note/artifact.json"
  h=$(sha256sum "$CABINCREW_ARTIFACTS_DIR/note/body.data" | cut -d' ' -f1)
  printf '{"protocol_version":"1.0","engine_id":"note","mode":"flight-plan","receipt_id":"r1","status":"success","artifacts":[{"name":"note","role":"state","path":"note","hash":"%s","size":6}]}' "$h"
else
  cat "$CABINCREW_ARTIFACTS_DIR/note/body.data" >> "$CABINCREW_WORKSPACE/note.txt"
  printf '{"protocol_version":"1.0","engine_id":"note","mode":"take-off","receipt_id":"r2","status":"success"}'
fi
`;

/** A Node engine whose flight-plan body is given; take-off touches `done.txt`. `ok(artifacts)` prints a receipt. */
export function nodeEngine(plan: string, takeOff = "fs.appendFileSync(W + '/done.txt', 'x');"): string {
  return `import fs from 'node:fs'; import crypto from 'node:crypto';
const input = JSON.parse(fs.readFileSync(0, 'utf8'));
const W = process.env.CABINCREW_WORKSPACE, A = process.env.CABINCREW_ARTIFACTS_DIR, T = process.env.CABINCREW_TEMP_DIR;
const base = { protocol_version: '1.0', engine_id: 't', mode: process.env.CABINCREW_MODE, receipt_id: 'r', status: 'success' };
const put = (name, doc, body) => { fs.mkdirSync(A + '/' + name, { recursive: true });
  if (body !== undefined) { doc = { ...doc, body_file: 'body.data' }; fs.writeFileSync(A + '/' + name + '/body.data', body); }
  const json = JSON.stringify({ artifact_type: 'text', action: 'show', mime: 'text/plain', ...doc });
  fs.writeFileSync(A + '/' + name + '/artifact.json', json);
  const b = Buffer.from(body ?? json);
  return { name, role: 'evidence', path: name, hash: crypto.createHash('sha256').update(b).digest('hex'), size: b.length }; };
const ok = (artifacts, more = {}) => process.stdout.write(JSON.stringify({ ...base, artifacts, ...more }));
if (process.env.CABINCREW_MODE === 'flight-plan') { ${plan} } else { ${takeOff} process.stdout.write(JSON.stringify(base)); }
`;
}

export function workflow(steps: string, head = ''): string {
  return `id: test-flow\n${head}steps:\n${steps}`;
}

/** A flight in this process: the same room, without the time a new process takes. */
export async function inProcess<T>(
  dir: string,
  work: (deps: FlightDeps) => Promise<T>,
  more: Partial<FlightDeps> = {},
): Promise<T> {
  const stateDir = join(dir, '.writ');
  const { clock = systemClock } = more;
  const ledger = openLedger({ stateDir });
  const queue = openStateApprovals({
    stateDir,
    clock,
    ids: systemIds,
    allowSelfApproval: false,
  });
  try {
    return await work({
      ledger,
      clock,
      ids: systemIds,
      queue,
      requester: 'tester',
      env: {},
      ...more,
    });
  } finally {
    await queue.close();
  }
}

export async function fly(
  dir: string,
  file = 'workflow.yaml',
  more: Partial<FlightDeps> = {},
): Promise<{ code: number; json: FlightStatus }> {
  try {
    const answer: FlightAnswer = await inProcess(dir, (deps) => runFlight(deps, join(dir, file)), more);
    return { code: answer.exit, json: answer.status };
  } catch (error) {
    if (error instanceof WritError) return { code: error.exit, json: {} as FlightStatus };
    return { code: EXIT.failed, json: {} as FlightStatus };
  }
}

/** Goes on with a flight in this process; an integrity error is an answer too. */
export async function resume(
  dir: string,
  id: string,
  more: Partial<FlightDeps> = {},
): Promise<{ code: number; json: FlightStatus; error: string }> {
  try {
    const answer = await inProcess(dir, (deps) => resumeFlight(deps, id), more);
    return { code: answer.exit, json: answer.status, error: answer.status.error?.message ?? '' };
  } catch (error) {
    if (!(error instanceof WritError)) throw error;
    return { code: error.exit, json: {} as FlightStatus, error: error.message };
  }
}

/** Goes on with a flight when so much time has passed. */
export function later(dir: string, id: string, ms: number): ReturnType<typeof resume> {
  const now = () => new Date(Date.now() + ms);
  return resume(dir, id, { clock: { ...systemClock, now } });
}

export async function approve(dir: string, json: FlightStatus, role = 'lead'): Promise<void> {
  const id = json.pending_approvals[0] ?? '';
  const given = await inProcess(dir, ({ queue }) =>
    queue.respond(id, { approved: true, approver: 'ada', role }),
  );
  if (!given.ok) throw new Error(`${given.check}: ${given.message}`);
}

export function flightFile(dir: string, id: string, name: string): string {
  return join(dir, '.writ', 'flights', id, name);
}

export function lines(file: string): readonly JsonObject[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

export function eventsOf(dir: string, id: string): readonly JsonObject[] {
  return lines(flightFile(dir, id, 'audit.jsonl'));
}
