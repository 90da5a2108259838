import { claimMint } from '../core/writ.ts';

/** The mint of this process. It is handed out once, here; this file is imported by `authority.ts` alone. */
export const mint = claimMint();
