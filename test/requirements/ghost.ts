import type { Requirement } from './requirement.ts';

const must = (
  id: string,
  source: string,
  text: string,
  state: Requirement['state'] = 'met',
): Requirement => ({ id: `GHOST-${id}`, source, text, state });

export const requirements: readonly Requirement[] = [
  must(
    '01',
    'ghost design §4',
    'Several calls in a turn run in order, the session is saved every turn, and the report follows the conclusion.',
  ),
  must(
    '02',
    'ghost design §4, ghost.md',
    'Unknown tools, wrong argument types and floods of calls are answered with errors.',
  ),
  must(
    '03',
    'ghost design §6',
    'Denials reach the brain with reason, count and thresholds, and make a hypothesis UNVERIFIABLE at three.',
  ),
  must(
    '04',
    'ghost design §4, ghost.md',
    'Fifty turns, or turns that change nothing, end the loop unless the person extends it.',
  ),
  must('05', 'ghost design §4', 'A text-only turn offers continue or done; without a person it is done.'),
  must(
    '06',
    'ghost design §9',
    'A failing model or an interrupt saves the session and prints how to resume.',
  ),
  must(
    '07',
    'ghost.md',
    'Instructions in command output change nothing: the person decides about every risky command.',
  ),
  must(
    '10',
    'ghost.md Hypotheses',
    'Hypothesis lines in the model’s text are read: formed, confirmed, refuted, contradicted.',
  ),
  must('11', 'ghost design §2', 'At most three hypotheses are active at once.'),
  must(
    '12',
    'ghost design §6',
    'Contradictions are noted with the conflicting audit ids and resolved by better evidence.',
  ),
  must('13', 'ghost design §6', 'The denial state machine follows its thresholds per hypothesis.'),
  must('14', 'ghost design §6', 'A success resets consecutive denials only.'),
  must(
    '20',
    'ghost design §8',
    'The session file has the schema, a checksum, private mode and atomic replacement.',
  ),
  must('21', 'ghost design §8', 'A changed session file is noticed.'),
  must('22', 'ghost design §9', 'A corrupt session file is told, never a crash.'),
  must(
    '23',
    'ghost design §3',
    'An altered session offers continue, fresh and abort, and the warning reaches the report.',
  ),
  must(
    '24',
    'ghost design §9',
    'A corrupt session offers fresh and abort; a missing one stops with its name.',
  ),
  must(
    '30',
    'ghost.md Conclusions',
    'A cause without a valid citation is printed as unsupported and not counted.',
  ),
  must(
    '31',
    'ghost.md Conclusions',
    'Verdicts are computed and cap the confidence; local probes alone confirm nothing.',
  ),
  must(
    '32',
    'ghost design §7',
    'The report has the sections of the specification, context tags, and escapes hostile text.',
  ),
  must(
    '50',
    'ghost.md, lab.md',
    'An investigation in the lab runs end to end through the command line and writes its report.',
  ),
  must('51', 'ghost.md Terminal', 'Approving everything without asking works in the lab only.'),
  must(
    '52',
    'ghost design §3',
    'An interrupted session resumes with its history rebuilt and validates again.',
  ),
  must('53', 'ghost.md Terminal', 'The event stream is one JSON document a line.'),
  must(
    '54',
    'ghost design §10',
    'In a real terminal the alert box blocks, the denial reason is asked for, and the final box appears.',
  ),
  must('55', 'ghost.md Brains', 'A chosen brain without a key says what to set and never enters the loop.'),
];
