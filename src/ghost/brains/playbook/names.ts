import type { Complaint } from './complaint.ts';
import type { Finding } from './finding.ts';
import { az, type Inventory, type ResourceRef, rows, type Vm, vmAt } from './inventory.ts';
import type { Notebook } from './notebook.ts';
import { moveRecord } from './remedies.ts';

/** Name resolution as the platform gives it to a VNet: zone, link, record. */
export interface NameResult {
  readonly findings: readonly Finding[];
  readonly address: string | null;
  /** The record that answered. */
  readonly record: { readonly zone: ResourceRef; readonly name: string; readonly auditId: string } | null;
  readonly cleared: readonly string[];
}

const ZONES = az(
  'network',
  'private-dns',
  'zone',
  'list',
  '--query',
  '[].[name,resourceGroup]',
  '--output',
  'tsv',
);

export function checkName(
  notebook: Notebook,
  inventory: Inventory,
  host: string,
  clients: readonly Vm[],
  complaint: Complaint,
): NameResult {
  const expected = unlinked(host, complaint);
  const zones = notebook.ask(ZONES, `Find the private zone that should answer for ${host}.`);
  if (zones.kind !== 'ok') return { findings: [], address: null, record: null, cleared: [] };
  const fitting = rows(zones)
    .map(([name = '', group = '']): ResourceRef => ({ name, group }))
    .filter((z) => host === z.name.toLowerCase() || host.endsWith(`.${z.name.toLowerCase()}`))
    .sort((a, b) => b.name.length - a.name.length);
  const zone = answering(notebook, fitting, clients);
  if (zone === undefined) return { findings: [], address: null, record: null, cleared: [zones.auditId] };
  const relative = host === zone.name.toLowerCase() ? '@' : host.slice(0, -zone.name.length - 1);
  const scope = ['--resource-group', zone.group, '--zone-name', zone.name];
  const [links, records] = notebook.askAll([
    {
      command: linksCommand(zone),
      reasoning: `See which networks ${zone.name} answers for.`,
    },
    {
      command: az(
        'network',
        'private-dns',
        'record-set',
        'list',
        ...scope,
        '--query',
        '[].[name,type,to_string(aRecords[].ipv4Address),cnameRecord.cname]',
        '--output',
        'tsv',
      ),
      reasoning: `Read what ${zone.name} says for ${relative}.`,
    },
  ]);
  const findings: Finding[] = [];
  if (links?.kind === 'ok') {
    const linked = rows(links).map(([, vnet = '']) => (vnet.split('/').at(-1) ?? '').toLowerCase());
    const vnets = new Map(clients.map((vm) => [vm.subnet.vnet.name, vm.subnet.vnet]));
    for (const vnet of vnets.values()) {
      if (linked.includes(vnet.name.toLowerCase())) continue;
      findings.push({
        kind: 'dns_zone_not_linked',
        resource: zone.name,
        detail: vnet.name,
        explanation: `Private zone ${zone.name} is not linked to ${vnet.name}, so machines there cannot resolve ${host}.`,
        evidence: [links.auditId],
        remedies: [
          az(
            'network',
            'private-dns',
            'link',
            'vnet',
            'create',
            ...scope,
            '--name',
            `${vnet.name}-link`,
            '--virtual-network',
            vnet.name,
            '--registration-enabled',
            'false',
          ),
        ],
      });
    }
  }
  if (records?.kind !== 'ok') return { findings, address: null, record: null, cleared: [zones.auditId] };
  const own = rows(records).filter(([name = '']) => name.toLowerCase() === relative);
  const address =
    own.map((r) => /\d+\.\d+\.\d+\.\d+/.exec(r[2] ?? '')?.[0]).find((a) => a !== undefined) ?? null;
  if (own.length === 0) {
    findings.push({
      kind: 'dns_record_missing',
      resource: zone.name,
      detail: relative,
      explanation: `Private zone ${zone.name} has no record ${relative}: ${host} does not resolve.`,
      evidence: [records.auditId],
      remedies: expected[0] ? moveRecord(zone, relative, null, expected[0].ip) : [],
    });
  } else if (address !== null)
    findings.push(
      ...wrongRecord(inventory, zone, relative, host, address, expected, complaint.former, records.auditId),
    );
  return {
    findings,
    address,
    record: { zone, name: relative, auditId: records.auditId },
    cleared: [zones.auditId, records.auditId, ...(links?.kind === 'ok' ? [links.auditId] : [])],
  };
}

/** Machines the text names that no other host name stands for: one of them is meant by this name. */
function unlinked(host: string, complaint: Complaint): readonly Vm[] {
  const servers = complaint.conversations.map((c) => c.server);
  const clients = complaint.hosts.flatMap((h) => h.clients);
  const candidates = complaint.mentioned.filter(
    (vm) => !complaint.former.includes(vm) && (servers.includes(vm) || !clients.includes(vm)),
  );
  const alike = candidates.filter((vm) => likeness(host, vm.name) > 0);
  return alike.length > 0 ? alike : candidates;
}

/** Of several zones that fit a name, the longest one linked to the client's network answers. */
function answering(
  notebook: Notebook,
  fitting: readonly ResourceRef[],
  clients: readonly Vm[],
): ResourceRef | undefined {
  const [first] = clients;
  if (fitting.length < 2 || first === undefined) return fitting[0];
  const linked = fitting.find((zone) => {
    const links = notebook.ask(linksCommand(zone), `See which networks ${zone.name} answers for.`);
    return rows(links).some(
      ([, vnet = '']) =>
        (vnet.split('/').at(-1) ?? '').toLowerCase() === first.subnet.vnet.name.toLowerCase(),
    );
  });
  return linked ?? fitting[0];
}

const linksCommand = (zone: ResourceRef) =>
  az(
    ...['network', 'private-dns', 'link', 'vnet', 'list'],
    ...['--resource-group', zone.group, '--zone-name', zone.name],
    ...['--query', '[].[name,virtualNetwork.id]', '--output', 'tsv'],
  );

/** The name without its number: machines that do the same work. */
export const family = (name: string) => name.toLowerCase().replace(/[-_]?[0-9a-z]?\d*$/, '');

const alike = (host: string, vm: Vm, holder: Vm) =>
  family(vm.name) === family(holder.name) || likeness(host, vm.name) > likeness(host, holder.name);

/** How many parts of a host's first label stand in a machine's name. */
function likeness(host: string, name: string): number {
  const parts = (host.split('.')[0] ?? '')
    .toLowerCase()
    .split(/[-_]/)
    .filter((p) => p.length > 1);
  return parts.filter((p) => name.toLowerCase().includes(p)).length;
}

/** A record is wrong when it leads to nobody, or to another machine than the one that is meant. */
function wrongRecord(
  inventory: Inventory,
  zone: ResourceRef,
  relative: string,
  host: string,
  address: string,
  expected: readonly Vm[],
  former: readonly Vm[],
  auditId: string,
): readonly Finding[] {
  const holder = vmAt(inventory, address);
  const right = expected.find((vm) => vm !== holder);
  const left = holder !== undefined && former.includes(holder);
  if (holder !== undefined && (expected.length === 0 || expected.includes(holder))) return [];
  // Another machine that is merely spoken of says nothing about a record that leads to a living one.
  if (holder !== undefined && !left && !expected.some((vm) => alike(host, vm, holder))) return [];
  const who = holder === undefined ? 'where no machine lives' : `which is ${holder.name}`;
  return [
    {
      kind: 'dns_record_wrong',
      resource: zone.name,
      detail: relative,
      explanation: `${host} resolves to ${address}, ${who}${right ? `; ${right.name} is at ${right.ip}` : ''}.`,
      evidence: [auditId, inventory.evidence.nics],
      remedies: right ? moveRecord(zone, relative, address, right.ip) : [],
    },
  ];
}

/**
 * A name that leads to a machine where the service is gone, while the text names a sister of that machine:
 * not the service is at fault but the record, which still points at the old place.
 */
export function staleRecord(
  host: string,
  record: NonNullable<NameResult['record']>,
  holder: Vm,
  silent: Finding,
  complaint: Complaint,
): Finding | undefined {
  const sister = complaint.mentioned.find(
    (vm) => vm !== holder && family(vm.name) === family(holder.name) && !complaint.clients.includes(vm),
  );
  if (sister === undefined) return undefined;
  return {
    kind: 'dns_record_wrong',
    resource: record.zone.name,
    detail: record.name,
    explanation: `${host} resolves to ${holder.ip}, which is ${holder.name}: ${silent.explanation} ${sister.name} is at ${sister.ip}.`,
    evidence: [record.auditId, ...silent.evidence],
    remedies: moveRecord(record.zone, record.name, holder.ip, sister.ip),
  };
}
