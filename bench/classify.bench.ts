import { classify } from '../src/shell/classify/index.ts';
import { type Bench, type BenchRow, median } from './bench.ts';

/** What an investigation sends, in about its proportions: mostly reads of the cloud, local probes, a few changes. */
const TYPICAL: readonly string[] = [
  'az network nsg list --resource-group prod-rg -o json',
  'az network nsg rule list --nsg-name prod-nsg --resource-group prod-rg --query "[?access==\'Deny\'].{name:name,prio:priority}" -o json',
  'az vm show --name web-vm-01 --resource-group prod-rg -o json',
  'az network route-table route list -g prod-rg --route-table-name prod-rt',
  'az network nic show-effective-route-table -g prod-rg -n web-vm-01-nic -o table',
  'az network watcher test-ip-flow --vm web-vm-01 -g prod-rg --direction Outbound --protocol TCP --local 10.0.1.4:50000 --remote 10.0.2.5:6379',
  'az network watcher packet-capture show-status --location westeurope --name ghost_web-vm-01_20260115T143200 --query packetCaptureStatus -o tsv',
  'az resource show --ids /subscriptions/0/resourceGroups/prod-rg/providers/Microsoft.Compute/virtualMachines/web-vm-01 --query type -o tsv',
  'az network route-table route update -g prod-rg --route-table-name prod-rt -n to-cache --next-hop-type VnetLocal',
  'az storage container exists --account-name forensicsa --name captures --auth-mode login -o tsv',
  'ping -c 4 10.0.2.5',
  'dig redis.corp.internal @10.0.0.4 +short',
  'nslookup -type=SRV _ldap._tcp.corp.internal',
  'traceroute -n -m 15 10.0.2.5',
  'ss -tulnp',
  'curl -s -o /dev/null -w "%{http_code}" --max-time 5 https://app.example.com/health',
  'ip route get 10.0.2.5',
  'tshark -r /tmp/captures/ghost_web-vm-01.cap -Y "tcp.analysis.retransmission" -T fields -e frame.number -e ip.src',
  'mtr --report -c 10 10.0.2.5',
  'rm /tmp/captures/ghost_web-vm-01.cap',
];

/** Commands a second of processor time: what one core does, whatever else the machine is busy with. */
function rate(commands: readonly string[], milliseconds: number): number {
  const before = process.cpuUsage();
  let used = 0;
  let count = 0;
  let length = 0;
  do {
    for (let round = 0; round < 50; round += 1) {
      // A fresh string each time, so that nothing can be keyed by its identity.
      for (const command of commands)
        length += classify(`${command}${count % 7 === 0 ? ' ' : ''}`).rule.length;
      count += commands.length;
    }
    const { user, system } = process.cpuUsage(before);
    used = (user + system) / 1000;
  } while (used < milliseconds);
  if (length === 0) throw new Error('nothing was classified');
  return (count / used) * 1000;
}

function row(what: string, commands: readonly string[], target: string, quick: boolean): BenchRow {
  rate(commands, quick ? 300 : 1000);
  const runs = Array.from({ length: quick ? 5 : 9 }, () => rate(commands, quick ? 150 : 500));
  return {
    what,
    value: Math.round(median(runs)),
    unit: 'commands/s',
    target,
    inside: 'classify() from text to verdict with argv, per second of processor time, warm, no cache',
    spread: `${Math.round(Math.min(...runs))}–${Math.round(Math.max(...runs))}`,
  };
}

const SCRIPTS = TYPICAL.map((command) => `${command} 2>/dev/null && echo "$HOME" | tee /tmp/x`);

export const bench: Bench = {
  name: 'classify',
  run: async ({ quick }) => [
    row('classify typical commands', TYPICAL, '>= 200000', quick),
    row('classify the same inside chains, pipes and redirections', SCRIPTS, '', quick),
  ],
};
