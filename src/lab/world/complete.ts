/**
 * Fills in what a world document leaves out. Pure, total for a document that passed the schema, and
 * idempotent: completing a world gives the same world. It loads nothing, because every `az` call runs it.
 */
import type { WorldDocument } from './schema.ts';
import {
  ACCESS,
  ACTIONS,
  CHAINS,
  DIRECTIONS,
  type DnsRecord,
  type DnsZone,
  FLOW_PROTOCOLS,
  type Flow,
  type Link,
  type Listener,
  NEXT_HOP_TYPES,
  NSG_PROTOCOLS,
  type NsgRule,
  OS_PROTOCOLS,
  OSES,
  type OsRule,
  type PatchOperation,
  PEERING_STATES,
  type Peering,
  POLICIES,
  POWER_STATES,
  RECORD_TYPES,
  TRANSPORTS,
  type Vm,
  type Vnet,
  type World,
} from './types.ts';

type Doc<K extends keyof WorldDocument> =
  NonNullable<WorldDocument[K]> extends readonly (infer T)[] ? T : never;

export const DEFAULT_LOCAL_ADDRESS = '172.31.255.10';
export const DEFAULT_LINK: Link = {
  loss_pct: 0,
  delay_ms: 0,
  jitter_ms: 0,
  rate_mbit: null,
  mtu: 1500,
  icmp_frag_needed: false,
  reorder_pct: 0,
  corrupt_pct: 0,
};

/** A document that passed the schema, or a world that has been patched since. */
export function complete(document: WorldDocument | World): World {
  // A world is a document whose lists are read-only; nothing here writes to them.
  const doc = document as WorldDocument;
  return {
    id: doc.id,
    title: doc.title ?? doc.id,
    symptom: doc.symptom ?? '',
    now: new Date(doc.now).toISOString(),
    groups: doc.groups.map((g) => ({ name: g.name, location: regionName(g.location) })),
    vnets: (doc.vnets ?? []).map(vnet),
    nsgs: (doc.nsgs ?? []).map((n) => ({
      name: n.name,
      group: n.group,
      rules: (n.rules ?? []).map(nsgRule),
    })),
    route_tables: (doc.route_tables ?? []).map((t) => ({
      name: t.name,
      group: t.group,
      routes: (t.routes ?? []).map((r) => ({
        name: r.name,
        prefix: r.prefix,
        next_hop_type: spelt(NEXT_HOP_TYPES, r.next_hop_type),
        next_hop_ip: r.next_hop_ip ?? null,
      })),
    })),
    vms: (doc.vms ?? []).map(vm),
    private_dns: (doc.private_dns ?? []).map((z) => zone(z, z.links ?? [])),
    public_dns: (doc.public_dns ?? []).map((z) => zone(z, [])),
    storage: (doc.storage ?? []).map((s) => ({
      name: s.name,
      group: s.group,
      containers: s.containers ?? [],
      default_action: spelt(ACCESS, s.default_action ?? 'Allow'),
      subnet_rules: s.subnet_rules ?? [],
      ip_rules: s.ip_rules ?? [],
      keys: s.keys ?? true,
    })),
    watchers: (doc.watchers ?? []).map(regionName),
    local: {
      vpn: doc.local?.vpn ?? false,
      dns: doc.local?.dns && doc.local.dns.length > 0 ? doc.local.dns : ['8.8.8.8'],
      address: doc.local?.address ?? DEFAULT_LOCAL_ADDRESS,
    },
    flows: (doc.flows ?? []).map(flow),
    activity: (doc.activity ?? []).map((a) => ({
      ...a,
      time: new Date(a.time).toISOString(),
      status: a.status ?? 'Succeeded',
    })),
    faults_over_time: (doc.faults_over_time ?? [])
      .map((f) => ({ at_s: f.at_s, patch: f.patch as readonly PatchOperation[] }))
      .sort((a, b) => a.at_s - b.at_s),
  };
}

/** `West Europe` and `westeurope` are one region. */
export function regionName(text: string): string {
  return text.replaceAll(' ', '').toLowerCase();
}

function vnet(v: Doc<'vnets'>): Vnet {
  return {
    name: v.name,
    group: v.group,
    prefixes: v.prefixes,
    subnets: (v.subnets ?? []).map((s) => ({
      name: s.name,
      prefix: s.prefix,
      nsg: s.nsg ?? null,
      route_table: s.route_table ?? null,
      service_endpoints: s.service_endpoints ?? [],
    })),
    peerings: (v.peerings ?? []).map(
      (p): Peering => ({
        name: p.name,
        remote: p.remote,
        state: spelt(PEERING_STATES, p.state ?? 'Connected'),
        allow_forwarded: p.allow_forwarded ?? false,
        allow_gateway: p.allow_gateway ?? false,
      }),
    ),
    bgp_routes: v.bgp_routes ?? [],
  };
}

type NsgRuleDoc = NonNullable<Doc<'nsgs'>['rules']>[number];

function nsgRule(r: NsgRuleDoc): NsgRule {
  return {
    name: r.name,
    priority: r.priority,
    direction: spelt(DIRECTIONS, r.direction),
    access: spelt(ACCESS, r.access),
    protocol: spelt(NSG_PROTOCOLS, r.protocol ?? '*'),
    source: asList(r.source) ?? ['*'],
    source_port: asList(r.source_port) ?? ['*'],
    destination: asList(r.destination) ?? ['*'],
    destination_port: asList(r.destination_port) ?? ['*'],
  };
}

function vm(v: Doc<'vms'>): Vm {
  return {
    name: v.name,
    group: v.group,
    subnet: v.subnet,
    ip: v.ip,
    nic: v.nic ?? `${v.name}-nic`,
    nic_nsg: v.nic_nsg ?? null,
    public_ip: v.public_ip ?? null,
    os: spelt(OSES, v.os ?? 'linux'),
    power: spelt(POWER_STATES, v.power ?? 'running'),
    ip_forwarding: v.ip_forwarding ?? false,
    os_ip_forward: v.os_ip_forward ?? null,
    listens: (v.listens ?? []).map(listener),
    os_firewall: (v.os_firewall ?? []).map(osRule),
    os_policy: {
      INPUT: spelt(POLICIES, v.os_policy?.INPUT ?? 'ACCEPT'),
      OUTPUT: spelt(POLICIES, v.os_policy?.OUTPUT ?? 'ACCEPT'),
      FORWARD: spelt(POLICIES, v.os_policy?.FORWARD ?? 'ACCEPT'),
    },
    link: link(v.link ?? {}),
    app: { reads_slowly: v.app?.reads_slowly ?? false, resets_pct: v.app?.resets_pct ?? 0 },
  };
}

function link(l: NonNullable<Doc<'vms'>['link']>): Link {
  const d = DEFAULT_LINK;
  return {
    loss_pct: l.loss_pct ?? d.loss_pct,
    delay_ms: l.delay_ms ?? d.delay_ms,
    jitter_ms: l.jitter_ms ?? d.jitter_ms,
    rate_mbit: l.rate_mbit ?? d.rate_mbit,
    mtu: l.mtu ?? d.mtu,
    icmp_frag_needed: l.icmp_frag_needed ?? d.icmp_frag_needed,
    reorder_pct: l.reorder_pct ?? d.reorder_pct,
    corrupt_pct: l.corrupt_pct ?? d.corrupt_pct,
  };
}

const ALL = new Set<string>(['*', '::']);

function listener(l: NonNullable<Doc<'vms'>['listens']>[number]): Listener {
  const bind = l.bind === undefined || l.bind === null || ALL.has(l.bind) ? '0.0.0.0' : l.bind;
  return {
    port: l.port,
    protocol: spelt(TRANSPORTS, l.protocol ?? 'tcp'),
    bind: bind === 'localhost' ? '127.0.0.1' : bind,
    process: l.process ?? programFor(l.port),
  };
}

/** What usually answers on a port, for `ss -p` and the like. */
export function programFor(port: number): string {
  return PROGRAMS[port] ?? 'app';
}

const PROGRAMS: Readonly<Record<number, string>> = {
  22: 'sshd',
  53: 'named',
  80: 'nginx',
  111: 'rpcbind',
  389: 'slapd',
  443: 'nginx',
  1433: 'sqlservr',
  2049: 'nfsd',
  3306: 'mysqld',
  5432: 'postgres',
  5672: 'beam.smp',
  6379: 'redis-server',
  8080: 'java',
  8443: 'java',
  9092: 'java',
  9200: 'java',
  27017: 'mongod',
};

function osRule(r: NonNullable<Doc<'vms'>['os_firewall']>[number]): OsRule {
  const ports = asList(r.port);
  return {
    chain: spelt(CHAINS, r.chain),
    protocol: spelt(OS_PROTOCOLS, r.protocol ?? 'all'),
    port: ports === undefined || ports.includes('*') ? null : ports,
    source: wild(r.source),
    destination: wild(r.destination),
    action: spelt(ACTIONS, r.action),
  };
}

function wild(text: string | null | undefined): string | null {
  return text === undefined || text === null || text === '*' ? null : text;
}

function zone(
  z: { zone: string; group: string; records?: Doc<'private_dns'>['records'] },
  links: readonly string[],
): DnsZone {
  return {
    zone: z.zone.toLowerCase().replace(/\.$/, ''),
    group: z.group,
    links,
    records: (z.records ?? []).map(
      (r): DnsRecord => ({
        name: r.name.toLowerCase(),
        type: spelt(RECORD_TYPES, r.type),
        value: asList(r.value) ?? [],
        ttl: r.ttl ?? 3600,
      }),
    ),
  };
}

function flow(f: Doc<'flows'>): Flow {
  const protocol = spelt(FLOW_PROTOCOLS, f.protocol ?? 'tcp');
  const bytes = f.bytes ?? 1000;
  return {
    from: f.from,
    to: f.to,
    protocol,
    port: protocol === 'icmp' ? null : (f.port ?? null),
    every_ms: f.every_ms ?? 1000,
    bytes,
    reply_bytes: f.reply_bytes ?? bytes,
  };
}

function asList(value: Ports | Ports[] | null | undefined): readonly string[] | undefined {
  if (value === undefined || value === null) return undefined;
  return Array.isArray(value) ? value.map(String) : [String(value)];
}

type Ports = string | number;

/** People write `allow` and `ALLOW`; from here on there is one spelling. */
function spelt<const T extends readonly string[]>(words: T, word: string): T[number] {
  return words.find((w) => w.toLowerCase() === word.toLowerCase()) ?? words[0]!;
}
