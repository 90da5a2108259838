import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Json } from '../../src/core/index.ts';
import type { CommandRunner } from '../../src/flight/index.ts';
import { planRemedies, proposeFlight } from '../../src/flight/index.ts';
import { runCommands } from '../../src/flight/run-commands.ts';

const words = (line: string) => line.split(' ');
/** A cloud that answers every look with the same state. */
const plan = (line: string, state: Json) => planRemedies([words(line)], async () => ({ value: state }));

const RULE = {
  name: 'r',
  priority: 300,
  direction: 'Inbound',
  access: 'Deny',
  protocol: 'Tcp',
  description: null,
  sourceAddressPrefix: null,
  sourceAddressPrefixes: ['10.0.0.0/24', '10.1.0.0/24'],
  sourcePortRange: '*',
  sourcePortRanges: [],
  destinationAddressPrefix: '*',
  destinationAddressPrefixes: [],
  destinationPortRange: '5432',
  destinationPortRanges: [],
  groups: [],
};
const NSG = '--resource-group g --nsg-name n --name r';
const SHOWN =
  'Enable succeeded: \n[stdout]\n-P INPUT ACCEPT\n-A INPUT -i lo -j ACCEPT\n-A INPUT -p tcp --dport 80 -j DROP\n-A INPUT -j ACCEPT\n\n[stderr]\n';
const INSIDE = 'az vm run-command invoke --resource-group g --name v --command-id RunShellScript --scripts';

describe('a recommended command becomes one that can be taken back', () => {
  it.each([
    [
      `az network nsg rule delete ${NSG}`,
      RULE,
      `az network nsg rule create ${NSG} --priority 300 --direction Inbound --access Deny --protocol Tcp --source-address-prefixes 10.0.0.0/24 10.1.0.0/24 --source-port-ranges * --destination-address-prefixes * --destination-port-ranges 5432`,
    ],
    [
      `az network nsg rule update ${NSG} --access Allow --source-address-prefixes VirtualNetwork`,
      RULE,
      `az network nsg rule update ${NSG} --access Deny --source-address-prefixes 10.0.0.0/24 10.1.0.0/24`,
    ],
    [
      'az network route-table route delete -g g --route-table-name t -n r',
      { name: 'r', prefix: '10.0.2.0/24', type: 'VirtualAppliance', ip: '10.0.1.5' },
      'az network route-table route create --resource-group g --route-table-name t --name r --address-prefix 10.0.2.0/24 --next-hop-type VirtualAppliance --next-hop-ip-address 10.0.1.5',
    ],
    [
      'az vm start --resource-group g --name v',
      ['PowerState/stopped'],
      'az vm stop --resource-group g --name v',
    ],
    [
      'az vm start --resource-group g --name v',
      ['PowerState/deallocated'],
      'az vm deallocate --resource-group g --name v',
    ],
    [
      'az network nic update --resource-group g --name n --ip-forwarding true',
      false,
      'az network nic update --resource-group g --name n --ip-forwarding false',
    ],
    [
      'az network vnet subnet update --resource-group g --vnet-name v --name s --service-endpoints Microsoft.Sql Microsoft.Storage',
      ['Microsoft.Sql'],
      'az network vnet subnet update --resource-group g --vnet-name v --name s --service-endpoints Microsoft.Sql',
    ],
    [
      'az network private-dns record-set a remove-record --resource-group g --zone-name z --record-set-name a --ipv4-address 10.0.0.9',
      ['10.0.0.9'],
      'az network private-dns record-set a add-record --resource-group g --zone-name z --record-set-name a --ipv4-address 10.0.0.9',
    ],
  ])('%s', async (line, state, undo) => {
    const { commands, refused } = await plan(line, state);
    expect(refused).toEqual([]);
    expect(commands[0]?.undo?.join(' ')).toBe(undo);
    expect(commands[0]?.precondition).toMatchObject({ equals: state });
  });

  it('inside a machine: a rule of the firewall goes back to its place, a setting to its value', async () => {
    const script = async (text: string, state: Json) => {
      const { commands } = await planRemedies([[...words(INSIDE), text]], async () => ({ value: state }));
      return commands[0]?.undo?.at(-1);
    };
    expect(await script('iptables -D INPUT -p tcp --dport 80 -j DROP', SHOWN)).toBe(
      'iptables -I INPUT 2 -p tcp --dport 80 -j DROP',
    );
    expect(await script('iptables -D INPUT -j ACCEPT', SHOWN)).toBe('iptables -A INPUT -j ACCEPT');
    expect(await script('iptables -I INPUT 1 -p tcp --dport 80 -j ACCEPT', SHOWN)).toBe(
      'iptables -D INPUT -p tcp --dport 80 -j ACCEPT',
    );
    const zero = 'Enable succeeded: \n[stdout]\n0\n\n[stderr]\n';
    expect(await script('sysctl -w net.ipv4.ip_forward=1', zero)).toBe('sysctl -w net.ipv4.ip_forward=0');
  });

  it('two new rules for one group never share a priority', async () => {
    const create = (name: string) =>
      words(
        `az network nsg rule create --resource-group g --nsg-name n --name ${name} --priority 299 --direction Inbound --access Allow`,
      );
    const { commands } = await planRemedies([create('a'), create('b')], async () => ({ value: [RULE] }));
    const priorities = commands.map((c) => c.argv[c.argv.indexOf('--priority') + 1]);
    expect(priorities).toEqual(['299', '298']);
  });

  it.each([
    ['nobody knows the way back', 'az group delete --name g', {}],
    ['it is no az command', 'rm -rf /', {}],
    ['an option has no known way back', `az network nsg rule update ${NSG} --asgs x`, RULE],
    [
      'the rule cannot be written again',
      `az network nsg rule delete ${NSG}`,
      { ...RULE, groups: [{ id: 'x' }] },
    ],
    ['it runs already', 'az vm start --resource-group g --name v', ['PowerState/running']],
    ['the script does more than one thing', `${INSIDE} iptables -F; reboot`, SHOWN],
    ['the rule to remove is not there', `${INSIDE} x`, SHOWN],
    ['the name is taken', `az network nsg rule create ${NSG} --priority 100 --direction Inbound`, [RULE]],
  ])('not proposed: %s', async (_, line, state) => {
    const { commands, refused } = await plan(line, state as Json);
    expect(commands).toEqual([]);
    expect(refused).toHaveLength(1);
  });

  it('what cannot be read is not proposed', async () => {
    const { refused } = await planRemedies([words(`az network nsg rule delete ${NSG}`)], async () => ({
      problem: 'denied',
    }));
    expect(refused[0]?.why).toContain('could not be read: denied');
  });

  it('is written as a workflow for a role', () => {
    const text = proposeFlight({
      id: 'x',
      commands: [{ argv: ['do'], undo: ['undo'], precondition: { argv: ['look'], equals: { a: [1] } } }],
      checks: [{ argv: ['check'], equals: 'Reachable', must_fail_first: true }],
      role: 'network-lead',
    });
    const [step] = parse(text).steps;
    expect(step.approval.role).toBe('network-lead');
    expect(step.config.commands[0].precondition).toEqual({ argv: ['look'], equals: { a: [1] } });
  });
});

describe('the take-off of a proposal', () => {
  /** Answers of each command, one after the other, the last one for good. */
  function runner(answers: Record<string, readonly string[]>): CommandRunner & { readonly ran: string[] } {
    const ran: string[] = [];
    return {
      ran,
      judge: () => ({ evaluator: 'shell', verdict: 'allow', rule: 'test', reason: 'test' }),
      run: async ([name = '']) => {
        const all = answers[name] ?? [''];
        const output = all[Math.min(ran.filter((r) => r === name).length, all.length - 1)] ?? '';
        ran.push(name);
        return { exitCode: 0, output, error: null };
      },
    };
  }
  const why = { reasoning: 'test', approver: 'ada' };
  const remedy = {
    commands: [{ argv: ['do'], undo: ['undo'], precondition: { argv: ['look'], equals: { state: 'Deny' } } }],
    checks: [{ argv: ['check'], equals: 'Reachable', must_fail_first: true }],
  };
  const state = JSON.stringify({ state: 'Deny' });

  it('does, checks by what is answered, and is done', async () => {
    const shell = runner({ look: [state], check: ['Unreachable', 'Reachable'] });
    const done = await runCommands(remedy, shell, why);
    expect(done).toMatchObject({ ok: true });
    expect(shell.ran).toEqual(['look', 'check', 'do', 'check']);
  });

  it('stops before anything when somebody changed it meanwhile', async () => {
    const shell = runner({ look: [JSON.stringify({ state: 'Allow' })] });
    const { ok, reason } = await runCommands(remedy, shell, why);
    expect(ok).toBe(false);
    expect(reason).toContain('answers {"state":"Allow"} where {"state":"Deny"} is expected');
    expect(shell.ran).toEqual(['look']);
  });

  it('stops before anything when the fault is gone already', async () => {
    const shell = runner({ look: [state], check: ['Reachable'] });
    const { ok, reason } = await runCommands(remedy, shell, why);
    expect(ok).toBe(false);
    expect(reason).toContain('passes already');
    expect(shell.ran).toEqual(['look', 'check']);
  });

  it('undoes when the check still fails, and says whether all is as before', async () => {
    const back = runner({ look: [state], check: ['Unreachable'] });
    const undone = await runCommands(remedy, back, why);
    expect(undone.reason).toMatch(/what was done has been undone$/);
    expect(back.ran).toEqual(['look', 'check', 'do', 'check', 'undo', 'look']);
    const other = runner({ look: [state, '{}'], check: ['Unreachable'] });
    expect((await runCommands(remedy, other, why)).reason).toContain('does not read as before: look');
  });
});
