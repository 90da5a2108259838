import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listFlights, runFlight } from '../../src/flight/index.ts';
import { inProcess, tempFolders, workflow } from './kit.ts';

const place = tempFolders();
const COUNT = process.env.WRIT_LONG === '1' ? 1000 : 60;
const NOOP = `#!/bin/sh
printf '{"protocol_version":"1.0","engine_id":"noop","mode":"%s","receipt_id":"r","status":"success"}' "$CABINCREW_MODE"
`;

function children(): readonly string[] {
  return readdirSync('/proc/self/task').flatMap((task) => {
    const fs = process.getBuiltinModule('node:fs');
    return fs.readFileSync(`/proc/self/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean);
  });
}
const descriptors = () => readdirSync('/proc/self/fd').length;
const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

it(`[FLT-N3] ${COUNT} flights that wait leave rows and files: no process, no timer, no descriptor`, {
  timeout: 20_000 + COUNT * 300,
}, async () => {
  const dir = place({
    'workflow.yaml': workflow(
      '  - id: one\n    engine: ./noop.sh\n    isolation: none\n    approval: { role: lead }\n',
    ),
    'noop.sh': NOOP,
  });
  await inProcess(dir, async (deps) => {
    const file = join(dir, 'workflow.yaml');
    // What all share (the database, the journal of approvals) is opened by the first, and the journal let go.
    const settled = async () => {
      await new Promise((done) => setTimeout(done, 600));
      return { children: children(), descriptors: descriptors(), timers: timers() };
    };
    await runFlight(deps, file);
    const before = await settled();
    for (let i = 1; i < COUNT; i++) expect((await runFlight(deps, file)).exit).toBe(4);
    expect(await settled()).toEqual(before);
    expect((await listFlights(deps)).filter((f) => f.state === 'AWAITING_APPROVAL').length).toBe(COUNT);
    expect(deps.queue.list({ status: 'pending' }).length).toBe(COUNT);
  });
});
