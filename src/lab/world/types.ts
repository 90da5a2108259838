/**
 * A world after loading: every default filled in, every list a list, every name known to exist.
 *
 * The keys are those of the YAML file, because worlds change by JSON Patch (`faults_over_time`, and the
 * writes of the `az` stand-in) and a patch names the file's own paths. Plain JSON, so that it can be stored;
 * a world is itself a valid world document, so it can be patched and completed again.
 */
export interface World {
  readonly id: string;
  readonly title: string;
  readonly symptom: string;
  /** ISO 8601, UTC: the time in the world when the lab starts. */
  readonly now: string;
  readonly groups: readonly Group[];
  readonly vnets: readonly Vnet[];
  readonly nsgs: readonly Nsg[];
  readonly route_tables: readonly RouteTable[];
  readonly vms: readonly Vm[];
  readonly private_dns: readonly DnsZone[];
  /** Public zones hosted in the subscription (`az network dns`). */
  readonly public_dns: readonly DnsZone[];
  readonly storage: readonly StorageAccount[];
  /** Regions with Network Watcher enabled. */
  readonly watchers: readonly string[];
  readonly local: Local;
  readonly flows: readonly Flow[];
  readonly activity: readonly ActivityEntry[];
  /** In order of `at_s`. */
  readonly faults_over_time: readonly WorldChange[];
}

export interface Group {
  readonly name: string;
  readonly location: string;
}

export interface Vnet {
  readonly name: string;
  readonly group: string;
  readonly prefixes: readonly string[];
  readonly subnets: readonly Subnet[];
  readonly peerings: readonly Peering[];
  readonly bgp_routes: readonly BgpRoute[];
}

export interface Subnet {
  readonly name: string;
  readonly prefix: string;
  readonly nsg: string | null;
  readonly route_table: string | null;
  readonly service_endpoints: readonly string[];
}

export const PEERING_STATES = ['Connected', 'Disconnected', 'Initiated'] as const;
export type PeeringState = (typeof PEERING_STATES)[number];

export interface Peering {
  readonly name: string;
  /** Name of the other VNet. */
  readonly remote: string;
  readonly state: PeeringState;
  readonly allow_forwarded: boolean;
  readonly allow_gateway: boolean;
}

export interface BgpRoute {
  readonly prefix: string;
  /** Address of the gateway or appliance that announced it. */
  readonly next_hop: string;
}

export interface Nsg {
  readonly name: string;
  readonly group: string;
  readonly rules: readonly NsgRule[];
}

export const DIRECTIONS = ['Inbound', 'Outbound'] as const;
export type Direction = (typeof DIRECTIONS)[number];
export const ACCESS = ['Allow', 'Deny'] as const;
export type Access = (typeof ACCESS)[number];
export const NSG_PROTOCOLS = ['*', 'Tcp', 'Udp', 'Icmp', 'Esp', 'Ah'] as const;
export type NsgProtocol = (typeof NSG_PROTOCOLS)[number];

export interface NsgRule {
  readonly name: string;
  readonly priority: number;
  readonly direction: Direction;
  readonly access: Access;
  readonly protocol: NsgProtocol;
  /** Addresses, CIDRs, `*` or service tags; never empty. */
  readonly source: readonly string[];
  /** `*`, `443` or `8000-8100`; never empty. */
  readonly source_port: readonly string[];
  readonly destination: readonly string[];
  readonly destination_port: readonly string[];
}

export interface RouteTable {
  readonly name: string;
  readonly group: string;
  readonly routes: readonly UserRoute[];
}

export const NEXT_HOP_TYPES = [
  'VirtualAppliance',
  'VnetLocal',
  'Internet',
  'VirtualNetworkGateway',
  'None',
] as const;
export type NextHopType = (typeof NEXT_HOP_TYPES)[number];

export interface UserRoute {
  readonly name: string;
  readonly prefix: string;
  readonly next_hop_type: NextHopType;
  /** Set exactly when the type is VirtualAppliance. */
  readonly next_hop_ip: string | null;
}

export const POWER_STATES = ['running', 'stopped', 'deallocated'] as const;
export type PowerState = (typeof POWER_STATES)[number];

export const OSES = ['linux', 'windows'] as const;

export interface Vm {
  readonly name: string;
  readonly group: string;
  /** `vnet/subnet`. */
  readonly subnet: string;
  readonly ip: string;
  readonly nic: string;
  readonly nic_nsg: string | null;
  readonly public_ip: string | null;
  readonly os: (typeof OSES)[number];
  readonly power: PowerState;
  /** IP forwarding on the NIC: with the guest's (below) it makes a stateful appliance. */
  readonly ip_forwarding: boolean;
  /** The guest's own `net.ipv4.ip_forward`; `null` = the same as `ip_forwarding`. */
  readonly os_ip_forward: boolean | null;
  readonly listens: readonly Listener[];
  readonly os_firewall: readonly OsRule[];
  readonly os_policy: Readonly<Record<Chain, (typeof POLICIES)[number]>>;
  readonly link: Link;
  readonly app: App;
}

export const TRANSPORTS = ['tcp', 'udp'] as const;
export type TransportProtocol = (typeof TRANSPORTS)[number];

export interface Listener {
  readonly port: number;
  readonly protocol: TransportProtocol;
  /** `0.0.0.0` for all addresses. */
  readonly bind: string;
  /** Name of the program in `ss -p` and `systemctl`. */
  readonly process: string;
}

export const CHAINS = ['INPUT', 'OUTPUT', 'FORWARD'] as const;
export type Chain = (typeof CHAINS)[number];
export const POLICIES = ['ACCEPT', 'DROP'] as const;
export const OS_PROTOCOLS = ['tcp', 'udp', 'icmp', 'all'] as const;
export const ACTIONS = ['DROP', 'REJECT', 'ACCEPT'] as const;

export interface OsRule {
  readonly chain: Chain;
  readonly protocol: (typeof OS_PROTOCOLS)[number];
  /** `null` = any port; otherwise `443` or `8000-8100`, never empty. Destination port in every chain. */
  readonly port: readonly string[] | null;
  /** Address or CIDR; `null` = any. */
  readonly source: string | null;
  readonly destination: string | null;
  readonly action: (typeof ACTIONS)[number];
}

/** What the wire does to every packet the NIC sends or receives, transit included. */
export interface Link {
  readonly loss_pct: number;
  readonly delay_ms: number;
  readonly jitter_ms: number;
  readonly rate_mbit: number | null;
  /** What the wire carries; the OS believes 1500. */
  readonly mtu: number;
  /** Whether the ICMP that would tell the sender about `mtu` gets through. */
  readonly icmp_frag_needed: boolean;
  readonly reorder_pct: number;
  readonly corrupt_pct: number;
}

export interface App {
  readonly reads_slowly: boolean;
  readonly resets_pct: number;
}

export const RECORD_TYPES = ['A', 'AAAA', 'CNAME', 'TXT', 'MX', 'SRV', 'PTR'] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

export interface DnsZone {
  readonly zone: string;
  readonly group: string;
  /** VNets the zone is linked to; always empty for a public zone. */
  readonly links: readonly string[];
  readonly records: readonly DnsRecord[];
}

export interface DnsRecord {
  /** Relative to the zone; `@` is the zone itself. */
  readonly name: string;
  readonly type: RecordType;
  readonly value: readonly string[];
  readonly ttl: number;
}

export interface StorageAccount {
  readonly name: string;
  readonly group: string;
  readonly containers: readonly string[];
  readonly default_action: Access;
  /** `vnet/subnet`. */
  readonly subnet_rules: readonly string[];
  /** Addresses or CIDRs. */
  readonly ip_rules: readonly string[];
  /** Whether shared keys may be used. */
  readonly keys: boolean;
}

export interface Local {
  readonly vpn: boolean;
  readonly dns: readonly string[];
  /** The address NSGs see when the machine comes in through the VPN. */
  readonly address: string;
}

export const FLOW_PROTOCOLS = ['tcp', 'udp', 'icmp'] as const;
export type FlowProtocol = (typeof FLOW_PROTOCOLS)[number];

export interface Flow {
  /** A VM. */
  readonly from: string;
  /** A VM, a storage account, an address, or (anything else) a host name that is looked up first. */
  readonly to: string;
  readonly protocol: FlowProtocol;
  /** `null` exactly when the protocol is icmp. */
  readonly port: number | null;
  readonly every_ms: number;
  readonly bytes: number;
  readonly reply_bytes: number;
}

export interface ActivityEntry {
  readonly time: string;
  readonly caller: string;
  readonly operation: string;
  /** A resource's name, or a full resource id. */
  readonly resource: string;
  readonly status: string;
}

export interface WorldChange {
  /** Seconds after `now`. */
  readonly at_s: number;
  readonly patch: readonly PatchOperation[];
}

/** RFC 6902, on the paths of the world file. */
export type PatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string };

/** The world at every moment: what was written in the file, its own changes, and what `az` changed. */
export interface Timeline {
  /** The world at a moment in world time (milliseconds since the epoch). */
  at(ms: number): World;
  /** World time of every change, ascending: between two of them the world stays the same. */
  readonly changes: readonly number[];
}
