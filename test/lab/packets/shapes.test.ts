/** Each fault looks in a capture as it does in life. tshark is the judge. */
import { describe, expect, it } from 'vitest';
import { synthesizeCapture } from '../../../src/lab/packets/index.ts';
import { NOW_MS, type PairSettings, pair } from './pair.ts';
import { complaints, count, counts, hasTshark, rows } from './tshark.ts';

function capture(settings: PairSettings, vm: string, durationMs = 60_000): Uint8Array {
  return synthesizeCapture(pair(settings), { vm, startMs: NOW_MS, durationMs });
}

const SYN = 'tcp.flags.syn == 1 && tcp.flags.ack == 0';
const SYN_ACK = 'tcp.flags.syn == 1 && tcp.flags.ack == 1';

describe.skipIf(!hasTshark)('a healthy conversation', () => {
  it('[LABP-01] opens, carries its data both ways, closes, and tshark has nothing to remark', () => {
    const pcap = capture({ id: 'healthy' }, 'client');
    expect(complaints(pcap)).toEqual(new Map());
    const seen = counts(pcap, {
      syn: SYN,
      synAck: SYN_ACK,
      fin: 'tcp.flags.fin == 1',
      reset: 'tcp.flags.reset == 1',
      trouble: 'tcp.analysis.flags && !tcp.analysis.window_update',
      arp: 'arp',
    });
    expect(seen.syn).toBe(120);
    expect(seen.synAck).toBe(120);
    expect(seen.fin).toBe(240);
    expect(seen.reset).toBe(0);
    expect(seen.trouble).toBe(0);
    expect(seen.arp).toBeGreaterThanOrEqual(2);
    const sent = rows(pcap, 'tcp.len > 0 && ip.src == 10.7.1.4', 'tcp.len').map(([n]) => Number(n));
    expect(sent.reduce((sum, n) => sum + n, 0)).toBe(120 * 4000);
    expect(Math.max(...sent)).toBe(1448);
  });

  it('[LABP-05] offers MSS, SACK, timestamps and window scaling as Linux does', () => {
    const [syn] = rows(
      capture({ id: 'options' }, 'client', 5_000),
      SYN,
      'tcp.options.mss_val',
      'tcp.options.sack_perm',
      'tcp.options.wscale.shift',
      'tcp.window_size_value',
    );
    expect(syn?.slice(0, 4)).toEqual(['1460', '0402', '7', '64240']);
  });
});

describe.skipIf(!hasTshark)('something answers nothing', () => {
  const denied: PairSettings = {
    id: 'syn-drop',
    rules: [{ name: 'no', priority: 100, direction: 'Inbound', access: 'Deny', destination_port: '7100' }],
    flow: { every_ms: 2000 },
  };

  it('[LABP-10] a drop on the way: SYNs again and again with doubling gaps, and the server sees none', () => {
    const pcap = capture(denied, 'client', 120_000);
    const seen = counts(pcap, { syn: SYN, tcp: 'tcp', again: 'tcp.analysis.retransmission' });
    expect(seen.tcp).toBe(seen.syn);
    expect(seen.again).toBeGreaterThan(100);
    const times = new Map<string, number[]>();
    for (const [stream, time] of rows(pcap, SYN, 'tcp.stream', 'frame.time_epoch')) {
      times.set(stream!, [...(times.get(stream!) ?? []), Number(time)]);
    }
    const full = [...times.values()].filter((list) => list.length === 5);
    expect(full.length).toBeGreaterThan(30);
    for (const list of full) {
      const gaps = list.slice(1).map((time, index) => time - list[index]!);
      gaps.forEach((gap, index) => {
        expect(gap).toBeCloseTo(2 ** index, 2);
      });
    }
    expect(count(capture(denied, 'server', 120_000), 'tcp')).toBe(0);
  });

  it('[LABP-11] an OS firewall that drops: the server sees the SYNs and does not answer', () => {
    const settings: PairSettings = {
      id: 'os-drop',
      server: { os_firewall: [{ chain: 'INPUT', protocol: 'tcp', port: 7100, action: 'DROP' }] },
    };
    const seen = counts(capture(settings, 'server'), { syn: SYN, tcp: 'tcp', icmp: 'icmp' });
    expect(seen.syn).toBeGreaterThan(100);
    expect(seen.tcp).toBe(seen.syn);
    expect(seen.icmp).toBe(0);
  });

  it('[LABP-11] an OUTPUT chain that drops: not even the sender sees a packet leave', () => {
    const settings: PairSettings = {
      id: 'output-drop',
      client: { os_firewall: [{ chain: 'OUTPUT', protocol: 'tcp', port: 7100, action: 'DROP' }] },
    };
    expect(count(capture(settings, 'client'), 'tcp')).toBe(0);
  });

  it('[LABP-16] an answer that takes another way: the server answers, the appliance drops, the client waits', () => {
    const settings: PairSettings = { id: 'asymmetric', appliance: {}, via: 'back' };
    const client = counts(capture(settings, 'client'), { syn: SYN, synAck: SYN_ACK });
    const server = counts(capture(settings, 'server'), { syn: SYN, synAck: SYN_ACK, data: 'tcp.len > 0' });
    const nva = counts(capture(settings, 'nva'), { syn: SYN, synAck: SYN_ACK, out: 'ip.ttl == 63' });
    expect(client.syn).toBeGreaterThan(100);
    expect(client.synAck).toBe(0);
    expect(server.syn).toBe(client.syn);
    expect(server.synAck).toBeGreaterThan(server.syn);
    expect(server.data).toBe(0);
    expect(nva.synAck).toBe(server.synAck);
    expect(nva.syn).toBe(0);
    expect(nva.out).toBe(0);
  });
});

describe.skipIf(!hasTshark)('something says no', () => {
  it('[LABP-12] a closed port answers RST to the SYN', () => {
    const pcap = capture({ id: 'closed', server: { listens: [] } }, 'client');
    const seen = counts(pcap, { syn: SYN, rst: 'tcp.flags == 0x014 && tcp.seq_raw == 0', tcp: 'tcp' });
    expect(seen.rst).toBe(seen.syn);
    expect(seen.tcp).toBe(2 * seen.syn);
    expect([...complaints(pcap).keys()]).toEqual(['Connection reset (RST)']);
  });

  it('[LABP-13] a REJECT rule answers ICMP port unreachable that quotes the SYN', () => {
    const settings: PairSettings = {
      id: 'reject',
      server: { os_firewall: [{ chain: 'INPUT', protocol: 'tcp', port: 7100, action: 'REJECT' }] },
    };
    const pcap = capture(settings, 'client');
    const told = rows(pcap, 'icmp', 'icmp.type', 'icmp.code', 'tcp.dstport', 'ip.src');
    expect(told).toHaveLength(120);
    expect(told[0]).toEqual(['3', '3', '7100', '10.7.2.4,10.7.1.4']);
    expect(count(pcap, 'tcp.analysis.retransmission && !icmp')).toBe(0);
    expect(complaints(pcap)).toEqual(new Map());
  });

  it('[LABP-13] a closed UDP port answers ICMP port unreachable', () => {
    const settings = { id: 'udp-closed', server: { listens: [] }, flow: { protocol: 'udp', bytes: 300 } };
    const pcap = capture(settings, 'client');
    const seen = counts(pcap, { asked: 'udp && !icmp', told: 'icmp.type == 3 && icmp.code == 3' });
    expect(seen.asked).toBe(120);
    expect(seen.told).toBe(120);
  });

  it('[LABP-20] an application that resets: RST from the server in about the stated share', () => {
    const settings: PairSettings = {
      id: 'resets',
      server: { app: { resets_pct: 30 } },
      flow: { every_ms: 100 },
    };
    const pcap = capture(settings, 'client', 30_000);
    const packets = rows(pcap, 'tcp', 'tcp.stream', 'ip.src', 'tcp.flags.reset', 'tcp.len');
    const fromServer = packets.filter(([, src]) => src === '10.7.2.4');
    const resets = packets.filter(([, , reset]) => reset === '1');
    expect(resets.every(([, src]) => src === '10.7.2.4')).toBe(true);
    const share = resets.length / new Set(packets.map(([stream]) => stream)).size;
    expect(share).toBeGreaterThan(0.22);
    expect(share).toBeLessThan(0.38);
    // Some resets come in the middle of the answer.
    const streams = new Set(resets.map(([stream]) => stream));
    expect(fromServer.some(([stream, , , len]) => streams.has(stream) && Number(len) > 0)).toBe(true);
  });
});

describe.skipIf(!hasTshark)('a wire that is not what it should be', () => {
  it('[LABP-14] an MTU black hole: the handshake passes, full segments vanish, small ones are acknowledged', () => {
    const settings: PairSettings = {
      id: 'black-hole',
      server: { link: { mtu: 1400 } },
      flow: { every_ms: 2000 },
    };
    const client = capture(settings, 'client');
    const seen = counts(client, {
      synAck: SYN_ACK,
      full: 'tcp.len == 1448',
      again: 'tcp.len == 1448 && tcp.analysis.retransmission',
      small: 'tcp.len > 0 && tcp.len < 1348 && !tcp.analysis.retransmission',
      icmp: 'icmp',
      sacked: 'tcp.options.sack_le && ip.src == 10.7.2.4',
    });
    expect(seen.synAck).toBe(30);
    expect(seen.again).toBeGreaterThan(seen.full / 2);
    expect(seen.small).toBeGreaterThanOrEqual(29);
    expect(seen.sacked).toBeGreaterThanOrEqual(29);
    expect(seen.icmp).toBe(0);
    expect(count(capture(settings, 'server'), 'tcp.len > 1348')).toBe(0);
  });

  it('[LABP-14] the same wire with the ICMP let through: told once, smaller segments, all arrives', () => {
    const settings: PairSettings = {
      id: 'told',
      server: { link: { mtu: 1400, icmp_frag_needed: true } },
      flow: { every_ms: 2000 },
    };
    const client = capture(settings, 'client');
    const told = rows(client, 'icmp', 'icmp.type', 'icmp.code', 'icmp.mtu');
    expect(told.length).toBeGreaterThan(0);
    expect(told[0]).toEqual(['3', '4', '1400']);
    expect(count(client, 'tcp.flags.fin == 1')).toBe(60);
    expect(count(client, 'tcp.flags.reset == 1')).toBe(0);
  });

  it('[LABP-15] loss: the share of retransmissions is near the stated one, on either side', () => {
    for (const end of ['server', 'client'] as const) {
      const settings: PairSettings = {
        id: `loss-${end}`,
        [end]: { link: { loss_pct: 4 } },
        flow: { bytes: 60_000 },
      };
      const pcap = capture(settings, 'client', 20_000);
      const packets = rows(
        pcap,
        'tcp.len > 0 || tcp.analysis.duplicate_ack',
        'tcp.len',
        'ip.src',
        'tcp.stream',
        'tcp.seq',
      );
      const sent = packets.filter(([len, src]) => len !== '0' && src === '10.7.1.4').map(String);
      expect(packets.filter(([len]) => len === '0').length).toBeGreaterThan(40);
      const share = 1 - new Set(sent).size / sent.length;
      expect(share).toBeGreaterThan(0.025);
      expect(share).toBeLessThan(0.06);
    }
  });

  it('[LABP-17] latency: round trips take what the wire says', () => {
    const pcap = capture({ id: 'slow-wire', server: { link: { delay_ms: 80, jitter_ms: 5 } } }, 'client');
    const trips = rows(pcap, SYN_ACK, 'tcp.analysis.ack_rtt').map(([rtt]) => Number(rtt) * 1000);
    const sorted = trips.sort((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)]!;
    expect(median).toBeGreaterThan(157);
    expect(median).toBeLessThan(164);
    expect(sorted.at(-1)! - sorted[0]!).toBeGreaterThan(4);
    expect(count(pcap, 'tcp.analysis.retransmission')).toBe(0);
  });

  it('[LABP-17] ping shows the same round trip', () => {
    const settings: PairSettings = {
      id: 'ping',
      client: { link: { delay_ms: 20 } },
      flow: { protocol: 'icmp', port: null, bytes: 56 },
    };
    const pcap = capture(settings, 'client');
    const times = rows(pcap, 'icmp.type == 0', 'icmp.resptime').map(([ms]) => Number(ms));
    expect(times.length).toBeGreaterThanOrEqual(118);
    for (const ms of times) {
      expect(ms).toBeGreaterThan(40);
      expect(ms).toBeLessThan(42);
    }
    expect(complaints(pcap)).toEqual(new Map());
  });

  it('[LABP-18] a narrow wire: throughput near the limit, waiting first and losses later', () => {
    const flow = { bytes: 400_000, every_ms: 1000, reply_bytes: 500 };
    const pcap = capture({ id: 'narrow', server: { link: { rate_mbit: 2 } }, flow }, 'server', 30_000);
    const bytes = rows(pcap, 'ip.src == 10.7.1.4', 'ip.len').reduce((sum, [n]) => sum + Number(n), 0);
    const mbit = (bytes * 8) / 30 / 1e6;
    expect(mbit).toBeGreaterThan(1.8);
    expect(mbit).toBeLessThan(2.05);
    const light: PairSettings = {
      id: 'narrow-light',
      server: { link: { rate_mbit: 2 } },
      flow: { bytes: 60_000, every_ms: 2000, reply_bytes: 500 },
    };
    const client = capture(light, 'client');
    expect(count(client, 'tcp.analysis.retransmission')).toBe(0);
    const trips = rows(client, 'tcp.analysis.ack_rtt && ip.src == 10.7.2.4', 'tcp.analysis.ack_rtt');
    const longest = Math.max(...trips.map(([rtt]) => Number(rtt)));
    expect(longest).toBeGreaterThan(0.1);
  });

  it('[LABP-19] reordering: segments out of order, and hardly a retransmission', () => {
    const settings: PairSettings = {
      id: 'reorder',
      server: { link: { reorder_pct: 5 } },
      flow: { bytes: 60_000 },
    };
    const seen = counts(capture(settings, 'server', 20_000), {
      data: 'tcp.len > 0 && ip.src == 10.7.1.4',
      early: 'tcp.analysis.out_of_order && ip.src == 10.7.1.4',
      again: 'tcp.analysis.retransmission && !tcp.analysis.out_of_order',
    });
    expect(seen.early / seen.data).toBeGreaterThan(0.02);
    expect(seen.again).toBeLessThan(seen.early / 3);
  });

  it('[LABP-19] corruption: bad checksums as received, then a retransmission', () => {
    const settings: PairSettings = {
      id: 'corrupt',
      server: { link: { corrupt_pct: 3 } },
      flow: { bytes: 60_000 },
    };
    const server = counts(capture(settings, 'server', 20_000), {
      data: 'tcp.len > 0 && ip.src == 10.7.1.4',
      bad: 'tcp.len > 0 && tcp.checksum.status == 0 && ip.src == 10.7.1.4',
      badOut: 'tcp.checksum.status == 0 && ip.src == 10.7.2.4',
      badIp: 'ip.checksum.status == 0',
    });
    expect(server.bad / server.data).toBeGreaterThan(0.015);
    expect(server.bad / server.data).toBeLessThan(0.05);
    expect(server.badOut).toBe(0);
    expect(server.badIp).toBe(0);
    const sent = rows(
      capture(settings, 'client', 20_000),
      'tcp.len > 0 && ip.src == 10.7.1.4',
      'tcp.stream',
      'tcp.seq',
    );
    expect(sent.length).toBeGreaterThan(new Set(sent.map(String)).size);
  });

  it('[LABP-19] a reader too slow: the window closes, is probed, and opens again', () => {
    for (const bytes of [2_000, 200_000]) {
      const settings: PairSettings = {
        id: `slow-reader-${bytes}`,
        server: { app: { reads_slowly: true } },
        flow: { bytes, every_ms: 4000 },
      };
      const pcap = capture(settings, 'client');
      const seen = counts(pcap, {
        zero: 'tcp.analysis.zero_window && ip.src == 10.7.2.4',
        zeroClient: 'tcp.analysis.zero_window && ip.src == 10.7.1.4',
        probe: 'tcp.analysis.zero_window_probe',
        update: 'tcp.analysis.window_update',
        full: 'tcp.analysis.window_full',
        fin: 'tcp.flags.fin == 1',
      });
      expect(seen.zero).toBeGreaterThan(20);
      expect(seen.zeroClient).toBe(0);
      expect(seen.probe).toBeGreaterThan(5);
      expect(seen.update).toBeGreaterThan(10);
      expect(seen.full).toBeGreaterThan(5);
      expect(seen.fin).toBeGreaterThan(10);
    }
  });
});
