/**
 * A rough reader for texts that are too long or too nested for the grammar: commands and words, quotes
 * removed, everything else ignored. One pass. It can only make a verdict stricter.
 */
const MOST_WORDS = 64;
const MOST_COMMANDS = 1000;

export function coarseStages(text: string): string[][] {
  const commands: string[][] = [];
  let words: string[] = [];
  let word: string | null = null;
  const endWord = (): void => {
    if (word !== null && words.length < MOST_WORDS) words.push(word);
    word = null;
  };
  const endCommand = (): void => {
    endWord();
    // Keep the last ones: what was put at the end of a long text was put there for a reason.
    if (words.length > 0) commands.push(words);
    if (commands.length > 2 * MOST_COMMANDS) commands.splice(MOST_COMMANDS / 2, MOST_COMMANDS);
    words = [];
  };
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charAt(i);
    if (char === "'" || char === '"') {
      const close = text.indexOf(char, i + 1);
      if (close === -1) break;
      word = `${word ?? ''}${text.slice(i + 1, Math.min(close, i + 4096))}`;
      i = close;
    } else if (char === '\\') {
      i += 1;
      word = `${word ?? ''}${text.charAt(i)}`;
    } else if (char === ' ' || char === '\t') endWord();
    else if (';&|\n(){}`'.includes(char)) endCommand();
    else word = `${word ?? ''}${char}`;
  }
  endCommand();
  return commands;
}
