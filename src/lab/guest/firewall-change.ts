/** Changes to a VM's firewall: rules as people type them, added, inserted, replaced, deleted. */
import { fail, out, type ToolResult } from '../tools/context.ts';
import type { Chain, OsRule } from '../world/types.ts';
import { linesOf } from './firewall-lines.ts';
import type { Machine } from './machine.ts';

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

export function changeFirewall(
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
