import type { Passed } from '../gate.ts';
import { failure, type Reply, RPC } from './message.ts';

/** What a caller is told when its call, or the answer to it, does not go through now. */
export function refusal(
  passed: Exclude<Passed, { outcome: 'granted' }>,
  method: string,
  what: 'This call' | 'Its answer' = 'This call',
): Reply {
  if (passed.outcome === 'denied') {
    const data = {
      by: passed.by,
      ...(passed.approvalId === undefined ? {} : { approval_id: passed.approvalId }),
    };
    return failure(RPC.denied, `denied: ${passed.reason}`, data);
  }
  const text = `${what} waits for a person (${passed.approvalId}). Make the same call again, unchanged, once it is approved.`;
  if (method !== 'tools/call') return failure(RPC.denied, text, { approval_id: passed.approvalId });
  return {
    ok: true,
    result: {
      isError: true,
      content: [{ type: 'text', text }],
      _meta: { 'writ/approval_id': passed.approvalId },
    },
  };
}
