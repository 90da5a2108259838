import type { Requirement } from './requirement.ts';

const must = (id: string, source: string, text: string): Requirement => ({
  id: `CLI-${id}`,
  source,
  text,
  state: 'met',
});

export const requirements: readonly Requirement[] = [
  must(
    '01',
    'overview.md Command line',
    'Every command has help with an example, and unknown commands and options exit 2.',
  ),
  must('02', 'overview.md Command line', 'With --json an error is one JSON document on stdout.'),
  must(
    '03',
    'engineering.md Runtime',
    'The launcher answers --version at once and hands over to the packaged Node when the host’s is too old.',
  ),
  must(
    '04',
    'overview.md Command line',
    'Completions for bash, zsh and fish name every command; NO_COLOR switches colours off.',
  ),
  must('05', 'overview.md Command line', 'An invalid writ.yaml stops with file, line and what to write.'),
  must('06', 'overview.md Command line', 'The published schema of writ.yaml is the one the program uses.'),
];
