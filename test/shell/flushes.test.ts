import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../src/core/index.ts';
import { type FilePort, systemFiles } from '../../src/ledger/file-port.ts';
import { generateSigner } from '../../src/ledger/index.ts';
import { openJournal } from '../../src/ledger/journal.ts';
import { ensureStateDir } from '../../src/ledger/state-dir.ts';
import { makePlace, type Place, yes } from './place.ts';

/** What a command costs is above all what it waits for the disk: which flushes there are, and when. */
let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

interface Flush {
  readonly file: 'intents' | 'audit';
  readonly made: boolean;
  readonly answered: boolean;
}

it('[SHL-60] a command waits for two flushes: its intent before the process starts, its record before the answer', async () => {
  const flushes: Flush[] = [];
  let answered = false;
  const counting = (file: Flush['file']): FilePort => ({
    ...systemFiles,
    open: (path, how) => {
      const opened = systemFiles.open(path, how);
      const seen = () => flushes.push({ file, made: existsSync(join(place.dir, 'made')), answered });
      return {
        ...opened,
        datasync: async () => {
          await opened.datasync();
          seen();
        },
        datasyncNow: () => {
          opened.datasyncNow();
          seen();
        },
      };
    },
  });
  ensureStateDir(place.audit);
  const signer = generateSigner();
  const shell = await place.open({
    openJournal: (path) =>
      openJournal(
        { path, clock: systemClock, signer },
        { files: counting(path.includes('intents') ? 'intents' : 'audit') },
      ),
  });
  try {
    for (let round = 0; round < 3; round++) {
      flushes.length = 0;
      answered = false;
      place.answers.push(yes, yes);
      const response = await shell.execute({ command: 'touch made', reasoning: '' });
      answered = true;
      expect(response).toMatchObject({ status: 'completed', exit_code: 0 });
      // On a machine that rests, the outcome of the command before is flushed by itself, before this one begins.
      expect(flushes.slice(0, -2).filter((flush) => flush.file === 'audit' || flush.made)).toEqual([]);
      expect(flushes.slice(-2)).toEqual([
        { file: 'intents', made: false, answered: false },
        { file: 'audit', made: true, answered: false },
      ]);
      await shell.execute({ command: 'rm made', reasoning: '' });
    }
  } finally {
    await shell.close();
  }
});
