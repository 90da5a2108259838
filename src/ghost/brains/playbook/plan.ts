import type { JsonObject } from '../../../core/index.ts';
import { checksBetween, conversationCheck, rulesCheck, storageChecks, withChecks } from './checks.ts';
import { type Complaint, type Conversation, readComplaint } from './complaint.ts';
import { type Casebook, conclude, inconclusive } from './conclude.ts';
import { checkExposure } from './exposure.ts';
import { type Inventory, readInventory, type Vm, vmAt } from './inventory.ts';
import { checkName, type NameResult, staleRecord } from './names.ts';
import type { Notebook } from './notebook.ts';
import { checkNsg, type Flow } from './nsg.ts';
import { checkControlPlane, checkGuests, checkPower } from './path.ts';
import { namesPassedOver, passedOver, readBackwards, unpaired } from './second-look.ts';
import { checkStorage, checkWayToStorage, storageAccounts } from './storage.ts';
import { readSymptom, type Symptom } from './symptom.ts';
import { splitSentences, tone } from './tone.ts';
import { checkWire } from './wire.ts';

export interface PlaybookOptions {
  readonly capture: {
    readonly storageAccount?: string;
    readonly resourceGroup?: string;
    readonly location?: string;
    readonly authMode?: string;
  };
  readonly auditDir: string;
}

const MAX_CONVERSATIONS = 6;
/** Services that speak UDP unless the text says otherwise. */
const UDP_PORTS = new Set([67, 69, 123, 161, 162, 500, 514, 1812, 1813, 4500, 4789, 5060]);
const HYPOTHESES = [
  'H1: a rule, route or firewall on the way stops the traffic.',
  'H2: the machine or service at the far end does not answer.',
  'H3: the network carries the traffic, but badly.',
];

/** Everything a layer needs to know. */
interface Case {
  readonly notebook: Notebook;
  readonly inventory: Inventory;
  readonly symptom: Symptom;
  readonly complaint: Complaint;
  readonly options: PlaybookOptions;
  readonly book: Casebook;
}

/** From a symptom to a conclusion: every layer, both directions, until nothing more can be learnt. */
export function investigateSymptom(notebook: Notebook, text: string, options: PlaybookOptions): JsonObject {
  const symptom = readSymptom(text);
  notebook.say('I read the inventory first: which machines, interfaces and subnets there are.');
  for (const hypothesis of HYPOTHESES) notebook.say(hypothesis);
  const inventory = readInventory(notebook);
  if (typeof inventory === 'string') return inconclusive(inventory);
  const accounts = mentionsStorage(symptom) ? storageAccounts(notebook) : [];
  const complaint = readComplaint(
    symptom,
    inventory,
    accounts.map((a) => a.name),
  );
  const book: Casebook = { findings: [], open: [], cleared: [], observations: [] };
  const all: Case = { notebook, inventory, symptom, complaint, options, book };
  if (symptom.exposure) book.findings.push(...checkExposure(notebook, inventory, complaint, symptom.ports));
  if (book.findings.length === 0) reachability(all);
  return conclude(complaint, book, notebook);
}

function mentionsStorage(symptom: Symptom): boolean {
  return /\b(storage|blobs?|accounts?|containers?|buckets?|file shares?|uploads?|azcopy|40[13]|authorization|sdk|sas|writes?|archiv\w+)\b/i.test(
    symptom.text,
  );
}

function reachability(all: Case): void {
  const { notebook, inventory, symptom, complaint, book } = all;
  const told = followAll(all, complaint.conversations, complaint.hosts);
  const followed = [...told, ...followAll(all, unpaired(complaint, told), [])];
  for (const account of complaint.storageAccounts) storage(all, account);
  alone(
    all,
    followed.filter((c) => c.client === null && !followed.some((o) => o.client && o.server === c.server)),
  );
  for (const { mistaken, instead } of readBackwards(notebook, inventory, complaint, book.findings)) {
    book.findings.splice(book.findings.indexOf(mistaken), 1);
    followAll(all, [instead], []);
  }
  if (book.findings.length > 0 || complaint.storageAccounts.length > 0) return;
  followAll(all, [], namesPassedOver(symptom, complaint));
  if (book.findings.length > 0) return;
  followAll(all, passedOver(notebook, inventory, symptom, complaint, followed), []);
}

/** Names first, then every conversation they and the text lead to. Returns what was followed. */
function followAll(
  all: Case,
  told: readonly Conversation[],
  hosts: Complaint['hosts'],
): readonly Conversation[] {
  const { notebook, inventory, symptom, complaint, book } = all;
  const conversations: Conversation[] = [...told];
  const resolved: { host: string; record: NonNullable<NameResult['record']>; holder: Vm }[] = [];
  for (const host of hosts) {
    const name = checkName(notebook, inventory, host.name, host.clients, complaint);
    const port = host.port ?? symptom.ports[0] ?? null;
    const checks = host.clients.map((c) => conversationCheck(c, host.name, { port, protocol: 'tcp' }));
    book.findings.push(...withChecks(name.findings, checks));
    book.cleared.push(...name.cleared);
    const holder = name.address === null ? undefined : vmAt(inventory, name.address);
    if (holder === undefined || name.findings.length > 0) continue;
    if (name.record) resolved.push({ host: host.name, record: name.record, holder });
    for (const client of host.clients.filter((c) => c !== holder)) {
      if (!conversations.some((c) => c.client === client && c.server === holder))
        conversations.push({ client, server: holder, port, refused: symptom.refused });
    }
  }
  const machines = new Set(conversations.flatMap((c) => (c.client ? [c.client, c.server] : [c.server])));
  for (const vm of machines) {
    const about = conversations.filter((c) => c.client === vm || c.server === vm);
    const checks = about.flatMap((c) =>
      c.client ? checksBetween(c.client, c.server, flowOf(c.client, c, symptom)) : [],
    );
    book.findings.push(...withChecks(checkPower([vm], inventory.evidence.vms), checks));
  }
  for (const about of conversations.slice(0, MAX_CONVERSATIONS))
    if (about.client) conversation(all, about.client, about);
  replaceStale(all, resolved);
  return conversations;
}

/** A silent or switched-off machine behind a name may only be the old place of the service. */
function replaceStale(
  { complaint, book }: Case,
  resolved: readonly {
    readonly host: string;
    readonly record: NonNullable<NameResult['record']>;
    readonly holder: Vm;
  }[],
): void {
  for (const { host, record, holder } of resolved) {
    const at = book.findings.findIndex(
      (f) => f.resource === holder.name && /^(service_not_listening|vm_not_running)$/.test(f.kind),
    );
    const silent = book.findings[at];
    const stale = silent && staleRecord(host, record, holder, silent, complaint);
    if (stale) book.findings.splice(at, 1, stale);
  }
}

function storage(
  { notebook, inventory, symptom, book }: Case,
  account: Complaint['storageAccounts'][number],
): void {
  const result = checkStorage(notebook, inventory, account.name, account.clients);
  const port = symptom.ports[0] ?? 443;
  const checks = account.clients.flatMap((client) => storageChecks(account.name, client));
  book.findings.push(...withChecks(result.findings, checks));
  book.cleared.push(...result.cleared);
  if (result.findings.length > 0) return;
  for (const client of account.clients.slice(0, 2)) {
    const way = checkWayToStorage(notebook, inventory, account.name, client, port);
    const blob = `${account.name}.blob.core.windows.net`;
    book.findings.push(...withChecks(way, [conversationCheck(client, blob, { port, protocol: 'tcp' })]));
  }
}

function conversation(
  { notebook, inventory, symptom, options, book }: Case,
  client: Vm,
  about: Conversation,
): void {
  const { server } = about;
  const flow = flowOf(client, about, symptom);
  notebook.say(
    `I follow ${client.name} → ${server.name}${flow.port === null ? '' : ` port ${flow.port}`} through the platform, both ways.`,
  );
  const plane = checkControlPlane(notebook, inventory, client, server, flow);
  const checks = checksBetween(client, server, flow);
  book.findings.push(...withChecks(plane.findings, checks));
  book.open.push(...plane.open);
  book.cleared.push(...plane.cleared);
  if (!server.running) return;
  const blocked = plane.findings.length > 0 || !client.running;
  if (!blocked) notebook.say('The control plane is clean. What no cloud API shows is inside the machines.');
  const inside = checkGuests(notebook, client, server, plane.appliances, flow, blocked);
  // Behind a blocked path a silent port proves nothing, unless a refusal was seen.
  const proven = inside.findings.filter(
    (f) => !blocked || f.kind !== 'service_not_listening' || about.refused,
  );
  book.findings.push(...withChecks(proven, checks));
  book.open.push(...inside.open);
  book.cleared.push(...inside.cleared);
  if (blocked || inside.findings.length > 0) return;
  const wire = checkWire(
    notebook,
    inventory,
    { client, server, flow, appliances: plane.appliances, inside, symptom },
    options,
  );
  book.findings.push(...wire.findings);
  book.open.push(...wire.open);
  book.cleared.push(...wire.cleared);
  book.observations.push(...wire.observations);
}

/** A machine that is complained about without saying from where: does it run, listen and accept? */
function alone({ notebook, inventory, symptom, book }: Case, unplaced: readonly Conversation[]): void {
  for (const { server, port } of unplaced.filter((c) => c.server.running)) {
    const shut = outsiders(symptom, inventory).flatMap((source) => {
      const protocol = port === null ? 'icmp' : symptom.protocol === 'udp' ? 'udp' : 'tcp';
      const flow: Flow = { source, destination: server.ip, port, protocol };
      const found = checkNsg(notebook, inventory, server, 'Inbound', flow);
      return withChecks(found, rulesCheck(server, 'Inbound', flow, 'Allow'));
    });
    book.findings.push(...shut);
    if (shut.length > 0) continue;
    const others = inventory.vms.filter((vm) => vm !== server && vm.running);
    const neighbour = others.find((vm) => vm.subnet === server.subnet) ?? others[0];
    if (neighbour === undefined) continue;
    const flow: Flow = {
      source: neighbour.ip,
      destination: server.ip,
      port,
      protocol: port === null ? 'icmp' : 'tcp',
    };
    const inside = checkGuests(notebook, neighbour, server, [], flow, false);
    book.findings.push(...withChecks(inside.findings, checksBetween(neighbour, server, flow)));
    book.open.push(...inside.open);
    book.cleared.push(...inside.cleared);
  }
}

/** Addresses of nobody here that the text says have trouble: partners, offices, people on the VPN. */
function outsiders(symptom: Symptom, inventory: Inventory): readonly string[] {
  const clauses = splitSentences(symptom.text).filter((s) => tone(s) === 'bad');
  return symptom.addresses.filter(
    (address) =>
      vmAt(inventory, address) === undefined &&
      clauses.some((c) => c.includes(address) && !c.includes(`${address}/`)),
  );
}

function flowOf(client: Vm, { server, port }: Conversation, symptom: Symptom): Flow {
  const udp =
    symptom.protocol === 'udp' ||
    (port !== null &&
      UDP_PORTS.has(port) &&
      !new RegExp(`tcp\\s*(port\\s*)?/?${port}`, 'i').test(symptom.text));
  const protocol = port === null ? 'icmp' : udp ? 'udp' : 'tcp';
  return { source: client.ip, destination: server.ip, port, protocol };
}
