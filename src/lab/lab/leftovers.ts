import { readState } from './state.ts';

/** What captures left in the world: for a bench that counts what was not cleaned up. */
export function readLeftovers(dir: string): { readonly captures: number; readonly blobs: number } {
  const { captures, blobs } = readState(dir);
  return { captures: captures.length, blobs: blobs.length };
}
