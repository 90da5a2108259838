import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OwnedShell, ShellOptions } from '../../src/shell/index.ts';
import { makePlace, type Place, yes } from './place.ts';

const NEED_A_SHELL = ['cat a; cat b', 'cat a && cat b', 'echo $(id)', 'cat a > b', 'cat <<X\nX'];
const FORBIDDEN = ['rm -rf /', 'mkfs.ext4 /dev/sda1', ':(){ :|:& };:', 'shutdown -h now'];

let place: Place;
let shell: OwnedShell;
beforeEach(() => {
  place = makePlace();
});
afterEach(async () => {
  await shell?.close();
  place.remove();
});

async function run(command: string, options: Partial<ShellOptions> = {}) {
  shell = await place.open(options);
  return shell.execute({ command, reasoning: 'because' });
}

describe('SAFE', () => {
  it('[SHL-01] runs without a question and answers with every field', async () => {
    place.program('dig', 'echo "answer for $1"; echo oops >&2; exit 3');
    const response = await run('dig example.com');
    expect(response).toEqual({
      status: 'completed',
      classification: 'SAFE',
      action: 'auto_approved',
      output: 'answer for example.com\n',
      stderr: 'oops\n',
      exit_code: 3,
      error: null,
      duration_seconds: expect.any(Number),
      denial_reason: null,
      audit_id: 's1_001',
      output_metadata: {
        truncation_applied: false,
        total_lines: 1,
        lines_shown: 1,
        total_bytes: 23,
        output_type: 'text',
        items_total: null,
        items_shown: null,
        redactions_applied: false,
        redaction_count: 0,
        redaction_categories: [],
      },
    });
    expect(place.questions).toEqual([]);
  });

  it('[SHL-10] passes exactly the words that were judged', async () => {
    place.program('dig', 'printf "<%s>" "$@"');
    place.answers.push(yes);
    const response = await run(`dig 'a b' "c'd" e\\ f \\$HOME '*'`);
    expect(response.output).toBe("<a b><c'd><e f><$HOME><*>");
  });

  it('[SHL-11] looks for programs on its own PATH only', async () => {
    const evil = join(place.dir, 'evil');
    place.program('dig', 'echo ours');
    const before = process.env.PATH;
    process.env.PATH = `${evil}:${before}`;
    try {
      expect((await run('dig x')).output).toBe('ours\n');
    } finally {
      process.env.PATH = before;
    }
  });

  it('[SHL-12] gives the child nothing of our environment but the few that are allowed', async () => {
    process.env.MY_SECRET_TOKEN = 'abc';
    process.env.LD_PRELOAD = '';
    place.program('dig', 'env | sort');
    const { output } = await run('dig x', { env: { AZURE_CONFIG_DIR: '/nowhere' } });
    expect(output).not.toContain('MY_SECRET_TOKEN');
    expect(output).toContain('AZURE_CONFIG_DIR=/nowhere');
    delete process.env.MY_SECRET_TOKEN;
  });

  it('[SHL-13] a missing program is completed with 127', async () => {
    const response = await run('networksetup -listallnetworkservices');
    expect(response).toMatchObject({
      status: 'completed',
      classification: 'SAFE',
      exit_code: 127,
      error: null,
    });
    expect(response.stderr).toContain('no such program');
  });

  it('[SHL-14] a timeout kills the whole group and says how long it took', async () => {
    const marker = join(place.dir, 'late');
    place.program('dig', `echo begun; (sleep 1.2; touch ${marker}) & sleep 30`);
    const response = await run('dig x', { timeoutMs: 400 });
    expect(response).toMatchObject({ status: 'error', error: 'timeout', exit_code: null, output: 'begun\n' });
    expect(response.duration_seconds).toBeGreaterThan(0.3);
    await new Promise((resolve) => setTimeout(resolve, 1300));
    expect(existsSync(marker)).toBe(false);
  });

  it('[SHL-14] az has a time of its own', async () => {
    place.program('az', 'sleep 0.5; echo done');
    const options = { timeoutMs: 200, azTimeoutMs: 5000 };
    expect(await run('az vm list', options)).toMatchObject({ output: 'done\n', error: null });
    place.program('dig', 'sleep 0.5; echo done');
    expect((await shell.execute({ command: 'dig x', reasoning: '' })).error).toBe('timeout');
  });

  it('[SHL-15] stdin is closed and output is bounded', async () => {
    place.program('dig', 'read -r line && echo "read $line"; yes 0123456789 | head -c 3000000');
    const response = await run('dig x', { maxOutputBytes: 100_000 });
    expect(response.output).not.toContain('read');
    expect(response.output_metadata).toMatchObject({ total_bytes: 3_000_000, truncation_applied: true });
  });

  it('[SHL-16] can be stopped from outside', async () => {
    place.program('dig', 'sleep 20');
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 300);
    expect(await run('dig x', { signal: stop.signal })).toMatchObject({
      status: 'error',
      error: 'interrupted',
      exit_code: null,
    });
  });

  it('[SHL-17] one command at a time: callers queue, in order', async () => {
    place.program(
      'dig',
      `echo "$1 in" >> ${place.dir}/order; sleep 0.1; echo "$1 out" >> ${place.dir}/order`,
    );
    shell = await place.open();
    const all = await Promise.all(
      ['a', 'b', 'c'].map((x) => shell.execute({ command: `dig ${x}`, reasoning: '' })),
    );
    expect(readFileSync(join(place.dir, 'order'), 'utf8')).toBe('a in\na out\nb in\nb out\nc in\nc out\n');
    expect(all.map((r) => r.audit_id)).toEqual(['s1_001', 's1_002', 's1_003']);
  });
});

describe('RISKY', () => {
  it('[SHL-02] runs only after a person said yes, and then exactly what was shown', async () => {
    writeFileSync(join(place.dir, 'f'), 'content');
    place.answers.push(yes);
    const response = await run('cat f');
    expect(response).toMatchObject({ action: 'user_approved', output: 'content', classification: 'RISKY' });
    const { action, reasoning, decision } = place.questions[0]!;
    expect(action).toMatchObject({
      subject: 'cat f',
      detail: { pipeline: [[expect.stringMatching(/\/cat$/), 'f']], cwd: place.dir },
    });
    expect(reasoning).toBe('because');
    expect(decision.evaluations[0]?.rule).toMatch(/^tier\d:/);
  });

  it('[SHL-03] a denial stops it and its reason is returned, redacted', async () => {
    place.answers.push({ kind: 'deny', approver: 'ada', reason: 'not with password=Winter!Sun99' });
    const response = await run('touch made');
    expect(response).toMatchObject({ status: 'denied', action: 'user_denied', exit_code: null });
    expect(response.denial_reason).toBe('not with password=[REDACTED:password]');
    expect(existsSync(join(place.dir, 'made'))).toBe(false);
  });

  it('[SHL-03] a denial without a reason has none', async () => {
    place.answers.push({ kind: 'deny', approver: 'ada', reason: '' });
    expect((await run('touch made')).denial_reason).toBeNull();
  });

  it.each([
    ['nobody answers', []],
    ['the channel breaks', [new Error('no terminal')]],
    ['the answer is garbage', [{ kind: 'approve' } as never]],
  ])('[SHL-04] %s: denied', async (_, answers) => {
    place.answers.push(...answers);
    expect(await run('touch made')).toMatchObject({
      status: 'denied',
      action: 'user_abandoned',
      exit_code: null,
    });
    expect(existsSync(join(place.dir, 'made'))).toBe(false);
  });

  it('[SHL-04] no answer in time: denied', async () => {
    const response = await run('touch made', {
      approverTimeoutMs: 50,
      approver: { ask: () => new Promise(() => {}) },
    });
    expect(response).toMatchObject({ status: 'denied', action: 'user_abandoned' });
  });

  it('[SHL-05] modify is judged from tier 0 and asks again while it is RISKY', async () => {
    writeFileSync(join(place.dir, 'b'), 'second');
    place.answers.push({ kind: 'modify', approver: 'ada', replacement: 'cat b' }, yes);
    expect(await run('cat a')).toMatchObject({ action: 'user_modified', output: 'second' });
    expect(place.questions.map((q) => q.action.subject)).toEqual(['cat a', 'cat b']);
  });

  it('[SHL-05] modify to something SAFE runs without another question', async () => {
    place.program('dig', 'echo safe');
    place.answers.push({ kind: 'modify', approver: 'ada', replacement: 'dig x' });
    expect(await run('cat a')).toMatchObject({
      action: 'user_modified',
      classification: 'SAFE',
      output: 'safe\n',
    });
  });

  it('[SHL-05] modify to something forbidden is forbidden', async () => {
    place.answers.push({ kind: 'modify', approver: 'ada', replacement: 'rm -rf /' }, yes);
    expect(await run('cat a')).toMatchObject({
      status: 'error',
      error: 'forbidden_command',
      exit_code: null,
    });
    expect(place.questions.length).toBe(1);
  });

  it('[SHL-06] an approved pipeline runs as processes joined by pipes, no shell between', async () => {
    place.answers.push(yes);
    place.program('dig', 'printf "b\\na\\n$*\\n"');
    const response = await run("dig 'c;id' | sort");
    expect(response.output).toBe('a\nb\nc;id\n');
  });

  it.each(NEED_A_SHELL)('[SHL-07] %j needs a shell: nobody is asked, nothing runs', async (command) => {
    place.answers.push(yes);
    const response = await run(command);
    expect(response).toMatchObject({ status: 'denied', error: 'not_executable', exit_code: null });
    expect(place.questions).toEqual([]);
  });
});

describe('FORBIDDEN', () => {
  it.each(FORBIDDEN)('[SHL-08] %j is never asked about and never run', async (command) => {
    place.answers.push(yes);
    expect(await run(command)).toMatchObject({
      status: 'error',
      classification: 'FORBIDDEN',
      error: 'forbidden_command',
      exit_code: null,
    });
    expect(place.questions).toEqual([]);
  });
});

describe('bad input', () => {
  it.each(['', '   ', '\n\t'])('[SHL-09] %j is an error and leaves no record', async (command) => {
    expect(await run(command)).toMatchObject({ status: 'error', error: 'empty_command', audit_id: null });
    await shell.close();
    expect(readFileSync(join(place.audit, 'shell_audit_s1.jsonl'), 'utf8')).toBe('');
  });

  it.each([
    ['a NUL in an argument', 'dig a\u0000b'],
    ['a folder as program', '/tmp'],
    ['an argument list the system refuses', `dig ${'x'.repeat(3_000_000)}`],
    ['many arguments', `dig ${'x '.repeat(1_500_000)}`],
    ['a megabyte', `cat ${'y'.repeat(1_000_000)}`],
    ['unterminated quotes', `dig "a`],
    ['deep nesting', `${'$('.repeat(5000)}id${')'.repeat(5000)}`],
    ['lone surrogates', 'dig \ud800x'],
    ['control characters', 'cat \u001b[2J\u0007'],
    ['a number instead of text', 42 as unknown as string],
  ])('[SHL-18] %s ends as a value with one record', async (_, command) => {
    place.program('dig', 'echo "$1" | head -c 20');
    place.answers.push(yes);
    const response = await run(command);
    expect(response.audit_id).toBe('s1_001');
    await shell.close();
    const lines = readFileSync(join(place.audit, 'shell_audit_s1.jsonl'), 'utf8').trim().split('\n');
    expect(lines.length).toBe(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({ audit_id: 's1_001', status: response.status });
  });

  it('[SHL-18] binary output and bytes that are no text', async () => {
    place.program('dig', 'printf "\\x00\\xff\\x01"; printf "\\xff\\xfe bad" >&2');
    expect(await run('dig x')).toMatchObject({ output: '[binary output: 3 bytes]', status: 'completed' });
  });

  it('[SHL-18] a session name that is no file name is refused', async () => {
    await expect(place.open({ sessionId: '../evil' })).rejects.toThrow(/cannot name a session/);
  });
});
