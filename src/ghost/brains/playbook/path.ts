import type { Finding, OpenPoint } from './finding.ts';
import { askGuest, firewallFinding, type Guest, listenerFinding } from './guest.ts';
import { az, type Inventory, type Vm } from './inventory.ts';
import type { Notebook } from './notebook.ts';
import { checkNsg, decide, type Flow, ipFlowCommand, nsgsOf, readRules } from './nsg.ts';
import { forwardInside, ruleBefore } from './remedies.ts';
import {
  checkPeering,
  decidingRoute,
  followRoute,
  type Leg,
  nextHopCommand,
  routeFinding,
  sameVnet,
} from './routes.ts';

/** Everything between two machines, layer by layer, in both directions. */
export interface PathResult {
  readonly findings: readonly Finding[];
  readonly open: readonly OpenPoint[];
  readonly appliances: readonly Vm[];
  /** Audit ids that cleared the control plane. */
  readonly cleared: readonly string[];
}

export function checkPower(vms: readonly Vm[], evidence: string): readonly Finding[] {
  return vms
    .filter((vm) => !vm.running)
    .map((vm) => ({
      kind: 'vm_not_running',
      resource: vm.name,
      detail: null,
      explanation: `${vm.name} is ${vm.power || 'not running'}: nothing on it can answer.`,
      evidence: [evidence],
      remedies: [az('vm', 'start', '--resource-group', vm.group, '--name', vm.name)],
    }));
}

export function checkControlPlane(
  notebook: Notebook,
  inventory: Inventory,
  client: Vm,
  server: Vm,
  flow: Flow,
): PathResult {
  const back: Flow = { ...flow, source: flow.destination, destination: flow.source };
  askTogether(notebook, client, server, flow);
  const forward = followRoute(notebook, inventory, client, server.ip);
  const reply = server.running
    ? followRoute(notebook, inventory, server, client.ip)
    : ({ kind: 'unknown' } as const);
  const findings: Finding[] = [
    ...(client.running ? checkNsg(notebook, inventory, client, 'Outbound', flow) : []),
    ...(server.running ? checkNsg(notebook, inventory, server, 'Inbound', flow) : []),
    ...legFindings(notebook, inventory, client, server, forward),
    ...legFindings(notebook, inventory, server, client, reply),
    ...asymmetry(notebook, client, server, forward, reply),
  ];
  const appliances = [forward, reply].flatMap((leg) => (leg.kind === 'appliance' ? [leg.appliance] : []));
  for (const appliance of new Set(appliances))
    findings.push(...checkAppliance(notebook, inventory, appliance, forward, flow, back));
  const cleared = [forward, reply].flatMap((leg) => (leg.kind === 'unknown' ? [] : [leg.hop.auditId]));
  const open: OpenPoint[] = [];
  if (forward.kind === 'unknown')
    open.push({ what: `the route of ${client.name} to ${server.ip}`, why: 'the platform gave no answer' });
  return { findings, open, appliances: [...new Set(appliances)], cleared };
}

/** The four questions to the platform are independent: one turn instead of four. */
function askTogether(notebook: Notebook, client: Vm, server: Vm, flow: Flow): void {
  const questions = [
    ...(client.running
      ? [
          {
            command: nextHopCommand(client, server.ip),
            reasoning: `Ask the platform where ${client.name} sends packets for ${server.ip}.`,
          },
        ]
      : []),
    ...(server.running
      ? [
          {
            command: nextHopCommand(server, client.ip),
            reasoning: `Ask the platform where ${server.name} sends its replies to ${client.ip}.`,
          },
        ]
      : []),
    ...(client.running && flow.protocol !== 'icmp' && nsgsOf(client, 'Outbound').length > 0
      ? [
          {
            command: ipFlowCommand(client, 'Outbound', flow),
            reasoning: `Ask the platform whether the NSGs at ${client.name} let it out.`,
          },
        ]
      : []),
    ...(server.running && flow.protocol !== 'icmp' && nsgsOf(server, 'Inbound').length > 0
      ? [
          {
            command: ipFlowCommand(server, 'Inbound', flow),
            reasoning: `Ask the platform whether the NSGs at ${server.name} let it in.`,
          },
        ]
      : []),
  ];
  notebook.prefetch(questions);
}

function legFindings(
  notebook: Notebook,
  _inventory: Inventory,
  from: Vm,
  to: Vm,
  leg: Leg,
): readonly Finding[] {
  switch (leg.kind) {
    case 'broken':
      return [leg.finding];
    case 'no_path':
      return sameVnet(from, to) ? [] : checkPeering(notebook, from, to);
    case 'appliance':
    case 'direct':
    case 'unknown':
      return [];
  }
}

/**
 * A stateful appliance drops replies to conversations whose beginning it did not see: replies that go through
 * an appliance which the request went round.
 */
function asymmetry(notebook: Notebook, client: Vm, server: Vm, forward: Leg, reply: Leg): readonly Finding[] {
  if (reply.kind !== 'appliance' || reply.appliance === client) return [];
  if (forward.kind === 'appliance' && forward.appliance === reply.appliance) return [];
  if (forward.kind !== 'direct' && forward.kind !== 'appliance') return [];
  const bypass = bypassOf(notebook, client, server, forward, reply.appliance);
  if (bypass) return [bypass];
  const finding = routeFinding(
    notebook,
    'asymmetric_route',
    reply.hop,
    server,
    client.ip,
    `takes replies through ${reply.appliance.name}, which never saw the request`,
  );
  return [{ ...finding, evidence: [...finding.evidence, forward.hop.auditId] }];
}

/** A route of the client that goes round the appliance its other routes lead to. */
function bypassOf(
  notebook: Notebook,
  client: Vm,
  server: Vm,
  forward: Leg,
  appliance: Vm,
): Finding | undefined {
  if (forward.kind !== 'direct' && forward.kind !== 'appliance') return undefined;
  const { hop } = forward;
  if (hop.table === null) return undefined;
  const deciding = decidingRoute(notebook, hop.table, server.ip);
  if (!deciding?.others.some((r) => r.ip === appliance.ip)) return undefined;
  return routeFinding(
    notebook,
    'asymmetric_route',
    hop,
    client,
    server.ip,
    `takes requests round ${appliance.name}, through which the replies come back`,
  );
}

/** An appliance must run, forward at its NIC, be let through by its NSGs, and find the way on. */
function checkAppliance(
  notebook: Notebook,
  inventory: Inventory,
  appliance: Vm,
  forward: Leg,
  flow: Flow,
  back: Flow,
): readonly Finding[] {
  const power = checkPower([appliance], inventory.evidence.vms);
  if (power.length > 0) return power;
  if (!appliance.forwarding) {
    return [
      {
        kind: 'nva_not_forwarding',
        resource: appliance.name,
        detail: null,
        explanation: `Traffic is routed through ${appliance.name}, but IP forwarding is off at its NIC ${appliance.nic}.`,
        evidence: [inventory.evidence.nics],
        remedies: [
          az(
            'network',
            'nic',
            'update',
            '--resource-group',
            appliance.nicGroup,
            '--name',
            appliance.nic,
            '--ip-forwarding',
            'true',
          ),
        ],
      },
    ];
  }
  const carried = forward.kind === 'appliance' && forward.appliance === appliance ? flow : back;
  const findings = (['Inbound', 'Outbound'] as const).flatMap((direction) =>
    transitNsg(notebook, appliance, direction, carried),
  );
  const onward = followRoute(notebook, inventory, appliance, carried.destination);
  if (onward.kind === 'broken') findings.push(onward.finding);
  if (onward.kind === 'no_path') {
    const target = inventory.vms.find((vm) => vm.ip === carried.destination);
    if (target) findings.push(...checkPeering(notebook, appliance, target));
  }
  return findings;
}

/** test-ip-flow speaks only of a machine's own traffic, so transit is judged from the rules themselves. */
function transitNsg(
  notebook: Notebook,
  appliance: Vm,
  direction: 'Inbound' | 'Outbound',
  flow: Flow,
): readonly Finding[] {
  for (const nsg of nsgsOf(appliance, direction)) {
    const read = readRules(notebook, nsg);
    if (read === undefined) continue;
    const decided = decide(read.rules, direction, flow);
    if (decided.access !== 'Deny') continue;
    return [
      {
        kind: 'nsg_deny',
        resource: nsg.name,
        detail: decided.name,
        explanation: `NSG ${nsg.name} at the appliance ${appliance.name} denies ${flow.source} → ${flow.destination}:${flow.port ?? ''} by rule ${decided.name}.`,
        evidence: [read.auditId],
        remedies: ruleBefore('Allow', nsg, decided.name, direction, flow, read.rules),
      },
    ];
  }
  return [];
}

/** What was seen from inside. `connected` is null when nobody tried. */
export interface GuestView {
  readonly connected: boolean | null;
  readonly serverGuest: Guest | undefined;
  readonly clientGuest: Guest | undefined;
  /** Every machine on the path that was looked into. */
  readonly guests: readonly { readonly vm: Vm; readonly guest: Guest }[];
}

/** Inside the machines: what no cloud API shows. A path that is blocked already is not probed. */
export function checkGuests(
  notebook: Notebook,
  client: Vm,
  server: Vm,
  appliances: readonly Vm[],
  flow: Flow,
  blocked: boolean,
): PathResult & GuestView {
  const findings: Finding[] = [];
  const open: OpenPoint[] = [];
  const cleared: string[] = [];
  let serverGuest: Guest | undefined;
  let clientGuest: Guest | undefined;
  const guests: { vm: Vm; guest: Guest }[] = [];
  if (server.running) {
    // A client that answers no shell scripts is looked at from the other end.
    const back = client.linux ? {} : { ping: [client.ip], largePing: [client.ip] };
    const guest = askGuest(notebook, server, {
      ...back,
      listeners: true,
      firewall: true,
      health: true,
      why: `who listens, what its own firewall does, and what waits unread, for ${flow.protocol} ${flow.port ?? ''}.`,
    });
    if (typeof guest === 'string')
      open.push({ what: `the listener and the firewall inside ${server.name}`, why: guest });
    else {
      serverGuest = guest;
      guests.push({ vm: server, guest });
      cleared.push(guest.auditId);
      const firewall = firewallFinding(server, guest, 'INPUT', flow);
      const listener = listenerFinding(server, guest, flow);
      if (firewall) findings.push(firewall);
      if (listener) findings.push(listener);
    }
  }
  for (const appliance of appliances) {
    const guest = askGuest(notebook, appliance, {
      firewall: true,
      health: true,
      why: 'does it forward, does its firewall let this through, and is its link sound?',
    });
    if (typeof guest === 'string') {
      open.push({ what: `forwarding inside ${appliance.name}`, why: guest });
      continue;
    }
    cleared.push(guest.auditId);
    guests.push({ vm: appliance, guest });
    const firewall = firewallFinding(appliance, guest, 'FORWARD', flow);
    if (guest.forwards === false) {
      findings.push({
        kind: 'nva_not_forwarding',
        resource: appliance.name,
        detail: null,
        explanation: `The kernel of ${appliance.name} does not forward (ip_forward = 0).`,
        evidence: [guest.auditId],
        remedies: forwardInside(appliance),
      });
    } else if (firewall) findings.push(firewall);
  }
  let connected: boolean | null = null;
  if (client.running && client.linux && findings.length === 0 && !blocked) {
    const wish =
      flow.protocol === 'icmp' || flow.port === null
        ? { ping: [server.ip] }
        : {
            connect: [{ address: server.ip, port: flow.port, udp: flow.protocol === 'udp' }],
            ping: [server.ip],
            largePing: [server.ip],
          };
    const guest = askGuest(notebook, client, {
      firewall: true,
      health: true,
      ...wish,
      why: `does it reach ${server.name} from where it stands?`,
    });
    if (typeof guest === 'string') open.push({ what: `the view from ${client.name}`, why: guest });
    else {
      clientGuest = guest;
      guests.push({ vm: client, guest });
      cleared.push(guest.auditId);
      const firewall = firewallFinding(client, guest, 'OUTPUT', flow);
      if (firewall) findings.push(firewall);
      const probe = guest.probes.get(`${server.ip} ${flow.port}`);
      connected =
        probe === 'open'
          ? true
          : probe === undefined || probe === 'unknown'
            ? (guest.pings.get(`ping ${server.ip}`)?.loss ?? 100) < 100
            : false;
    }
  }
  return { findings, open, appliances, cleared, connected, serverGuest, clientGuest, guests };
}
