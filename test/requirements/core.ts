import type { Requirement } from './requirement.ts';

export const requirements: readonly Requirement[] = [
  {
    id: 'CORE-01',
    source: 'overview.md The spine; RFC 8785',
    text: 'Data has one canonical text: numbers, strings and member order exactly as RFC 8785 prints them.',
    state: 'met',
  },
  {
    id: 'CORE-02',
    source: 'overview.md The spine; RFC 8785 §3.1',
    text: 'What has no canonical form (lone surrogates, NaN, cycles, class instances) is refused, never approximated.',
    state: 'met',
  },
  {
    id: 'CORE-03',
    source: 'overview.md The spine',
    text: 'The digest of an action depends on its data alone, not on the order in which it was written.',
    state: 'met',
  },
  {
    id: 'CORE-04',
    source: 'overview.md The spine; cabincrew P7',
    text: 'There is one order of severity: deny over require_approval over warn over allow.',
    state: 'met',
  },
  {
    id: 'CORE-05',
    source: 'engineering.md To avoid',
    text: 'An action that nobody judged is denied.',
    state: 'met',
  },
  {
    id: 'CORE-06',
    source: 'flight.md Preflight',
    text: 'Evaluations are aggregated by most_restrictive, unanimous, majority, any_deny or all_allow.',
    state: 'met',
  },
  {
    id: 'CORE-07',
    source: 'overview.md The spine',
    text: 'A decision carries all the evaluations behind it.',
    state: 'met',
  },
  {
    id: 'CORE-08',
    source: 'shell.md Gate',
    text: 'Text shown to a person has its control characters, bidi marks and invisible characters made visible.',
    state: 'met',
  },
  {
    id: 'CORE-09',
    source: 'overview.md Command line; capsule errors',
    text: 'Errors have unique codes in the families 1xxx to 5xxx, and every command the six exit codes.',
    state: 'met',
  },
  {
    id: 'CORE-10',
    source: 'overview.md The spine',
    text: 'A writ can be minted by authority alone and cannot be forged, copied or read from JSON.',
    state: 'met',
  },
  {
    id: 'CORE-11',
    source: 'overview.md The spine',
    text: 'A writ serves one action, once, before its expiry; anything else throws.',
    state: 'met',
  },
  {
    id: 'CORE-12',
    source: 'overview.md The spine',
    text: 'Redacted text has one constructor.',
    state: 'met',
  },
  {
    id: 'CORE-13',
    source: 'overview.md Rooms',
    text: 'Clock and ids are ports with a real and a test version; real ids carry 128 random bits.',
    state: 'met',
  },
];
