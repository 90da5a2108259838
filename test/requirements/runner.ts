import type { Requirement } from './requirement.ts';

const met = (id: string, source: string, text: string): Requirement => ({ id, source, text, state: 'met' });

export const requirements: readonly Requirement[] = [
  met('RUN-01', 'runner.md Plan and policy files', 'Plans are YAML or JSON of version 1.0.'),
  met(
    'RUN-02',
    'runner.md; capsule §8',
    'Unknown keys and wrong types are refused with number, line, column and what to write.',
  ),
  met('RUN-03', 'issue: bad input', 'Cyclic, forward, own and unknown references are refused.'),
  met('RUN-04', 'issue: bad input', 'Oversized plans, alias bombs and deep nesting are refused by bounds.'),
  met(
    'RUN-05',
    'capsule §2, §6; plans.md 71',
    'Every call and result is stored with SHA-256 of input and output; later steps use earlier data.',
  ),
  met(
    'RUN-06',
    'plans.md 69',
    'A run stops at the first step that is not a success, or keeps going when told to.',
  ),
  met('RUN-07', 'plans.md 68', 'Unknown tools are denied.'),
  met('RUN-08', 'plans.md 68', 'Quotas count allowed calls only.'),
  met('RUN-09', 'plans.md 70; issue: runner', 'Per-step and global time limits hold.'),
  met(
    'RUN-10',
    'runner.md Hard cases; plans.md W20',
    'Secrets are redacted in every table, plan_json included; replay does not need them.',
  ),
  met('RUN-11', 'runner.md Storage', 'Payloads are content-addressed: stored twice, they cost once.'),
  met('RUN-12', 'issue: numbers', 'Group commit shares flushes among steps without effects.'),
  met(
    'RUN-13',
    'capsule §6',
    'Tables runs, tool_calls and tool_results have the columns of the contract; WAL mode.',
  ),
  met('RUN-14', 'runner.md Storage', 'The chain covers every column of every row.'),
  met(
    'RUN-15',
    'runner.md Storage',
    'Deletion of a row, the last row or a whole run, and additions, are detected.',
  ),
  met('RUN-16', 'plans.md W20', 'Rebuilding every hash does not pass: heads and counts are signed.'),
  met('RUN-17', 'runner.md Storage', 'An older copy put back is detected against the ledger.'),
  met(
    'RUN-18',
    'runner.md Storage',
    'A missing or forged checkpoint, database or ledger is detected and not signed over.',
  ),
  met('RUN-19', 'issue: bad input', 'A newer or locked database is a numbered error with a suggestion.'),
  met('RUN-20', 'issue: bad input', 'On a full disk a numbered error is given and the store still verifies.'),
  met('RUN-21', 'issue: runner', 'A step that needs approval parks the run (exit 4) without effect.'),
  met('RUN-22', 'issue: runner', 'After approval the run goes on; the approval serves once.'),
  met('RUN-23', 'issue: runner', 'A rejected approval is a denial.'),
  met('RUN-24', 'overview Spine', 'A run resumes only with its own plan and policy.'),
  met('RUN-25', 'overview Ledger', 'Intent without outcome is unknown: reported, never silently run again.'),
  met(
    'RUN-26',
    'issue: runner',
    'An unknown step can be tried again or passed over when the caller says so; both tries stay on record.',
  ),
  met(
    'RUN-27',
    'overview Ledger',
    'Intent is durable before the effect; kills lose nothing acknowledged and the store verifies.',
  ),
  met(
    'RUN-28',
    'capsule §3; runner.md Replay',
    'Replay makes a new run of mode replay with byte-identical steps.',
  ),
  met(
    'RUN-29',
    'runner.md Replay',
    'A differing plan, policy or argument is a mismatch naming the first step.',
  ),
  met('RUN-30', 'runner.md Replay', '--verify rehashes inputs, outputs and the chain.'),
  met('RUN-31', 'issue: replay', 'Replay has no effect: it runs without network on a read-only file system.'),
  met('RUN-32', 'issue: examples', 'Examples run in tests; their policies carry passing cases.'),
  met('RUN-33', 'capsule §7', 'The JSON report has the structure of the seed.'),
  met('RUN-34', 'capsule §7', 'The console report has timeline, timings, resources and denials.'),
  met('RUN-35', 'issue: reports', 'The HTML report is self-contained, draws the timeline and runs nothing.'),
  met(
    'RUN-36',
    'issue: commands',
    '`writ run --json` prints exactly the named document; exit codes 0, 3, 1, 4.',
  ),
  met('RUN-37', 'issue: runner', 'Progress goes to stderr.'),
  met(
    'RUN-38',
    'issue: bad input; capsule §9',
    'Bad input gives a numbered error with a suggestion, exit 2, before anything happens.',
  ),
  met(
    'RUN-39',
    'issue: commands',
    'All run commands take --db; audit verify covers every store it knows of.',
  ),
  met(
    'RUN-40',
    'overview Ledger; runner.md Storage',
    'A store killed at any point of its first run is intact or not established, and the next run goes on with it.',
  ),
  met(
    'RUN-41',
    'capsule §3; runner.md Replay',
    'A replay refers to the rows it replayed; every reader shows them as its own, a replay of a replay too.',
  ),
  met(
    'RUN-42',
    'runner.md Replay, Storage',
    'Damage to the rows of a replayed run, or their removal, is noticed in its replays: by readers, by a replay of them and by the verifier.',
  ),
  met(
    'RUN-43',
    'runner.md Storage',
    'Stores of version 1, whose replays repeat their rows, are read, verified and replayed.',
  ),
  met(
    'RUN-44',
    'issue: bad input; runner.md Storage',
    'In a read-only folder reports, lists and verification work and what writes gives a numbered error; a store that is held or newer is not called tampered.',
  ),
  met(
    'RUN-45',
    'runner.md Storage',
    'A new store in the place of one that was removed does not hide the removal; audit retire lets a store go.',
  ),
];
