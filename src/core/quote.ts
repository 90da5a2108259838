const plain = /^[A-Za-z0-9_./:=%+,@-]+$/;

/** An argv as one POSIX command line that any shell grammar reads back as exactly that argv. */
export function quoteArgv(argv: readonly string[]): string {
  return argv.map(quoteWord).join(' ');
}

function quoteWord(word: string): string {
  // A word with `=` in front place would read as an assignment, one with `~` or a glob would expand.
  if (plain.test(word) && !/^[A-Za-z_][A-Za-z0-9_]*=/.test(word)) return word;
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
