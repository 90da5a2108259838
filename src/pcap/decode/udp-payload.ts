/**
 * What a datagram carries, told by its ports: the lower one first, then the higher, as analysers do. A port that
 * belongs to another protocol ends the search, so a name server's answer to such a port is not mistaken.
 */
import type { Engine } from '../engine.ts';
import { dhcp } from './dhcp.ts';
import { dnsMessage, looksLikeDns } from './dns.ts';
import { CLAIMED_UDP_PORTS } from './ports.ts';
import { sflow } from './sflow.ts';
import { snmp } from './snmp.ts';
import {
  ayiya,
  capwapData,
  geneve,
  greInUdp,
  gtp,
  l2tp,
  lisp,
  mplsInUdp,
  teredo,
  tzsp,
  vxlan,
  vxlanGpe,
} from './udp-tunnels.ts';

type Decoder = (e: Engine, b: Uint8Array, o: number, end: number, wire: number) => void;

const dns: Decoder = (e, b, o, end, wire) => dnsMessage(e, b, o, end, wire, 'dns');
const mdns: Decoder = (e, b, o, end, wire) => dnsMessage(e, b, o, end, wire, 'mdns');
const llmnr: Decoder = (e, b, o, end, wire) => dnsMessage(e, b, o, end, wire, 'llmnr');
const nothing: Decoder = () => undefined;

const BY_PORT: (Decoder | undefined)[] = new Array(65_536).fill(undefined);
for (const port of CLAIMED_UDP_PORTS) BY_PORT[port] = nothing;
BY_PORT[53] = dns;
BY_PORT[67] = dhcp;
BY_PORT[68] = dhcp;
BY_PORT[1701] = l2tp;
BY_PORT[2152] = gtp;
BY_PORT[3544] = teredo;
BY_PORT[4341] = lisp;
BY_PORT[4754] = greInUdp;
BY_PORT[4789] = vxlan;
BY_PORT[4790] = vxlanGpe;
BY_PORT[5072] = ayiya;
BY_PORT[5247] = capwapData;
BY_PORT[5353] = mdns;
BY_PORT[5355] = llmnr;
BY_PORT[6081] = geneve;
BY_PORT[6343] = sflow;
BY_PORT[6635] = mplsInUdp;
BY_PORT[37008] = tzsp;

for (const port of [161, 162, 8161]) BY_PORT[port] = snmpOrOther;

export function udpPayload(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  const low = e.srcPort < e.dstPort ? e.srcPort : e.dstPort;
  const high = e.srcPort < e.dstPort ? e.dstPort : e.srcPort;
  const decoder = (low === 0 ? undefined : BY_PORT[low]) ?? BY_PORT[high];
  if (decoder !== undefined) decoder(e, b, o, end, wire);
  else if (looksLikeDns(b, o, end, wire)) dns(e, b, o, end, wire);
}

/** SNMP turns away what is not its own; then the other port may tell. */
function snmpOrOther(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (snmp(e, b, o, end, wire)) return;
  const decoder = BY_PORT[Math.max(e.srcPort, e.dstPort)];
  if (decoder !== undefined && decoder !== snmpOrOther) decoder(e, b, o, end, wire);
  else if (looksLikeDns(b, o, end, wire)) dns(e, b, o, end, wire);
}
