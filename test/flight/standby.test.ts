import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runFlight } from '../../src/flight/index.ts';
import { bubblewrapAvailable } from '../../src/sandbox/index.ts';
import { inProcess, tempFolders, workflow } from './kit.ts';

const place = tempFolders();
const { available } = await bubblewrapAvailable();
const NOOP = `#!/bin/sh
echo "$CABINCREW_MODE" >> "$CABINCREW_TEMP_DIR/ran"
[ "$CABINCREW_MODE" = take-off ] && echo "$0" >> "$CABINCREW_WORKSPACE/trace"
printf '{"protocol_version":"1.0","engine_id":"noop","mode":"%s","receipt_id":"r","status":"success"}' "$CABINCREW_MODE"
`;
const steps = (more = '') =>
  workflow(['one', 'two', 'three'].map((id) => `  - id: ${id}\n    engine: ./noop.sh\n${more}`).join(''));

/** Processes that were launched for something under this folder. */
function launchedFor(dir: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`CABINCREW_ARTIFACTS_DIR=${dir}`);
    } catch {
      return false;
    }
  });
}

describe.skipIf(!available)('sandboxes of the launches that come next', () => {
  it('each launch has fresh folders of its own, and nothing is left when the flight is over', async () => {
    const dir = place({ 'workflow.yaml': steps(), 'noop.sh': NOOP });
    await inProcess(dir, async (deps) => {
      const { status } = await runFlight(deps, join(dir, 'workflow.yaml'));
      expect(status.state).toBe('COMPLETED');
      for (const id of ['one', 'two', 'three'])
        for (const mode of ['flight-plan', 'take-off']) {
          const ran = join(
            deps.ledger.stateDir,
            'flights',
            status.flight_id,
            'steps',
            id,
            'temp',
            mode,
            'ran',
          );
          expect(readFileSync(ran, 'utf8')).toBe(`${mode}\n`);
        }
      expect(readFileSync(join(dir, 'trace'), 'utf8').trim().split('\n').length).toBe(3);
      expect(launchedFor(dir)).toEqual([]);
    });
  });

  it('a flight that is denied, or waits for a person, runs nothing ahead and leaves no sandbox behind', async () => {
    const rules = 'rules: [deny.yaml]';
    for (const [more, state] of [
      [`    ${rules}\n`, 'FAILED'],
      ['    approval: { role: lead }\n', 'AWAITING_APPROVAL'],
    ] as const) {
      const dir = place({ 'workflow.yaml': steps(more), 'noop.sh': NOOP, 'deny.yaml': 'not a rule' });
      await inProcess(dir, async (deps) => {
        expect((await runFlight(deps, join(dir, 'workflow.yaml'))).status.state).toBe(state);
        expect(existsSync(join(dir, 'trace'))).toBe(false);
        expect(launchedFor(dir)).toEqual([]);
      });
    }
  });
});
