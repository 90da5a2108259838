/** iptables, nft, ufw: the VM's own firewall, shown and changed. */
import { out } from '../tools/context.ts';
import { CHAINS, type Chain } from '../world/types.ts';
import { changeFirewall } from './firewall-change.ts';
import { CHAINS_IN_ORDER, hits, type Line, linesOf } from './firewall-lines.ts';
import type { GuestCommand, GuestCommands, Machine } from './machine.ts';

function asCommands(machine: Machine, chain?: Chain): string {
  const chains = chain === undefined ? CHAINS_IN_ORDER : [chain];
  const policies = chains.map((c) => `-P ${c} ${machine.vm.os_policy[c]}\n`);
  const rules = chains.flatMap((c) =>
    linesOf(machine, c).map(
      (l) =>
        `-A ${c} ${l.spec === '' ? '' : `${l.spec} `}-j ${l.target}${l.target === 'REJECT' ? ' --reject-with icmp-port-unreachable' : ''}\n`,
    ),
  );
  return [...policies, ...rules].join('');
}

function asTable(machine: Machine, only: Chain | undefined, verbose: boolean, numbered: boolean): string {
  const chains = only === undefined ? CHAINS_IN_ORDER : [only];
  return chains
    .map((chain) => {
      const head = verbose
        ? `Chain ${chain} (policy ${machine.vm.os_policy[chain]} ${machine.vm.os_policy[chain] === 'DROP' ? hits(machine, chain, null) : 1042} packets, ${machine.vm.os_policy[chain] === 'DROP' ? hits(machine, chain, null) * 60 : 81_233} bytes)\n${numbered ? 'num  ' : ''} pkts bytes target     prot opt in     out     source               destination\n`
        : `Chain ${chain} (policy ${machine.vm.os_policy[chain]})\n${numbered ? 'num  ' : ''}target     prot opt source               destination\n`;
      return (
        head +
        linesOf(machine, chain)
          .map(
            (l, i) => `${numbered ? `${String(i + 1).padEnd(5)}` : ''}${row(machine, chain, l, verbose)}\n`,
          )
          .join('')
      );
    })
    .join('\n');
}

function row(machine: Machine, chain: Chain, l: Line, verbose: boolean): string {
  const { protocol } = l;
  const source = (l.rule?.source ?? '0.0.0.0/0').padEnd(20);
  const destination = (l.rule?.destination ?? '0.0.0.0/0').padEnd(20);
  const extra = `${l.detail}${l.target === 'REJECT' ? ' reject-with icmp-port-unreachable' : ''}`;
  if (!verbose)
    return `${l.target.padEnd(10)} ${protocol.padEnd(4)} --  ${source} ${destination} ${extra}`.trimEnd();
  const n = l.rule === null ? (l.target === 'DROP' ? 0 : 15_870) : hits(machine, chain, l.rule, l.protocol);
  const [inward, outward] = [l.spec === '-i lo' ? 'lo' : '*', l.spec === '-o lo' ? 'lo' : '*'];
  return `${String(n).padStart(5)} ${String(n * 60).padStart(5)} ${l.target.padEnd(10)} ${protocol.padEnd(4)} --  ${inward.padEnd(6)} ${outward.padEnd(6)} ${source} ${destination} ${extra}`.trimEnd();
}

const iptables: GuestCommand = (argv, machine) => {
  const words = argv.filter((w) => w !== '-w' && w !== '--wait' && w !== '-n' && w !== '--numeric');
  const table = words.includes('-t') ? words[words.indexOf('-t') + 1] : 'filter';
  const rest = words.filter((w, i) => w !== '-t' && words[i - 1] !== '-t');
  const letters = rest.filter((w) => /^-[a-zA-Z]+$/.test(w)).join('');
  if (table !== 'filter') return out(emptyTable(table ?? 'nat', letters.includes('S')));
  const chain = rest.map((w) => CHAINS.find((c) => c === w)).find((c) => c !== undefined);
  const verb = rest.find((w) => /^-[ADIFPR]$/.test(w));
  if (verb !== undefined) return changeFirewall(verb, rest, chain, machine);
  if (letters.includes('S') || rest.includes('--list-rules')) return out(asCommands(machine, chain));
  return out(asTable(machine, chain, letters.includes('v'), rest.includes('--line-numbers')));
};

function emptyTable(table: string, commands: boolean): string {
  const chains =
    table === 'nat'
      ? ['PREROUTING', 'INPUT', 'OUTPUT', 'POSTROUTING']
      : ['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'];
  if (commands) return chains.map((c) => `-P ${c} ACCEPT\n`).join('');
  return chains
    .map((c) => `Chain ${c} (policy ACCEPT)\ntarget     prot opt source               destination\n`)
    .join('\n');
}

const nft: GuestCommand = (_argv, machine) => {
  const chain = (c: Chain) => {
    const rules = linesOf(machine, c).map((l) => `\t\t${nftRule(l)}\n`);
    return `\tchain ${c} {\n\t\ttype filter hook ${c.toLowerCase()} priority filter; policy ${machine.vm.os_policy[c].toLowerCase()};\n${rules.join('')}\t}\n`;
  };
  return out(`table ip filter {\n${CHAINS_IN_ORDER.map(chain).join('\n')}}\n`);
};

function nftRule(l: Line): string {
  if (l.rule === null)
    return l.spec.startsWith('-m')
      ? `ct state ${l.detail.replace('ctstate ', '').toLowerCase()} counter ${l.target.toLowerCase()}`
      : `${l.spec.startsWith('-i') ? 'iifname' : 'oifname'} "lo" counter accept`;
  const { source, destination, port, action } = l.rule;
  const p = l.protocol;
  return [
    source === null ? '' : `ip saddr ${source}`,
    destination === null ? '' : `ip daddr ${destination}`,
    port
      ? `${p} dport ${port.length > 1 ? `{ ${port.join(', ')} }` : port[0]}`
      : p === 'all'
        ? ''
        : `ip protocol ${p}`,
    `counter ${action.toLowerCase()}`,
  ]
    .filter((part) => part !== '')
    .join(' ');
}

export const firewallCommands: GuestCommands = {
  iptables,
  'iptables-save': (_argv, machine) =>
    out(`*filter\n${asCommands(machine).replace(/^-P (\w+) (\w+)$/gm, ':$1 $2 [0:0]')}COMMIT\n`),
  nft,
  // The rules of the lab are plain iptables; ufw is installed and off, as on a fresh Ubuntu.
  ufw: () => out('Status: inactive\n'),
};
