import type { Requirement } from './requirement.ts';

const must = (id: string, source: string, text: string): Requirement => ({ id, source, text, state: 'met' });

export const requirements: readonly Requirement[] = [
  must(
    'AUT-01',
    'overview.md The spine',
    'Every evaluator is asked, in order, and the decision carries every answer.',
  ),
  must('AUT-02', 'engineering.md To avoid', 'Without evaluators an action is denied.'),
  must(
    'AUT-03',
    'overview.md The spine',
    'An evaluator that throws, is late or answers garbage has denied, and cannot be outvoted.',
  ),
  must('AUT-04', 'overview.md The spine', 'Allow and warn yield a writ for exactly the judged action.'),
  must('AUT-05', 'overview.md The spine', 'Deny yields no writ, and nobody is asked.'),
  must('AUT-06', 'overview.md The spine', 'An approval given at once yields a writ that names the approver.'),
  must(
    'AUT-07',
    'shell.md Gate',
    'No approver, no answer in time, an exception or an unreadable answer is a denial by nobody.',
  ),
  must('AUT-08', 'cabincrew A15', 'An approval answer that cannot be recorded has no effect.'),
  must('AUT-09', 'cabincrew A9', 'The approver answers in the role that the rule requires.'),
  must(
    'AUT-10',
    'overview.md The spine',
    'What was judged is what may be done: the action cannot change on the way.',
  ),
  must('AUT-11', 'overview.md The spine', 'A writ that is not used expires.'),
  must('AUT-12', 'overview.md The spine', 'With the gate removed or broken the action does not happen.'),
  must(
    'AUT-13',
    'flight.md Approval; cabincrew A4, A5',
    'A request is durable with everything it is bound to, and readable from another process.',
  ),
  must('AUT-14', 'shell.md Process', 'What is stored for people to read is redacted.'),
  must(
    'AUT-15',
    'flight.md Approval; cabincrew A6',
    'A response is stored with approver, role, reason and time, and who asserted the name.',
  ),
  must(
    'AUT-16',
    'flight.md Approval; cabincrew A17, A18',
    'Unknown, expired, used, answered, wrong role, self, wrong token and malformed answers are refused and recorded.',
  ),
  must(
    'AUT-17',
    'flight.md Command line',
    'With configured users, name and role are checked when the approval is given and when it is used.',
  ),
  must('AUT-18', 'overview.md The spine', 'A parked approval grants once.'),
  must(
    'AUT-19',
    'overview.md The spine; cabincrew A8, A10',
    'When used, the action is judged again and action, policy, token, requester and role are derived and compared again.',
  ),
  must(
    'AUT-20',
    'flight.md Approval',
    'An approval must be unexpired when given and when used, and the writ does not outlive it.',
  ),
  must(
    'AUT-21',
    'flight.md Approval',
    'Of several processes that answer or use one request at once, exactly one wins.',
  ),
  must(
    'AUT-22',
    'flight.md Command line',
    'writ approvals list, approve and reject print and exit as published; a refusal exits 3 and names the check.',
  ),
  must(
    'AUT-23',
    'shell.md Gate',
    'Text from agents is shown with control characters and bidi marks made visible.',
  ),
  must('AUT-24', 'cabincrew A15, A18', 'Requests, answers, refusals and uses are in a ledger that verifies.'),
];
