import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApprovalAnswer, ApprovalQuestion } from '../../src/core/index.ts';
import { alertBox, displayWidth, legible, wrapDisplay } from '../../src/shell/gate/box.ts';
import { terminalApprover } from '../../src/shell/gate/terminal.ts';

const question = (command: string, extra: Partial<ApprovalQuestion> = {}): ApprovalQuestion => ({
  action: { kind: 'shell.command', subject: command, detail: { pipeline: [command.split(' ')], cwd: '/' } },
  decision: {
    verdict: 'require_approval',
    method: 'most_restrictive',
    evaluations: [
      {
        evaluator: 'shell.classifier',
        verdict: 'require_approval',
        rule: 'tier2:az.verb',
        reason: "Azure CLI verb 'update' changes things",
      },
    ],
  },
  reasoning: 'Attempting to correct the next hop',
  approvalId: 'appr_1',
  modifiable: true,
  ...extra,
});

/** Drives the approver as a person would: writes after the prompt was shown. */
async function drive(
  typed: (shown: () => string, input: PassThrough, abort: AbortController) => Promise<void> | void,
  asked: ApprovalQuestion = question('az network route-table route update -n r'),
): Promise<{ answer: ApprovalAnswer; shown: string }> {
  const input = new PassThrough();
  const output = Object.assign(new PassThrough(), { columns: 73 });
  let shown = '';
  output.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
  });
  const abort = new AbortController();
  const answer = terminalApprover({ input, output, approver: 'ada' }).ask(asked, abort.signal);
  await typed(() => shown, input, abort);
  return { answer: await answer, shown };
}

const type = (...lines: string[]) => drive(async (_, input) => void input.write(`${lines.join('\n')}\n`));

describe('the box', () => {
  it('[SHL-20] shows title, tier, class, command, risk, reasoning and the choices', async () => {
    const { shown } = await type('a');
    expect(shown).toContain('SAFETY SHELL ALERT');
    expect(shown).toContain('TIER:       2  |  CLASSIFICATION: RISKY');
    expect(shown).toMatch(/COMMAND: +az network route-table route update -n r/);
    expect(shown).toMatch(/RISK: +Azure CLI verb 'update' changes things/);
    expect(shown).toMatch(/REASONING: +Attempting to correct the next hop/);
    expect(shown).toContain('[A]pprove   [D]eny   [M]odify command');
    expect(shown).toContain('Your choice: ');
  });

  it('[SHL-21] every line has the same width on the screen, whatever is in it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: 'binary' }),
        fc.integer({ min: 10, max: 200 }),
        (command, reasoning, columns) => {
          const lines = alertBox(
            { tier: '3', classification: 'RISKY', command, risk: '数据库 削除', reasoning, modifiable: true },
            columns,
          ).split('\n');
          expect(new Set(lines.map(displayWidth)).size).toBe(1);
        },
      ),
    );
  });

  it('[SHL-21] a long command is wrapped and never cut', () => {
    const command = `az rest --body ${'x'.repeat(5000)} --uri ${'漢'.repeat(300)}`;
    const inside = alertBox(
      { tier: '3', classification: 'RISKY', command, risk: 'r', reasoning: 'w', modifiable: true },
      80,
    )
      .split('\n')
      .filter((line) => line.startsWith('│'))
      .map((line) => line.slice(15, -2))
      .join('')
      .replace(/\s/g, '');
    expect(inside).toContain(command.replace(/\s/g, ''));
  });

  it('[SHL-21] wrapping loses nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 60 }), (text, width) => {
        const lines = wrapDisplay(text, width);
        expect(lines.join('')).toBe(text);
        for (const line of lines) expect(displayWidth(line.trimEnd())).toBeLessThanOrEqual(width);
      }),
    );
  });

  it('[SHL-22] control, direction and zero-width characters are shown escaped, rows of blanks counted', async () => {
    const evil = `ls \u001b[2J\u202ecod.exe\u200b\r\n${' '.repeat(300)}; rm x`;
    const { shown } = await drive(async (_, input) => void input.write('d\n\n'), question(evil));
    expect(shown).not.toMatch(/[\u202e\u200b\r]|\u001b\[2J/);
    for (const mark of ['⟨ESC⟩', '⟨U+202E⟩', '⟨U+200B⟩', '⟨CR⟩', '⟨LF⟩', '⟨SPACE×300⟩'])
      expect(shown.replaceAll(/[\s│]/g, '')).toContain(mark);
    expect(legible('a b')).toBe('a b');
  });

  it('[SHL-22] letters that only look like ASCII are named, and the words that run are shown when the text hides them', async () => {
    const asked = question('сat /etc/hosts', {
      action: {
        kind: 'shell.command',
        subject: "c'a't /etc/hosts\u0430",
        detail: { pipeline: [['/usr/bin/cat', '/etc/hosts\u0430']], cwd: '/' },
      },
    });
    const { shown } = await drive(async (_, input) => void input.write('d\n\n'), asked);
    expect(shown).toMatch(/RUNS: +cat '\/etc\/hosts/);
    expect(shown).toContain('U+0430');
  });
});

describe('answers', () => {
  it.each(['a', 'A', ' approve '])('[SHL-23] %j approves', async (line) => {
    expect((await type(line)).answer).toEqual({ kind: 'approve', approver: 'ada' });
  });

  it('[SHL-23] d denies, with or without a reason', async () => {
    expect((await type('d', 'use cache-rg')).answer).toEqual({
      kind: 'deny',
      approver: 'ada',
      reason: 'use cache-rg',
    });
    expect((await type('D', '')).answer).toEqual({ kind: 'deny', approver: 'ada', reason: '' });
  });

  it('[SHL-23] a denial stands when the terminal closes before its reason', async () => {
    const { answer } = await drive(async (_, input) => {
      input.write('d\n');
      input.end();
    });
    expect(answer).toEqual({ kind: 'deny', approver: 'ada', reason: '' });
  });

  it('[SHL-24] m asks for another command', async () => {
    expect((await type('m', 'az network route-table list')).answer).toEqual({
      kind: 'modify',
      approver: 'ada',
      replacement: 'az network route-table list',
    });
  });

  it('[SHL-23] what is not an answer is asked again; there is no default', async () => {
    const { answer, shown } = await type('', 'yes', 'aa', 'd', 'no');
    expect(answer.kind).toBe('deny');
    expect(shown.match(/Your choice: /g)?.length).toBe(4);
  });
});

describe('no answer is a denial', () => {
  it.each([
    ['nonsense, five times', async (input: PassThrough) => void input.write('x\n'.repeat(5))],
    ['a closed terminal', async (input: PassThrough) => void input.end()],
    ['an approval without its line end', async (input: PassThrough) => void input.end('a')],
    ['an error of the terminal', async (input: PassThrough) => void input.destroy(new Error('gone'))],
    ['a line without end', async (input: PassThrough) => void input.write('a'.repeat(100_000))],
  ])('[SHL-25] %s', async (_, typed) => {
    const { answer } = await drive((_shown, input) => typed(input));
    expect(answer.kind).toBe('abandoned');
  });

  it('[SHL-25] time up', async () => {
    const { answer, shown } = await drive(
      async (_, _input, abort) => void setTimeout(() => abort.abort(), 20),
    );
    expect(answer).toEqual({ kind: 'abandoned', reason: 'nobody answered in time' });
    expect(shown).toContain('Not approved');
  });

  it('[SHL-25] a terminal that was closed before the question', async () => {
    const input = new PassThrough();
    input.destroy();
    await new Promise((resolve) => input.once('close', resolve));
    const approver = terminalApprover({ input, output: new PassThrough() });
    const answer = await approver.ask(question('rm x'), new AbortController().signal);
    expect(answer.kind).toBe('abandoned');
  });

  it('[SHL-25] keys pressed before the question was shown do not count at a terminal', async () => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    const output = new PassThrough().resume();
    input.write('a\n');
    const asked = terminalApprover({ input, output, approver: 'ada' }).ask(
      question('rm x'),
      new AbortController().signal,
    );
    await new Promise((resolve) => setTimeout(resolve, 120));
    input.write('d\nnot that\n');
    expect(await asked).toEqual({ kind: 'deny', approver: 'ada', reason: 'not that' });
  });
});
