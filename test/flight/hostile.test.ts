import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { watchDisk } from '../../src/flight/disk-watch.ts';
import { readStrictJson } from '../../src/flight/strict-json.ts';
import { workspaceHash } from '../../src/flight/workspace-hash.ts';
import { approve, flightFile, fly, nodeEngine, resume, tempFolders, workflow } from './kit.ts';

const place = tempFolders();
const SECRET = 'Zq7-correct-"horse"-battery';

async function flown(plan: string, more = '') {
  const dir = place({
    'workflow.yaml': workflow(`  - id: one\n    engine: ./engine.mjs\n${more}`),
    'engine.mjs': nodeEngine(plan),
  });
  const { code, json } = await fly(dir, 'workflow.yaml', { env: { TOKEN: SECRET } });
  return { dir, code, id: json.flight_id, message: json.error?.message ?? '' };
}

const said = (json: string) => `process.stdout.write(${json})`;
const nested = "'['.repeat(50000) + ']'.repeat(50000)";
const describing = (member: string) =>
  `const a = put('a', {}); const json = '{"artifact_type":"t","action":"x","mime":"m",' + ${member} + '}'; fs.writeFileSync(A + '/a/artifact.json', json); ok([{ ...a, hash: crypto.createHash('sha256').update(json).digest('hex'), size: json.length }])`;

describe('documents that readers could understand differently, or not write down again', () => {
  it.each([
    [
      'a receipt with a member twice',
      said(`'{"status":"failure",' + JSON.stringify(base).slice(1)`),
      /twice/,
    ],
    [
      'a receipt without end',
      said(`JSON.stringify(base).slice(0, -1) + ',"diagnostics":' + ${nested} + '}'`),
      /nested deeper/,
    ],
    ['a receipt with half a character', "ok([], { receipt_id: '\\ud800' })", /half a character/],
    [
      'a receipt with a hidden prototype',
      said(`'{"__proto__":{},' + JSON.stringify(base).slice(1)`),
      /__proto__/,
    ],
    ['an artifact with a member twice', describing(`'"target":"a","target":"b"'`), /twice/],
    ['an artifact without end', describing(`'"metadata":{"a":' + ${nested} + '}'`), /nested deeper/],
    ['a name that is drawn as nothing', "ok([put('\\u3164', {}, 'x')])", /hide or steer/],
    ['a name with another selector', "ok([put('a\\ufe0f', {}, 'x')])", /hide or steer/],
    ['a name with another space', "ok([put('a\\u00a0b', {}, 'x')])", /hide or steer/],
  ] as const)('[FLT-O10][FLT-O56][FLT-F12] %s fails the flight', async (_, plan, why) => {
    const { dir, code, message } = await flown(plan);
    expect({ code, message }).toEqual({ code: 1, message: expect.stringMatching(why) });
    expect(existsSync(join(dir, 'done.txt'))).toBe(false);
  });

  it('[FLT-O10] any JSON is read as it is meant, and refused once one of its members is there twice', () => {
    const bytes = (text: string) => Buffer.from(text);
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        expect(readStrictJson(bytes(text))).toEqual({ ok: true, value: JSON.parse(text) });
      }),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { minKeys: 1 }), (object) => {
        const text = JSON.stringify(object);
        const key = JSON.stringify(Object.keys(object)[0]);
        expect(readStrictJson(bytes(`{${key}:":{}",${text.slice(1)}`)).ok).toBe(false);
      }),
    );
  });
});

describe('an engine that repeats a secret', () => {
  it.each([
    ['as its id', 'ok([], { engine_id: input.secrets.TOKEN })', 1],
    ['as its version', 'ok([], { protocol_version: input.secrets.TOKEN })', 1],
    ['in a metric', "ok([], { metrics: [{ name: 'm', value: 1, tags: { t: input.secrets.TOKEN } }] })", 1],
    ['as a token', 'ok([], { plan_token: Buffer.from(input.secrets.TOKEN).toString("base64") })', 1],
    ['as a name', "ok([put('x' + input.secrets.TOKEN, {}, 'x')])", 1],
    ['as a type', "ok([put('a', { artifact_type: input.secrets.TOKEN }, 'x')])", 3],
    [
      'in a warning',
      'ok([], { warnings: [input.secrets.TOKEN], diagnostics: { a: input.secrets.TOKEN } })',
      0,
    ],
  ] as const)('[FLT-U11][FLT-E19] %s: it is in no log, event or checkpoint', async (_, plan, exit) => {
    const { dir, code, id } = await flown(plan, '    secrets: [TOKEN]\n');
    expect(code).toBe(exit);
    for (const name of ['wal.jsonl', 'audit.jsonl', 'state.json']) {
      const text = readFileSync(flightFile(dir, id, name), 'utf8');
      for (const form of [
        SECRET,
        JSON.stringify(SECRET).slice(1, -1),
        Buffer.from(SECRET).toString('base64'),
      ])
        expect(text).not.toContain(form);
    }
  });
});

describe('a workspace', () => {
  const odd = (dir: string, last: number) =>
    Buffer.concat([Buffer.from(`${dir}/caf`), Buffer.from([0xe9, last])]);

  it('[FLT-O8] with names that are no UTF-8 is hashed like any other', () => {
    const dir = place({ 'a.txt': 'a' });
    const hash = () => workspaceHash({ folder: dir });
    const seen = new Set([hash()]);
    writeFileSync(odd(dir, 0xff), 'one');
    seen.add(hash());
    writeFileSync(odd(dir, 0xfe), 'one');
    seen.add(hash());
    writeFileSync(odd(dir, 0xfe), 'two');
    seen.add(hash());
    mkdirSync(odd(dir, 0xfd));
    writeFileSync(Buffer.concat([odd(dir, 0xfd), Buffer.from('/in')]), 'x');
    seen.add(hash());
    expect(seen.size).toBe(5);
    expect(hash()).toBe(hash());
  });

  it('[FLT-O56] with a file of no end stops the flight instead of being read', async () => {
    const dir = place({
      'workflow.yaml': workflow('  - id: one\n    engine: ./engine.mjs\n'),
      'engine.mjs': nodeEngine("ok([put('a', {}, 'x')])"),
      huge: '',
    });
    truncateSync(join(dir, 'huge'), 2 ** 42);
    const { code, json } = await fly(dir);
    expect({ code, message: json.error?.message }).toEqual({
      code: 1,
      message: expect.stringMatching(/^step one: .* bytes: name what does not matter in \.writignore$/),
    });
  });

  it('[FLT-T7][FLT-O6] stays watched when a take-off writes .writignore', async () => {
    const dir = place({
      'workflow.yaml': workflow(
        '  - id: one\n    engine: ./engine.mjs\n  - id: two\n    engine: ./engine.mjs\n    approval: { role: lead }\n',
      ),
      'engine.mjs': nodeEngine("ok([put('a', {}, 'x')])", "fs.writeFileSync(W + '/.writignore', '*\\n');"),
      'a.txt': 'a',
    });
    const { json } = await fly(dir);
    await approve(dir, json);
    writeFileSync(join(dir, 'a.txt'), 'b');
    expect(await resume(dir, json.flight_id)).toMatchObject({
      code: 5,
      error: expect.stringContaining('the workspace changed'),
    });
  });

  it('[FLT-E18] what an engine keeps under names that are no UTF-8 is counted', () => {
    const own = place({});
    mkdirSync(odd(own, 0xff));
    writeFileSync(Buffer.concat([odd(own, 0xff), Buffer.from('/big')]), Buffer.alloc(2000));
    const watch = watchDisk([own], [], { bytes: 1000, files: 10, reserve: 0 });
    watch.stop();
    expect(watch.problem()).toContain('more than it may keep');
    expect(existsSync(own)).toBe(false);
  });
});

it.each(['0s', '99999999999999999999d', '4000d', '1.5h', '-1h'])(
  'a duration of %s is a mistake in the workflow, found before anything runs',
  async (text) => {
    for (const key of [`timeout: ${text}`, `approval: { expires: ${text} }`]) {
      const { dir, code } = await flown('ok([])', `    ${key}\n`);
      expect(code).toBe(2);
      expect(existsSync(join(dir, '.writ/flights'))).toBe(false);
    }
  },
);
