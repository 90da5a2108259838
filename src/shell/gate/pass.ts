import type { Authority, Authorization, Evaluator } from '../../authority/index.ts';
import { type Action, digestOf, type Verdict } from '../../core/index.ts';
import type { Classification, ShellClass } from '../types.ts';

/** What came of asking whether a command may run. */
export type Gate =
  | {
      readonly kind: 'go';
      readonly granted: Extract<Authorization, { outcome: 'granted' }>;
      readonly action: Action;
    }
  | { readonly kind: 'modified'; readonly replacement: string }
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'not_executable' }
  | { readonly kind: 'denied'; readonly abandoned: boolean; readonly reason: string };

export interface GateRequest {
  readonly command: string;
  readonly classification: Classification;
  readonly reasoning: string;
  readonly requester: string;
  readonly cwd: string;
  /** The classified argvs with each program where our own PATH finds it. */
  readonly pipeline: readonly (readonly string[])[] | null;
  readonly signal?: AbortSignal;
}

const verdicts: Record<ShellClass, Verdict> = { SAFE: 'allow', RISKY: 'require_approval', FORBIDDEN: 'deny' };

/** Rules in force, for what an approval is bound to. The classifier's tables are part of the program. */
const POLICY_DIGEST = digestOf({ policy: 'safe-exec-shell', version: 1 });

/** SAFE goes through, RISKY asks a person, FORBIDDEN ends here; the writ is for exactly this pipeline. */
export async function passGate(authority: Authority, request: GateRequest): Promise<Gate> {
  const { classification, pipeline } = request;
  if (classification.classification === 'FORBIDDEN') return { kind: 'forbidden' };
  // Asking about something that cannot be run as written would waste the person's yes.
  if (pipeline === null) return { kind: 'not_executable' };
  const action: Action = {
    kind: 'shell.command',
    subject: request.command.toWellFormed(),
    detail: { pipeline: pipeline.map((argv) => [...argv]), cwd: request.cwd },
  };
  const authorization = await authority.authorize({
    action,
    evaluators: [classifierSays(classification)],
    reasoning: request.reasoning,
    requester: request.requester,
    policyDigest: POLICY_DIGEST,
    whenApprovalNeeded: 'ask',
    modifiable: true,
    subject: { kind: 'shell' },
    ...(request.signal ? { signal: request.signal } : {}),
  });
  switch (authorization.outcome) {
    case 'granted':
      return { kind: 'go', granted: authorization, action };
    case 'modified':
      return { kind: 'modified', replacement: authorization.replacement };
    case 'denied':
      return { kind: 'denied', abandoned: authorization.by !== 'person', reason: authorization.reason };
    case 'waiting':
      return { kind: 'denied', abandoned: true, reason: 'nobody was there to answer' };
  }
}

function classifierSays(classification: Classification): Evaluator {
  return {
    name: 'shell.classifier',
    evaluate: () => ({
      evaluator: 'shell.classifier',
      verdict: verdicts[classification.classification],
      rule: `tier${classification.tier}:${classification.rule}`,
      reason: classification.reason,
    }),
  };
}
