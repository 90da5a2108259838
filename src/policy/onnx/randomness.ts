/** Whether text looks drawn rather than written. */

/** The longest run of a line that does. */
export function randomRun(line: string): string {
  let best = '';
  for (const [run] of line.matchAll(/[A-Za-z0-9+/_=~.#%&!@^*-]{8,}/g))
    for (const part of [run, ...run.split(/[/.=_-]+/)])
      if (part.length > best.length && part.length >= 8 && randomness(part) > 0.5) best = part;
  return best;
}

/** Between 0 and 1: how often neighbours change their kind, and how few vowels and how many digits there are. */
export function randomness(text: string): number {
  if (text.length < 6) return 0;
  if (/^[0-9a-f]{16,}$/i.test(text) && /\d/.test(text) && /[a-f]/i.test(text)) return 1;
  let changes = 0;
  for (let i = 1; i < text.length; i++) if (kind(text, i) !== kind(text, i - 1)) changes++;
  const vowels = (text.match(/[aeiou]/gi)?.length ?? 0) / text.length;
  const score = changes / (text.length - 1) + (vowels < 0.22 ? 0.2 : 0) + (/\d/.test(text) ? 0.1 : -0.1);
  return Math.max(0, Math.min(1, score * 1.1));
}

/** Lower-case, capital, digit or sign. */
function kind(text: string, at: number): number {
  const c = text.charCodeAt(at);
  return c >= 97 && c <= 122 ? 0 : c >= 65 && c <= 90 ? 1 : c >= 48 && c <= 57 ? 2 : 3;
}

export function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const c of text) counts.set(c, (counts.get(c) ?? 0) + 1);
  let sum = 0;
  for (const n of counts.values()) sum -= (n / text.length) * Math.log2(n / text.length);
  return sum;
}
