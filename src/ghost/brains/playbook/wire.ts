import type { CauseKind } from '../../../core/index.ts';
import { captureAt, streamsBetween } from './capture.ts';
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
  readonly inside: {
    readonly serverGuest: Guest | undefined;
    readonly clientGuest: Guest | undefined;
    readonly guests: readonly { readonly vm: Vm; readonly guest: Guest }[];
    readonly connected: boolean | null;
  };
  readonly symptom: Symptom;
}

export interface WireResult {
  readonly findings: readonly Finding[];
  readonly open: readonly OpenPoint[];
  readonly observations: readonly string[];
  readonly cleared: readonly string[];
}

const NOTHING: WireResult = { findings: [], open: [], observations: [], cleared: [] };
/** Shares of packets above which a counter means trouble rather than weather. */
const DROPPED = 0.004;
const LATENCY_MS = 20;

export function checkWire(
  notebook: Notebook,
  inventory: Inventory,
  wire: WireCase,
  options: PlaybookOptions,
): WireResult {
  const { symptom, inside } = wire;
  const bad = symptom.degraded || symptom.intermittent || symptom.resets || symptom.largeTransfers;
  const counted = [...countedFaults(wire), ...applicationFaults(wire)];
  if (counted.length > 0) return { ...NOTHING, findings: counted };
  const pinged = pingFault(pingTo(wire, 'ping'), pingTo(wire, 'large'));
  if (pinged !== undefined) return atLink(notebook, inventory, wire, pinged);
  if (!bad && inside.connected === true) return NOTHING;
  return captured(notebook, wire, options);
}

/** What the kernels counted: drops, damage and reordering show at the link that has them. */
function countedFaults(wire: WireCase): readonly Finding[] {
  const found: Finding[] = [];
  for (const { vm, guest } of wire.inside.guests) {
    const c = guest.counters;
    const share = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);
    const tell = (kind: CauseKind, what: string) =>
      found.push(finding(kind, vm, wire, [guest.auditId], what));
    if (c.badSegments > 0 && share(c.rxErrors, c.rxPackets) > DROPPED)
      tell(
        'packet_corruption',
        `${c.rxErrors} of ${c.rxPackets} packets arrived damaged, ${c.badSegments} with a wrong checksum`,
      );
    else if (share(c.rxDropped, c.rxPackets) > DROPPED)
      tell('packet_loss', `${c.rxDropped} of ${c.rxPackets} packets were lost at its interface`);
    else if (share(c.txDropped, c.txPackets) > DROPPED)
      tell('bandwidth_limit', `${c.txDropped} packets did not fit through its interface any more`);
  }
  return found.length > 0 ? found : reordering(wire);
}

/** Both ends notice reordering; the one with a clean conversation beside it is not the cause. */
function reordering(wire: WireCase): readonly Finding[] {
  const { client, server, inside } = wire;
  const seen = (guest: Guest | undefined, peer: Vm) =>
    guest?.peers.some((p) => p.address === peer.ip && p.reordered) === true;
  if (!seen(inside.serverGuest, client) && !seen(inside.clientGuest, server)) return [];
  // Conversations with others: an end that reorders there as well is the cause, one that does not is innocent.
  const beside = (guest: Guest | undefined, peer: Vm) =>
    (guest?.peers ?? []).filter((p) => p.address !== peer.ip);
  const atServer = beside(inside.serverGuest, client);
  const atClient = beside(inside.clientGuest, server);
  const culprit =
    atServer.some((p) => p.reordered) || (!atClient.some((p) => p.reordered) && atClient.length > 0)
      ? server
      : client;
  const evidence = [inside.serverGuest, inside.clientGuest].flatMap((g) => (g ? [g.auditId] : []));
  return [
    finding(
      'packet_reordering',
      culprit,
      wire,
      evidence,
      'segments overtake each other in this conversation and not in the one beside it',
    ),
  ];
}

function applicationFaults(wire: WireCase): readonly Finding[] {
  const { server, flow, inside, symptom } = wire;
  const guest = inside.serverGuest;
  if (guest === undefined || flow.port === null) return [];
  const unread = guest.peers.filter(
    (p) => p.localPort === flow.port && (p.closedWindow || p.unread > 20_000),
  );
  if (unread.length > 0)
    return [
      finding(
        'app_not_reading',
        server,
        wire,
        [guest.auditId],
        `${unread[0]!.unread} bytes wait unread on port ${flow.port}, its window is closed`,
      ),
    ];
  if (symptom.resets && guest.counters.resetsSent > 50)
    return [
      finding('app_resets', server, wire, [guest.auditId], `it sent ${guest.counters.resetsSent} resets`),
    ];
  return [];
}

/** From the client if it could be asked, else from the server: a path is as good as its worse direction. */
function pingTo(wire: WireCase, kind: 'ping' | 'large'): Ping | undefined {
  return (
    wire.inside.clientGuest?.pings.get(`${kind} ${wire.server.ip}`) ??
    wire.inside.serverGuest?.pings.get(`${kind} ${wire.client.ip}`)
  );
}

type PingFault = Extract<CauseKind, 'packet_loss' | 'high_latency' | 'mtu_blackhole'>;

function pingFault(small: Ping | undefined, large: Ping | undefined): PingFault | undefined {
  if (small === undefined || small.loss >= 100) return undefined;
  if (large !== undefined && large.loss >= 100 && small.loss < 50) return 'mtu_blackhole';
  if (small.loss > 3) return 'packet_loss';
  if ((small.average ?? 0) > LATENCY_MS) return 'high_latency';
  return undefined;
}

/** Whose link it is: a third machine that reaches one end well and the other badly tells. */
function atLink(notebook: Notebook, inventory: Inventory, wire: WireCase, kind: PingFault): WireResult {
  const { client, server, appliances } = wire;
  const evidence = wire.inside.guests.map((g) => g.guest.auditId);
  const running = inventory.vms.filter(
    (vm) => vm.running && vm.linux && vm !== client && vm !== server && !appliances.includes(vm),
  );
  const third =
    running.find((vm) => vm.subnet === client.subnet) ??
    running.find((vm) => vm.subnet === server.subnet) ??
    running[0];
  if (third === undefined) {
    const only = appliances[0] ?? server;
    return {
      ...NOTHING,
      findings: [finding(kind, only, wire, evidence, '')],
      observations:
        appliances.length > 0
          ? []
          : [
              `Without a third machine the link of ${client.name} cannot be told from that of ${server.name}.`,
            ],
    };
  }
  const targets = [client, server, ...appliances].map((vm) => vm.ip).filter((ip) => ip !== third.ip);
  const guest = askGuest(notebook, third, {
    ping: targets,
    largePing: kind === 'mtu_blackhole' ? targets : [],
    why: `from a third place: is it the link of ${client.name} or of ${server.name}?`,
  });
  if (typeof guest === 'string')
    return {
      ...NOTHING,
      open: [{ what: `which of the links of ${client.name} and ${server.name} it is`, why: guest }],
    };
  const bad = (ip: string) =>
    pingFault(guest.pings.get(`ping ${ip}`), guest.pings.get(`large ${ip}`)) !== undefined;
  // What is bad as far as the appliance is the appliance; beyond it, it is the end that is bad.
  const culprit =
    appliances.find((vm) => bad(vm.ip)) ??
    (bad(client.ip) && !bad(server.ip) ? client : bad(server.ip) ? server : (appliances[0] ?? server));
  return { ...NOTHING, findings: [finding(kind, culprit, wire, [...evidence, guest.auditId], '')] };
}

/** The last resort: what the conversations look like on the wire. */
function captured(notebook: Notebook, wire: WireCase, options: PlaybookOptions): WireResult {
  const { client, server } = wire;
  const account = options.capture.storageAccount ?? storageAccounts(notebook)[0]?.name;
  if (account === undefined)
    return { ...NOTHING, open: [{ what: 'the wire', why: 'there is no storage account for a capture' }] };
  notebook.say('The counters are clean. A capture at the server shows how the conversations themselves go.');
  const place = {
    storageAccount: account,
    ...(options.capture.authMode ? { authMode: options.capture.authMode } : {}),
  };
  const view = captureAt(
    notebook,
    server,
    place,
    60,
    `How ${client.name} and ${server.name} talk on port ${wire.flow.port ?? 'any'}.`,
  );
  if (typeof view === 'string')
    return { ...NOTHING, open: [{ what: `the wire at ${server.name}`, why: view }] };
  const sums = streamsBetween(view, client.ip, server.ip);
  const kind =
    sums.zeroWindows > 0
      ? 'app_not_reading'
      : sums.resets > (wire.symptom.resets ? 2 : 10) && wire.inside.connected !== false
        ? 'app_resets'
        : sums.retransmissions > 20 && wire.inside.connected === true
          ? 'packet_loss'
          : undefined;
  if (kind === undefined) return { ...NOTHING, cleared: [view.auditId] };
  const what = `${sums.streams} conversations with trouble: ${sums.retransmissions} retransmissions, ${sums.zeroWindows} zero windows, ${sums.resets} resets`;
  return { ...NOTHING, findings: [finding(kind, server, wire, [view.auditId], what)] };
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
    explanation: `${kind.replaceAll('_', ' ')} at ${vm.name}, between ${wire.client.name} and ${wire.server.name}${what === '' ? '' : `: ${what}`}.`,
    evidence,
    remedies: [],
  };
}
