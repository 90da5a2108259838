/** iptables, nft, ufw: the VM's own firewall, shown and changed. */
import { trace } from '../network/trace.ts';
import { fail, out, type ToolResult } from '../tools/context.ts';
import { CHAINS, type Chain, type OsRule } from '../world/types.ts';
import type { GuestCommand, GuestCommands, Machine } from './machine.ts';

/** A line of a chain: one of the world's rules, or one that stands for what every such firewall has. */
interface Line {
  readonly rule: OsRule | null;
  /** Place in the world's list; null for what is implied. */
  readonly index: number | null;
  readonly spec: string;
  readonly target: string;
  readonly detail: string;
}

/** Replies pass and loopback is free wherever there is a firewall at all; an appliance drops what it never saw begin. */
function implied(machine: Machine, chain: Chain): readonly Line[] {
  const { vm } = machine;
  const active = vm.os_policy[chain] === 'DROP' || vm.os_firewall.some((r) => r.chain === chain);
  const stateful = chain === 'FORWARD' && vm.ip_forwarding;
  const line = (spec: string, target: string, detail: string): Line => ({
    rule: null,
    index: null,
    spec,
    target,
    detail,
  });
  return [
    ...(active && chain !== 'FORWARD' ? [line(chain === 'INPUT' ? '-i lo' : '-o lo', 'ACCEPT', '')] : []),
    ...(active || stateful
      ? [line('-m conntrack --ctstate RELATED,ESTABLISHED', 'ACCEPT', 'ctstate RELATED,ESTABLISHED')]
      : []),
    ...(stateful ? [line('-m conntrack --ctstate INVALID', 'DROP', 'ctstate INVALID')] : []),
  ];
}

function linesOf(machine: Machine, chain: Chain): readonly Line[] {
  const own = machine.vm.os_firewall.flatMap((rule, index) =>
    rule.chain === chain ? [{ rule, index }] : [],
  );
  return [
    ...implied(machine, chain),
    ...own.map(
      ({ rule, index }): Line => ({
        rule,
        index,
        spec: specOf(rule),
        target: rule.action,
        detail: detailOf(rule),
      }),
    ),
  ];
}

/** iptables writes ranges with a colon. */
function ports(rule: OsRule): { readonly option: string; readonly text: string } | null {
  if (rule.port === null) return null;
  const text = rule.port.map((p) => p.replace('-', ':')).join(',');
  return rule.port.length > 1 ? { option: '-m multiport --dports', text } : { option: '--dport', text };
}

function specOf(rule: OsRule): string {
  const p = ports(rule);
  const protocol = rule.protocol === 'all' && p ? 'tcp' : rule.protocol;
  return [
    rule.source === null ? '' : `-s ${slash32(rule.source)}`,
    rule.destination === null ? '' : `-d ${slash32(rule.destination)}`,
    protocol === 'all' ? '' : `-p ${protocol}`,
    p ? (p.option === '--dport' ? `-m ${protocol} --dport ${p.text}` : `${p.option} ${p.text}`) : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function slash32(text: string): string {
  return text.includes('/') ? text : `${text}/32`;
}

function detailOf(rule: OsRule): string {
  const p = ports(rule);
  if (!p) return '';
  const protocol = rule.protocol === 'all' ? 'tcp' : rule.protocol;
  if (p.option !== '--dport') return `multiport dports ${p.text}`;
  return `${protocol} ${p.text.includes(':') ? 'dpts' : 'dpt'}:${p.text}`;
}

function asCommands(machine: Machine, chain?: Chain): string {
  const chains = chain === undefined ? CHAINS.toSorted((a, b) => ORDER[a] - ORDER[b]) : [chain];
  const policies = chains.map((c) => `-P ${c} ${machine.vm.os_policy[c]}\n`);
  const rules = chains.flatMap((c) =>
    linesOf(machine, c).map(
      (l) =>
        `-A ${c} ${l.spec === '' ? '' : `${l.spec} `}-j ${l.target}${l.target === 'REJECT' ? ' --reject-with icmp-port-unreachable' : ''}\n`,
    ),
  );
  return [...policies, ...rules].join('');
}

const ORDER: Record<Chain, number> = { INPUT: 0, FORWARD: 1, OUTPUT: 2 };

function asTable(machine: Machine, only: Chain | undefined, verbose: boolean, numbered: boolean): string {
  const chains = only === undefined ? CHAINS.toSorted((a, b) => ORDER[a] - ORDER[b]) : [only];
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
  const protocol =
    l.rule === null ? 'all' : l.rule.protocol === 'all' && l.rule.port !== null ? 'tcp' : l.rule.protocol;
  const source = (l.rule?.source ?? '0.0.0.0/0').padEnd(20);
  const destination = (l.rule?.destination ?? '0.0.0.0/0').padEnd(20);
  const extra = `${l.detail}${l.target === 'REJECT' ? ' reject-with icmp-port-unreachable' : ''}`;
  if (!verbose)
    return `${l.target.padEnd(10)} ${protocol.padEnd(4)} --  ${source} ${destination} ${extra}`.trimEnd();
  const n = l.rule === null ? (l.target === 'DROP' ? 0 : 15_870) : hits(machine, chain, l.rule);
  const [inward, outward] = [l.spec === '-i lo' ? 'lo' : '*', l.spec === '-o lo' ? 'lo' : '*'];
  return `${String(n).padStart(5)} ${String(n * 60).padStart(5)} ${l.target.padEnd(10)} ${protocol.padEnd(4)} --  ${inward.padEnd(6)} ${outward.padEnd(6)} ${source} ${destination} ${extra}`.trimEnd();
}

/** How often a rule (or, for null, the policy) has met the world's traffic. */
function hits(machine: Machine, chain: Chain, rule: OsRule | null): number {
  const hour = 3_600_000 + (machine.now - machine.start);
  return machine.world.flows.reduce((sum, flow) => {
    const found = trace(machine.world, {
      from: { kind: 'vm', name: flow.from },
      to: flow.to,
      protocol: flow.protocol,
      port: flow.port,
    });
    const met = found.request?.stations.some(
      (s) =>
        s.kind === 'os_firewall' &&
        s.vm === machine.name &&
        s.chain === chain &&
        s.rule === rule &&
        s.action !== (rule === null ? 'ACCEPT' : ''),
    );
    return met ? sum + Math.ceil(hour / flow.every_ms) : sum;
  }, 0);
}

/** `-p tcp --dport 8080 -s 10.0.0.0/8 -j DROP` → a rule. */
function parseSpec(words: readonly string[], chain: Chain): OsRule | undefined {
  const rule: { -readonly [K in keyof OsRule]: OsRule[K] } = {
    chain,
    protocol: 'all',
    port: null,
    source: null,
    destination: null,
    action: 'ACCEPT',
  };
  for (let i = 0; i < words.length; i++) {
    const value = () => words[++i] ?? '';
    switch (words[i]) {
      case '-p':
      case '--protocol': {
        const p = value().toLowerCase();
        if (p !== 'tcp' && p !== 'udp' && p !== 'icmp' && p !== 'all') return undefined;
        rule.protocol = p;
        break;
      }
      case '--dport':
      case '--dports':
      case '--destination-port':
        rule.port = value()
          .split(',')
          .map((p) => p.replace(':', '-'));
        break;
      case '-s':
      case '--source':
        rule.source = bare(value());
        break;
      case '-d':
      case '--destination':
        rule.destination = bare(value());
        break;
      case '-j':
      case '--jump': {
        const action = value().toUpperCase();
        if (action !== 'ACCEPT' && action !== 'DROP' && action !== 'REJECT') return undefined;
        rule.action = action;
        break;
      }
      case '-m':
      case '--match':
      case '--reject-with':
      case '--comment':
        value();
        break;
      default:
        return undefined;
    }
  }
  return rule;
}

function bare(text: string): string | null {
  return text === '0.0.0.0/0' ? null : text.replace(/\/32$/, '');
}

function sameRule(a: OsRule, b: OsRule): boolean {
  return (
    a.chain === b.chain &&
    a.action === b.action &&
    (a.protocol === b.protocol || (a.protocol === 'all' && a.port !== null && b.protocol === 'tcp')) &&
    bare(a.source ?? '0.0.0.0/0') === b.source &&
    bare(a.destination ?? '0.0.0.0/0') === b.destination &&
    (a.port ?? []).join() === (b.port ?? []).join()
  );
}

const iptables: GuestCommand = (argv, machine) => {
  const words = argv.filter((w) => w !== '-w' && w !== '--wait' && w !== '-n' && w !== '--numeric');
  const table = words.includes('-t') ? words[words.indexOf('-t') + 1] : 'filter';
  const rest = words.filter((w, i) => w !== '-t' && words[i - 1] !== '-t');
  const letters = rest.filter((w) => /^-[a-zA-Z]+$/.test(w)).join('');
  if (table !== 'filter') return out(emptyTable(table ?? 'nat', letters.includes('S')));
  const chain = rest.map((w) => CHAINS.find((c) => c === w)).find((c) => c !== undefined);
  const verb = rest.find((w) => /^-[ADIFPR]$/.test(w));
  if (verb !== undefined) return change(verb, rest, chain, machine);
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

function change(
  verb: string,
  words: readonly string[],
  chain: Chain | undefined,
  machine: Machine,
): ToolResult {
  const rules = machine.vm.os_firewall;
  const store = (next: readonly OsRule[]) => {
    machine.change([{ op: 'replace', path: `${machine.path}/os_firewall`, value: next }]);
    return out('');
  };
  if (verb === '-F') return store(chain === undefined ? [] : rules.filter((r) => r.chain !== chain));
  if (chain === undefined) return fail('iptables: No chain/target/match by that name.\n', 1);
  const after = words.slice(words.indexOf(chain) + 1);
  if (verb === '-P') {
    const policy = after[0]?.toUpperCase();
    if (policy !== 'ACCEPT' && policy !== 'DROP') return fail('iptables: Bad policy name.\n', 1);
    machine.change([{ op: 'replace', path: `${machine.path}/os_policy/${chain}`, value: policy }]);
    return out('');
  }
  const shown = linesOf(machine, chain);
  const number = /^\d+$/.test(after[0] ?? '') ? Number(after[0]) : undefined;
  if (verb === '-D' && number !== undefined) {
    const line = shown[number - 1];
    if (line === undefined) return fail('iptables: Index of deletion too big.\n', 1);
    // What is implied cannot go: the world's firewall is stateful.
    return line.index === null ? out('') : store(rules.filter((_, i) => i !== line.index));
  }
  const rule = parseSpec(number === undefined ? after : after.slice(1), chain);
  if (!rule)
    return fail(
      "iptables v1.8.7 (nf_tables): unknown option\nTry `iptables -h' or 'iptables --help' for more information.\n",
      2,
    );
  if (verb === '-D') {
    const at = rules.findIndex((r) => sameRule(r, rule));
    return at < 0
      ? fail('iptables: Bad rule (does a matching rule exist in that chain?).\n', 1)
      : store(rules.filter((_, i) => i !== at));
  }
  if (verb === '-A') return store([...rules, rule]);
  const place = shown[(number ?? 1) - 1]?.index ?? rules.findIndex((r) => r.chain === chain);
  if (verb === '-R')
    return place === null || place < 0
      ? fail('iptables: Index of replacement too big.\n', 1)
      : store(rules.map((r, i) => (i === place ? rule : r)));
  return store(
    place === null || place < 0 ? [...rules, rule] : [...rules.slice(0, place), rule, ...rules.slice(place)],
  );
}

const nft: GuestCommand = (_argv, machine) => {
  const chain = (c: Chain) => {
    const rules = linesOf(machine, c).map((l) => `\t\t${nftRule(l)}\n`);
    return `\tchain ${c} {\n\t\ttype filter hook ${c.toLowerCase()} priority filter; policy ${machine.vm.os_policy[c].toLowerCase()};\n${rules.join('')}\t}\n`;
  };
  return out(
    `table ip filter {\n${CHAINS.toSorted((a, b) => ORDER[a] - ORDER[b])
      .map(chain)
      .join('\n')}}\n`,
  );
};

function nftRule(l: Line): string {
  if (l.rule === null)
    return l.spec.startsWith('-m')
      ? `ct state ${l.detail.replace('ctstate ', '').toLowerCase()} counter ${l.target.toLowerCase()}`
      : `${l.spec.startsWith('-i') ? 'iifname' : 'oifname'} "lo" counter accept`;
  const { source, destination, protocol, port, action } = l.rule;
  const p = protocol === 'all' && port ? 'tcp' : protocol;
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
