import { type Action, canonicalJson } from '../core/index.ts';

/** A copy nobody else holds, so that what is judged cannot change before it is done. */
export function frozenCopy(action: Action): Action | undefined {
  try {
    return deepFreeze(JSON.parse(canonicalJson(action)) as Action);
  } catch {
    return undefined;
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
