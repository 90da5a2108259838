import type { Child } from './child.ts';

const EVERY_MS = 50;

/**
 * Ends a child whose tree grows beyond its limit. RLIMIT_NPROC counts a user's processes everywhere and
 * spares root, so the tree is counted here; exponential growth is caught within a tick or two.
 */
export function watchProcesses(
  watched: readonly { readonly child: Child; readonly limit: number | undefined }[],
): () => void {
  const limited = watched.filter((w) => w.limit !== undefined);
  if (limited.length === 0) return () => {};
  const timer = setInterval(() => {
    for (const { child, limit } of limited) if (child.population() > (limit ?? 0)) child.killNow();
  }, EVERY_MS);
  return () => clearInterval(timer);
}
