import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { watchDisk } from '../../src/flight/disk-watch.ts';
import { eventsOf, flightFile, fly, nodeEngine, tempFolders, workflow, writ } from './kit.ts';

/** Engines that lie, sprawl, cling or fill: each is contained, on record, told in clear words, with the right exit. */
const place = tempFolders();
const PLAN = "ok([put('a', {}, 'x')])";

async function flown(plan: string, takeOff?: string, more = '') {
  const dir = place({
    'workflow.yaml': workflow(`  - id: one\n    engine: ./engine.mjs\n${more}`),
    'engine.mjs': nodeEngine(plan, takeOff),
  });
  const { code, json } = await fly(dir);
  const events = eventsOf(dir, json.flight_id);
  return { dir, code, json, events, message: json.error?.message ?? '' };
}

function alive(mark: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}

describe('artifacts', () => {
  const named = (name: string) => `const a = put('a', {}, 'x'); ok([{ ...a, name: ${name}, path: ${name} }])`;
  it.each([
    [
      'a hard link between two artifacts',
      "const a = put('a', {}, 'x'); put('b', {}, 'x'); fs.rmSync(A + '/b/body.data'); fs.linkSync(A + '/a/body.data', A + '/b/body.data'); ok([a, { ...a, name: 'b', path: 'b' }])",
      /hard link/,
    ],
    [
      'a symlink in place of artifact.json',
      "const a = put('a', {}); fs.copyFileSync(A + '/a/artifact.json', T + '/j'); fs.rmSync(A + '/a/artifact.json'); fs.symlinkSync(T + '/j', A + '/a/artifact.json'); ok([a])",
      /symbolic link/,
    ],
    ['an unnamed symlink', "fs.symlinkSync('/etc/passwd', A + '/loose'); ok([])", /in no receipt/],
    ['an unnamed empty folder', "fs.mkdirSync(A + '/loose'); ok([])", /in no receipt/],
    [
      'one file for two artifacts',
      "const b = put('a/b', {}); const json = JSON.stringify({ artifact_type: 't', action: 'x', mime: 'm', body_file: 'b/artifact.json' }); fs.writeFileSync(A + '/a/artifact.json', json); ok([b, { ...b, name: 'a', path: 'a' }])",
      /two artifacts/,
    ],
    [
      'a path that is not its own',
      "const a = put('a', {}, 'x'); ok([{ ...a, path: '../../../wal.jsonl' }])",
      /path is/,
    ],
    ['an absolute path elsewhere', "const a = put('a', {}, 'x'); ok([{ ...a, path: '/etc' }])", /path is/],
    [
      'names that differ in Unicode form',
      "ok([put('\\u00e9', {}, 'x'), put('e\\u0301', {}, 'x')])",
      /two artifacts/,
    ],
    [
      'artifact.json that is no JSON',
      "const a = put('a', {}, 'x'); fs.writeFileSync(A + '/a/artifact.json', '{'); ok([a])",
      /not one JSON document/,
    ],
    ['artifact.json of the wrong types', "ok([put('a', { mime: 7 }, 'x')])", /artifact.json: mime/],
    ['a newline in a name', named("'a\\nb'"), /hide or steer/],
    ['a terminal escape in a name', named("'\\u001b[31ma'"), /hide or steer/],
    ['a NUL in a name', named("'a\\u0000b'"), /hide or steer/],
    ['a name of another direction', named("'\\u202egnp.a'"), /hide or steer/],
    ['an absolute name', named("'/etc/passwd'"), /not relative/],
    ['a name that climbs', named("'a/../../b'"), /".."/],
    ['a name without end', named("'a'.repeat(400)"), /255/],
  ] as const)(
    '[FLT-F5][FLT-F8][FLT-F15][FLT-F23][FLT-O56][FLT-O57][FLT-P13][FLT-U6][FLT-E16] %s fails the flight with a critical event, and nothing takes off',
    async (_, plan, said) => {
      const { dir, code, json, events, message } = await flown(plan);
      expect({ code, state: json.state, message }).toEqual({
        code: 1,
        state: 'FAILED',
        message: expect.stringMatching(said),
      });
      expect(events.at(-1)).toMatchObject({ event_type: 'artifacts_invalid', severity: 'critical', message });
      expect(existsSync(join(dir, 'done.txt'))).toBe(false);
      // What people are shown has no raw control characters.
      expect(/[\u0000-\u0008\u000b-\u001f]/.test(message)).toBe(false);
    },
  );
});

describe('receipts of a take-off', () => {
  const say = (receipt: string) =>
    `await new Promise((said) => process.stdout.write(${receipt}, said)); process.exit(0);`;
  it.each([
    ['something besides it', "console.log('done');", /not one JSON document/],
    ['nothing', say("''"), /no receipt/],
    ['two', say('JSON.stringify(base) + JSON.stringify(base)'), /not one JSON document/],
    ['one too large', say("JSON.stringify({ ...base, error: 'x'.repeat(6e6) })"), /larger than/],
    ['wrong types', say('JSON.stringify({ ...base, metrics: [{ name: 1 }] })'), /metrics/],
    ['an unknown field', say('JSON.stringify({ ...base, approved: true })'), /approved/],
    ['the wrong mode', say("JSON.stringify({ ...base, mode: 'flight-plan' })"), /launched for take-off/],
    ['another engine', say("JSON.stringify({ ...base, engine_id: 'other' })"), /of engine other/],
    ['a newer protocol', say("JSON.stringify({ ...base, protocol_version: '7.0' })"), /protocol_version/],
    [
      'other artifacts',
      say(
        "JSON.stringify({ ...base, artifacts: [{ name: 'b', role: 'log', path: 'b', hash: '0'.repeat(64) }] })",
      ),
      /other artifacts/,
    ],
    ['a failure', say("JSON.stringify({ ...base, status: 'failure', error: 'quota' })"), /quota/],
    [
      'a failing exit',
      'process.stdout.write(JSON.stringify(base)); process.exit(1);',
      /the engine failed \(exit code 1\)/,
    ],
    [
      'a reserved exit',
      'process.stdout.write(JSON.stringify(base)); process.exit(9);',
      /unexpectedly \(exit code 9\)/,
    ],
    ['a signal', "process.kill(process.pid, 'SIGKILL');", /unexpectedly \(exit code 137\)/],
  ] as const)(
    '[FLT-O17][FLT-O56][FLT-E12][FLT-E20][FLT-E21] %s: the take-off failed, on record',
    async (_, takeOff, said) => {
      const { code, json, events, message } = await flown(PLAN, takeOff);
      expect({ code, state: json.state }).toEqual({ code: 1, state: 'FAILED' });
      expect(message).toMatch(said);
      expect(message).toContain('take-off');
      const ended = events.find((e) => e.event_type === 'take_off_completed');
      expect(ended).toMatchObject({ severity: 'error', workflow: { mode: 'take-off' } });
    },
  );

  it('[FLT-F10][FLT-F20][FLT-T12][FLT-E10] a take-off cannot change, add or remove artifacts', async () => {
    const tries = [
      "writeFileSync(A + '/a/body.data', 'y')",
      "writeFileSync(A + '/new', 'y')",
      "rmSync(A + '/a', { recursive: true })",
      "renameSync(A + '/a', A + '/b')",
    ];
    const takeOff = `let n = 0; for (const t of [${tries.map((t) => `() => fs.${t}`).join(', ')}]) try { t(); n++ } catch {} fs.writeFileSync(W + '/n.txt', String(n));`;
    const { dir, code } = await flown(PLAN, takeOff);
    expect(code).toBe(0);
    expect(readFileSync(join(dir, 'n.txt'), 'utf8')).toBe('0');
  });
});

describe('an engine that clings', () => {
  it('[FLT-E22] what it leaves running in the background ends with its launch, in both modes', async () => {
    const marks = [`8${Date.now()}`, `9${Date.now()}`];
    const leave = (mark: string | undefined) =>
      `const { spawn } = await import('node:child_process'); spawn('setsid', ['sleep', '${mark}'], { detached: true, stdio: 'ignore' }).unref();`;
    const { code } = await flown(`${leave(marks[0])} ${PLAN}`, leave(marks[1]));
    expect(code).toBe(0);
    for (const mark of marks) expect(alive(mark)).toEqual([]);
  });

  it('[FLT-E18] one that ignores TERM at take-off is ended when its time is up', async () => {
    const mark = `7${Date.now()}`;
    const takeOff = `process.on('SIGTERM', () => {}); process.title = '${mark}'; await new Promise((r) => setInterval(() => {}, 1000));`;
    const { code, message } = await flown(PLAN, takeOff, '    timeout: 1s\n');
    expect(code).toBe(1);
    expect(message).toContain('did not end within 1s');
    expect(alive(mark)).toEqual([]);
  });
});

describe('an engine that fills the disk', () => {
  it('is stopped when its own folders hold too much, and what it wrote is thrown away', async () => {
    // Sparse: the size counts, not the blocks.
    const plan = `for (let i = 0; i < 40; i++) { fs.writeFileSync(T + '/big' + i, ''); fs.truncateSync(T + '/big' + i, 2 ** 28); } await new Promise((r) => setTimeout(r, 30000)); ${PLAN}`;
    const { dir, code, json, message, events } = await flown(plan);
    expect(code).toBe(1);
    expect(message).toContain('more than it may keep');
    expect(events.some((e) => e.event_type === 'engine_completed' && e.severity === 'error')).toBe(true);
    expect(existsSync(flightFile(dir, json.flight_id, 'steps/one/temp/flight-plan/big0'))).toBe(false);
  });

  it('is stopped when it makes files without end', async () => {
    const plan = `for (let i = 0; i < 30000; i++) fs.writeFileSync(T + '/f' + i, ''); ${PLAN}`;
    const { code, message } = await flown(plan);
    expect(code).toBe(1);
    expect(message).toContain('20000 files');
  });

  it('is stopped while there is still room to say so', () => {
    const own = place({});
    const limits = { bytes: 1000, files: 10, reserve: 100 };
    let free = 1000;
    const watch = watchDisk([own], [], limits, () => free);
    try {
      expect(watch.problem()).toBeNull();
      free = 99;
      expect(watch.problem()).toContain('nearly full');
      expect(watch.signal.aborted).toBe(true);
    } finally {
      watch.stop();
    }
    const little = watchDisk([place({})], [], limits, () => 20);
    expect(little.problem()).toBeNull();
    little.stop();
  });
});

describe('what a person sees', () => {
  it('hostile text of an engine reaches the terminal without escapes, newlines or direction marks', async () => {
    const error = 'bad \\u001b[2J\\u001b]0;owned\\u0007 \\u202egnp.exe\\nflt_x COMPLETED';
    const dir = place({
      'workflow.yaml': workflow('  - id: one\n    engine: ./engine.mjs\n'),
      'engine.mjs': nodeEngine(`ok([], { status: 'failure', error: "${error}" })`),
    });
    const { code, out } = await writ(dir, ['flight', 'run', 'workflow.yaml']);
    expect(code).toBe(1);
    expect(out).toContain('bad ');
    expect(/[\u0007\u001b\u202e]/.test(out)).toBe(false);
    expect(out.split('\n').some((line) => line.startsWith('flt_x'))).toBe(false);
  });

  it('an engine that is not executable is named with its reason', async () => {
    const dir = place({
      'workflow.yaml': workflow('  - id: one\n    engine: ./engine\n'),
      engine: 'echo hi\n',
    });
    const { code, json } = await fly(dir);
    expect(code).toBe(1);
    expect(json.error?.message).toContain('cannot be started');
  });

  it('[FLT-O16] a take-off writes the workspace, not the workflow, its engines or our state', async () => {
    const takeOff = `const tried = {}; for (const name of ['workflow.yaml', 'engine.mjs', '.writ/x', '../beside.txt', 'inside.txt'])
      try { fs.appendFileSync(W + '/' + name, 'x'); tried[name] = 'yes' } catch { tried[name] = 'no' }
      fs.writeFileSync(W + '/tried.json', JSON.stringify(tried));`;
    const { dir } = await flown(PLAN, takeOff);
    const tried = JSON.parse(readFileSync(join(dir, 'tried.json'), 'utf8'));
    expect(tried).toMatchObject({ 'workflow.yaml': 'no', 'engine.mjs': 'no', 'inside.txt': 'yes' });
    expect(existsSync(join(dir, '.writ/x'))).toBe(false);
    expect(existsSync(join(dir, '../beside.txt'))).toBe(false);
    expect(readFileSync(join(dir, 'workflow.yaml'), 'utf8')).not.toContain('engine.mjs\nx');
  });
});
