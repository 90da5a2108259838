import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cloud/index.ts';
import { classify } from '../../src/shell/classify/index.ts';
import { REAL_AZ, runRealAz } from '../lab/az/real-az.ts';

/**
 * Every command the orchestrator can send, before the argument parser of a real azure-cli without a login.
 * The samples are typed by the builders, so that a new builder without one does not compile.
 */
type Builders = typeof commands;
type Samples = { readonly [K in keyof Builders]: readonly Parameters<Builders[K]>[] };

const subscription = '00000000-1111-2222-3333-444444444444';
const group = `/subscriptions/${subscription}/resourceGroups/prod-rg/providers`;
const vmId = `${group}/Microsoft.Compute/virtualMachines/web-vm-01`;
const accountId = `${group}/Microsoft.Storage/storageAccounts/forensicsa`;
const near = { subscription: null };
const far = { subscription };
const vm = { group: 'prod-rg', name: 'web-vm-01' };
const capture = { location: 'westeurope', name: 'ghost_web-vm-01_20260115T143000' };
const container = { account: 'forensicsa', container: 'captures' };
const blob = { ...container, name: '2026/01/15/ghost_web-vm-01_20260115T143000.cap' };
const path = 'https://forensicsa.blob.core.windows.net/captures/ghost_web-vm-01_20260115T143000.cap';

const samples: Samples = {
  detectByName: [['prod-rg', 'web-vm-01']],
  detectById: [[vmId]],
  vmFacts: [[{ ...vm, ...near }], [{ ...vm, ...far }]],
  vmExtensions: [[{ ...vm, ...near }], [{ ...vm, ...far }]],
  accountFacts: [
    ['forensicsa', null],
    ['forensicsa', subscription],
  ],
  containerExists: [
    [{ ...container, ...near }, 'login'],
    [{ ...container, ...far }, 'key'],
  ],
  createCapture: [
    [{ ...vm, ...near }, capture.name, 'forensicsa', path, 60],
    [{ ...vm, ...far }, capture.name, accountId, path, 300],
  ],
  captureStatus: [[{ ...capture, ...near }], [{ ...capture, ...far }]],
  capturePath: [[{ ...capture, ...near }], [{ ...capture, ...far }]],
  deleteCapture: [[{ ...capture, ...near }], [{ ...capture, ...far }]],
  downloadBlob: [
    [{ ...blob, ...near }, '/tmp/a b/x.pcap', 'login'],
    [{ ...blob, ...far }, '/tmp/x.pcap', 'login'],
  ],
  deleteBlob: [
    [{ ...blob, ...near }, 'login'],
    [{ ...blob, ...far }, 'login'],
  ],
  removeFile: [['/tmp/x.pcap']],
  analyze: [
    ['/tmp/x.pcap', '/tmp'],
    ['/tmp/x.pcap', '/tmp', '/tmp/y.pcap'],
  ],
  watcherRegions: [[]],
  listCaptures: [['westeurope', 0, 100]],
};

const emitted = (Object.keys(commands) as (keyof Builders)[]).flatMap((name) =>
  samples[name].map((sample) => (commands[name] as (...of: typeof sample) => string)(...sample)),
);

/** The argv as our own shell will run it, so that quoting is part of what is checked. */
function argvOf(command: string): readonly string[] {
  const { pipeline } = classify(command);
  expect(pipeline, command).toHaveLength(1);
  return pipeline![0]!;
}

describe('every command that can be sent', () => {
  it('[CLOUD-70] is one program with its arguments, SAFE to read, RISKY to create, fetch or delete', () => {
    expect(Object.keys(samples).sort()).toEqual(Object.keys(commands).sort());
    for (const command of emitted) {
      const wanted = / (create|download|delete) |^rm /.test(command) ? 'RISKY' : 'SAFE';
      expect([command, classify(command).classification]).toEqual([command, wanted]);
      expect(argvOf(command).slice(1).join('\n')).not.toMatch(/^@/m);
    }
  });

  // A real az takes a second or two to start: only when it is asked for.
  const wanted = process.env.WRIT_REAL_AZ !== undefined || process.env.WRIT_LONG !== undefined;
  const why =
    REAL_AZ === undefined
      ? 'skipped: no real azure-cli (set WRIT_REAL_AZ)'
      : wanted
        ? 'real azure-cli'
        : 'skipped: set WRIT_REAL_AZ or WRIT_LONG=1';
  it.skipIf(REAL_AZ === undefined || !wanted).each(emitted.filter((c) => c.startsWith('az ')))(
    `[CLOUD-71] is accepted by the parser of az (${why}): %s`,
    { timeout: 130_000 },
    async (command) => {
      const ran = await runRealAz(argvOf(command).slice(1));
      expect(ran.stderr).toContain("Please run 'az login'");
      // With a key az first warns that it will look for one: what counts is what it stopped at.
      expect(ran.stderr).not.toMatch(/^ERROR: .*(unrecognized|required|usage|misspelled|invalid)/im);
      expect(ran.code).toBe(1);
    },
  );

  it.skipIf(REAL_AZ === undefined || !wanted)(
    '[CLOUD-71] a wrong argument would have been noticed',
    { timeout: 130_000 },
    async () => {
      const ran = await runRealAz(argvOf(`${emitted[0]} --no-such-argument x`).slice(1));
      expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('unrecognized arguments')]);
    },
  );
});
