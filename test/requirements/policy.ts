import type { Requirement } from './requirement.ts';

const met = (id: string, source: string, text: string): Requirement => ({ id, source, text, state: 'met' });

export const requirements: readonly Requirement[] = [
  met('POL-01', 'capsule §4; runner.md', 'Deny by default: a missing tool, key or list allows nothing.'),
  met(
    'POL-02',
    'runner.md Plan and policy files',
    'An invalid policy is refused with a number, file, line, column and what to write; aliases and size are bounded.',
  ),
  met('POL-03', 'capsule §6', 'A policy has a hash of what decides.'),
  met(
    'POL-04',
    'capsule §4; runner.md',
    'Checks run in the order tool, allow list, deny list, quota; the first failure denies with rule, file and line.',
  ),
  met('POL-05', 'capsule §4', 'An error inside a check is a denial.'),
  met('POL-06', 'plans.md W9', '`*` does not cross folders; `**` does.'),
  met(
    'POL-07',
    'plans.md 5, 6; capsule §4',
    'Only paths in the allow list; an empty list allows none; a file need not exist.',
  ),
  met('POL-08', 'plans.md 7–10', 'Hidden names are denied at any depth unless the pattern spells them out.'),
  met(
    'POL-09',
    'plans.md 11, W10',
    'Deny lists win, hold under every root, cover children, and ignore case and Unicode form.',
  ),
  met('POL-10', 'plans.md 12–19', 'A link is judged by where it leads as well as by its own name.'),
  met(
    'POL-11',
    'plans.md 23–26',
    'Empty, over-long, NUL-bearing and tilde paths are denied without a crash.',
  ),
  met(
    'POL-12',
    'plans.md 27, 28, 44, W15',
    'Everything that is not plainly a public address counts as private, in every spelling and embedding.',
  ),
  met('POL-13', 'plans.md 33, 34, 37', 'Only listed domains; `*.x` covers sub-domains and the apex.'),
  met('POL-14', 'plans.md 39–42, W21', 'The scheme is decided by the policy: http and https only.'),
  met('POL-15', 'plans.md 35, 36', 'Private literals and local names are denied even when listed.'),
  met(
    'POL-16',
    'plans.md 31, 32, 46',
    'The address a name leads to is judged; metadata services need listing by address.',
  ),
  met(
    'POL-17',
    'plans.md 53–56, W2',
    'An executable is the file its name leads to, never its basename; an empty list denies all.',
  ),
  met(
    'POL-18',
    'runner.md Hard cases; plans.md W3',
    'Shell scripts are looked through command by command; what cannot be proven is denied.',
  ),
  met('POL-19', 'runner.md Hard cases', 'Wrappers such as env, timeout and xargs are looked through.'),
  met(
    'POL-20',
    'runner.md Hard cases; plans.md W3',
    'Programs that can start others (git, find, tar, ssh, awk, sed …) need explicit allowing for that.',
  ),
  met(
    'POL-21',
    'runner.md Hard cases',
    'Inline code of other interpreters needs explicit allowing unless it is plainly harmless.',
  ),
  met('POL-22', 'plans.md 57, W4', 'Default deny tokens hold in every spelling and do not hit plain text.'),
  met('POL-23', 'plans.md 58, 59', 'Custom deny tokens match whole words in any case, in every argument.'),
  met('POL-24', 'issue: policy require_approval', 'require_approval names calls that need a person.'),
  met('POL-25', 'plans.md W1', 'Variables that choose code cannot be set by a plan.'),
  met(
    'POL-26',
    'issue: policy explain',
    'Explain gives rule, file:line, reason and the smallest change that flips the decision.',
  ),
  met(
    'POL-27',
    'issue: policy check, test',
    'check and test report with the exit codes of the house; policies carry cases.',
  ),
  met(
    'POL-28',
    'runner.md Replay',
    'diff judges recorded calls under another policy and lists every change, newly allowed first.',
  ),
];
