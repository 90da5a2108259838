import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandNames, commandSpec } from '../../../src/lab/az/grammar.ts';
import { testLab } from '../lab-dir.ts';

const ID =
  '/subscriptions/s/resourceGroups/shop-rg/providers/Microsoft.Network/virtualNetworks/shop-vnet/subnets/web';
const VALUES = [
  'shop-rg',
  'hub-rg',
  'web-01',
  'db-01',
  'web-01-nic',
  'web-nsg',
  'shop-rt',
  'to-data',
  'shop-vnet',
  'hub-vnet',
  'web',
  'shop-to-hub',
  'shop.internal',
  'db',
  '@',
  'westeurope',
  'shopcaps',
  'captures',
  '10.1.1.4',
  '10.1.2.4:443',
  '10.1.1.4:*',
  'true',
  'Inbound',
  'TCP',
  'Allow',
  '200',
  '-5',
  '',
  'null',
  '[]',
  '{}',
  '[{"protocol":"TCP"}]',
  'x=y',
  '../../etc/passwd',
  'ünï',
  ID,
  'RunShellScript',
  'ss -ltn | grep 8',
  'https://shopcaps.blob.core.windows.net/captures/x',
  '2026-01-14',
  '7d',
  '[].name',
  '__proto__',
  'constructor',
];

/** What such an argument would usually be, several times over so that most calls get far. */
function plausible(names: string): readonly string[] {
  const usual: readonly (readonly [RegExp, string])[] = [
    [/resource-group/, 'shop-rg'],
    [/nsg-name/, 'web-nsg'],
    [/route-table-name/, 'shop-rt'],
    [/vnet-name/, 'shop-vnet'],
    [/zone-name/, 'shop.internal'],
    [/nic-name/, 'web-01-nic'],
    [/vm|source-resource/, 'web-01'],
    [/location/, 'westeurope'],
    [/account/, 'shopcaps'],
    [/container/, 'captures'],
    [/source-ip/, '10.1.1.4'],
    [/dest-ip|ipv4/, '10.1.2.4'],
    [/local|remote/, '10.1.1.4:443'],
    [/command-id/, 'RunShellScript'],
    [/priority/, '150'],
  ];
  const found = usual.find(([pattern]) => pattern.test(names));
  return found ? Array.from({ length: VALUES.length * 3 }, () => found[1]) : [];
}

describe('any call', () => {
  it('[LAB-17] ends in an answer or an error of the CLI’s kind, never in a crash', {
    timeout: 60_000,
  }, async () => {
    const value = fc.constantFrom(...VALUES);
    const call = fc.constantFrom(...commandNames()).chain((name) => {
      const all = commandSpec(name)!.arguments;
      const needed = all.filter((a) => a.required || a.idPart !== null);
      const given = (a: (typeof all)[number]) =>
        a.choices
          ? fc.constantFrom(...a.choices)
          : fc.constantFrom(...plausible(a.names.join(' ')), ...VALUES);
      const required = fc.tuple(...needed.map((a) => given(a).map((v) => [a.names[0]!, v])));
      const option = fc
        .tuple(fc.constantFrom(...all), fc.array(value, { maxLength: 2 }))
        .map(([a, v]) => [a.names[0]!, ...v]);
      return fc
        .tuple(required, fc.array(option, { maxLength: 3 }))
        .map(([must, more]) => [...name.split(' '), ...must.flat(), ...more.flat()]);
    });
    // Downloads write files where they are told to: not in a fuzz.
    const safe = call.filter((words) => !words.includes('download'));
    let lab = testLab();
    let n = 0;
    await fc.assert(
      fc.asyncProperty(safe, async (words) => {
        if (++n % 50 === 0) lab = testLab();
        const answer = await lab.az(...words);
        expect([0, 1, 2, 3]).toContain(answer.code);
        if (answer.code !== 0) expect(answer.stderr).toContain('ERROR: ');
      }),
      { numRuns: process.env.WRIT_LONG ? 20_000 : 600 },
    );
  });
});
