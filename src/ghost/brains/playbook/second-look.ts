import type { Complaint, Conversation } from './complaint.ts';
import { askGuest, type Listener } from './guest.ts';
import type { Vm } from './inventory.ts';
import type { Notebook } from './notebook.ts';
import type { Symptom } from './symptom.ts';

/**
 * Before "nothing is wrong" is said: a text may have been read the wrong way round, or a machine taken for one
 * that is fine. Whoever is spoken of and was not looked at is looked at now.
 *
 * 1. Only where something mentioned was passed over; a complaint that was followed whole is not widened.
 * 2. Only towards machines that do listen on a port the text names: everything else would be a guess, and rules
 *    that stop what nobody wants are no cause.
 */
const MAX_SERVERS = 5;
const MAX_CONVERSATIONS = 4;

export function passedOver(
  notebook: Notebook,
  symptom: Symptom,
  complaint: Complaint,
  followed: readonly Conversation[],
): readonly Conversation[] {
  const seen = new Set(followed.flatMap((c) => (c.client ? [c.client, c.server] : [])));
  const machines = complaint.mentioned.filter((vm) => !vm.forwarding && vm.running);
  const missed = machines.filter((vm) => !seen.has(vm));
  if (missed.length === 0 || machines.length < 2) return [];
  notebook.say(`The text also speaks of ${missed.map((vm) => vm.name).join(', ')}: I look there too.`);
  const conversations = serversAmong(notebook, symptom, complaint, machines).flatMap(({ vm: server, port }) =>
    machines
      .filter((client) => client !== server && (missed.includes(client) || missed.includes(server)))
      .filter((client) => !followed.some((c) => c.client === client && c.server === server))
      .map((client): Conversation => ({ client, server, port, refused: symptom.refused })),
  );
  return conversations
    .sort((a, b) => fineOnes(complaint, a) - fineOnes(complaint, b))
    .slice(0, MAX_CONVERSATIONS);
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

/** Machines that listen on a port the text names. */
function serversAmong(
  notebook: Notebook,
  symptom: Symptom,
  complaint: Complaint,
  machines: readonly Vm[],
): readonly { readonly vm: Vm; readonly port: number }[] {
  const likeliest = machines
    .filter((vm) => vm.linux)
    .sort((a, b) => Number(complaint.clients.includes(a)) - Number(complaint.clients.includes(b)))
    .slice(0, MAX_SERVERS);
  return likeliest.flatMap((vm) => {
    const guest = askGuest(notebook, vm, {
      listeners: true,
      firewall: true,
      health: true,
      why: 'does it offer the service the text speaks of?',
    });
    if (typeof guest === 'string') return [];
    const port = symptom.ports.find((p) => guest.listeners.some((l: Listener) => l.port === p));
    return port === undefined ? [] : [{ vm, port }];
  });
}

/** Pairs in which both are said to be fine come last. */
function fineOnes(complaint: Complaint, { client, server }: Conversation): number {
  return [client, server].filter((vm) => vm && complaint.controls.includes(vm)).length;
}
