import type { Action } from './action.ts';
import { actionDigest, frozenAction } from './action.ts';
import type { Digest } from './digest.ts';
import { CODES, WritError } from './errors.ts';

/**
 * The capability to perform one action once.
 *
 * W1 Only the holder of the mint makes one; the mint is handed out a single time, to `authority`.
 * W2 It lives in this process only: a private field cannot be copied, cloned or parsed from JSON.
 * W3 Using it for another action, after its expiry, or a second time throws.
 */
export class Writ {
  readonly #digest: Digest;
  readonly #expiresAt: number;
  readonly #now: () => number;
  #used = false;
  readonly action: Action;
  /** How it came about: evaluator verdicts and, when a person was asked, the approval. */
  readonly grounds: WritGrounds;

  constructor(key: symbol, terms: WritTerms) {
    if (key !== mintKey) throw misuse('a writ can only be minted by authority');
    this.action = frozenAction(terms.action);
    this.grounds = terms.grounds;
    this.#digest = actionDigest(this.action);
    this.#expiresAt = terms.expiresAt;
    this.#now = terms.now;
    Object.freeze(this);
  }

  get digest(): Digest {
    return this.#digest;
  }

  /** Takes the one use. Throws unless `action` is exactly the one this writ was made for. */
  use(action: Action): WritGrounds {
    if (this.#used) throw misuse(`this writ for ${this.action.kind} has been used`);
    if (this.#now() > this.#expiresAt) throw misuse(`this writ for ${this.action.kind} has expired`);
    if (actionDigest(action) !== this.#digest) throw misuse(`this writ is for another ${this.action.kind}`);
    this.#used = true;
    return this.grounds;
  }

  /** True only for a real, unforged writ. */
  static is(value: unknown): value is Writ {
    return typeof value === 'object' && value !== null && #used in value;
  }
}

export interface WritGrounds {
  readonly decision: 'allow' | 'warn' | 'approved';
  readonly rules: readonly string[];
  readonly approvalId?: string;
  readonly approver?: string;
}

export interface WritTerms {
  readonly action: Action;
  readonly grounds: WritGrounds;
  /** Milliseconds on the clock behind `now`. */
  readonly expiresAt: number;
  readonly now: () => number;
}

const mintKey = Symbol('mint');
let claimed = false;

/** Hands out the mint once a process. `authority` takes it when it loads; anyone later gets an error. */
export function claimMint(): (terms: WritTerms) => Writ {
  if (claimed) throw misuse('the mint has been claimed: writs come from authority alone');
  claimed = true;
  return (terms) => new Writ(mintKey, terms);
}

function misuse(message: string): WritError {
  return new WritError(CODES.writ_misuse, message, {
    suggestion: 'ask authority for a writ for this very action',
  });
}
