/**
 * Every child has its own session, so a Ctrl-C at the terminal or our own end does not reach it. This
 * register ends what still runs when this process exits or is told to stop.
 */
type End = () => void;

const live = new Set<End>();
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Registers how to end a child at once; the answer takes it out again. */
export function whileLive(end: End): () => void {
  if (live.size === 0) listen();
  live.add(end);
  return () => {
    if (live.delete(end) && live.size === 0) unlisten();
  };
}

function endAll(): void {
  for (const end of live) end();
  live.clear();
}

function onSignal(signal: NodeJS.Signals): void {
  // Somebody else handles the signal: theirs to decide, and the end of the process still comes by here.
  if (process.listenerCount(signal) > 1) return;
  endAll();
  unlisten();
  process.kill(process.pid, signal);
}

function listen(): void {
  process.on('exit', endAll);
  for (const signal of SIGNALS) process.on(signal, onSignal);
}

function unlisten(): void {
  process.off('exit', endAll);
  for (const signal of SIGNALS) process.off(signal, onSignal);
}
