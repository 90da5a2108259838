/** What a brain gets to see of one command: about 200 lines or 4,000 tokens, whichever comes first. */
export const MAX_LINES = 200;
export const MAX_CHARS = 16_000;

export function countLines(text: string): number {
  if (text === '') return 0;
  let lines = text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

export function fits(text: string): boolean {
  return text.length <= MAX_CHARS && countLines(text) <= MAX_LINES;
}
