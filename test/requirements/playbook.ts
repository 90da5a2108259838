import type { Requirement } from './requirement.ts';

const must = (
  id: string,
  source: string,
  text: string,
  state: Requirement['state'] = 'met',
): Requirement => ({ id: `PLAY-${id}`, source, text, state });

export const requirements: readonly Requirement[] = [
  must(
    '01',
    'ghost.md brains',
    'A complaint in plain words becomes conversations: who reaches whom, on what.',
  ),
  must('02', 'ghost.md brains', 'Ports, protocol and the kind of trouble are read from the symptom.'),
  must(
    '03',
    'lab.md scoring',
    'On the test worlds, which it was mended against, it claims the true causes and no others.',
  ),
  must('04', 'ghost.md report', 'Every claimed cause cites commands that ran in this session.'),
  must('05', 'lab.md bench', 'Nothing that an investigation created is left behind.'),
  must(
    '06',
    'lab.md --approve none',
    'What nobody approved is not verified: it is neither a cause nor a reason to say that nothing is wrong.',
  ),
];
