import type { ApprovalAnswer } from '../core/index.ts';

/** An answer with exactly the fields it may have; anything else came from nobody. */
export function readAnswer(value: unknown, modifiable: boolean): ApprovalAnswer {
  const nobody = (reason: string): ApprovalAnswer => ({ kind: 'abandoned', reason });
  if (typeof value !== 'object' || value === null) return nobody('the answer could not be understood');
  const answer = value as { readonly [key: string]: unknown };
  const { kind, approver, role, reason, replacement } = answer;
  if (kind === 'abandoned') return nobody(typeof reason === 'string' ? reason : 'nobody answered');
  if (typeof approver !== 'string' || approver.trim() === '') return nobody('the answer names no approver');
  const why = typeof reason === 'string' ? { reason } : {};
  switch (kind) {
    case 'approve':
      if (role !== undefined && typeof role !== 'string') return nobody('the answer has no valid role');
      return { kind, approver, ...(role === undefined ? {} : { role }), ...why };
    case 'deny':
      return { kind, approver, ...why };
    case 'modify':
      if (!modifiable) return nobody('this cannot be modified');
      if (typeof replacement !== 'string' || replacement.trim() === '')
        return nobody('there is no replacement');
      return { kind, approver, replacement };
    default:
      return nobody('the answer could not be understood');
  }
}
