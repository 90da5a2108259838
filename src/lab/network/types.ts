/**
 * What happens to one conversation in a world, as data. `trace(world, query)` computes it; `az network
 * watcher`, the probes, the emulated guest and the packet synthesis all read it, so they cannot disagree.
 *
 * T1 A path lists every station a packet passes, in order; only the last one can stop it.
 * T2 A capture in a VM sees exactly the packets that pass that VM's `capture` station: what its own OUTPUT
 *    chain drops never gets there, what the network drops on the way in never gets there, what its INPUT
 *    chain drops has been seen.
 * T3 The reply is computed the same way from the other end, so asymmetric routes show.
 */
import type { Direction, FlowProtocol, Link, OsRule } from '../world/types.ts';

/** Where a conversation starts: a VM, the engineer's own machine, or some address on the internet. */
export type Origin =
  | { readonly kind: 'vm'; readonly name: string }
  | { readonly kind: 'local' }
  | { readonly kind: 'internet'; readonly ip: string };

export interface Query {
  readonly from: Origin;
  /** A VM, a storage account, an address, or a host name. */
  readonly to: string;
  readonly protocol: FlowProtocol;
  /** Destination port; `null` exactly for icmp. */
  readonly port: number | null;
  /** Only matters to rules with source ports. Default 50000. */
  readonly sourcePort?: number;
}

/** Something with an address. */
export type Node =
  | {
      readonly kind: 'vm';
      readonly name: string;
      readonly ip: string;
      readonly vnet: string;
      readonly subnet: string;
    }
  | { readonly kind: 'storage'; readonly account: string; readonly ip: string }
  | { readonly kind: 'local'; readonly ip: string }
  | { readonly kind: 'internet'; readonly ip: string }
  /** Behind a gateway, known by a BGP route. */
  | { readonly kind: 'onprem'; readonly ip: string }
  /** 168.63.129.16: DNS, load balancer probes. */
  | { readonly kind: 'platform'; readonly ip: string }
  /** An address where nothing lives. */
  | { readonly kind: 'nobody'; readonly ip: string };

export type RouteSource = 'Default' | 'User' | 'VirtualNetworkGateway';
export type EffectiveNextHop =
  | 'VnetLocal'
  | 'VNetPeering'
  | 'VirtualNetworkServiceEndpoint'
  | 'VirtualAppliance'
  | 'VirtualNetworkGateway'
  | 'Internet'
  | 'None';

export interface EffectiveRoute {
  readonly prefix: string;
  readonly source: RouteSource;
  readonly nextHopType: EffectiveNextHop;
  /** Set for VirtualAppliance and for BGP routes. */
  readonly nextHopIp: string | null;
  /** `Invalid` = overridden by a route of a higher source with the same prefix. */
  readonly state: 'Active' | 'Invalid';
  /** Name of the user route and its table. */
  readonly name: string | null;
  readonly table: string | null;
}

/** The rule of an NSG that decides about a packet; default rules by their Azure names. */
export interface NsgVerdict {
  readonly nsg: string;
  readonly attached: 'subnet' | 'nic';
  readonly direction: Direction;
  readonly rule: string;
  readonly priority: number;
  readonly isDefault: boolean;
  readonly access: 'Allow' | 'Deny';
}

export type Station =
  /** The rule that matched, or null when the chain's policy decided. */
  | {
      readonly kind: 'os_firewall';
      readonly vm: string;
      readonly chain: 'INPUT' | 'OUTPUT' | 'FORWARD';
      readonly rule: OsRule | null;
      readonly action: 'ACCEPT' | 'DROP' | 'REJECT';
    }
  /** Where a capture running in this VM looks; `in` after its wire, `out` before it. */
  | { readonly kind: 'capture'; readonly vm: string; readonly way: 'in' | 'out' }
  /** The VM's wire, with what it does to packets. */
  | { readonly kind: 'link'; readonly vm: string; readonly way: 'in' | 'out'; readonly link: Link }
  | ({ readonly kind: 'nsg'; readonly vm: string } & NsgVerdict)
  /** The route that decides where the packet goes from `vm`, and whom it is handed to. */
  | {
      readonly kind: 'route';
      readonly vm: string;
      readonly route: EffectiveRoute;
      readonly next: Node | null;
    }
  | { readonly kind: 'peering'; readonly from: string; readonly to: string; readonly sameRegion: boolean }
  /** The packet has arrived at a VM that is not its destination. */
  | {
      readonly kind: 'forward';
      readonly vm: string;
      readonly forwards: boolean;
      readonly knowsConversation: boolean;
    }
  | { readonly kind: 'power'; readonly vm: string; readonly power: 'running' | 'stopped' | 'deallocated' }
  /** The destination answers: a listening socket, an echo, a service on the internet. */
  | { readonly kind: 'destination'; readonly node: Node; readonly answers: boolean };

/** Why a packet went no further. */
export type DropReason =
  | 'os_firewall'
  | 'nsg'
  | 'route_none'
  | 'no_next_hop' // the route names an address where nothing lives
  | 'not_forwarding'
  | 'conversation_unknown' // a stateful appliance that did not see the beginning
  | 'peering' // not connected on both sides, or forwarded traffic not allowed
  | 'vm_not_running'
  | 'nobody_there'
  | 'unroutable' // a private address handed to the internet, or a gateway that is not there
  | 'loop'
  | 'no_vpn'; // the engineer's machine cannot reach private addresses

export type PathEnd =
  | { readonly kind: 'delivered' }
  /** Silence. */
  | { readonly kind: 'dropped'; readonly reason: DropReason }
  /** The sender is told: RST from a closed port, ICMP from a closed UDP port or a REJECT rule. */
  | { readonly kind: 'rejected'; readonly with: 'rst' | 'icmp_port_unreachable'; readonly by: Node };

/** What the wires on a path do together, from its first station to its last. */
export interface PathProperties {
  /** 0–100, of all wires together. */
  readonly lossPct: number;
  readonly corruptPct: number;
  readonly reorderPct: number;
  /** One way, wires and distance. */
  readonly delayMs: number;
  readonly jitterMs: number;
  readonly rateMbit: number | null;
  /** The smallest MTU on the way, whose wire that is, and whether the sender is told. */
  readonly mtu: number;
  readonly mtuAt: string | null;
  readonly fragNeededTold: boolean;
}

export interface Path {
  readonly source: Node;
  readonly destination: Node;
  readonly stations: readonly Station[];
  readonly end: PathEnd;
  readonly properties: PathProperties;
}

export type DnsStatus = 'NOERROR' | 'NXDOMAIN' | 'SERVFAIL' | 'TIMEOUT';

export interface DnsAnswer {
  readonly name: string;
  readonly type: string;
  readonly value: string;
  readonly ttl: number;
}

/** NOERROR with no answers: the name exists, but not with this type. */
export interface Resolution {
  readonly name: string;
  readonly type: string;
  readonly server: string;
  readonly status: DnsStatus;
  /** CNAMEs first, in order. */
  readonly answers: readonly DnsAnswer[];
  /** The private zone that answered; null for public DNS. */
  readonly zone: string | null;
  /** First address, when there is one. */
  readonly address: string | null;
}

/** What the client sees in the end. */
export type Outcome =
  | { readonly kind: 'name_not_resolved' }
  /** A conversation takes place (perhaps slowly: see the properties); `forbidden` = the storage firewall's 403. */
  | { readonly kind: 'answered'; readonly forbidden: boolean }
  /** Told at once: connection refused, or port unreachable. */
  | { readonly kind: 'refused' }
  /** Nothing comes back. */
  | { readonly kind: 'silence' };

export interface Trace {
  readonly query: Query;
  /** Null when `to` needed no lookup. */
  readonly resolution: Resolution | null;
  /** Null when the name did not resolve. */
  readonly request: Path | null;
  /** From the destination, or from whoever rejects; null when nobody answers. */
  readonly reply: Path | null;
  readonly outcome: Outcome;
  /** Of a storage account's firewall, when the destination is one. */
  readonly storage: StorageAdmission | null;
}

export interface StorageAdmission {
  readonly account: string;
  readonly allowed: boolean;
  readonly why:
    | 'default_allow'
    | 'subnet_rule'
    | 'ip_rule'
    /** The subnet is on the list, but without its service endpoint it comes with a public address. */
    | 'service_endpoint_missing'
    | 'not_on_the_list';
}
