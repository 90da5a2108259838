/** Framings and records seldom met. Against tshark where it is installed, and by number everywhere. */
import { describe, expect, test } from 'vitest';
import { countFile } from '../../src/pcap/run.ts';
import { differences } from './support/compare.ts';
import {
  block,
  bytes,
  concat,
  enhancedPacket,
  eth,
  interfaceBlock,
  ip4,
  pcap,
  save,
  sectionHeader,
  simplePacket,
  u32,
  udp,
  zeros,
} from './support/craft.ts';
import { scratch } from './support/scratch.ts';
import { tsharkVersion } from './support/tshark.ts';
import {
  cutFrames,
  cutWlanFrames,
  firstFragments,
  halfRangeApart,
  snmpFrames,
  teredoFrames,
  uncommonFrames,
} from './support/uncommon.ts';

const supported = tsharkVersion()?.startsWith('4.0.') === true;
const datagram = eth(0x0800, ip4(17, udp(1000, 2000, [1, 2, 3])));

/** A file with everything that is a record but has no time, or is no packet. */
function records(big: boolean): Uint8Array {
  const word = (value: number) => (big ? u32(value) : u32(value).reverse());
  const long = (value: number) => (big ? bytes(u32(0), u32(value)) : bytes(u32(value).reverse(), u32(0)));
  return concat([
    sectionHeader(big),
    block(0x0bad, bytes(word(32_473), 'before any interface'), big),
    interfaceBlock(1, [], big),
    simplePacket(datagram, big),
    enhancedPacket(datagram, 1_600_000_000_000_000n, 0, big),
    block(0x4000_0bad, bytes(word(32_473), 'not to be copied'), big),
    block(9, bytes('MESSAGE=hello\n__REALTIME_TIMESTAMP=1600000000500000\n'), big),
    block(9, bytes('MESSAGE=an entry without a time\n'), big),
    block(0x204, bytes(zeros(2), long(2_000_000_000), zeros(8), word(30), zeros(2), zeros(12)), big),
    block(0x216, bytes(zeros(2), long(3_000_000_000), zeros(8), word(30), zeros(2), zeros(4), zeros(8)), big),
    block(0x0bad0bad, zeros(8), big),
    simplePacket(datagram, big),
  ]);
}

describe('framings and records seldom met', () => {
  const folder = scratch();
  const file = (name: string, data: Uint8Array) => save(folder.path(name), data);
  const frames = () => file('uncommon.pcap', pcap(uncommonFrames()));
  const snmp = () => file('snmp.pcap', pcap(snmpFrames()));
  const wireless = () =>
    file(
      'wlan.pcap',
      pcap(
        cutWlanFrames().map((data, i) => ({ data, seconds: 1_600_000_000 + i, length: 100 })),
        { link: 105 },
      ),
    );

  test('[PCAP-07] tags, tunnels and samples are followed into what they carry', async () => {
    const counters = await countFile(frames());
    expect(counters).toMatchObject({ frames_arp: 2, frames_mpls: 1, frames_dns: 1, frames_vlan: 0 });
    expect(counters.frames_tcp).toBe(18);
  });

  test('[PCAP-10] a stream that turns out to be SNMP goes on under a second number', async () => {
    expect(await countFile(snmp())).toMatchObject({ frames_udp: 11, frames_dns: 1, udp_streams: 9 });
  });

  test('[PCAP-06] a wireless frame counts as soon as its kind can be told', async () => {
    const counters = await countFile(wireless());
    expect(counters.packets).toBe(143);
    expect(counters.frames_wlan).toBe(102);
  });

  test.each([false, true])(
    '[PCAP-02] records without a time or without a link layer, big-endian %s',
    async (big) => {
      const counters = await countFile(file(`records${big}.pcapng`, records(big)));
      expect(counters).toMatchObject({
        error: null,
        packets: 9,
        first_ts: '1600000000.000000000',
        last_ts: '3.000000000',
        min_ts: 2,
        max_ts: 1_600_000_000.5,
        time_ordered: false,
        frames_udp: 3,
        interfaces: 1,
        encap: 'Ethernet',
      });
    },
  );

  test('[PCAP-02] a file in which nothing has a time has none', async () => {
    const data = concat([sectionHeader(), interfaceBlock(1), simplePacket(datagram)]);
    const counters = await countFile(file('untimed.pcapng', data));
    expect(counters).toMatchObject({
      packets: 1,
      first_ts: null,
      last_ts: null,
      min_ts: null,
      time_ordered: true,
    });
  });

  test('[PCAP-04] a fraction that no second has counts as the number it shows as', async () => {
    const whole = pcap([datagram, datagram, datagram]);
    new DataView(whole.buffer).setUint32(24 + 4, 1_500_000, true);
    new DataView(whole.buffer).setUint32(24 + 16 + datagram.length + 4, 900_000, true);
    const counters = await countFile(file('fraction.pcap', whole));
    expect(counters).toMatchObject({
      first_ts: '1600000000.1500000000',
      min_ts: 1_600_000_000.002,
      max_ts: 1_600_000_000.9,
      time_ordered: false,
    });
  });

  describe.skipIf(!supported)('against tshark', () => {
    test.each([
      ['tunnels', frames],
      ['SNMP', snmp],
      [
        'cut tunnels',
        () =>
          file('cut.pcap', pcap(cutFrames([...uncommonFrames(), ...teredoFrames(), ...firstFragments()]))),
      ],
      ['numbers half the range apart', () => file('half.pcap', pcap(halfRangeApart()))],
      ['wireless', wireless],
      ['records', () => file('both.pcapng', records(false))],
      ['records in the other order', () => file('both.pcapng', records(true))],
    ])('[PCAP-10] %s', async (_name, make) => expect(await differences(make())).toEqual([]));
  });
});
