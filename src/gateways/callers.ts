import { timingSafeEqual } from 'node:crypto';
import { sha256 } from '../core/index.ts';

/**
 * Who calls, by token.
 *
 * C1 A token is never kept: only its SHA-256, compared in constant time.
 * C2 No token, or one nobody has: no caller, whatever else the request says.
 */
export interface TokenHolder {
  readonly name: string;
  readonly tokenSha256: string;
}

export function callerOf<T extends TokenHolder>(
  callers: readonly T[],
  token: string | undefined,
): T | undefined {
  if (token === undefined || token === '' || token.length > 4096) return undefined;
  const given = Buffer.from(sha256(token), 'hex');
  let found: T | undefined;
  // Every entry is compared, so that the time taken says nothing about which one fits.
  for (const caller of callers) {
    const known = Buffer.from(caller.tokenSha256, 'hex');
    if (known.length === given.length && timingSafeEqual(known, given)) found ??= caller;
  }
  return found;
}
