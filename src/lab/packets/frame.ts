import type { Packet } from './sim/packet.ts';
import { put16 } from './wire/bytes.ts';
import { ETHERNET_BYTES, FABRIC_MAC, type Mac, putEthernet } from './wire/ethernet.ts';
import { ICMP, ICMP_BYTES, putIcmp, QUOTED_BYTES } from './wire/icmp.ts';
import { IPV4_BYTES, type Ipv4Header, PROTOCOL, putIpv4 } from './wire/ipv4.ts';
import { optionBytes, putTcp, TCP_BYTES } from './wire/tcp.ts';
import { putUdp, UDP_BYTES } from './wire/udp.ts';

/** `ping` counts bytes up from 0x10 after its timestamp; the whole pattern will do here. */
const ECHO_PATTERN = Uint8Array.from({ length: 1500 }, (_, index) => (index + 0x10) & 255);

/** Writes the frame as the NIC `mac` saw it; returns its length. */
export function putFrame(
  buffer: Uint8Array,
  at: number,
  packet: Packet,
  mac: Mac,
  way: 'out' | 'in',
): number {
  if (way === 'out') putEthernet(buffer, at, FABRIC_MAC, mac);
  else putEthernet(buffer, at, mac, FABRIC_MAC);
  putIpPacket(buffer, at + ETHERNET_BYTES, packet);
  if (packet.corrupted) spoil(buffer, at + ETHERNET_BYTES, packet);
  return ETHERNET_BYTES + packet.bytes;
}

function ipHeader(packet: Packet): Ipv4Header {
  const { body } = packet;
  const protocol = body.kind === 'tcp' ? PROTOCOL.tcp : body.kind === 'udp' ? PROTOCOL.udp : PROTOCOL.icmp;
  return {
    source: packet.source,
    destination: packet.destination,
    protocol,
    id: packet.id,
    ttl: packet.ttl,
    dontFragment: packet.dontFragment,
    ...(body.kind === 'error' ? { tos: 0xc0 } : {}),
  };
}

function putIpPacket(buffer: Uint8Array, at: number, packet: Packet): void {
  const ip = ipHeader(packet);
  const start = putIpv4(buffer, at, ip, packet.bytes - IPV4_BYTES);
  const { body } = packet;
  switch (body.kind) {
    case 'tcp': {
      const payload = start + TCP_BYTES + optionBytes(body.options);
      body.content.fill(buffer, payload, body.offset, body.length);
      putTcp(buffer, start, ip, body, body.length);
      return;
    }
    case 'udp': {
      body.content.fill(buffer, start + UDP_BYTES, body.offset, body.length);
      putUdp(buffer, start, ip, { source: body.sourcePort, destination: body.destinationPort }, body.length);
      return;
    }
    case 'echo': {
      buffer.set(ECHO_PATTERN.subarray(0, body.length), start + ICMP_BYTES);
      const kind = body.request ? ICMP.echoRequest : ICMP.echoReply;
      putIcmp(buffer, start, kind, [body.identifier, body.sequence], body.length);
      return;
    }
    case 'error': {
      const quoted = new Uint8Array(body.about.bytes);
      putIpPacket(quoted, 0, body.about);
      buffer.set(quoted.subarray(0, QUOTED_BYTES), start + ICMP_BYTES);
      putIcmp(buffer, start, body.icmp, [0, body.mtu], QUOTED_BYTES);
      return;
    }
  }
}

/**
 * Flips one bit where it spoils the checksum and nothing a reader needs to follow the conversation: in the
 * payload, or in the checksum itself when there is none.
 */
function spoil(buffer: Uint8Array, at: number, packet: Packet): void {
  const { body } = packet;
  const start = at + IPV4_BYTES;
  const bit = 1 << (packet.serial & 7);
  switch (body.kind) {
    case 'tcp': {
      const payload = start + TCP_BYTES + optionBytes(body.options);
      // Not in the first half: that is where application headers live.
      const flipped = body.length > 0 ? payload + ((body.length * 3) >> 2) : start + 17;
      buffer[flipped] = buffer[flipped]! ^ bit;
      return;
    }
    case 'udp':
      // Flipping within the checksum could turn it into "none", so the high byte is set apart.
      put16(buffer, start + 6, ((buffer[start + 6]! ^ 0x40) << 8) | buffer[start + 7]! | 1);
      return;
    case 'echo':
    case 'error':
      buffer[start + 3] = buffer[start + 3]! ^ bit;
      return;
  }
}
