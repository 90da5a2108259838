import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../src/core/index.ts';
import {
  type Journal,
  loadPublicKeys,
  openLedger,
  statePaths,
  usualDirs,
  verifyState,
} from '../../src/ledger/index.ts';
import { type OwnedShell, readShellAudit } from '../../src/shell/index.ts';
import { makePlace, type Place, yes } from './place.ts';

let place: Place;
let shell: OwnedShell | undefined;
beforeEach(() => {
  place = makePlace();
});
afterEach(async () => {
  await shell?.close();
  shell = undefined;
  place.remove();
});

const auditFile = () => join(place.audit, 'shell_audit_s1.jsonl');
const intentFile = () => join(place.audit, 'shell_intents_s1.jsonl');
const lines = (file: string) =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

const FIELDS =
  `timestamp session_id sequence audit_id command reasoning status classification tier_triggered rule error action
  user_decision denial_reason modified_command environment exit_code output_summary output_sha256 output_truncated
  redactions_applied redaction_categories anonymization_applied duration_seconds prev_hash hash`.split(/\s+/);

describe('the record', () => {
  it('[SHL-40] has exactly the fields of the design page, one line a command, forbidden and denied included', async () => {
    place.program('az', 'echo "[]"');
    shell = await place.open();
    for (const command of [
      'az vm list',
      'rm -rf /',
      'touch x',
      'cat a; cat b',
      '',
      'az vm delete -n a -g b',
      'timeout 5 az vm list',
    ])
      await shell.execute({ command, reasoning: 'why not' });
    await shell.close();
    const records = lines(auditFile());
    expect(records.map((r) => [r.audit_id, r.status, r.action, r.environment])).toEqual([
      ['s1_001', 'completed', 'auto_approved', 'azure'],
      ['s1_002', 'error', null, 'local'],
      ['s1_003', 'denied', 'user_abandoned', 'local'],
      ['s1_004', 'denied', 'user_abandoned', 'local'],
      ['s1_005', 'denied', 'user_abandoned', 'azure'],
      ['s1_006', 'denied', 'user_abandoned', 'azure'],
    ]);
    for (const record of records) {
      const own = Object.keys(record).filter((key) => key !== 'v' && key !== 'format');
      expect(own.sort()).toEqual([...FIELDS].sort());
    }
    expect(records[0]).toMatchObject({
      output_sha256: sha256('[]\n'),
      output_summary: '[]\n',
      tier_triggered: 2,
    });
  });

  it('[SHL-41] is private, chained and signed', async () => {
    place.program('dig', 'echo a');
    shell = await place.open();
    await shell.execute({ command: 'dig x', reasoning: '' });
    await shell.close();
    expect(statSync(auditFile()).mode & 0o777).toBe(0o600);
    expect(statSync(place.audit).mode & 0o777).toBe(0o700);
    const { catalog, keys } = statePaths(place.state);
    const publicKeys = loadPublicKeys(keys);
    const verdicts = await verifyState(catalog, usualDirs(place.state, place.audit), { publicKeys });
    expect(verdicts.length).toBeGreaterThan(0);
    expect(verdicts.filter((v) => v.status !== 'intact')).toEqual([]);
  });

  it('[SHL-42] holds nothing unredacted: command, reasoning, denial and output', async () => {
    place.program('dig', 'echo "password=Winter!Sun99"');
    place.answers.push(
      { kind: 'modify', approver: 'ada', replacement: 'cat --password=Winter!Sun99' },
      { kind: 'deny', approver: 'ada', reason: 'token=Winter!Sun99aB3' },
    );
    shell = await place.open();
    await shell.execute({ command: 'dig x', reasoning: 'the password is Winter!Sun99' });
    await shell.execute({ command: 'curl -u bob:Winter!Sun99 https://h/', reasoning: 'x' });
    await shell.close();
    for (const file of [auditFile(), intentFile()])
      expect(readFileSync(file, 'utf8')).not.toContain('Winter!Sun99');
    expect(lines(auditFile())[0]).toMatchObject({
      redactions_applied: true,
      redaction_categories: ['password'],
    });
  });

  it('[SHL-42] keeps at most 200 characters of output and bounds long commands', async () => {
    place.program('dig', 'yes abc | head -c 5000');
    shell = await place.open();
    await shell.execute({ command: `dig ${'x'.repeat(2_000_000)}`, reasoning: 'r'.repeat(1_000_000) });
    await shell.execute({ command: 'dig x', reasoning: '' });
    await shell.close();
    const [long, short] = lines(auditFile());
    expect(long.command.length).toBeLessThan(70_000);
    expect(short.output_summary.length).toBe(200);
  });

  it('[SHL-43] can be read by other rooms, which learn what is wrong with it', async () => {
    place.program('dig', 'echo a');
    shell = await place.open();
    await shell.execute({ command: 'dig x', reasoning: 'r' });
    await shell.close();
    const { records, problems } = await readShellAudit(auditFile());
    expect(problems).toEqual([]);
    expect(records[0]).toMatchObject({ command: 'dig x', reasoning: 'r', exit_code: 0 });
  });

  it('[SHL-44] numbers go on when a session is opened again', async () => {
    place.program('dig', 'echo a');
    for (const id of ['s1_001', 's1_002', 's1_003']) {
      const opened = await place.open();
      expect((await opened.execute({ command: 'dig x', reasoning: '' })).audit_id).toBe(id);
      await opened.close();
    }
  });
});

describe('intent before effect', () => {
  it('[SHL-45] the intent is on disk when the process starts', async () => {
    place.program('dig', `cat ${intentFile()}`);
    shell = await place.open();
    const { output } = await shell.execute({ command: 'dig x', reasoning: '' });
    expect(JSON.parse(output)).toMatchObject({ phase: 'intent', audit_id: 's1_001', command: 'dig x' });
  });

  it('[SHL-46] a command whose process died with us is recorded as unknown at the next start, under its own id', async () => {
    const script = `
      import { makePlace } from ${JSON.stringify(new URL('./place.ts', import.meta.url).href)};
      import { openLedger } from ${JSON.stringify(new URL('../../src/ledger/index.ts', import.meta.url).href)};
      import { createShell } from ${JSON.stringify(new URL('../../src/shell/index.ts', import.meta.url).href)};
      import { systemClock, systemIds } from ${JSON.stringify(new URL('../../src/core/index.ts', import.meta.url).href)};
      const ledger = openLedger({ stateDir: ${JSON.stringify(place.state)} });
      const shell = await createShell({ sessionId: 's1', auditDir: ${JSON.stringify(place.audit)}, clock: systemClock, ids: systemIds,
        openJournal: (path) => ledger.openJournal({ path }), approver: { ask: async () => ({ kind: 'abandoned', reason: '' }) },
        cwd: ${JSON.stringify(place.dir)}, programPath: [${JSON.stringify(place.bin)}] });
      await shell.execute({ command: 'dig first', reasoning: '' });
      shell.execute({ command: 'dig second', reasoning: 'to see' });
      process.stdout.write('ready');`;
    place.program('dig', `[ "$1" = first ] || { touch ${place.dir}/running; sleep 5; }`);
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = new Promise((resolve) => child.once('exit', resolve));
    for (let i = 0; i < 200 && !existsSync(join(place.dir, 'running')); i++)
      await new Promise((r) => setTimeout(r, 50));
    child.kill('SIGKILL');
    await exited;

    shell = await place.open();
    expect(shell.interrupted).toEqual(['s1_002']);
    expect((await shell.execute({ command: 'dig first', reasoning: '' })).audit_id).toBe('s1_003');
    await shell.close();
    expect(lines(auditFile()).map((r) => [r.audit_id, r.status, r.error, r.command])).toEqual([
      ['s1_001', 'completed', null, 'dig first'],
      ['s1_002', 'error', 'unknown_outcome', 'dig second'],
      ['s1_003', 'completed', null, 'dig first'],
    ]);
    // Reported once.
    shell = await place.open();
    expect(shell.interrupted).toEqual([]);
  });

  it('[SHL-46] an intent whose record was written is settled without a second record', async () => {
    place.program('dig', 'echo a');
    const ledger = openLedger({ stateDir: place.state });
    const failing = async (path: string): Promise<Journal> => {
      const journal = await ledger.openJournal({ path });
      if (!path.includes('intents')) return journal;
      return new Proxy(journal, {
        get: (target, key) => {
          if (key === 'append')
            return async (entry: { phase?: string }) => {
              if (entry.phase === 'outcome') throw new Error('the disk is full');
              return target.append(entry as never);
            };
          const value = Reflect.get(target, key) as unknown;
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    };
    const first = await place.open({ openJournal: failing });
    await first.execute({ command: 'dig x', reasoning: '' });
    await first.close();
    shell = await place.open();
    expect(shell.interrupted).toEqual([]);
    await shell.close();
    expect(lines(auditFile()).length).toBe(1);
  });
});

describe('no record, no command', () => {
  const broken = (which: RegExp) => async (path: string) => {
    const journal = await openLedger({ stateDir: place.state }).openJournal({ path });
    if (!which.test(path)) return journal;
    return {
      ...journal,
      path,
      count: 0,
      head: journal.head,
      recovery: null,
      append: () => Promise.reject(new Error('disk full')),
      checkpoint: async () => {},
      close: () => journal.close(),
    } as Journal;
  };

  it('[SHL-47] when the intent cannot be written the command does not run', async () => {
    place.answers.push(yes);
    shell = await place.open({ openJournal: broken(/intents/) });
    const response = await shell.execute({ command: 'touch made', reasoning: '' });
    expect(response).toMatchObject({ status: 'error', error: 'audit_failure', exit_code: null });
    expect(existsSync(join(place.dir, 'made'))).toBe(false);
    await shell.close();
    expect(lines(auditFile())).toMatchObject([{ error: 'audit_failure', audit_id: 's1_001' }]);
  });

  it('[SHL-47] when the record cannot be written the output is not handed out, and the next start reports it', async () => {
    place.program('dig', 'echo visible');
    shell = await place.open({ openJournal: broken(/audit_s1/) });
    const response = await shell.execute({ command: 'dig x', reasoning: '' });
    expect(response).toMatchObject({ status: 'error', error: 'audit_failure', output: '' });
    await shell.close();
    shell = await place.open();
    expect(shell.interrupted).toEqual(['s1_001']);
  });
});
