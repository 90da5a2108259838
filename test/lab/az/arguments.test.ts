import { describe, expect, it } from 'vitest';
import { testLab } from '../lab-dir.ts';

/** Command line → exit code and first words on stderr, as the real CLI has them. */
const WRONG: readonly (readonly [call: string, code: number, words: string])[] = [
  ['vm show', 1, 'ERROR: (--resource-group --name | --ids) are required'],
  ['vm show -g shop-rg', 1, 'ERROR: (--name | --ids) are required'],
  ['vm shw', 2, "ERROR: 'shw' is misspelled or not recognized by the system.\nDid you mean 'show' ?"],
  ['network nsg foo', 2, "ERROR: 'foo' is misspelled or not recognized by the system."],
  ['nonsense', 2, "ERROR: 'nonsense' is misspelled or not recognized by the system."],
  ['vm', 2, 'ERROR: the following arguments are required: _subcommand'],
  [
    'vm list -o badfmt',
    2,
    "ERROR: az vm list: 'badfmt' is not a valid value for '--output'. Allowed values: json, jsonc, yaml, yamlc, table, tsv, none.",
  ],
  [
    'network nic show-effective-route-table -g rg',
    1,
    'ERROR: InvalidArgumentValue: Missing required field: -n',
  ],
  ['network vnet subnet update', 1, 'ERROR: InvalidArgumentValue: Missing required field: --resource-group'],
  ['vm show -g rg -n x --foo bar', 2, 'ERROR: unrecognized arguments: --foo bar'],
  ['vm show foo', 2, 'ERROR: unrecognized arguments: foo'],
  ['vm show --name', 2, 'ERROR: argument --name/-n: expected one argument'],
  [
    'network nsg rule list',
    2,
    'ERROR: the following arguments are required: --resource-group/-g, --nsg-name',
  ],
  ['group show', 2, 'ERROR: the following arguments are required: --name/-n/--resource-group/-g'],
  [
    'network watcher packet-capture show -n x',
    2,
    'ERROR: the following arguments are required: --location/-l',
  ],
  [
    'network vnet peering create -g x',
    2,
    'ERROR: the following arguments are required: --vnet-name, -n/--name, --remote-vnet',
  ],
  [
    'network watcher test-ip-flow -g rg --vm v',
    2,
    'ERROR: the following arguments are required: --direction, --protocol, --local, --remote',
  ],
  [
    'network watcher test-ip-flow -g rg --vm v --direction up --protocol TCP --local a --remote b',
    2,
    "ERROR: az network watcher test-ip-flow: 'up' is not a valid value for '--direction'. Allowed values: Inbound, Outbound.",
  ],
  ['vm run-command invoke -g rg -n v', 2, 'ERROR: the following arguments are required: --command-id'],
  ['vm list --query [?', 2, "ERROR: argument --query: invalid jmespath_type value: '[?'"],
  ['network nic show --ids abc', 1, 'ERROR: invalid resource ID: abc'],
  ['storage blob download -c x -n y', 1, 'ERROR: Please provide storage account name or connection string.'],
  [
    'network nic update --ip-forwarding maybe -n x -g y',
    2,
    "ERROR: az network nic update: 'maybe' is not a valid value for '--ip-forwarding'. Allowed values: true, t, yes, y, 1, false, f, no, n, 0.",
  ],
  [
    'vm show -g nope -n x',
    3,
    "ERROR: (ResourceGroupNotFound) Resource group 'nope' could not be found.\nCode: ResourceGroupNotFound\nMessage: Resource group 'nope' could not be found.",
  ],
  [
    'vm show -g shop-rg -n nope',
    3,
    "ERROR: (ResourceNotFound) The Resource 'Microsoft.Compute/virtualMachines/nope' under resource group 'shop-rg' was not found.",
  ],
  [
    'network nsg rule show -g shop-rg --nsg-name web-nsg -n nope',
    3,
    'ERROR: (NotFound) Resource /subscriptions/',
  ],
  [
    'aks show -g shop-rg -n nope',
    3,
    "ERROR: (ResourceNotFound) The Resource 'Microsoft.ContainerService/managedClusters/nope'",
  ],
  [
    'resource show -g shop-rg -n web-01 --resource-type Microsoft.Network/networkInterfaces',
    3,
    'ERROR: (ResourceNotFound)',
  ],
  [
    'storage blob download --account-name shopcaps -c nope -n y -f z --auth-mode login',
    3,
    'ERROR: The specified container does not exist.',
  ],
  [
    'storage blob download --account-name shopcaps -c captures -n y -f z --auth-mode login',
    3,
    'ERROR: The specified blob does not exist.',
  ],
  [
    'storage container list --account-name nobody --auth-mode login',
    1,
    'ERROR: <urllib3.connection.HTTPSConnection object>: Failed to resolve',
  ],
  [
    'storage container list --account-name shoplocked --auth-mode key',
    1,
    'ERROR: Key based authentication is not permitted on this storage account.',
  ],
  [
    'storage container list --account-name shoplocked --auth-mode login',
    1,
    'ERROR: \nThe request may be blocked by network rules of storage account.',
  ],
  [
    'network watcher packet-capture list -l mars',
    1,
    "ERROR: network watcher is not enabled for region 'mars'.",
  ],
  [
    'network watcher show-next-hop -g hub-rg --vm old-01 --source-ip 10.0.1.9 --dest-ip 10.0.1.4',
    1,
    'ERROR: (OperationNotAllowed) The operation requires the VM to be running (or set to run).',
  ],
  [
    'network watcher show-next-hop -g shop-rg --vm web-01 --source-ip 10.1.1.99 --dest-ip 10.0.1.4',
    1,
    'ERROR: (IpAddressNotFoundOnNic)',
  ],
  [
    'vm run-command invoke -g hub-rg -n old-01 --command-id RunShellScript --scripts ls',
    1,
    'ERROR: (OperationNotAllowed) The operation requires the VM to be running (or set to run).',
  ],
  ['network nic list-effective-nsg -g hub-rg -n old-01-nic', 1, 'ERROR: (NicMustBeAttachedToRunningVm)'],
];

describe('wrong calls', () => {
  it.each(WRONG)('[LAB-17] az %s → %i', async (call, code, words) => {
    const answer = await testLab().az(...call.split(' '));
    expect(answer.code).toBe(code);
    expect(answer.stdout).toBe('');
    expect(answer.stderr.slice(0, words.length)).toBe(words);
  });

  it('[LAB-17] without a login everything says so', async () => {
    const lab = testLab();
    await lab.az('logout');
    expect(await lab.az('vm', 'list')).toMatchObject({
      code: 1,
      stderr: "ERROR: Please run 'az login' to setup account.\n",
    });
    await lab.az('login');
    expect((await lab.az('vm', 'list')).code).toBe(0);
  });
});

describe('right calls', () => {
  const name = async (...argv: string[]) =>
    (await testLab().az(...argv, '--query', 'name', '-o', 'tsv')).stdout;

  it('[LAB-16] short forms, abbreviations, = and attached values all mean the same', async () => {
    const wanted = 'web-01\n';
    expect(await name('vm', 'show', '-g', 'shop-rg', '-n', 'web-01')).toBe(wanted);
    expect(await name('vm', 'show', '-gshop-rg', '-nweb-01')).toBe(wanted);
    expect(await name('vm', 'show', '--resource-group=shop-rg', '--name=web-01')).toBe(wanted);
    expect(await name('vm', 'show', '--resource', 'SHOP-RG', '--na', 'WEB-01')).toBe(wanted);
  });

  it('[LAB-16] --ids takes one or several', async () => {
    const lab = testLab();
    const ids = await lab.json<string[]>('vm', 'list', '--query', '[].id');
    expect(await lab.json('vm', 'show', '--ids', ids[0]!, '--query', 'name')).toBe('web-01');
    expect(await lab.json('vm', 'show', '--ids', ...ids.slice(0, 2), '--query', '[].name')).toEqual([
      'web-01',
      'db-01',
    ]);
  });

  it('[LAB-16] tsv, table, yaml and none', async () => {
    const lab = testLab();
    const say = async (...argv: string[]) => (await lab.az(...argv)).stdout;
    expect(await say('vm', 'list', '--query', '[].[name,zones,tags]', '-o', 'tsv')).toBe(
      'web-01\tNone\t\ndb-01\tNone\t\nfw-01\tNone\t\nold-01\tNone\t\n',
    );
    expect(await say('vm', 'list', '--query', "[?name=='db-01'].{n:name,l:location}", '-o', 'tsv')).toBe(
      'db-01\twesteurope\n',
    );
    expect(await say('group', 'exists', '-n', 'shop-rg', '-o', 'tsv')).toBe('true\n');
    expect(await say('group', 'list', '-o', 'none')).toBe('');
    expect(await say('group', 'list', '--query', '[].name', '-o', 'yaml')).toBe('- shop-rg\n- hub-rg\n');
    expect(await say('group', 'list', '--query', '[].{Name:name}', '-o', 'table')).toBe(
      'Name\n-------\nshop-rg\nhub-rg\n',
    );
    expect(await say('vm', 'show', '-g', 'shop-rg', '-n', 'web-01', '--query', 'powerState')).toBe('');
  });

  it('[LAB-16] keys are sorted, as the real CLI prints them', async () => {
    const { stdout } = await testLab().az('group', 'show', '-n', 'shop-rg');
    const keys = [...stdout.matchAll(/^ {2}"(\w+)"/gm)].map((m) => m[1]!);
    expect(keys).toEqual([...keys].sort());
  });

  it('help says what there is', async () => {
    const { stdout, code } = await testLab().az('network', '--help');
    expect(code).toBe(0);
    expect(stdout).toContain('watcher');
    expect((await testLab().az('vm', 'show', '-h')).stdout).toContain('--name -n');
  });
});
