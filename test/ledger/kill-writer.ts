/** A process that appends intents and outcomes until it is killed, and says aloud what was acknowledged. */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/core/index.ts';
import { intent, loadOrCreateSigner, openJournal, outcome } from '../../src/ledger/index.ts';

const [dir, round, flush] = process.argv.slice(2);
const journal = await openJournal({
  path: join(dir!, 'j.jsonl'),
  clock: systemClock,
  signer: loadOrCreateSigner(join(dir!, 'keys')),
  flush: flush === 'each' ? 'each' : 'group',
  rotateBytes: 40_000,
});
writeSync(1, `open ${journal.recovery?.torn ? 'torn' : 'clean'} ${journal.recovery?.adopted ?? 0}\n`);

async function lane(name: string): Promise<never> {
  for (let n = 0; ; n++) {
    const what = `${round}-${name}-${n}`;
    const id = await intent(journal, { what, padding: 'x'.repeat(n % 300) });
    writeSync(1, `intent ${what}\n`);
    await outcome(journal, id, { outcome: 'done', what });
    writeSync(1, `outcome ${what}\n`);
  }
}

await Promise.all(Array.from({ length: 12 }, (_, i) => lane(String(i))));
