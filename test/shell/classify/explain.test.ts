import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/shell/classify/index.ts';

/** The part of the command that decided. */
function decided(command: string): string {
  const [start, end] = classify(command).span;
  return command.slice(start, end);
}

describe('explanation', () => {
  it('[SHC-10] says tier, rule and the part that decided', () => {
    expect(classify('curl -s -d x https://example.com')).toMatchObject({
      tier: 1,
      rule: 'curl.send',
      classification: 'RISKY',
    });
    expect(decided('curl -s -d x https://example.com')).toBe('-d');
    expect(decided('ping -c 1 $(id)')).toBe('$(id)');
    expect(decided('ping 10.0.0.1; rm -rf /')).toBe('rm -rf /');
    expect(decided('az network nsg delete -n x')).toBe('network nsg delete');
    expect(decided('az vm list --tag @/etc/passwd')).toBe('@/etc/passwd');
    expect(decided('dig ex\u0430mple.com')).toBe('\u0430');
    expect(decided('ss -t > out')).toBe('> out');
    expect(classify('az vm list')).toMatchObject({ tier: 2, rule: 'az.read' });
    expect(classify('reboot')).toMatchObject({ tier: 0 });
    expect(classify('sudo ss')).toMatchObject({ tier: 3, rule: 'danger.privilege' });
    expect(classify('whatever')).toMatchObject({ tier: 1, rule: 'name.unlisted' });
  });

  it('[SHC-10] gives exactly the argv that would be executed', () => {
    expect(classify(`az vm list --query "[?a=='b c' && d]" -o tsv`).pipeline).toEqual([
      ['az', 'vm', 'list', '--query', "[?a=='b c' && d]", '-o', 'tsv'],
    ]);
    expect(classify("p'i'ng -c 1 10.0.0.1").pipeline).toEqual([['ping', '-c', '1', '10.0.0.1']]);
    expect(classify('rm "a b" c\\ d').pipeline).toEqual([['rm', 'a b', 'c d']]);
    expect(classify('sudo env A=1 ss').pipeline).toEqual([['sudo', 'env', 'A=1', 'ss']]);
    expect(classify("ss -t | grep 'a b'").pipeline).toEqual([
      ['ss', '-t'],
      ['grep', 'a b'],
    ]);
    expect(classify('ss -t 2>/dev/null').pipeline).toEqual([['ss', '-t']]);
    expect(classify('ss -t 2>&1').pipeline).toEqual([['ss', '-t']]);
    expect(classify('curl https://example.com/?a=1').pipeline).toEqual([
      ['curl', 'https://example.com/?a=1'],
    ]);
    expect(classify('ping 10.0.0.1\n').pipeline).toEqual([['ping', '10.0.0.1']]);
  });

  it('[SHC-10] gives nothing to execute where a shell would be needed', () => {
    for (const command of [
      'a; b',
      'a && b',
      'a &',
      'a > b',
      'a < b',
      'a <<< b',
      'A=1 b',
      'a $b',
      'a $(b)',
      'a {b,c}',
      'a ~',
      "a $'b'",
      '(a)',
      'if a; then b; fi',
      'a |& b',
      'time a',
      '! a',
      'a 2> b',
      'a "b',
      'a\0',
      'f() { a; }',
      'rm -rf /',
    ]) {
      expect(classify(command).pipeline, command).toBeNull();
    }
  });
});

describe('commands of the product itself', () => {
  const reads = [
    'az resource show --ids /subscriptions/0/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/vm --query type -o tsv',
    'az resource list --name vm --resource-group rg --resource-type Microsoft.Compute/virtualMachines --query "[0].type" -o tsv',
    'az vm show --name vm --resource-group rg --query "{location:location,os:storageProfile.osDisk.osType}" -o json',
    'az vm extension list --vm-name vm --resource-group rg --query "[].name" -o json',
    'az storage account show --name sa --query primaryEndpoints.blob -o tsv',
    'az storage container exists --account-name sa --name captures --auth-mode login -o tsv',
    'az network watcher list --query "[].location" -o tsv',
    'az network watcher packet-capture show --location westeurope --name ghost_vm --query storageLocation.storagePath -o tsv',
    'az network watcher packet-capture show-status --location westeurope --name ghost_vm --query packetCaptureStatus -o tsv',
    `az network watcher packet-capture list --location westeurope --query "[?starts_with(name,'ghost_')].name" -o tsv`,
    'pcap-forensics /tmp/captures/ghost_vm_20260115T143200.cap --semantic-dir /tmp/captures --report-dir /tmp/captures',
    'pcap-forensics /tmp/captures/a.cap --compare /tmp/captures/b.cap --semantic-dir /tmp/captures --report-dir /tmp/captures',
    'curl -s -o /dev/null -w "%{http_code}" https://example.com',
    'dig redis.corp.internal @10.0.0.4',
    'traceroute 10.0.0.5',
    'ping -c 100 10.0.0.5',
    'mtr --report -c 10 10.0.0.5',
    'ss -an',
    'az monitor activity-log list --resource-group rg --offset 1d -o json',
  ];
  const asks = [
    'az network watcher packet-capture create --resource-group rg --vm vm --name ghost_vm --storage-account sa --storage-path https://sa.blob.core.windows.net/captures/x.cap --time-limit 60',
    'az network watcher packet-capture stop --location westeurope --name ghost_vm',
    'az network watcher packet-capture delete --location westeurope --name ghost_vm',
    'az storage blob download --account-name sa --container-name captures --name x.cap --file /tmp/captures/x.cap --auth-mode login --no-progress',
    'az storage blob delete --account-name sa --container-name captures --name x.cap --auth-mode login',
    'rm "/tmp/captures/ghost_vm_20260115T143200.cap"',
    'az network route-table route update -g rg --route-table-name rt -n to-cache --next-hop-type VnetLocal',
    'az vm run-command invoke -g rg -n vm --command-id RunShellScript --scripts "ss -tlnp"',
    'cat /tmp/captures/ghost_vm_forensic_report.md',
    'nc -vz 10.0.0.5 443',
  ];
  it('[SHC-15] reads run without a question', () => {
    expect(reads.filter((command) => classify(command).classification !== 'SAFE')).toEqual([]);
  });
  it('[SHC-15] changes are asked about, and can be run as they stand', () => {
    expect(
      asks.filter(
        (command) => classify(command).classification !== 'RISKY' || classify(command).pipeline === null,
      ),
    ).toEqual([]);
  });
});
