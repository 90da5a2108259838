/**
 * A rough reader for texts that are too long or too nested for the grammar: commands and words, quotes
 * removed, everything else ignored. One pass. It can only make a verdict stricter.
 */
const MOST_WORDS = 64;
const MOST_WORD = 4096;

const ORDINARY = 0;
const BLANK = 1;
const BREAK = 2;
const QUOTE = 3;
const ESCAPE = 4;

const KIND = new Uint8Array(128);
for (const char of ' \t') KIND[char.charCodeAt(0)] = BLANK;
for (const char of ';&|\n(){}`') KIND[char.charCodeAt(0)] = BREAK;
for (const char of '\'"') KIND[char.charCodeAt(0)] = QUOTE;
KIND[0x5c] = ESCAPE;

/** Only commands whose first word is `of interest` are kept, so that a long text stays a short list. */
export function coarseStages(text: string, ofInterest: (program: string) => boolean): string[][] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | null = null;
  const append = (from: number, to: number): void => {
    const known: string = word ?? '';
    word = known.length < MOST_WORD ? known + text.slice(from, Math.min(to, from + MOST_WORD)) : known;
  };
  const endWord = (): void => {
    if (word !== null && words.length < MOST_WORDS) words.push(word);
    word = null;
  };
  let i = 0;
  while (i < text.length) {
    const code = text.charCodeAt(i);
    const kind = code < 128 ? KIND[code]! : ORDINARY;
    if (kind === ORDINARY) {
      let end = i + 1;
      while (end < text.length) {
        const next = text.charCodeAt(end);
        if (next < 128 && KIND[next] !== ORDINARY) break;
        end += 1;
      }
      append(i, end);
      i = end;
    } else if (kind === QUOTE) {
      const close = text.indexOf(text.charAt(i), i + 1);
      if (close === -1) break;
      append(i + 1, close);
      i = close + 1;
    } else if (kind === ESCAPE) {
      append(i + 1, i + 2);
      i += 2;
    } else {
      endWord();
      if (kind === BREAK) {
        if (words.length > 0 && ofInterest(words[0]!)) commands.push(words);
        words = [];
      }
      i += 1;
    }
  }
  endWord();
  if (words.length > 0 && ofInterest(words[0]!)) commands.push(words);
  return commands;
}
