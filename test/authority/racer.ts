import { createAuthority, openApprovalQueue } from '../../src/authority/index.ts';
import { systemClock as clock, systemIds as ids } from '../../src/core/index.ts';
import { request } from './desk.ts';

/** One of several processes that answer or use the same request at the same moment. */
const [database = '', id = '', what = '', at = '0'] = process.argv.slice(2);
const queue = openApprovalQueue({ database, clock, ids });
while (Date.now() < Number(at)) {
  // wait for the moment all were told
}
if (what === 'approve') {
  const result = await queue.respond(id, { approved: true, approver: `racer-${process.pid}` });
  process.stdout.write(result.ok ? 'won' : result.check);
} else {
  const answer = await createAuthority({ clock, ids, queue }).redeem(id, request());
  process.stdout.write(
    answer.outcome === 'granted' ? 'won' : answer.outcome === 'denied' ? answer.reason : answer.outcome,
  );
}
await queue.close();
