/** ip, ifconfig, route, ethtool, tc: the NIC and the guest's own routing table (which in Azure knows little). */
import { formatIp, maskOf, parseIp, parsePrefix } from '../network/ipv4.ts';
import { macAddress, subnetOf } from '../network/places.ts';
import { fail, out, type ToolResult } from '../tools/context.ts';
import { nicCounters } from './conversations.ts';
import type { GuestCommand, GuestCommands, Machine } from './machine.ts';

const FABRIC_MAC = '12:34:56:78:9a:bc';

function addressing(machine: Machine) {
  const prefix = parsePrefix(subnetOf(machine.world, machine.vm).prefix)!;
  const gateway = formatIp(prefix.base + 1);
  const broadcast = formatIp((prefix.base | ~maskOf(prefix.bits)) >>> 0);
  return { prefix, gateway, broadcast, network: formatIp(prefix.base), mac: macAddress(machine.vm) };
}

const LOOPBACK =
  '1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000\n    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00';

const ip: GuestCommand = (argv, machine) => {
  const words = argv.filter((w) => !w.startsWith('-'));
  const statistics = argv.some((w) => /^-s+$|^-stat/.test(w));
  const what = words[0] ?? '';
  // `ip link show eth0`, `ip addr show dev eth0`: one device instead of both.
  const only = words.includes('eth0') ? 'eth0' : words.includes('lo') ? 'lo' : null;
  if (/^a(d(d(r(ess)?)?)?)?$/.test(what)) return out(chosen(address(machine), only));
  if (/^l(i(n(k)?)?)?$/.test(what)) return out(chosen(link(machine, statistics), only));
  if (/^r(o(u(te?)?)?)?$/.test(what))
    return words[1] === 'get' ? routeGet(machine, words[2]) : out(routes(machine));
  if (/^n(e(i(gh?)?)?)?/.test(what))
    return out(`${addressing(machine).gateway} dev eth0 lladdr ${FABRIC_MAC} REACHABLE\n`);
  if (/^ru/.test(what))
    return out('0:\tfrom all lookup local\n32766:\tfrom all lookup main\n32767:\tfrom all lookup default\n');
  return fail(`Object "${what}" is unknown, try "ip help".\n`, 1);
};

interface Devices {
  readonly lo: string;
  readonly eth0: string;
}

function chosen(devices: Devices, only: keyof Devices | null): string {
  return only === null ? devices.lo + devices.eth0 : devices[only];
}

function address(machine: Machine): Devices {
  const { prefix, broadcast, mac } = addressing(machine);
  return {
    lo: `${LOOPBACK}\n    inet 127.0.0.1/8 scope host lo\n       valid_lft forever preferred_lft forever\n`,
    eth0: `2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000\n    link/ether ${mac} brd ff:ff:ff:ff:ff:ff\n    inet ${machine.vm.ip}/${prefix.bits} metric 100 brd ${broadcast} scope global eth0\n       valid_lft forever preferred_lft forever\n`,
  };
}

function link(machine: Machine, statistics: boolean): Devices {
  const n = nicCounters(machine);
  const numbers = (rx: readonly number[], tx: readonly number[]) =>
    statistics
      ? `    RX:  bytes packets errors dropped  missed   mcast\n    ${rx.join(' ')}\n    TX:  bytes packets errors dropped carrier collsns\n    ${tx.join(' ')}\n`
      : '';
  return {
    lo: `${LOOPBACK}\n${numbers([402_310, 4210, 0, 0, 0, 0], [402_310, 4210, 0, 0, 0, 0])}`,
    eth0: `2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT group default qlen 1000\n    link/ether ${macAddress(machine.vm)} brd ff:ff:ff:ff:ff:ff\n${numbers([n.rxBytes, n.rxPackets, n.rxErrors, n.rxDropped, 0, 0], [n.txBytes, n.txPackets, 0, n.txDropped, 0, 0])}`,
  };
}

function routes(machine: Machine): string {
  const { prefix, gateway, network } = addressing(machine);
  const ip4 = machine.vm.ip;
  return `default via ${gateway} dev eth0 proto dhcp src ${ip4} metric 100\n${network}/${prefix.bits} dev eth0 proto kernel scope link src ${ip4} metric 100\n168.63.129.16 via ${gateway} dev eth0 proto dhcp src ${ip4} metric 100\n169.254.169.254 via ${gateway} dev eth0 proto dhcp src ${ip4} metric 100\n`;
}

function routeGet(machine: Machine, to: string | undefined): ToolResult {
  if (to === undefined || parseIp(to) === undefined)
    return fail(`Error: any valid prefix is expected rather than "${to}".\n`, 1);
  const { gateway } = addressing(machine);
  const local = parsePrefix(subnetOf(machine.world, machine.vm).prefix)!;
  const direct = ((parseIp(to)! ^ local.base) & maskOf(local.bits)) === 0;
  return out(`${to} ${direct ? '' : `via ${gateway} `}dev eth0 src ${machine.vm.ip} uid 0\n    cache\n`);
}

const ethtool: GuestCommand = (argv, machine) => {
  const n = nicCounters(machine);
  if (argv.includes('-S'))
    return out(
      `NIC statistics:\n     tx_scattered: 0\n     tx_no_memory: 0\n     tx_no_space: ${n.txDropped}\n     tx_too_big: 0\n     tx_busy: ${n.overlimits}\n     tx_send_full: 0\n     rx_comp_busy: 0\n     rx_no_memory: 0\n     stop_queue: ${n.txDropped}\n     wake_queue: ${n.txDropped}\n     rx_crc_errors: ${n.rxErrors}\n     rx_dropped: ${n.rxDropped}\n     rx_queue_0_packets: ${n.rxPackets}\n     rx_queue_0_bytes: ${n.rxBytes}\n     tx_queue_0_packets: ${n.txPackets}\n     tx_queue_0_bytes: ${n.txBytes}\n`,
    );
  if (argv.includes('-i'))
    return out('driver: hv_netvsc\nversion: 6.5.0-1022-azure\nfirmware-version: N/A\nbus-info:\n');
  return out(
    'Settings for eth0:\n\tSupported ports: [ ]\n\tSpeed: 50000Mb/s\n\tDuplex: Full\n\tAuto-negotiation: off\n\tLink detected: yes\n',
  );
};

const tc: GuestCommand = (argv, machine) => {
  const n = nicCounters(machine);
  const statistics = argv.includes('-s');
  const sent = statistics
    ? `\n Sent ${n.txBytes} bytes ${n.txPackets} pkt (dropped ${n.txDropped}, overlimits ${n.overlimits} requeues ${Math.round(n.overlimits / 7)})\n backlog ${n.txDropped > 0 ? '61320b 42p' : '0b 0p'} requeues ${Math.round(n.overlimits / 7)}`
    : '';
  return out(
    `qdisc noqueue 0: dev lo root refcnt 2\nqdisc mq 0: dev eth0 root${sent}\nqdisc fq_codel 0: dev eth0 parent :1 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64${sent}\n`,
  );
};

const ifconfig: GuestCommand = (_argv, machine) => {
  const { prefix, broadcast, mac } = addressing(machine);
  const n = nicCounters(machine);
  return out(
    `eth0: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500\n        inet ${machine.vm.ip}  netmask ${formatIp(maskOf(prefix.bits))}  broadcast ${broadcast}\n        ether ${mac}  txqueuelen 1000  (Ethernet)\n        RX packets ${n.rxPackets}  bytes ${n.rxBytes}\n        RX errors ${n.rxErrors}  dropped ${n.rxDropped}  overruns 0  frame ${n.rxErrors}\n        TX packets ${n.txPackets}  bytes ${n.txBytes}\n        TX errors 0  dropped ${n.txDropped} overruns 0  carrier 0  collisions 0\n\nlo: flags=73<UP,LOOPBACK,RUNNING>  mtu 65536\n        inet 127.0.0.1  netmask 255.0.0.0\n`,
  );
};

export const interfaceCommands: GuestCommands = {
  ip,
  ethtool,
  tc,
  ifconfig,
  route: (_argv, machine) => {
    const { gateway, prefix, network } = addressing(machine);
    return out(
      `Kernel IP routing table\nDestination     Gateway         Genmask         Flags Metric Ref    Use Iface\n0.0.0.0         ${gateway.padEnd(15)} 0.0.0.0         UG    100    0        0 eth0\n${network.padEnd(15)} 0.0.0.0         ${formatIp(maskOf(prefix.bits)).padEnd(15)} U     100    0        0 eth0\n`,
    );
  },
  arp: (_argv, machine) =>
    out(
      `Address                  HWtype  HWaddress           Flags Mask            Iface\n${addressing(machine).gateway.padEnd(24)} ether   ${FABRIC_MAC}   C                     eth0\n`,
    ),
};
