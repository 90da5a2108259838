/**
 * Every child has its own session, so a Ctrl-C at the terminal or our own end does not reach it. This
 * register ends what still runs when this process exits or is told to stop.
 */
type End = () => void;

const live = new Set<End>();
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
let listening = false;

/** Registers how to end a child at once; the answer takes it out again. */
export function whileLive(end: End): () => void {
  listen();
  live.add(end);
  return () => void live.delete(end);
}

function endAll(): void {
  for (const end of live) end();
  live.clear();
}

function onSignal(signal: NodeJS.Signals): void {
  // Somebody else handles the signal: theirs to decide, and the end of the process still comes by here.
  if (process.listenerCount(signal) > 1) return;
  endAll();
  // Then die of it, as we would have without a listener.
  for (const each of SIGNALS) process.off(each, onSignal);
  process.kill(process.pid, signal);
}

/** Once, at the first child, and for good: adding and removing listeners costs more than keeping them. */
function listen(): void {
  if (listening) return;
  listening = true;
  process.on('exit', endAll);
  for (const signal of SIGNALS) process.on(signal, onSignal);
}
