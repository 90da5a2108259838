import type { CauseKind } from '../../conclusion.ts';
import { captureAt, type StreamSums, streamsBetween } from './capture.ts';
import type { Finding, OpenPoint } from './finding.ts';
import { askGuest, type Guest, type Ping } from './guest.ts';
import type { Inventory, Vm } from './inventory.ts';
import type { Notebook } from './notebook.ts';
import type { Flow } from './nsg.ts';
import type { PlaybookOptions } from './plan.ts';
import { storageAccounts } from './storage.ts';
import type { Symptom } from './symptom.ts';

/** The path is open but carries badly: how, and at whose link. */
export interface WireCase {
  readonly client: Vm;
  readonly server: Vm;
  readonly flow: Flow;
  readonly appliances: readonly Vm[];
  readonly inside: { readonly serverGuest: Guest | undefined; readonly clientGuest: Guest | undefined };
  readonly symptom: Symptom;
}

export interface WireResult {
  readonly findings: readonly Finding[];
  readonly open: readonly OpenPoint[];
  readonly observations: readonly string[];
  readonly cleared: readonly string[];
}

const LOSS_PCT = 1;
const LATENCY_MS = 20;

export function checkWire(
  notebook: Notebook,
  inventory: Inventory,
  wire: WireCase,
  options: PlaybookOptions,
): WireResult {
  const { client, server } = wire;
  const small = wire.inside.clientGuest?.pings.get(`ping ${server.ip}`);
  const large = wire.inside.clientGuest?.pings.get(`large ${server.ip}`);
  const fault = pingFault(small, large);
  if (fault !== undefined) return atLink(notebook, inventory, wire, fault);
  const account = options.capture.storageAccount ?? storageAccounts(notebook)[0]?.name;
  if (account === undefined)
    return {
      findings: [],
      open: [{ what: 'the wire', why: 'there is no storage account for a capture' }],
      observations: [],
      cleared: [],
    };
  notebook.say(
    'Small packets travel well. A capture at the server shows how the conversations themselves go.',
  );
  const view = captureAt(
    notebook,
    server,
    { storageAccount: account, ...(options.capture.authMode ? { authMode: options.capture.authMode } : {}) },
    60,
    `How ${client.name} and ${server.name} talk on port ${wire.flow.port ?? 'any'}.`,
  );
  if (typeof view === 'string')
    return {
      findings: [],
      open: [{ what: `the wire at ${server.name}`, why: view }],
      observations: [],
      cleared: [],
    };
  const sums = streamsBetween(view, client.ip, server.ip);
  const kind = captureFault(sums, wire);
  if (kind === undefined) return { findings: [], open: [], observations: [], cleared: [] };
  const evidence = [view.auditId, ...(wire.inside.serverGuest ? [wire.inside.serverGuest.auditId] : [])];
  return {
    findings: [finding(kind, server, wire, evidence, describeSums(sums))],
    open: [],
    observations: [],
    cleared: [],
  };
}

type PingFault = Extract<CauseKind, 'packet_loss' | 'high_latency' | 'mtu_blackhole'>;

function pingFault(small: Ping | undefined, large: Ping | undefined): PingFault | undefined {
  if (small === undefined || small.loss >= 100) return undefined;
  if (large !== undefined && large.loss >= 100 && small.loss < 50) return 'mtu_blackhole';
  if (small.loss > LOSS_PCT) return 'packet_loss';
  if ((small.average ?? 0) > LATENCY_MS) return 'high_latency';
  return undefined;
}

/** Whose link it is: a third machine that reaches one end well and the other badly tells. */
function atLink(notebook: Notebook, inventory: Inventory, wire: WireCase, kind: PingFault): WireResult {
  const { client, server, appliances } = wire;
  const evidence = wire.inside.clientGuest ? [wire.inside.clientGuest.auditId] : [];
  const third = inventory.vms.find(
    (vm) => vm.running && vm !== client && vm !== server && !appliances.includes(vm),
  );
  if (third === undefined)
    return {
      findings: [finding(kind, server, wire, evidence, '')],
      open: [],
      observations: [
        `Without a third machine the link of ${client.name} cannot be told from that of ${server.name}.`,
      ],
      cleared: [],
    };
  const targets = [client.ip, server.ip];
  const guest = askGuest(notebook, third, {
    ping: targets,
    largePing: kind === 'mtu_blackhole' ? targets : [],
    why: `from a third place: is it the link of ${client.name} or of ${server.name}?`,
  });
  if (typeof guest === 'string')
    return {
      findings: [],
      open: [{ what: `which of the links of ${client.name} and ${server.name} it is`, why: guest }],
      observations: [],
      cleared: [],
    };
  const bad = (ip: string) =>
    pingFault(guest.pings.get(`ping ${ip}`), guest.pings.get(`large ${ip}`)) !== undefined;
  const culprit =
    bad(server.ip) && !bad(client.ip)
      ? server
      : bad(client.ip) && !bad(server.ip)
        ? client
        : (appliances[0] ?? (bad(server.ip) ? third : server));
  return {
    findings: [finding(kind, culprit, wire, [...evidence, guest.auditId], '')],
    open: [],
    observations: [],
    cleared: [],
  };
}

function captureFault(sums: StreamSums, wire: WireCase): CauseKind | undefined {
  const backlog = wire.flow.port === null ? 0 : (wire.inside.serverGuest?.backlog.get(wire.flow.port) ?? 0);
  if (sums.zeroWindows > 0 || backlog > 0) return 'app_not_reading';
  if (sums.resets > 0 && sums.retransmissions < sums.resets * 3) return 'app_resets';
  if (sums.outOfOrder > sums.retransmissions) return 'packet_reordering';
  if (sums.retransmissions > 0) return 'packet_loss';
  return undefined;
}

function describeSums(sums: StreamSums): string {
  return `${sums.streams} conversations with trouble: ${sums.retransmissions} retransmissions, ${sums.outOfOrder} out of order, ${sums.zeroWindows} zero windows, ${sums.resets} resets`;
}

function finding(
  kind: CauseKind,
  vm: Vm,
  wire: WireCase,
  evidence: readonly string[],
  what: string,
): Finding {
  const onPort = kind === 'app_not_reading' || kind === 'app_resets';
  return {
    kind,
    resource: vm.name,
    detail: onPort && wire.flow.port !== null ? String(wire.flow.port) : null,
    explanation: `${kind.replaceAll('_', ' ')} at ${vm.name}, between ${wire.client.name} and ${wire.server.name}${what === '' ? '' : ` (${what})`}.`,
    evidence,
    remedies: [],
  };
}
