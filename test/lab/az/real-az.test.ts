import { describe, expect, it } from 'vitest';
import { commandNames, commandSpec } from '../../../src/lab/az/grammar.ts';
import { testLab } from '../lab-dir.ts';
import { runRealAz as real } from './real-az.ts';

/**
 * The stand-in beside a real azure-cli that is not logged in: which arguments there are, which are required,
 * what is said when they are missing. `WRIT_REAL_AZ=/path/to/az vitest run test/lab/az/real-az.test.ts`;
 * a handful of commands, or all of them with WRIT_LONG=1 (a real az takes seconds to start).
 */
const REAL = process.env.WRIT_REAL_AZ;

/** Left out: what a lab's login does, and what asks before it looks at its arguments. */
const SKIPPED =
  /^(login|logout|version|account (show|list)|network watcher show-topology|resource show)$|-dns .* delete$/;
const ALL = commandNames().filter((name) => !SKIPPED.test(name));
const FEW = [
  'group show',
  'vm show',
  'vm run-command invoke',
  'network nsg rule list',
  'network nic show-effective-route-table',
  'network vnet subnet update',
  'network watcher packet-capture create',
  'network watcher packet-capture show-status',
  'storage blob download',
  'network private-dns record-set a add-record',
];

describe.skipIf(REAL === undefined)('beside a real az', () => {
  const names = process.env.WRIT_LONG ? ALL : FEW;

  it.each(names)(
    'az %s without arguments: same words, same exit code',
    { timeout: 180_000 },
    async (name) => {
      const theirs = await real(name.split(' '));
      const ours = await testLab().az(...name.split(' '));
      const first = (text: string) => text.split('\n').find((line) => line.startsWith('ERROR')) ?? '';
      // Where the real one gets as far as the login, the arguments were enough.
      if (first(theirs.stderr).includes("run 'az login'"))
        expect(first(ours.stderr)).not.toMatch(/required|Missing/);
      else expect([ours.code, first(ours.stderr)]).toEqual([theirs.code, first(theirs.stderr)]);
    },
  );

  it.each(names)(
    'az %s --help: knows every argument of ours, and requires the same',
    { timeout: 180_000 },
    async (name) => {
      const { stdout } = await real([...name.split(' '), '--help']);
      const theirs = [...stdout.matchAll(/^ {4}(-[^:\n]*?)\s*(\[Required\])?\s*:/gm)].map((m) => ({
        names: m[1]!
          .trim()
          .split(/\s+/)
          .filter((word) => word.startsWith('-')),
        required: m[2] !== undefined,
      }));
      for (const argument of commandSpec(name)!.arguments) {
        // Commands that only read do not list these two; the stand-in takes them everywhere.
        if (/policy-token|change-reference/.test(argument.names[0]!)) continue;
        const match = theirs.find((t) => t.names.some((n) => argument.names.includes(n)));
        expect([name, argument.names, match !== undefined]).toEqual([name, argument.names, true]);
        if (argument.required)
          expect([name, argument.names, match!.required]).toEqual([name, argument.names, true]);
      }
    },
  );
});
