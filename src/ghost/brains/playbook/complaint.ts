import type { Inventory, Subnet, Vm } from './inventory.ts';
import { vmAt } from './inventory.ts';
import type { Symptom } from './symptom.ts';

/** Who complains about whom: the conversations that are said to fail, and those said to work. */
export interface Complaint {
  readonly clients: readonly Vm[];
  readonly servers: readonly Vm[];
  /** Machines the text says are fine: good for comparison. */
  readonly controls: readonly Vm[];
  readonly storageAccounts: readonly string[];
  readonly hostNames: readonly string[];
  /** Addresses in the text that belong to no machine. */
  readonly strangers: readonly string[];
}

const NEGATIVE =
  /\b(cannot|can't|can not|could not|couldn't|not|no longer|never|neither|nor|unable|fails?|failed|failing|failures?|down|dead|gone|lost|loses?|losing|hangs?|hanging|time[sd]? ?out|timeouts?|timing out|refus\w+|reset\w*|unreachable|broken|breaks?|slow\w*|stall\w*|drop\w*|stuck|errors?|wrong|stopp?ed|stops?|intermittent\w*|nothing|crawl\w*|corrupt\w*|garbled|out)\b/i;
const POSITIVE =
  /\b(works?|working|fine|healthy|still (reads?|writes?|reach\w*|connect\w*|answers?|serves?)|reachable|ok|okay|succeeds?|answers?|unaffected|no (trouble|problem|issue)s?|without (trouble|problem|issue)s?|is running|are running|normal\w*)\b/i;

/** Clauses rather than sentences: "A cannot reach B, but C works" speaks of two things. */
function clauses(text: string): readonly string[] {
  return text
    .split(/(?<=[.!?;])\s+|,?\s+\b(?:but|while|whereas|although|though|yet|however)\b\s+/i)
    .filter((c) => c.trim() !== '');
}

export function readComplaint(
  symptom: Symptom,
  inventory: Inventory,
  accounts: readonly string[],
): Complaint {
  const mentions = inventory.vms.filter((vm) => mentioned(symptom.text, vm));
  const roles = new Map(mentions.map((vm) => [vm.name, roleOf(symptom, vm)]));
  const controls = mentions.filter((vm) => isControl(symptom, vm));
  const involved = mentions.filter((vm) => !controls.includes(vm));
  const storageAccounts = accounts.filter((a) => new RegExp(`\\b${pattern(a)}\\b`, 'i').test(symptom.text));
  const hostNames = symptom.hostNames.filter(
    (h) => !/\.(blob|file|queue|table|dfs)\.core\.windows\.net$/.test(h),
  );
  const strangers = symptom.addresses.filter((a) => vmAt(inventory, a) === undefined);
  const { clients, servers } = assign(
    involved,
    roles,
    symptom,
    inventory,
    storageAccounts.length > 0 || hostNames.length > 0 || strangers.length > 0,
  );
  return { clients, servers, controls, storageAccounts, hostNames, strangers };
}

function mentioned(text: string, vm: Vm): boolean {
  return (
    new RegExp(`(?<![\\w-])${pattern(vm.name)}(?![\\w-])`, 'i').test(text) ||
    new RegExp(`(?<![\\d.])${pattern(vm.ip)}(?![\\d.])`).test(text)
  );
}

/** A machine named only where things are said to work. */
function isControl(symptom: Symptom, vm: Vm): boolean {
  const own = clauses(symptom.text).filter((c) => mentioned(c, vm));
  return own.length > 0 && own.every((c) => POSITIVE.test(c) && !NEGATIVE.test(c.replace(POSITIVE, '')));
}

const BEFORE_SERVER =
  /\b(reach(es|ing)?|to|into|towards?|access(es|ing)?|contact(s|ing)?|against|mount(s|ing)?( .{0,20})? from|pull(s|ing)? from|read(s|ing)? from|load(s|ing)? from|fetch(es|ing)? from|download(s|ing)? from|behind|on|at|query(ing)?|queries|ping(s|ing)?|call(s|ing)?|connect(s|ing)? (to|with)|server|service on|listener on|api on|database( on)?|open)\s+(the\s+)?(\w+\s+){0,2}$/i;
const BEFORE_CLIENT =
  /\b(from|by|client|users? (of|on|behind)|jobs on|workers? on|app on)\s+(the\s+)?(\w+\s+){0,1}$/i;
const AFTER_CLIENT =
  /^[^.;]{0,60}?\b(cannot|can't|can not|could not|couldn't|fails? to|failed to|unable to|no longer|reaches? (neither|no)|do(es)? not (reach|get|connect)|hangs?( on)?|times? out|gets? (no|nothing|a |an )|sees?|loses?|lost|waits?|has to wait|complains?|connects?|sends?|uploads?|downloads?|pulls?|pushes?|queries|reads?|writes?)\b/i;
const AFTER_SERVER =
  /^[^.;]{0,40}?\b(is|are) (down|dead|gone|slow|unreachable|not (reachable|answering|responding)|refusing|resetting)|^[^.;]{0,40}?\b(does not answer|stopped answering|refuses|resets|never answers|not reachable|times out for)\b/i;

/** Positive: spoken of as the one that is reached; negative: as the one that reaches. */
function roleOf(symptom: Symptom, vm: Vm): number {
  let score = 0;
  const patterns = [pattern(vm.name), pattern(vm.ip)];
  for (const match of symptom.text.matchAll(
    new RegExp(`(?<![\\w.-])(?:${patterns.join('|')})(?![\\w-])`, 'gi'),
  )) {
    const before = symptom.text.slice(Math.max(0, match.index - 60), match.index).replace(/[(]$/, '');
    const after = symptom.text
      .slice(match.index + match[0].length, match.index + match[0].length + 90)
      .replace(/^\s*\([^)]*\)/, '');
    if (BEFORE_CLIENT.test(before)) score -= 2;
    else if (BEFORE_SERVER.test(before)) score += 2;
    if (AFTER_SERVER.test(after)) score += 2;
    else if (AFTER_CLIENT.test(after)) score -= 2;
    if (/^:\d{2,5}\b/.test(after)) score += 3;
  }
  return score;
}

function assign(
  involved: readonly Vm[],
  roles: ReadonlyMap<string, number>,
  symptom: Symptom,
  inventory: Inventory,
  otherTarget: boolean,
): { readonly clients: readonly Vm[]; readonly servers: readonly Vm[] } {
  const score = (vm: Vm) => roles.get(vm.name) ?? 0;
  let servers: readonly Vm[] = involved.filter((vm) => score(vm) > 0);
  let clients: readonly Vm[] = involved.filter((vm) => score(vm) < 0);
  const unsure = involved.filter((vm) => score(vm) === 0);
  if (clients.length === 0 && unsure.length > 0 && (servers.length > 0 || otherTarget)) clients = unsure;
  else if (servers.length === 0 && unsure.length > 0) servers = unsure;
  else if (clients.length === 0 && servers.length === 0 && involved.length > 1) {
    clients = involved.slice(0, 1);
    servers = involved.slice(1);
  } else if (clients.length > 0 && servers.length > 0) {
    // A machine without a clear role beside named ones: first mentioned ones mostly complain.
    const firstServer = Math.min(...servers.map((s) => symptom.text.indexOf(s.name)));
    clients = [...clients, ...unsure.filter((vm) => symptom.text.indexOf(vm.name) < firstServer)];
  }
  // Two servers and nobody who reaches them, or the reverse: the first named is the other side.
  if (clients.length === 0 && servers.length > 1 && !otherTarget) {
    const ordered = [...servers].sort((a, b) => score(a) - score(b));
    if (score(ordered[0]!) < score(ordered.at(-1)!)) {
      clients = [ordered[0]!];
      servers = servers.filter((s) => s !== clients[0]);
    }
  }
  if (servers.length === 0 && clients.length > 1 && !otherTarget) {
    const ordered = [...clients].sort((a, b) => score(b) - score(a));
    servers = [ordered[0]!];
    clients = clients.filter((c) => c !== servers[0]);
  }
  if (clients.length === 0) clients = subnetClients(symptom, inventory, servers);
  return { clients, servers };
}

/** "VMs in prod-subnet": any machine of a subnet or network that is named. */
function subnetClients(symptom: Symptom, inventory: Inventory, servers: readonly Vm[]): readonly Vm[] {
  const named = (subnet: Subnet) =>
    new RegExp(`(?<![\\w-])${pattern(subnet.name)}(?![\\w-])`, 'i').test(symptom.text) ||
    new RegExp(`(?<![\\w-])${pattern(subnet.vnet.name)}(?![\\w-])`, 'i').test(symptom.text);
  const machines = inventory.vms.filter((vm) => named(vm.subnet) && !servers.includes(vm) && !vm.forwarding);
  const perSubnet = new Map(machines.map((vm) => [`${vm.subnet.vnet.name}/${vm.subnet.name}`, vm]));
  return [...perSubnet.values()].slice(0, 2);
}

function pattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
