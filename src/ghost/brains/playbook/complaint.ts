import type { Inventory, Subnet, Vm } from './inventory.ts';
import { literal, type Mention, mentionsIn } from './mentions.ts';
import { isFormerPlace, portsOf, scoreRoles } from './roles.ts';
import type { Symptom } from './symptom.ts';
import { BREAK, clauseAt, splitSentences, tone } from './tone.ts';

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
  /** Machines a sentence speaks ill of as a whole, though nobody may have been paired with them. */
  readonly troubled: readonly Vm[];
  /** Where the text says a service used to be. */
  readonly former: readonly Vm[];
  readonly storageAccounts: readonly { readonly name: string; readonly clients: readonly Vm[] }[];
  readonly hosts: readonly {
    readonly name: string;
    readonly port: number | null;
    readonly clients: readonly Vm[];
  }[];
}

/** Somebody's own computer, which is no machine of the network. */
const LOCAL = /\b(my|our) (laptop|machine|desk|desktop|pc|computer|home)\b|\bfrom home\b|\bfrom here\b/i;

/** Things seen from a place that is no machine of the network. */
const ELSEWHERE = /\b(my|our) (laptop|machine|desk|desktop|pc|computer|home)\b|\bfrom (home|here)\b|\bvpn\b/i;

export function readComplaint(
  symptom: Symptom,
  inventory: Inventory,
  accounts: readonly string[],
): Complaint {
  const sentences = splitSentences(symptom.text).map((text) => ({
    text,
    mentions: scoreRoles(text, mentionsIn(text, inventory, symptom, accounts)),
  }));
  const everyone = unique(sentences.flatMap((s) => s.mentions.flatMap((m) => (m.vm ? [m.vm] : []))));
  const controls = everyone.filter((vm) => {
    const places = sentences.flatMap((s) =>
      s.mentions.filter((m) => m.vm === vm).map((m) => tone(clauseAt(s.text, m))),
    );
    return places.every((p) => p === 'fine');
  });
  const standing = standings(
    sentences.flatMap((s) => s.mentions),
    controls,
  );
  const conversations: Conversation[] = [];
  const hosts: { name: string; port: number | null; clients: Vm[] }[] = [];
  const storage: { name: string; clients: Vm[] }[] = [];
  /** Accounts only named where things are fine: looked at when no other is in trouble. */
  const spared: { name: string; clients: Vm[] }[] = [];
  let lastClients: readonly Vm[] = [];
  let lastTargets: readonly { readonly vm: Vm; readonly port: number | null }[] = [];
  const orphans: Conversation[] = [];
  for (const sentence of sentences) {
    // Whoever merely stands somewhere here is known better from the rest of the text.
    const scored = sentence.mentions.map((m) =>
      m.vm && Math.abs(m.score) < 2 ? { ...m, score: standing.settle(m.vm, m.score) } : m,
    );
    const involved = scored.filter((m) => !(m.vm && (controls.includes(m.vm) || standing.onTheWay(m.vm))));
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
      const fine = tone(clauseAt(sentence.text, target)) === 'fine';
      // A machine said to be fine in one respect may still be the one that asks here.
      const asking = target.kind === 'vm' ? clients : subjects(sentence.text, scored);
      const froms = (asking.length > 0 ? asking : lastClients).filter((c) => c !== target.vm);
      if (target.kind === 'account')
        addTo(fine ? spared : storage, { name: target.name, clients: [...froms] });
      else if (target.kind === 'host') {
        if (!fine)
          hosts.push({ name: target.name, port, clients: LOCAL.test(sentence.text) ? [] : [...froms] });
      } else if (!fine) {
        if (froms.length === 0) orphans.push({ client: null, server: target.vm!, port, refused });
        for (const client of froms) conversations.push({ client, server: target.vm!, port, refused });
      }
    }
    const mood = tone(sentence.text);
    const bad = mood !== 'fine';
    // "th-till-01 can, but it takes long": another one that asks the same server.
    if (targets.length === 0 && clients.length > 0 && mood === 'bad') {
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
  if (storage.length === 0) storage.push(...spared);
  const complete = complement(
    standing.plausible(conversations),
    orphans,
    known,
    everyone,
    controls,
    symptom,
    inventory,
    other,
  );
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
    troubled: unique(
      sentences
        .filter((s) => tone(s.text) === 'bad')
        .flatMap((s) => s.mentions.flatMap((m) => (m.vm && !controls.includes(m.vm) ? [m.vm] : []))),
    ),
    former: everyone.filter((vm) =>
      sentences.some((s) => s.mentions.some((m) => m.vm === vm && isFormerPlace(s.text, m))),
    ),
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
  const pingOnly = onlyPingFails(symptom);
  const withPort = (c: Conversation): Conversation => {
    if (symptom.protocol === 'icmp' || (pingOnly && c.port === null)) return { ...c, port: null };
    if (c.port !== null) return c;
    const elsewhere =
      [...found, ...orphans].find((o) => o.server === c.server && o.port !== null)?.port ?? ports[0] ?? null;
    return { ...c, port: elsewhere };
  };
  const served = new Set(found.map((c) => c.server));
  const adopted = orphans
    .filter((o) => !served.has(o.server))
    // Who asks elsewhere and has no port of its own here is not what is complained about.
    .filter((o) => o.port !== null || !found.some((c) => c.client === o.server))
    .flatMap((o): readonly Conversation[] => {
      const others = clients.filter((c) => c !== o.server);
      const local = LOCAL.test(symptom.text);
      if (others.length > 0 && !local) return others.map((client) => ({ ...o, client }));
      const bySubnet = local ? [] : subnetClients(symptom, inventory, [o.server]);
      return bySubnet.length > 0 ? bySubnet.map((client) => ({ ...o, client })) : [o];
    });
  // What is complained about from a desk comes before what is said beside it.
  const all = LOCAL.test(symptom.text) ? [...adopted, ...found] : [...found, ...adopted];
  if (all.length === 0 && !otherTargets) {
    // "From my laptop it works": the machine that is fine there is the one the others cannot reach.
    if (clients.length > 0 && controls.length > 0 && ELSEWHERE.test(symptom.text))
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
    return describedOnly(symptom, inventory).map(withPort);
  }
  return all.map(withPort);
}

/** No machine is named: the server is the one whose name says what the text speaks of ("the Redis cache"). */
function describedOnly(symptom: Symptom, inventory: Inventory): readonly Conversation[] {
  const words = new Set(symptom.words.map((w) => w.toLowerCase()).filter((w) => w.length > 3));
  const likeness = (vm: Vm) =>
    vm.name
      .toLowerCase()
      .split(/[^a-z]+/)
      .filter((part) => words.has(part)).length;
  const best = Math.max(0, ...inventory.vms.map(likeness));
  const servers = best === 0 ? [] : inventory.vms.filter((vm) => likeness(vm) === best);
  const clients = subnetClients(symptom, inventory, servers);
  return servers.flatMap((server): readonly Conversation[] => {
    const base = { server, port: null, refused: symptom.refused };
    return clients.length === 0
      ? [{ ...base, client: null }]
      : clients.map((client) => ({ ...base, client }));
  });
}

/**
 * What the whole text makes of each machine. Appliances that are only spoken of stand on the way: nobody
 * complains about reaching them.
 */
function standings(mentions: readonly (Mention & { readonly score: number })[], controls: readonly Vm[]) {
  const total = new Map<Vm, number>();
  for (const m of mentions) if (m.vm) total.set(m.vm, (total.get(m.vm) ?? 0) + m.score);
  const of = (vm: Vm) => total.get(vm) ?? 0;
  const servers = [...total].filter(([vm, n]) => n >= 2 && !controls.includes(vm)).length;
  return {
    settle: (vm: Vm, score: number): number =>
      Math.abs(of(vm)) >= 2 ? Math.sign(of(vm)) * 2 : servers > 0 ? Math.min(score, 0) : score,
    onTheWay: (vm: Vm): boolean =>
      vm.forwarding && total.size > 1 && !mentions.some((m) => m.vm === vm && m.port !== null),
    /** Of a pair told both ways round, the way the whole text speaks of it. */
    plausible: (all: readonly Conversation[]): readonly Conversation[] => {
      const likely = all.filter((c) => c.client === null || of(c.server) > of(c.client));
      return likely.length > 0 ? likely : all;
    },
  };
}

/** Ping is what fails, and every port is named only where things are fine. */
function onlyPingFails(symptom: Symptom): boolean {
  const clauses = splitSentences(symptom.text).flatMap((s) => s.split(BREAK).filter(Boolean));
  const failing = clauses.filter((c) => tone(c) === 'bad');
  return (
    failing.some((c) => /\b(pings?|pinged|icmp|echo)\b/i.test(c)) &&
    !failing.some((c) => symptom.ports.some((p) => new RegExp(`\\b${p}\\b`).test(c)))
  );
}

/** Who a sentence about a host or an account is about: its first machine, and those joined to it. */
function subjects(text: string, mentions: readonly (Mention & { readonly score: number })[]): readonly Vm[] {
  const vms = mentions.filter((m) => m.vm);
  const count = vms.findIndex(
    (m, i) => i > 0 && !/^\s*(,|and|or|, and|&)\s*$/i.test(text.slice(vms[i - 1]!.end, m.start)),
  );
  return unique((count < 0 ? vms : vms.slice(0, count)).map((m) => m.vm!)).slice(0, 3);
}

/** Ports named where something is wrong come before those named where things are fine. */
function portsInTrouble(symptom: Symptom): readonly number[] {
  const fine = new Set(
    splitSentences(symptom.text)
      .flatMap((s) => s.split(BREAK))
      .filter((c) => c && tone(c) === 'fine')
      .flatMap((c) => (c.match(/\b\d{2,5}\b/g) ?? []).map(Number)),
  );
  return [...symptom.ports.filter((p) => !fine.has(p)), ...symptom.ports.filter((p) => fine.has(p))];
}

/** "VMs in prod-subnet": a machine of each subnet or network that is named. */
function subnetClients(symptom: Symptom, inventory: Inventory, servers: readonly Vm[]): readonly Vm[] {
  const says = (name: string) =>
    splitSentences(symptom.text).some((s) =>
      [...s.matchAll(new RegExp(`(?<![\\w-])${literal(name)}(?![\\w-])`, 'gi'))].some(
        (m) => tone(clauseAt(s, { start: m.index, end: m.index + m[0].length })) !== 'fine',
      ),
    );
  // A short name is a common word unless the text calls it a subnet.
  const named = (subnet: Subnet) =>
    (subnet.name.length > 3 && says(subnet.name)) ||
    says(`${subnet.name} subnet`) ||
    says(`subnet ${subnet.name}`) ||
    says(subnet.vnet.name);
  const machines = inventory.vms.filter((vm) => named(vm.subnet) && !servers.includes(vm) && !vm.forwarding);
  return machines.filter((vm, i) => machines.findIndex((o) => o.subnet === vm.subnet) === i).slice(0, 2);
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
