/** Patterns over names (models, tools, servers): `*` stands for any run of characters, nothing else is special. */
export function nameMatches(pattern: string, name: string): boolean {
  // Greedy with one place to go back to: linear in practice, never exponential.
  let p = 0;
  let n = 0;
  let star = -1;
  let mark = 0;
  while (n < name.length) {
    if (p < pattern.length && pattern[p] === '*') {
      star = p++;
      mark = n;
    } else if (p < pattern.length && pattern[p] === name[n]) {
      p++;
      n++;
    } else if (star !== -1) {
      p = star + 1;
      n = ++mark;
    } else return false;
  }
  while (pattern[p] === '*') p++;
  return p === pattern.length;
}

/** An empty list matches nothing; only a list that is absent leaves the question open. */
export function anyMatches(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => nameMatches(pattern, name));
}
