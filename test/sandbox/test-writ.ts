import { createAuthority, type Evaluator } from '../../src/authority/index.ts';
import { type Action, sha256, systemClock, systemIds, type Writ } from '../../src/core/index.ts';

const yes: Evaluator = {
  name: 'test',
  evaluate: () => ({ evaluator: 'test', verdict: 'allow', rule: 'test', reason: 'test' }),
};
const authority = createAuthority({ clock: systemClock, ids: systemIds });

/** A real writ, by the real road, for a program the test itself chose. */
export async function writFor(action: Action): Promise<Writ> {
  const answer = await authority.authorize({
    action,
    evaluators: [yes],
    reasoning: 'a test',
    requester: 'test',
    policyDigest: sha256('test'),
    whenApprovalNeeded: 'never',
  });
  if (answer.outcome !== 'granted') throw new Error(`no writ: ${answer.outcome}`);
  return answer.writ;
}

export function writForArgv(argv: readonly string[]): Promise<Writ> {
  return writFor({ kind: 'process.start', subject: argv[0] ?? '', detail: { argv } });
}

export function writForPipeline(pipeline: readonly (readonly string[])[]): Promise<Writ> {
  return writFor({ kind: 'process.start', subject: 'pipeline', detail: { pipeline } });
}
