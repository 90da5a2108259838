import type { JsonObject } from '../../../core/index.ts';
import { type Complaint, readComplaint } from './complaint.ts';
import { checkExposure } from './exposure.ts';
import { type Finding, mergeFindings, type OpenPoint } from './finding.ts';
import { type Inventory, readInventory, type Vm, vmAt } from './inventory.ts';
import { checkName } from './names.ts';
import type { Notebook } from './notebook.ts';
import type { Flow } from './nsg.ts';
import { checkControlPlane, checkGuests, checkPower } from './path.ts';
import { checkStorage, checkWayToStorage, storageAccounts } from './storage.ts';
import { readSymptom, type Symptom } from './symptom.ts';
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

const MAX_PAIRS = 6;
const MAX_PORTS = 3;

/** What has been learnt so far. Only ever added to. */
interface Casebook {
  readonly findings: Finding[];
  readonly open: OpenPoint[];
  readonly cleared: string[];
  readonly observations: string[];
}

/** From a symptom to a conclusion: every layer, both directions, until nothing more can be learnt. */
export function investigateSymptom(notebook: Notebook, text: string, options: PlaybookOptions): JsonObject {
  const symptom = readSymptom(text);
  notebook.say('I read the inventory first: which machines, interfaces and subnets there are.');
  notebook.say(
    'H1: a rule, route or firewall on the way stops the traffic.\nH2: the machine or service at the far end does not answer.\nH3: the network carries the traffic, but badly.',
  );
  const inventory = readInventory(notebook);
  if (typeof inventory === 'string') return inconclusive(inventory);
  const accounts = mentionsStorage(symptom) ? storageAccounts(notebook) : [];
  const complaint = readComplaint(
    symptom,
    inventory,
    accounts.map((a) => a.name),
  );
  const book: Casebook = { findings: [], open: [], cleared: [], observations: [] };

  if (symptom.exposure)
    book.findings.push(
      ...checkExposure(
        notebook,
        inventory,
        complaint.servers.length > 0 ? complaint.servers : complaint.clients,
        symptom.ports,
      ),
    );
  if (!symptom.exposure || book.findings.length === 0)
    reachability(notebook, inventory, symptom, complaint, options, book);
  return conclude(symptom, complaint, book, notebook);
}

function mentionsStorage(symptom: Symptom): boolean {
  return /\b(storage|blob|account|container|bucket|file share|uploads?)\b/i.test(symptom.text);
}

function reachability(
  notebook: Notebook,
  inventory: Inventory,
  symptom: Symptom,
  complaint: Complaint,
  options: PlaybookOptions,
  book: Casebook,
): void {
  const servers = new Set(complaint.servers);
  for (const host of complaint.hostNames) {
    const name = checkName(notebook, inventory, host, complaint.clients, complaint.servers);
    book.findings.push(...name.findings);
    book.cleared.push(...name.cleared);
    const holder = name.address === null ? undefined : vmAt(inventory, name.address);
    if (holder !== undefined && name.findings.length === 0) servers.add(holder);
  }
  for (const account of complaint.storageAccounts)
    storage(notebook, inventory, symptom, complaint, account, book);
  const involved = [...complaint.clients, ...servers];
  book.findings.push(...checkPower(involved, inventory.evidence.vms));
  const flows = flowsOf(complaint.clients, [...servers], symptom);
  for (const { client, server, flow } of flows)
    conversation(notebook, inventory, client, server, flow, symptom, options, book);
  if (flows.length === 0 && complaint.storageAccounts.length === 0)
    alone(notebook, inventory, [...servers], symptom, book);
}

function storage(
  notebook: Notebook,
  inventory: Inventory,
  symptom: Symptom,
  complaint: Complaint,
  account: string,
  book: Casebook,
): void {
  const clients = complaint.clients.length > 0 ? complaint.clients : complaint.servers;
  const result = checkStorage(notebook, inventory, account, clients);
  book.findings.push(...result.findings);
  book.cleared.push(...result.cleared);
  if (result.findings.length > 0) return;
  for (const client of clients.slice(0, 2))
    book.findings.push(...checkWayToStorage(notebook, inventory, account, client, symptom.ports[0] ?? 443));
}

/** Who talks to whom, on what: every client with every server, bounded. */
function flowsOf(
  clients: readonly Vm[],
  servers: readonly Vm[],
  symptom: Symptom,
): readonly { readonly client: Vm; readonly server: Vm; readonly flow: Flow }[] {
  const ports: readonly (number | null)[] =
    symptom.protocol === 'icmp' || symptom.ports.length === 0 ? [null] : symptom.ports.slice(0, MAX_PORTS);
  const pairs = clients
    .flatMap((client) => servers.filter((server) => server !== client).map((server) => ({ client, server })))
    .slice(0, MAX_PAIRS);
  return pairs.flatMap(({ client, server }) =>
    ports.map((port) => ({
      client,
      server,
      flow: {
        source: client.ip,
        destination: server.ip,
        port,
        protocol:
          port === null
            ? ('icmp' as const)
            : symptom.protocol === 'icmp'
              ? ('tcp' as const)
              : symptom.protocol,
      },
    })),
  );
}

function conversation(
  notebook: Notebook,
  inventory: Inventory,
  client: Vm,
  server: Vm,
  flow: Flow,
  symptom: Symptom,
  options: PlaybookOptions,
  book: Casebook,
): void {
  notebook.say(
    `I follow ${client.name} → ${server.name}${flow.port === null ? '' : ` port ${flow.port}`} through the platform, both ways.`,
  );
  const plane = checkControlPlane(notebook, inventory, client, server, flow);
  book.findings.push(...plane.findings);
  book.open.push(...plane.open);
  book.cleared.push(...plane.cleared);
  const blocked = plane.findings.length > 0 || !client.running || !server.running;
  if (!server.running) return;
  if (!blocked) notebook.say('The control plane is clean. What no cloud API shows is inside the machines.');
  const inside = checkGuests(notebook, client, server, plane.appliances, flow, blocked);
  book.findings.push(...inside.findings);
  book.open.push(...inside.open);
  book.cleared.push(...inside.cleared);
  if (blocked || inside.findings.length > 0) return;
  const wanted =
    symptom.degraded ||
    symptom.intermittent ||
    symptom.resets ||
    symptom.largeTransfers ||
    inside.connected !== true;
  if (!wanted) return;
  const wire = checkWire(
    notebook,
    inventory,
    { client, server, flow, appliances: plane.appliances, inside, symptom },
    options,
  );
  book.findings.push(...wire.findings);
  book.open.push(...wire.open);
  book.observations.push(...wire.observations);
}

/** A machine that is complained about without saying from where: does it run, listen and accept? */
function alone(
  notebook: Notebook,
  inventory: Inventory,
  servers: readonly Vm[],
  symptom: Symptom,
  book: Casebook,
): void {
  for (const server of servers.filter((s) => s.running)) {
    const neighbour =
      inventory.vms.find((vm) => vm !== server && vm.running && vm.subnet === server.subnet) ??
      inventory.vms.find((vm) => vm !== server && vm.running);
    if (neighbour === undefined) continue;
    const port = symptom.ports[0] ?? null;
    const flow: Flow = {
      source: neighbour.ip,
      destination: server.ip,
      port,
      protocol: port === null ? 'icmp' : 'tcp',
    };
    const inside = checkGuests(notebook, neighbour, server, [], flow, false);
    book.findings.push(...inside.findings);
    book.open.push(...inside.open);
    book.cleared.push(...inside.cleared);
  }
}

function conclude(symptom: Symptom, complaint: Complaint, book: Casebook, notebook: Notebook): JsonObject {
  const findings = mergeFindings(book.findings);
  const open = [
    ...book.open,
    ...notebook.denials.map((d) => ({ what: d.command, why: d.reason || 'denied' })),
  ];
  if (findings.length === 0 && open.length > 0)
    return inconclusive(
      `No cause was proven. Not verified: ${[...new Set(open.map((o) => `${o.what} (${o.why})`))].join('; ')}.`,
      book.observations,
    );
  const causes = findings.length > 0 ? findings : [noFault(complaint, book)];
  const lines = causes.map((c) => `${c.explanation} [${c.evidence.join(', ')}]`);
  return {
    confidence: open.length === 0 ? 'high' : 'medium',
    root_cause_summary: lines.join(' '),
    confirmed_hypotheses: confirmed(causes),
    refuted_hypotheses: ['h1', 'h2', 'h3'].filter((h) => !confirmed(causes).includes(h)),
    causes: causes.map(({ kind, resource, detail, explanation, evidence }) => ({
      kind,
      resource,
      detail,
      explanation,
      evidence: [...evidence],
    })),
    recommended_actions: causes.flatMap((c) => [...c.remedies]),
    observations: [
      ...book.observations,
      ...open.map((o) => `Not verified: ${o.what} (${o.why}).`),
      ...(symptom.words.length === 0 ? ['The symptom was empty.'] : []),
    ],
  };
}

const HYPOTHESIS: Readonly<Record<string, string>> = {
  vm_not_running: 'h2',
  service_not_listening: 'h2',
  app_not_reading: 'h2',
  app_resets: 'h2',
  packet_loss: 'h3',
  high_latency: 'h3',
  bandwidth_limit: 'h3',
  mtu_blackhole: 'h3',
  packet_corruption: 'h3',
  packet_reordering: 'h3',
  no_fault: '',
};

function confirmed(causes: readonly Finding[]): string[] {
  return [...new Set(causes.map((c) => HYPOTHESIS[c.kind] ?? 'h1'))].filter((h) => h !== '').sort();
}

function noFault(complaint: Complaint, book: Casebook): Finding {
  const vm = complaint.servers[0] ?? complaint.clients[0];
  return {
    kind: 'no_fault',
    resource: vm?.name ?? 'unknown',
    detail: null,
    explanation: `Every layer between the machines was looked at and nothing is wrong there${vm ? ` with ${vm.name}` : ''}; what fails, fails outside this network.`,
    evidence: [...new Set(book.cleared)].slice(0, 12),
    remedies: [],
  };
}

function inconclusive(reason: string, observations: readonly string[] = []): JsonObject {
  return {
    confidence: 'low',
    root_cause_summary: reason,
    causes: [],
    unverifiable_hypotheses: ['h1', 'h2', 'h3'],
    recommended_actions: [],
    observations: [...observations],
  };
}
