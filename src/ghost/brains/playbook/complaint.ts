import { type Inventory, type Subnet, type Vm, vmAt } from './inventory.ts';
import type { Symptom } from './symptom.ts';

/** Who is said to reach whom, on what, and whether it is said to work. */
export interface Conversation {
  /** Null when the text does not say from where. */
  readonly client: Vm | null;
  readonly server: Vm;
  readonly port: number | null;
  /** The text speaks of a refusal or a reset right here. */
  readonly refused: boolean;
}

export interface Complaint {
  readonly conversations: readonly Conversation[];
  readonly clients: readonly Vm[];
  /** Machines the text says are fine: good for comparison. */
  readonly controls: readonly Vm[];
  readonly mentioned: readonly Vm[];
  readonly storageAccounts: readonly { readonly name: string; readonly clients: readonly Vm[] }[];
  readonly hosts: readonly {
    readonly name: string;
    readonly port: number | null;
    readonly clients: readonly Vm[];
  }[];
}

const NEGATIVE =
  /\b(cannot|can't|can not|could not|couldn't|neither|nor|unable|fails?|failed|failing|down|dead|lost|hangs?|hanging|time[sd]? ?out|timeouts?|timing out|refus\w+|resets?|unreachable|broken|slow\w*|late|stall\w*|stuck|stands still|errors?|wrong|missing|stopped|intermittent\w*|nothing|no (answer|connection|frames|reply|response)|crawls?|corrupt\w*|garbled|jumpy|degraded|waits?|in fits|gaps?|blank|half-way|given up|not (available|resolve|exist|reach\w*|arrive|start|answer|load|open|run|get|work|connect|respond|authori[sz]ed|possible)|no longer|any more|does not|do not|did not|is not|are not|have not|has not)\b/i;
const POSITIVE =
  /\b(works?|fine|healthy|still \w+|reachable|ok|okay|succeeds?|answers?|unaffected|not affected|no (trouble|problem|issue)s?|without (a|any)? ?\w+|normal(ly)?|green|as (fast|good|quick) as (ever|before|usual)|at full speed|immediately|at once|all day|all right|loads|runs?|quick(ly)?|plays|for example|uploads all day|opens)\b/i;

/** Somebody's own computer, which is no machine of the network. */
const LOCAL = /\b(my|our) (laptop|machine|desk|desktop|pc|computer|home)\b|\bfrom home\b|\bfrom here\b/i;

interface Mention {
  readonly kind: 'vm' | 'host' | 'account';
  readonly vm?: Vm;
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** A port written right at it, as in `db-01 (10.0.0.4:5432)`. */
  readonly port: number | null;
}

export function readComplaint(
  symptom: Symptom,
  inventory: Inventory,
  accounts: readonly string[],
): Complaint {
  const sentences = splitSentences(symptom.text).map((text) => ({
    text,
    mentions: mentionsIn(text, inventory, symptom, accounts),
  }));
  const everyone = unique(sentences.flatMap((s) => s.mentions.flatMap((m) => (m.vm ? [m.vm] : []))));
  const controls = everyone.filter((vm) => {
    const places = sentences.flatMap((s) =>
      s.mentions.filter((m) => m.vm === vm).map((m) => sounds(clauseAt(s.text, m))),
    );
    return places.every((p) => p === 'fine');
  });
  const conversations: Conversation[] = [];
  const hosts: { name: string; port: number | null; clients: Vm[] }[] = [];
  const storage: { name: string; clients: Vm[] }[] = [];
  let lastClients: readonly Vm[] = [];
  let lastTargets: readonly { readonly vm: Vm; readonly port: number | null }[] = [];
  const orphans: Conversation[] = [];
  for (const sentence of sentences) {
    const scored = shareRoles(
      sentence.text,
      sentence.mentions.map((m) => ({ ...m, score: roleOf(sentence.text, m) })),
    );
    const involved = scored.filter((m) => !(m.vm && controls.includes(m.vm)));
    const ports = portsOf(sentence.text, involved);
    const elsewhere = scored.some((m) => m.kind !== 'vm');
    // Beside a host name or an account a machine that is merely stood on is the one that asks.
    const targets = involved.filter((m) => m.kind !== 'vm' || m.score >= (elsewhere ? 2 : 0.5));
    const vmTargets = targets.filter((m) => m.vm);
    let clients: readonly Vm[] = unique(involved.filter((m) => m.vm && m.score < 0).map((m) => m.vm!));
    if (clients.length === 0 && targets.length > 0)
      clients = unique(
        involved
          .filter((m) => m.vm && !targets.includes(m) && m.start < targets.at(-1)!.start)
          .map((m) => m.vm!),
      );
    const refused = /\brefus|(?<!no )\breset/i.test(sentence.text);
    for (const target of targets) {
      const port = target.port ?? ports.get(target) ?? null;
      const fine = sounds(clauseAt(sentence.text, target)) === 'fine';
      // A machine said to be fine in one respect may still be the one that asks here.
      const asking = target.kind === 'vm' ? clients : subjects(sentence.text, scored);
      const froms = (asking.length > 0 ? asking : lastClients).filter((c) => c !== target.vm);
      if (target.kind === 'account') addTo(storage, { name: target.name, clients: [...froms] });
      else if (target.kind === 'host') {
        if (!fine)
          hosts.push({ name: target.name, port, clients: LOCAL.test(sentence.text) ? [] : [...froms] });
      } else if (!fine) {
        if (froms.length === 0) orphans.push({ client: null, server: target.vm!, port, refused });
        for (const client of froms) conversations.push({ client, server: target.vm!, port, refused });
      }
    }
    const bad = sounds(sentence.text) !== 'fine';
    // "th-till-01 can, but it takes long": another one that asks the same server.
    if (targets.length === 0 && clients.length > 0 && bad) {
      for (const client of clients)
        for (const t of lastTargets)
          if (t.vm !== client) conversations.push({ client, server: t.vm, port: t.port, refused });
    }
    if (clients.length > 0 && bad) lastClients = clients;
    else if (targets.length === 0 && involved.length > 0 && lastClients.length === 0)
      lastClients = unique(involved.flatMap((m) => (m.vm ? [m.vm] : [])));
    if (vmTargets.length > 0)
      lastTargets = vmTargets.map((m) => ({ vm: m.vm!, port: m.port ?? ports.get(m) ?? null }));
  }
  const known = unique([...conversations.flatMap((c) => (c.client ? [c.client] : [])), ...lastClients]);
  const other = hosts.length > 0 || storage.length > 0;
  const complete = complement(conversations, orphans, known, everyone, controls, symptom, inventory, other);
  return {
    conversations: dedupe(complete),
    clients:
      known.length > 0
        ? known
        : subnetClients(
            symptom,
            inventory,
            complete.map((c) => c.server),
          ),
    controls,
    mentioned: everyone,
    storageAccounts: storage.map((s) => ({
      name: s.name,
      clients: s.clients.length > 0 ? unique(s.clients) : known,
    })),
    hosts: mergeHosts(hosts, known),
  };
}

/** Fills in what the text left open: a missing client, a missing port, a server nobody was paired with. */
function complement(
  found: readonly Conversation[],
  orphans: readonly Conversation[],
  clients: readonly Vm[],
  everyone: readonly Vm[],
  controls: readonly Vm[],
  symptom: Symptom,
  inventory: Inventory,
  otherTargets: boolean,
): readonly Conversation[] {
  const ports = portsInTrouble(symptom);
  const withPort = (c: Conversation): Conversation => {
    if (c.port !== null || symptom.protocol === 'icmp') return c;
    const elsewhere =
      [...found, ...orphans].find((o) => o.server === c.server && o.port !== null)?.port ?? ports[0] ?? null;
    return { ...c, port: elsewhere };
  };
  const served = new Set(found.map((c) => c.server));
  const adopted = orphans
    .filter((o) => !served.has(o.server))
    .flatMap((o): readonly Conversation[] => {
      const others = clients.filter((c) => c !== o.server);
      const local = /\b(my|our) (laptop|machine|desk|pc|computer|home)\b|\bfrom home\b|\bfrom here\b/i.test(
        symptom.text,
      );
      if (others.length > 0 && !local) return others.map((client) => ({ ...o, client }));
      const bySubnet = local ? [] : subnetClients(symptom, inventory, [o.server]);
      return bySubnet.length > 0 ? bySubnet.map((client) => ({ ...o, client })) : [o];
    });
  const all = [...found, ...adopted];
  if (all.length === 0 && !otherTargets) {
    // "From my laptop it works": the machine that is fine there is the one the others cannot reach.
    if (clients.length > 0 && controls.length > 0)
      return controls.flatMap((server) =>
        clients
          .filter((c) => c !== server)
          .map((client) => withPort({ client, server, port: null, refused: symptom.refused })),
      );
    const left = everyone.filter((vm) => !controls.includes(vm));
    const [first, ...rest] = left;
    if (first && rest.length > 0)
      return rest.map((server) => withPort({ client: first, server, port: null, refused: symptom.refused }));
    if (first) return [withPort({ client: null, server: first, port: null, refused: symptom.refused })];
  }
  return all.map(withPort);
}

function splitSentences(text: string): readonly string[] {
  return text.split(/(?<=[.!?])\s+(?=[A-Z"'(a-z0-9])/).filter((s) => s.trim() !== '');
}

/** Names, names with their address in brackets, bare addresses, host names and accounts, in order. */
function mentionsIn(
  text: string,
  inventory: Inventory,
  symptom: Symptom,
  accounts: readonly string[],
): readonly Mention[] {
  const found: Mention[] = [];
  const take = (mention: Mention) => {
    if (!found.some((m) => m.start < mention.end && mention.start < m.end)) found.push(mention);
  };
  const bracket = (from: number) => /^\s*\([^)]{0,120}\)/.exec(text.slice(from))?.[0] ?? '';
  for (const vm of inventory.vms) {
    for (const match of text.matchAll(new RegExp(`(?<![\\w.-])${literal(vm.name)}(?![\\w-])`, 'gi'))) {
      const after = bracket(match.index + match[0].length);
      const own = after.includes(vm.ip) || after.includes('port') || /:\d{2,5}\)/.test(after) ? after : '';
      const port =
        /:(\d{2,5})\b/.exec(own)?.[1] ??
        /\bport\s+(\d{2,5})/i.exec(own)?.[1] ??
        /^:(\d{2,5})\b/.exec(text.slice(match.index + match[0].length))?.[1];
      take({
        kind: 'vm',
        vm,
        name: vm.name,
        start: match.index,
        end: match.index + match[0].length + own.length,
        port: port === undefined ? null : Number(port),
      });
    }
  }
  for (const address of symptom.addresses) {
    const vm = vmAt(inventory, address);
    if (vm === undefined) continue;
    for (const match of text.matchAll(
      new RegExp(`(?<![\\d.])${literal(address)}(?::(\\d{2,5}))?(?![\\d.]*\\d)`, 'g'),
    )) {
      take({
        kind: 'vm',
        vm,
        name: vm.name,
        start: match.index,
        end: match.index + match[0].length,
        port: match[1] ? Number(match[1]) : null,
      });
    }
  }
  for (const account of accounts) {
    for (const match of text.matchAll(
      new RegExp(`(?<![\\w-])${literal(account)}(?:\\.\\w+\\.core\\.windows\\.net)?(?![\\w-])`, 'gi'),
    ))
      take({
        kind: 'account',
        name: account,
        start: match.index,
        end: match.index + match[0].length,
        port: null,
      });
  }
  for (const host of symptom.hostNames) {
    if (/\.core\.windows\.net$/.test(host)) continue;
    for (const match of text.matchAll(
      new RegExp(`(?<![\\w.-])${literal(host)}(?::(\\d{2,5}))?(?![\\w-])`, 'gi'),
    )) {
      const after = bracket(match.index + match[0].length);
      take({
        kind: 'host',
        name: host,
        start: match.index,
        end: match.index + match[0].length + after.length,
        port: match[1] ? Number(match[1]) : null,
      });
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

const BEFORE_SERVER =
  /\b(reach(es|ed|ing)?|to|into|towards?|access(es|ing)?|contact(s|ing)?|against|needs?|query(ing)?|queries|pings?|pinging|calls?|asks?|opens?|open|nor|neither|finds?|see|with|lost|(pulls?|pulling|reads?|reading|loads?|loading|fetch(es)?|downloads?|mounts?|mounting) (\w+ ){0,3}from)\s+(the |our |its |their |a )?([\w-]+ ){0,3}$/i;
const BEFORE_CLIENT = /\b(from|by|for)\s+(the |our |its )?(\w+ ){0,2}$/i;
const FOR_CLIENT =
  /\b(unreachable|reachable|down|gone|dead|available|lost|closed) for (the |our )?(\w+ ){0,1}$/i;
const STANDING_ON = /\b(on|at)\s+(the |our )?(\w+ ){0,2}$/i;
const AFTER_CLIENT =
  /^[^.;]{0,70}?\b(can|cannot|can't|can not|could not|couldn't|fails? to|failed to|unable to|no longer|reaches?|do(es)? not (reach|get|connect|resolve|find)|hangs?|gets?|sees?|loses?|has lost|waits?|connects?|sends?|uploads?|downloads?|copies|pulls?|pushes?|queries|reads?|writes?|opens?|asks?|talks?|fetches|calls?|needs?|shows?|should push|logs|resolves|has the same)\b/i;
const AFTER_SERVER =
  /^[^.;]{0,40}?\b((is|are) (down|dead|gone|unreachable|not (reachable|answering|responding))|must be down|does not answer|stopped answering|refuses|receives (nothing|no\w*)|times out)\b|^\s*(and \w+ )?refused\b/i;

/** Who a sentence about a host or an account is about: its first machine, and those joined to it. */
function subjects(text: string, mentions: readonly (Mention & { readonly score: number })[]): readonly Vm[] {
  const vms = mentions.filter((m) => m.vm);
  const count = vms.findIndex(
    (m, i) => i > 0 && !/^\s*(,|and|or|, and|&)\s*$/i.test(text.slice(vms[i - 1]!.end, m.start)),
  );
  return unique((count < 0 ? vms : vms.slice(0, count)).map((m) => m.vm!)).slice(0, 3);
}

/** Machines joined by "and" or a comma have one role between them: the clearest. */
function shareRoles<M extends Mention & { readonly score: number }>(
  text: string,
  mentions: readonly M[],
): readonly M[] {
  const shared = [...mentions];
  for (let pass = 0; pass < 2; pass++) {
    for (let i = 0; i + 1 < shared.length; i++) {
      const [a, b] = [shared[i]!, shared[i + 1]!];
      if (!a.vm || !b.vm || !/^\s*(,|and|or|nor|, and|&)\s*$/i.test(text.slice(a.end, b.start))) continue;
      const score = Math.abs(a.score) >= Math.abs(b.score) ? a.score : b.score;
      shared[i] = { ...a, score };
      shared[i + 1] = { ...b, score };
    }
  }
  return shared;
}

/** Ports named where something is wrong come before those named where things are fine. */
function portsInTrouble(symptom: Symptom): readonly number[] {
  const fine = new Set(
    splitSentences(symptom.text)
      .flatMap((s) => s.split(BREAK))
      .filter((c) => c && sounds(c) === 'fine')
      .flatMap((c) => (c.match(/\b\d{2,5}\b/g) ?? []).map(Number)),
  );
  return [...symptom.ports.filter((p) => !fine.has(p)), ...symptom.ports.filter((p) => fine.has(p))];
}

/** Positive: spoken of as the one that is reached; negative: as the one that reaches; by this very place. */
function roleOf(text: string, mention: Mention): number {
  const before = text.slice(Math.max(0, mention.start - 60), mention.start);
  const after = text.slice(mention.end, mention.end + 100);
  let score = mention.port === null ? 0 : 4;
  // An address in brackets behind a host name is that host.
  if (/[\w-]\.[a-z]+\s*\($/i.test(before)) score += 4;
  if (
    /\bpulls?|\breads?|\bloads?|\bfetch|\bmount/i.test(before) &&
    /\bfrom\s+(the |our )?(\w+ ){0,2}$/i.test(before)
  )
    score += 3;
  else if (BEFORE_CLIENT.test(before) && !/\bfor\s+(the |our |its )?(\w+ ){0,2}$/i.test(before)) score -= 2;
  else if (FOR_CLIENT.test(before)) score -= 3;
  else if (/\bport\s+\d{2,5}\s+(on|of|at)\s+(the |our )?(\w+ ){0,2}$/i.test(before)) score += 3;
  else if (BEFORE_SERVER.test(before)) score += 2;
  else if (STANDING_ON.test(before)) score += 0.5;
  if (/^\s*(,\s*)?(on |at )?(tcp |udp )?port\s+\d|^\s*on \d{2,5}\b/i.test(after)) score += 3;
  if (AFTER_SERVER.test(after)) score += 2;
  else if (AFTER_CLIENT.test(after)) score -= 2;
  return score;
}

/** Ports that stand for themselves belong to the last machine or host before them that is no client. */
function portsOf(text: string, mentions: readonly Mention[]): ReadonlyMap<Mention, number> {
  const ports = new Map<Mention, number>();
  const pattern =
    /\b(?:ports?|tcp|udp|on|over)\s+(?:port\s+)?(\d{2,5})\b(?!\s*(?:ms|%|mb|gb|kb|seconds|minutes|hours|days|of|\.\d))/gi;
  for (const match of text.matchAll(pattern)) {
    if (mentions.some((m) => match.index >= m.start && match.index < m.end)) continue;
    const before = mentions.filter((m) => m.end <= match.index && m.port === null);
    const owner =
      before.findLast((m) => m.kind === 'host' || roleOf(text, m) > 0) ??
      before.at(-1) ??
      mentions.find((m) => m.start > match.index && m.port === null);
    if (owner && !ports.has(owner)) ports.set(owner, Number(match[1]));
  }
  return ports;
}

function sounds(clause: string): 'bad' | 'fine' | 'neither' {
  if (NEGATIVE.test(clause)) return 'bad';
  return POSITIVE.test(clause) ? 'fine' : 'neither';
}

const BREAK = /[;:]|,?\s+\b(?:but|while|whereas|although|though|yet|however)\b|,\s+(?=\w+ing\b)/gi;

/** The part of a sentence around a mention: "A cannot reach B, but C works" speaks of two things. */
function clauseAt(text: string, mention: Mention): string {
  let from = 0;
  let to = text.length;
  for (const match of text.matchAll(BREAK)) {
    if (match.index + match[0].length <= mention.start) from = match.index + match[0].length;
    else if (match.index >= mention.end) {
      to = match.index;
      break;
    }
  }
  return text.slice(from, to);
}

/** "VMs in prod-subnet": a machine of each subnet or network that is named. */
function subnetClients(symptom: Symptom, inventory: Inventory, servers: readonly Vm[]): readonly Vm[] {
  const says = (name: string) => new RegExp(`(?<![\\w-])${literal(name)}(?![\\w-])`, 'i').test(symptom.text);
  const named = (subnet: Subnet) => (subnet.name.length > 3 && says(subnet.name)) || says(subnet.vnet.name);
  const machines = inventory.vms.filter((vm) => named(vm.subnet) && !servers.includes(vm) && !vm.forwarding);
  return [...new Map(machines.map((vm) => [`${vm.subnet.vnet.name}/${vm.subnet.name}`, vm])).values()].slice(
    0,
    2,
  );
}

function mergeHosts(
  hosts: readonly { readonly name: string; readonly port: number | null; readonly clients: readonly Vm[] }[],
  known: readonly Vm[],
): Complaint['hosts'] {
  const merged = new Map<string, { name: string; port: number | null; clients: readonly Vm[] }>();
  for (const host of hosts) {
    const before = merged.get(host.name);
    merged.set(host.name, {
      name: host.name,
      port: before?.port ?? host.port,
      clients: unique([...(before?.clients ?? []), ...host.clients]),
    });
  }
  return [...merged.values()].map((h) => ({ ...h, clients: h.clients.length > 0 ? h.clients : known }));
}

function addTo(list: { name: string; clients: Vm[] }[], item: { name: string; clients: Vm[] }): void {
  const known = list.find((i) => i.name === item.name);
  if (known) known.clients = [...unique([...known.clients, ...item.clients])];
  else list.push(item);
}

function dedupe(all: readonly Conversation[]): readonly Conversation[] {
  const seen = new Map<string, Conversation>();
  for (const c of all) {
    const key = `${c.client?.name} ${c.server.name} ${c.port}`;
    const known = seen.get(key);
    seen.set(key, known ? { ...known, refused: known.refused || c.refused } : c);
  }
  return [...seen.values()];
}

function unique<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
