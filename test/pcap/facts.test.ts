/** What the analysis says of captures whose story is known. */
import { describe, expect, test } from 'vitest';
import { type Analysis, analyze, semanticReport } from '../../src/pcap/index.ts';
import {
  ACK,
  type Bytes,
  bytes,
  type Captured,
  dns,
  eth,
  FIN,
  ip4,
  ip6,
  PSH,
  pcap,
  RST,
  SYN,
  save,
  tcp,
  u16,
  u32,
  udp,
  zeros,
} from './support/craft.ts';
import { scratch } from './support/scratch.ts';

const folder = scratch();
let files = 0;

/** Frames with their times in milliseconds. */
const told = (frames: readonly (readonly [number, Bytes])[]): Promise<Analysis> => {
  const captured: Captured[] = frames.map(([ms, data]) => ({
    data,
    seconds: 1_600_000_000 + Math.floor(ms / 1000),
    nanoseconds: Math.round((ms % 1000) * 1e6),
  }));
  return analyze(save(folder.path(`f${files++}.pcap`), pcap(captured, { nano: true })));
};

const CLIENT = [10, 0, 0, 1];
const SERVER = [10, 0, 0, 2];
const up = (payload: Bytes, protocol = 6) =>
  eth(0x0800, ip4(protocol, payload, { src: CLIENT, dst: SERVER }));
const down = (payload: Bytes, protocol = 6) =>
  eth(0x0800, ip4(protocol, payload, { src: SERVER, dst: CLIENT }));
const forth = (
  seq: number,
  ack: number,
  flags: number,
  payload: Bytes = zeros(0),
  window = 1000,
  port = 4000,
) => up(tcp({ src: port, dst: 443, seq, ack, flags, payload, window }));
const back = (
  seq: number,
  ack: number,
  flags: number,
  payload: Bytes = zeros(0),
  window = 1000,
  port = 4000,
) => down(tcp({ src: 443, dst: port, seq, ack, flags, payload, window }));

describe('ARP', () => {
  const arp = (op: number, mac: number, sender: number, target: number) =>
    eth(
      0x0806,
      bytes(u16(1), u16(0x0800), [6, 4], u16(op), [2, 0, 0, 0, 0, mac], [10, 0, 0, sender], zeros(6), [
        10,
        0,
        0,
        target,
      ]),
    );

  test('[PCAP-20] answered, unanswered, gratuitous and claimed twice', async () => {
    const { arp: facts } = await told([
      [0, arp(1, 1, 1, 2)],
      [1, arp(2, 2, 2, 1)],
      [2, arp(1, 1, 1, 9)],
      [3, arp(1, 1, 1, 9)],
      [4, arp(1, 5, 5, 5)],
      [5, arp(2, 7, 2, 1)],
      [6, arp(1, 8, 0, 3)],
    ]);
    expect(facts).toMatchObject({ requests: 5, replies: 2, gratuitous: 1 });
    expect(facts!.unanswered.items).toEqual([
      { ip: '10.0.0.9', count: 2, sample_frames: [3, 4] },
      { ip: '10.0.0.3', count: 1, sample_frames: [7] },
    ]);
    expect(facts!.duplicates.items).toEqual([
      { ip: '10.0.0.2', macs: ['02:00:00:00:00:02', '02:00:00:00:00:07'], sample_frames: [2, 6] },
    ]);
  });
});

describe('ICMP', () => {
  const echo = (type: number, id: number, seq: number) => bytes(type, 0, 0, 0, u16(id), u16(seq), zeros(8));

  test('[PCAP-21] pairs match by addresses, identifier and sequence; slow answers stand out', async () => {
    const frames: (readonly [number, Bytes])[] = [];
    for (let i = 0; i < 20; i++) {
      frames.push([i * 100, up(echo(8, 1, i), 1)]);
      if (i < 18) frames.push([i * 100 + (i === 5 ? 50 : 10), down(echo(0, 1, i), 1)]);
    }
    frames.push([5000, down(echo(0, 9, 1), 1)]);
    const { icmp } = await told(frames);
    expect(icmp).toMatchObject({
      echo_requests: 20,
      echo_replies: 19,
      echo_pairs_matched: 18,
      echo_unmatched: 3,
    });
    expect(icmp!.rtt).toMatchObject({ min: 10, median: 10, p95: 50, max: 50, exact: true });
    expect(icmp!.anomalies).toEqual({
      total: 1,
      items: [{ seq: 5, rtt_ms: 50, frame: 12, src: '10.0.0.1', dst: '10.0.0.2' }],
    });
    expect(icmp!.unanswered.items[0]).toMatchObject({ src: '10.0.0.1', dst: '10.0.0.2', count: 2 });
  });

  test('[PCAP-21] IPv6 pings are pairs too', async () => {
    const { icmp } = await told([
      [0, eth(0x86dd, ip6(58, bytes(128, 0, 0, 0, u16(1), u16(1))))],
      [7, eth(0x86dd, ip6(58, bytes(129, 0, 0, 0, u16(1), u16(1)), { src: 2, dst: 1 }))],
    ]);
    expect(icmp).toMatchObject({ echo_pairs_matched: 1, echo_unmatched: 0, rtt: { median: 7 } });
  });

  test('[PCAP-22] unreachable, too big, redirect and exceeded, with the packet they quote', async () => {
    const quoted = ip4(6, tcp({ src: 4000, dst: 443, seq: 1, ack: 0, flags: ACK }), {
      src: CLIENT,
      dst: [192, 0, 2, 9],
    });
    const error = (type: number, code: number, rest: number, from: readonly number[]) =>
      eth(
        0x0800,
        ip4(1, bytes(type, code, 0, 0, u32(rest), quoted.slice(0, 28)), { src: from, dst: CLIENT }),
      );
    const { icmp } = await told([
      [0, error(3, 4, 1400, [10, 9, 9, 9])],
      [1, error(3, 4, 1400, [10, 9, 9, 9])],
      [2, error(3, 1, 0, [10, 9, 9, 8])],
      [3, error(5, 1, 0x0a000063, [10, 0, 0, 254])],
      [4, error(11, 0, 0, [10, 7, 7, 7])],
    ]);
    expect(icmp!.unreachable.items[0]).toEqual({
      src: '10.9.9.9',
      dst: '10.0.0.1',
      version: 4,
      type: 3,
      code: 4,
      code_meaning: 'fragmentation needed and DF set',
      original: { src: '10.0.0.1', dst: '192.0.2.9', protocol: 'tcp', src_port: 4000, dst_port: 443 },
      mtu: 1400,
      count: 2,
      sample_frames: [1, 2],
    });
    expect(icmp!.redirects.items[0]).toMatchObject({
      src: '10.0.0.254',
      gateway: '10.0.0.99',
      target: '192.0.2.9',
      count: 1,
    });
    expect(icmp!.ttl_exceeded.items[0]).toMatchObject({ src: '10.7.7.7', destinations: ['192.0.2.9'] });
  });

  test('[PCAP-22] a packet that comes round with a lower TTL each time is a loop', async () => {
    const round = (ttl: number) => eth(0x0800, ip4(17, udp(1, 2, zeros(8)), { id: 7, ttl }));
    const { loops } = await told([30, 28, 26, 24].map((ttl, i) => [i, round(ttl)] as const));
    expect(loops.items[0]).toMatchObject({
      sightings: 4,
      ttl_high: 30,
      ttl_low: 24,
      sample_frames: [1, 2, 3, 4],
    });
  });
});

describe('TCP', () => {
  test('[PCAP-23] attempts, answers and endings are counted as connections', async () => {
    const { tcp: facts } = await told([
      // One that works and is closed by FIN.
      [0, forth(100, 0, SYN)],
      [10, back(500, 101, SYN | ACK)],
      [20, forth(101, 501, ACK)],
      [30, forth(101, 501, ACK | PSH, zeros(50))],
      [40, back(501, 151, ACK)],
      [50, forth(151, 501, FIN | ACK)],
      [60, back(501, 152, FIN | ACK)],
      // One that is asked for three times and never answered: one attempt.
      [70, forth(100, 0, SYN, zeros(0), 1000, 4001)],
      [1070, forth(100, 0, SYN, zeros(0), 1000, 4001)],
      [3070, forth(100, 0, SYN, zeros(0), 1000, 4001)],
      // One refused, then tried again from the same port with other numbers: two attempts.
      [3100, forth(100, 0, SYN, zeros(0), 1000, 4002)],
      [3101, back(0, 101, RST | ACK, zeros(0), 0, 4002)],
      [3200, forth(900, 0, SYN, zeros(0), 1000, 4002)],
      [3201, back(0, 901, RST | ACK, zeros(0), 0, 4002)],
    ]);
    expect(facts!.streams).toBe(4);
    expect(facts!.connections).toEqual({
      syn_sent: 4,
      syn_ack_received: 1,
      handshakes_completed: 1,
      rst_teardowns: 2,
      fin_teardowns: 1,
      refused: 2,
      unanswered: 1,
      two_way: 3,
      one_way: 1,
    });
    expect(facts!.handshake_rtt).toMatchObject({ median: 20 });
    const silent = facts!.with_issues.items.find(({ outcome }) => outcome === 'syn_unanswered')!;
    expect(silent).toMatchObject({
      syn_retries: 2,
      syn_frames: [8, 9, 10],
      client: { address: '10.0.0.1', port: 4001 },
    });
    expect(facts!.failing_servers.items[0]).toMatchObject({
      server: '10.0.0.2',
      port: 443,
      attempts: 3,
      refused: 2,
      unanswered: 1,
    });
  });

  test('[PCAP-24] a stream’s record says which side lost, stalled and reset', async () => {
    const data = zeros(1000);
    const { tcp: facts } = await told([
      [0, forth(100, 0, SYN)],
      [5, back(500, 101, SYN | ACK)],
      [10, forth(101, 501, ACK)],
      [20, back(501, 101, ACK, data)],
      [25, forth(101, 1501, ACK)],
      [30, back(1501, 101, ACK, data)],
      [330, back(1501, 101, ACK, data)],
      [335, forth(101, 2501, ACK, zeros(0), 0)],
      [835, forth(101, 2501, ACK, zeros(0), 900)],
      [840, back(2501, 101, RST | ACK)],
    ]);
    const [stream] = facts!.with_issues.items;
    expect(stream).toMatchObject({
      outcome: 'established',
      closed_by: 'rst',
      rst_by: 'server',
      rst_frames: [10],
    });
    expect(stream!.from_server).toMatchObject({
      retransmissions: 1,
      largest_retransmitted: 1000,
      payload_bytes: 3000,
      rst: 1,
    });
    expect(stream!.from_client).toMatchObject({ zero_windows: 1, zero_window_ms: 500, retransmissions: 0 });
    expect(stream!.retransmission_frames).toEqual([7]);
    expect(stream!.ack_rtt).toMatchObject({ min: 5, max: 305, exact: true });
    expect(stream!.duration_ms).toBe(840);
  });
});

describe('DNS', () => {
  const ask = (id: number, name: string, type = 1) => up(udp(5000, 53, dns({ id, name, type })), 17);
  const answer = (id: number, name: string, flags = 0x8180) =>
    down(udp(53, 5000, dns({ id, name, flags })), 17);

  test('[PCAP-25] answers match by endpoints, id and name; failures, silence and servers are told', async () => {
    const { dns: facts } = await told([
      [0, ask(1, 'a.example')],
      [4, answer(1, 'a.example')],
      [10, ask(2, 'b.example', 28)],
      [15, answer(2, 'b.example', 0x8183)],
      [20, ask(3, 'c.example')],
      [25, answer(3, 'other.example')],
      [30, ask(4, 'd.example')],
      [31, ask(4, 'd.example')],
      [34, answer(4, 'd.example', 0x8382)],
      [40, ask(5, 'A.Example')],
      [90, answer(5, 'a.example')],
    ]);
    expect(facts).toMatchObject({
      queries: 6,
      responses: 5,
      unanswered: 1,
      retried: 1,
      truncated_responses: 1,
    });
    expect(facts!.types).toEqual([
      { type: 'A', count: 5 },
      { type: 'AAAA', count: 1 },
    ]);
    expect(facts!.rcodes).toEqual([
      { rcode: 'NOERROR', count: 3 },
      { rcode: 'SERVFAIL', count: 1 },
      { rcode: 'NXDOMAIN', count: 1 },
    ]);
    expect(facts!.nxdomain.items).toEqual([{ name: 'b.example', count: 1, sample_frames: [4] }]);
    expect(facts!.servfail.items).toEqual([{ name: 'd.example', count: 1, sample_frames: [9] }]);
    expect(facts!.unanswered_names.items).toEqual([{ name: 'c.example', count: 1, sample_frames: [5] }]);
    expect(facts!.top.items[0]).toMatchObject({ name: 'a.example', count: 2 });
    expect(facts!.slow.items).toEqual([{ name: 'a.example', latency_ms: 50, frame: 11 }]);
    expect(facts!.servers.items).toMatchObject([{ server: '10.0.0.2', queries: 6, answered: 4 }]);
  });

  test('[PCAP-26] names are hostile text: escapes, dots and controls cannot survive', async () => {
    const evil = bytes(
      u16(7),
      u16(0x0100),
      u16(1),
      zeros(6),
      9,
      [0x1b, 0x5b, 0x33, 0x31, 0x6d],
      '<s.`',
      3,
      'com',
      0,
      u16(1),
      u16(1),
    );
    const analysis = await told([[0, up(udp(5000, 53, evil), 17)]]);
    const text = JSON.stringify(semanticReport(analysis, []));
    expect(analysis.dns!.top.items[0]!.name).toBe('\\x1b[31m\\x3cs\\.\\x60.com');
    expect(text).not.toMatch(/[\u0000-\u001f\u007f<>`]/);
  });

  test('[PCAP-25] many long names below one parent are told for tunnelling', async () => {
    const frames = Array.from({ length: 60 }, (_, i) => {
      const label = Buffer.from(`${i}-abcdefghijklmnopqrstuv`).toString('hex').slice(0, 40);
      return [i, ask(i, `${label}.tunnel.example.co.uk`, 16)] as const;
    });
    const { dns: facts } = await told(frames);
    expect(facts!.parents.items[0]).toMatchObject({
      parent: 'example.co.uk',
      distinct_names: 60,
      longest_label: 40,
      txt_or_null: 60,
    });
  });
});

describe('applications and tunnels', () => {
  test('[PCAP-27] TLS names and alerts, HTTP status lines, DHCP messages', async () => {
    const name = 'secret.example.org';
    const sni = bytes(u16(0), u16(name.length + 5), u16(name.length + 3), 0, u16(name.length), name);
    const hello = bytes(u16(0x0303), zeros(32), 0, u16(2), u16(0x1301), 1, 0, u16(sni.length), sni);
    const record = bytes(0x16, u16(0x0301), u16(hello.length + 4), 1, 0, u16(hello.length), hello);
    const discover = bytes(1, 1, 6, 0, u32(77), zeros(228), u32(0x63825363), 53, 1, 1, 255);
    const analysis = await told([
      [0, forth(1, 1, ACK | PSH, record)],
      [1, back(1, 1 + record.length, ACK | PSH, bytes(0x15, u16(0x0303), u16(2), 2, 40))],
      [
        2,
        up(tcp({ src: 4009, dst: 80, seq: 1, ack: 1, flags: ACK, payload: bytes('GET / HTTP/1.1\r\n\r\n') })),
      ],
      [
        3,
        down(
          tcp({
            src: 80,
            dst: 4009,
            seq: 1,
            ack: 19,
            flags: ACK,
            payload: bytes('HTTP/1.1 503 Nope\r\n\r\n'),
          }),
        ),
      ],
      [4, up(udp(68, 67, discover), 17)],
    ]);
    expect(analysis.tls!.server_names.items).toEqual([{ name, count: 1, sample_frames: [1] }]);
    expect(analysis.tls!.alerts.items).toMatchObject([
      { level: 'fatal', description: 'handshake_failure', src: '10.0.0.2' },
    ]);
    expect(analysis.http).toMatchObject({
      requests: 1,
      responses: 1,
      statuses: [{ status: 503, count: 1, sample_frames: [4] }],
    });
    expect(analysis.dhcp).toMatchObject({
      messages: [{ type: 'DISCOVER', count: 1 }],
      discovers_unanswered: 1,
    });
  });

  test('[PCAP-07] the innermost flow is analysed, the tunnel is noted', async () => {
    const inner = eth(
      0x0800,
      ip4(6, tcp({ src: 5, dst: 6, seq: 1, ack: 0, flags: SYN }), {
        src: [172, 16, 0, 1],
        dst: [172, 16, 0, 2],
      }),
    );
    const outer = up(udp(40_000, 4789, bytes([8, 0, 0, 0], u32(42 << 8), inner)), 17);
    const ipip = up(ip4(17, udp(1, 2, zeros(4)), { src: [172, 16, 0, 1] }), 4);
    const analysis = await told([
      [0, outer],
      [1, ipip],
    ]);
    expect(analysis.tunnels).toEqual([
      { name: 'vxlan', frames: 1 },
      { name: 'ip in ip', frames: 1 },
    ]);
    expect(analysis.tcp!.with_issues.items[0]!.client).toEqual({ address: '172.16.0.1', port: 5 });
  });
});
