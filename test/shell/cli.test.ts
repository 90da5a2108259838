import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const writ = new URL('../../bin/writ.js', import.meta.url).pathname;
let dir: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'writ-cli-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(args: readonly string[], input: string | Buffer = ''): Promise<Ran> {
  const child = spawn(process.execPath, [writ, ...args], { cwd: dir, stdio: 'pipe' });
  children.push(child);
  child.stdin.end(input);
  return finished(child);
}

function finished(child: ChildProcess): Promise<Ran> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })));
}

/** A real terminal, by script(1): types each answer once its prompt has appeared. */
function atTerminal(
  args: readonly string[],
  talk: readonly (readonly [prompt: string, answer: string])[],
): Promise<Ran> {
  const line = [process.execPath, writ, ...args]
    .map((word) => `'${word.replaceAll("'", `'\\''`)}'`)
    .join(' ');
  const child = spawn('script', ['-qec', `stty cols 90; ${line}`, '/dev/null'], {
    cwd: dir,
    stdio: 'pipe',
    env: { ...process.env, TERM: 'xterm', NO_COLOR: '1' },
  });
  children.push(child);
  const waiting = [...talk];
  let seen = '';
  child.stdout.on('data', (chunk: Buffer) => {
    seen += chunk.toString();
    const next = waiting[0];
    if (next !== undefined && seen.includes(next[0])) {
      waiting.shift();
      seen = '';
      child.stdin.write(next[1]);
    }
  });
  return finished(child);
}

const response = (ran: Ran) => JSON.parse(ran.stdout) as Record<string, unknown>;

it.each([
  ['shell', 'classify', '--jsonl'],
  ['redact', '--jsonl'],
])('[SHL-56] writ %s %s answers a line while its input stays open', async (...args) => {
  const child = spawn(process.execPath, [writ, ...args], { cwd: dir, stdio: 'pipe' });
  children.push(child);
  child.stdin.write('"ping 10.0.0.1"\n');
  const answer = await new Promise<string>((resolve) => child.stdout.once('data', (d) => resolve(String(d))));
  expect(answer).toContain('ping 10.0.0.1');
  child.stdin.end();
  expect((await finished(child)).code).toBe(0);
});

describe('shell.program_path in writ.yaml', () => {
  const named = (folder: string) =>
    writeFileSync(join(dir, 'writ.yaml'), JSON.stringify({ shell: { program_path: [folder] } }));

  it('[SHL-12] finds a program in a folder that is named there', async () => {
    const bin = join(realpathSync(dir), 'bin');
    mkdirSync(bin, { mode: 0o755 });
    writeFileSync(join(bin, 'az'), '#!/bin/sh\necho from there\n', { mode: 0o755 });
    named(bin);
    const { code, stdout } = await run(['shell', 'run', '--json', '--', 'az vm list']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'completed', output: 'from there\n' });
  });

  it('[SHL-12] refuses a folder that others can write to, that is missing, or that is a link', async () => {
    const real = realpathSync(dir);
    mkdirSync(join(real, 'open'));
    chmodSync(join(real, 'open'), 0o777);
    mkdirSync(join(real, 'bin'), { mode: 0o755 });
    symlinkSync(join(real, 'bin'), join(real, 'link'));
    for (const folder of [join(real, 'open'), join(real, 'missing'), join(real, 'link'), 'bin']) {
      named(folder);
      const { code, stderr } = await run(['shell', 'run', '--', 'az vm list']);
      expect([code, stderr]).toEqual([2, expect.stringContaining('shell.program_path')]);
    }
  });
});

describe('writ shell run', () => {
  it('[SHL-50] runs a SAFE command and prints the response as one JSON document', async () => {
    const ran = await run(['shell', 'run', '--json', '--', 'ss', '-tln']);
    expect(response(ran)).toMatchObject({
      classification: 'SAFE',
      action: 'auto_approved',
      status: 'completed',
    });
    expect([0, 1]).toContain(ran.code);
    expect(ran.stdout.trim().split('\n').length).toBe(1);
  });

  it('[SHL-51] without a terminal, or with --approve never, RISKY is denied: exit 3', async () => {
    writeFileSync(join(dir, 'f'), 'x');
    for (const args of [['--json'], ['--json', '--approve', 'never']]) {
      const ran = await run(['shell', 'run', ...args, '--', 'cat f']);
      expect(ran.code).toBe(3);
      expect(response(ran)).toMatchObject({ status: 'denied', action: 'user_abandoned', output: '' });
    }
  });

  it('[SHL-52] FORBIDDEN is exit 3, an empty command exit 2, a bad flag exit 2', async () => {
    const forbidden = await run(['shell', 'run', '--json', '--', 'rm', '-rf', '/']);
    expect([forbidden.code, response(forbidden).error]).toEqual([3, 'forbidden_command']);
    const empty = await run(['shell', 'run', '--json', '--', '']);
    expect([empty.code, response(empty).error]).toEqual([2, 'empty_command']);
    expect((await run(['shell', 'run', '--approve', 'yes', '--', 'ss'])).code).toBe(2);
    expect((await run(['shell', 'run', '--session', '../x', '--', 'ss'])).code).toBe(2);
  });

  it('[SHL-53] several arguments are the exact words of one command', async () => {
    const ran = await run(['shell', 'classify', '--json', '--', 'curl', '-s', "https://e.org/?a=b&c='d;e"]);
    expect(response(ran)).toMatchObject({ pipeline: [['curl', '-s', "https://e.org/?a=b&c='d;e"]] });
  });

  it('[SHL-54] records in the session that was named, and writ why explains each record', async () => {
    await run(['shell', 'run', '--session', 'mine', '--', 'ss', '-tln']);
    await run(['shell', 'run', '--session', 'mine', '--', 'touch', 'x']);
    const file = join(dir, 'audit', 'shell_audit_mine.jsonl');
    const records = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(records.map((r) => r.audit_id)).toEqual(['mine_001', 'mine_002']);
    const why = await run(['why', 'mine_002', '--json']);
    expect(why.code).toBe(0);
    expect(response(why)).toMatchObject({
      audit_id: 'mine_002',
      command: 'touch x',
      classification: 'RISKY',
      rule: records[1].rule,
      decided_by: 'nobody',
    });
    expect((response(why).change as string[]).length).toBeGreaterThan(0);
    expect((await run(['why', 'mine_001'])).stdout).toContain('SAFE');
    expect((await run(['why', 'mine_009'])).code).toBe(2);
    expect((await run(['why', '../../etc/passwd_001'])).code).toBe(2);
  });

  it('[SHL-55] output for people goes to stdout and stderr with a line that says what happened', async () => {
    const ran = await run(['shell', 'run', '--', 'touch', 'x']);
    expect(ran.stdout).toBe('');
    expect(ran.stderr).toMatch(
      /\[Shell\] RISKY — denied \(user_abandoned\) — there is no terminal to ask at — record shell_/,
    );
  });
});

describe('at a real terminal', () => {
  it('[SHL-26] asks in a box, runs what was approved', async () => {
    writeFileSync(join(dir, 'f'), 'the content\n');
    const ran = await atTerminal(
      ['shell', 'run', '--reasoning', 'to read it', '--', 'cat f'],
      [['Your choice: ', 'a\r']],
    );
    expect(ran.stdout).toContain('SAFETY SHELL ALERT');
    expect(ran.stdout).toMatch(/│ {2}COMMAND: +cat f +│/);
    expect(ran.stdout).toMatch(/│ {2}REASONING: +to read it +│/);
    expect(ran.stdout).toContain('the content');
    expect(ran.stdout).toContain('user_approved, exit 0');
    expect(ran.code).toBe(0);
  });

  it('[SHL-26] a denial with its reason', async () => {
    const ran = await atTerminal(
      ['shell', 'run', '--session', 't', '--', 'touch made'],
      [
        ['Your choice: ', 'd\r'],
        ['Denial reason', 'use another name\r'],
      ],
    );
    expect(ran.code).toBe(3);
    expect(readdirSync(dir)).not.toContain('made');
    const record = JSON.parse(readFileSync(join(dir, 'audit', 'shell_audit_t.jsonl'), 'utf8').trim());
    expect(record).toMatchObject({
      action: 'user_denied',
      denial_reason: 'use another name',
      user_decision: 'deny',
    });
  });

  it('[SHL-26] modify, then approve', async () => {
    const ran = await atTerminal(
      ['shell', 'run', '--', 'touch made'],
      [
        ['Your choice: ', 'm\r'],
        ['Command instead: ', 'touch other\r'],
        ['Your choice: ', 'a\r'],
      ],
    );
    expect(ran.stdout).toContain('user_modified, exit 0');
    expect(readdirSync(dir)).toContain('other');
    expect(readdirSync(dir)).not.toContain('made');
  });

  it('[SHL-26] the terminal is closed: denied, and recorded as such', async () => {
    const ran = await atTerminal(
      ['shell', 'run', '--session', 't', '--', 'touch made'],
      [['Your choice: ', '\u0004']],
    );
    expect(ran.code).toBe(3);
    expect(JSON.parse(readFileSync(join(dir, 'audit', 'shell_audit_t.jsonl'), 'utf8').trim())).toMatchObject({
      action: 'user_abandoned',
      status: 'denied',
    });
  });

  it('[SHL-26] Ctrl-C at the question: denied, recorded, nothing left behind', async () => {
    const ran = await atTerminal(
      ['shell', 'run', '--session', 't', '--', 'touch made'],
      [['Your choice: ', '\u0003']],
    );
    expect(ran.code).not.toBe(0);
    expect(readdirSync(dir)).not.toContain('made');
    expect(JSON.parse(readFileSync(join(dir, 'audit', 'shell_audit_t.jsonl'), 'utf8').trim())).toMatchObject({
      status: 'denied',
    });
  });

  it('[SHL-55] what a program prints cannot steer the terminal', async () => {
    writeFileSync(join(dir, 'f'), 'a\u001b]0;owned\u0007b\u001b[2J');
    const ran = await atTerminal(['shell', 'run', '--', 'cat f'], [['Your choice: ', 'a\r']]);
    expect(ran.stdout).not.toContain('\u001b]0;');
    expect(ran.stdout).toContain('a⟨ESC⟩]0;owned');
  });
});

describe('writ shell classify --jsonl', () => {
  it('[SHL-56] answers one object a line, in order, whatever the line holds', async () => {
    const input = [
      '"ping -c 1 h"',
      '42',
      '',
      'not json',
      '"rm -rf /"',
      '"\\u0000"',
      JSON.stringify('x'.repeat(1_000_000)),
      '""',
    ];
    const ran = await run(['shell', 'classify', '--jsonl'], `${input.join('\n')}\n`);
    const answers = ran.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(ran.code).toBe(0);
    expect(answers.map((a) => a.classification)).toEqual([
      'SAFE',
      'RISKY',
      'RISKY',
      'RISKY',
      'FORBIDDEN',
      'RISKY',
      'RISKY',
      'RISKY',
    ]);
    for (const answer of answers)
      expect(Object.keys(answer)).toEqual(['command', 'classification', 'tier', 'rule', 'reason']);
  });

  it('[SHL-56] answers while input is still open, and the last line needs no line feed', async () => {
    const ran = await run(['shell', 'classify', '--jsonl'], '"ss -tln"');
    expect(JSON.parse(ran.stdout)).toMatchObject({ command: 'ss -tln', classification: 'SAFE' });
  });
});

describe('writ redact', () => {
  it('[RED-10] passes text through with its secrets replaced, bytes that are no text included', async () => {
    const child = spawn(process.execPath, [writ, 'redact'], { cwd: dir, stdio: 'pipe' });
    children.push(child);
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stdin.end(Buffer.from('a \xff\xfe\xc3\xa9 b\npassword=Winter!Sun99\nend', 'latin1'));
    await new Promise((resolve) => child.once('close', resolve));
    const out = Buffer.concat(chunks).toString('latin1');
    expect(out).toBe('a \xff\xfe\xc3\xa9 b\npassword=[REDACTED:password]\nend');
  });

  it('[RED-10] --jsonl: one JSON string a line each way; what is not JSON becomes null and exit 2', async () => {
    const ran = await run(
      ['redact', '--jsonl'],
      '"password=Winter!Sun99"\n"fine"\n{"token":"abcDEF1234567890xyz"}\npassword=raw\n',
    );
    expect(ran.stdout).toBe(
      '"password=[REDACTED:password]"\n"fine"\n{"token":"[REDACTED:bearer_token]"}\nnull\n',
    );
    expect(ran.code).toBe(2);
    expect(ran.stderr).not.toContain('raw');
  });

  it('[RED-10] --json: text, count and categories', async () => {
    const ran = await run(['redact', '--json'], 'password=Winter!Sun99');
    expect(response(ran)).toEqual({
      text: 'password=[REDACTED:password]',
      count: 1,
      categories: ['password'],
    });
  });

  it('[RED-10] a secret cut by the pipe is still found', async () => {
    const child = spawn(process.execPath, [writ, 'redact'], { cwd: dir, stdio: 'pipe' });
    const done = finished(child);
    children.push(child);
    child.stdin.write(`${'filler line\n'.repeat(60_000)}password=Win`);
    await new Promise((resolve) => setTimeout(resolve, 400));
    child.stdin.end('ter!Sun99\nend\n');
    const { stdout } = await done;
    expect(stdout.endsWith('password=[REDACTED:password]\nend\n')).toBe(true);
  });
});
