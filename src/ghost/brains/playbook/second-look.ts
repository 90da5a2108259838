import type { Complaint, Conversation } from './complaint.ts';
import type { Finding } from './finding.ts';
import { askGuest } from './guest.ts';
import type { Inventory, Vm } from './inventory.ts';
import { family } from './names.ts';
import type { Notebook } from './notebook.ts';
import type { Symptom } from './symptom.ts';

/**
 * Where the reading of a text is doubted and the machines are asked instead: whoever listens on the port the
 * text names is the one that is reached, whatever the grammar seemed to say.
 *
 * 1. Only towards machines that do listen on a named port: everything else would be a guess, and a rule that
 *    stops what nobody wants is no cause.
 * 2. Pairs in which somebody is said to be fine come last.
 */
const MAX_ASKED = 6;
const MAX_CONVERSATIONS = 4;

/** Before "nothing is wrong" is said: the ways to whoever offers the service that were not followed yet. */
export function passedOver(
  notebook: Notebook,
  inventory: Inventory,
  symptom: Symptom,
  complaint: Complaint,
  followed: readonly Conversation[],
): readonly Conversation[] {
  const ports = symptom.ports.length > 0 ? symptom.ports : symptom.numbers;
  if (ports.length === 0) return [];
  const machines = complaint.mentioned.filter((vm) => !vm.forwarding);
  const named = machines.filter((vm) => vm.running);
  const servers = listenersOf(notebook, named, ports);
  const others = inventory.vms.filter((vm) => !machines.includes(vm) && !vm.forwarding && vm.running);
  const found = servers.length > 0 ? servers : listenersOf(notebook, others, ports);
  const isServer = (vm: Vm) => found.some((s) => s.vm === vm);
  const asking = machines.filter((vm) => !isServer(vm));
  const troubled = asking.filter((vm) => !complaint.controls.includes(vm));
  const clients = troubled.length > 0 ? troubled : asking.length > 0 ? asking : complaint.clients;
  return found
    .flatMap(({ vm: server, port }) =>
      clients.map((client) => ({
        client,
        server: inTrouble(complaint, server),
        port,
        refused: symptom.refused,
      })),
    )
    .filter((c) => c.client !== c.server)
    .filter((c) => !followed.some((f) => f.client === c.client && f.server === c.server && f.port === c.port))
    .sort((a, b) => fineEnds(complaint, a) - fineEnds(complaint, b))
    .slice(0, MAX_CONVERSATIONS);
}

/**
 * A machine that does not listen on a port another machine of the same story does listen on was taken for the
 * server: it is the one that asks. Machines of one family may each be asked for the same port.
 */
export function readBackwards(
  notebook: Notebook,
  inventory: Inventory,
  complaint: Complaint,
  findings: readonly Finding[],
): readonly { readonly mistaken: Finding; readonly instead: Conversation }[] {
  return findings.flatMap((mistaken) => {
    const client = complaint.mentioned.find((vm) => vm.name === mistaken.resource);
    const port = Number(mistaken.detail);
    if (mistaken.kind !== 'service_not_listening' || client === undefined || !Number.isInteger(port))
      return [];
    const strangers = (machines: readonly Vm[]) =>
      machines.filter((vm) => vm.running && !vm.forwarding && family(vm.name) !== family(client.name));
    const named = strangers(complaint.mentioned);
    const listening = listenersOf(notebook, named.length > 0 ? named : strangers(inventory.vms), [port]);
    const offering = listening.find(({ vm }) => !complaint.controls.includes(vm)) ?? listening[0];
    if (offering === undefined) return [];
    const server = inTrouble(complaint, offering.vm);
    return [{ mistaken, instead: { client, server, port, refused: true } }];
  });
}

/** One that is said to be fine shows what its sister in trouble ought to offer. */
function inTrouble(complaint: Complaint, offering: Vm): Vm {
  if (!complaint.controls.includes(offering)) return offering;
  const sister = complaint.mentioned.find(
    (vm) => family(vm.name) === family(offering.name) && !complaint.controls.includes(vm),
  );
  return sister ?? offering;
}

function fineEnds(complaint: Complaint, { client, server }: { client: Vm; server: Vm }): number {
  return [client, server].filter((vm) => complaint.controls.includes(vm)).length;
}

/** Machines in trouble that nobody was paired with ask what the others ask. */
export function unpaired(complaint: Complaint, followed: readonly Conversation[]): readonly Conversation[] {
  const paired = new Set(followed.flatMap((c) => (c.client ? [c.client, c.server] : [c.server])));
  const servers = followed.filter((c, i) => followed.findIndex((o) => o.server === c.server) === i);
  return complaint.troubled
    .filter((vm) => !paired.has(vm) && !vm.forwarding && !complaint.former.includes(vm))
    .flatMap((client) => servers.filter((c) => c.client !== null).map((c) => ({ ...c, client })));
}

/** Host names in the text that were not looked up because they seemed all right. */
export function namesPassedOver(symptom: Symptom, complaint: Complaint): Complaint['hosts'] {
  const clients = complaint.clients.length > 0 ? complaint.clients : complaint.mentioned.slice(0, 1);
  return symptom.hostNames
    .filter((name) => !/\.core\.windows\.net$/.test(name) && !complaint.hosts.some((h) => h.name === name))
    .map((name) => ({ name, port: symptom.ports[0] ?? null, clients }));
}

/** Machines that listen, for others too, on one of these ports. */
function listenersOf(
  notebook: Notebook,
  machines: readonly Vm[],
  ports: readonly number[],
): readonly { readonly vm: Vm; readonly port: number }[] {
  return machines
    .filter((vm) => vm.linux)
    .slice(0, MAX_ASKED)
    .flatMap((vm) => {
      const guest = askGuest(notebook, vm, {
        listeners: true,
        firewall: true,
        health: true,
        why: 'does it offer the service the text speaks of?',
      });
      if (typeof guest === 'string') return [];
      const port = ports.find((p) =>
        guest.listeners.some((l) => l.port === p && !/^(127\.|::1)/.test(l.address)),
      );
      return port === undefined ? [] : [{ vm, port }];
    });
}
