import { applyPatch, type Operation } from 'rfc6902';
import type { ApplyPatch } from './timeline.ts';

/** RFC 6902 by the library; all or nothing is the caller's business (it works on a copy). */
export const applyJsonPatch: ApplyPatch = (document, patch) => {
  const failed = applyPatch(document, structuredClone(patch) as Operation[]).find(
    (result) => result !== null,
  );
  return failed ?? null;
};
