import type { Requirement } from './requirement.ts';

/** Classifier of the Safe-Exec Shell. */
export const requirements: readonly Requirement[] = [
  {
    id: 'SHC-01',
    source: 'shell.md Classify, Numbers',
    text: 'No command that writes, executes, leaks or changes anything is called SAFE, in whatever spelling.',
    state: 'met',
  },
  {
    id: 'SHC-02',
    source: 'shell.md Tier 0',
    text: 'Catastrophic commands are FORBIDDEN in every spelling: quotes, escapes, expansions, paths.',
    state: 'met',
  },
  {
    id: 'SHC-03',
    source: 'shell.md Classify',
    text: 'Wrappers are looked through; what is still wrapped after eight layers is FORBIDDEN.',
    state: 'met',
  },
  {
    id: 'SHC-04',
    source: 'shell.md Classify',
    text: 'Commands are read with a real shell grammar; a faster reader of the plain subset gives exactly its result.',
    state: 'met',
  },
  {
    id: 'SHC-05',
    source: 'shell.md Classify',
    text: 'What two grammars read differently is RISKY.',
    state: 'met',
  },
  {
    id: 'SHC-06',
    source: 'shell.md Tier 1',
    text: 'Only programs of the allow list can be SAFE, by bare name or from a system program folder.',
    state: 'met',
  },
  {
    id: 'SHC-07',
    source: 'shell.md Classify, option grammar',
    text: 'Every allow-listed program declares its options; an undeclared option is RISKY.',
    state: 'met',
  },
  {
    id: 'SHC-08',
    source: 'shell.md Tier 2',
    text: 'The Azure verb is found from the command tree; reading verbs are SAFE, others and secrets RISKY.',
    state: 'met',
  },
  {
    id: 'SHC-09',
    source: 'shell.md Tier 3',
    text: 'A chain or pipeline is at least as strict as its strictest part, and never SAFE.',
    state: 'met',
  },
  {
    id: 'SHC-10',
    source: 'shell.md Classify',
    text: 'The verdict explains itself with tier, rule, span and sentence, and carries exactly the argv to execute.',
    state: 'met',
  },
  {
    id: 'SHC-11',
    source: 'shell.md Classify',
    text: 'Rules are data with match and notMatch examples that are checked; a broken table does not load.',
    state: 'met',
  },
  {
    id: 'SHC-12',
    source: 'shell.md Classify',
    text: 'The classifier is pure, total and deterministic: any text has a class, nothing throws.',
    state: 'met',
  },
  {
    id: 'SHC-13',
    source: 'shell.md Classify, bad input',
    text: 'Long, nested, unterminated or binary input gets a class soon; nothing grows with the square of the length.',
    state: 'met',
  },
  {
    id: 'SHC-14',
    source: 'shell.md Numbers',
    text: 'A corpus of at least 600 labelled commands with evasions of every kind is held by a test.',
    state: 'met',
  },
  {
    id: 'SHC-15',
    source: 'cloud.md commands, ghost-cloud HITL table',
    text: 'Reads the product itself sends are SAFE; its changes are RISKY and executable as they stand.',
    state: 'met',
  },
  {
    id: 'SHC-16',
    source: 'shell.md Numbers',
    text: 'At least 200,000 typical commands a second on one core without caching results (bench/classify.bench.ts).',
    state: 'met',
  },
];
