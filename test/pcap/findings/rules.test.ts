/** Each rule fires on its fault, and on its fault alone. */
import { describe, expect, it } from 'vitest';
import { executiveSummary } from '../../../src/pcap/report/markdown.ts';
import { semanticReport } from '../../../src/pcap/semantic/build.ts';
import {
  ACK,
  bytes,
  dns,
  eth,
  ip4,
  ip6,
  PSH,
  RST,
  SYN,
  tcp,
  u16,
  u32,
  udp,
  zeros,
} from '../support/craft.ts';
import { craftedFile, type Fault, found, sceneFile } from '../support/scenes.ts';
import { hasTshark, tsharkFrames } from '../support/tshark-frames.ts';

const EXPECTED: readonly (readonly [Fault, 'client' | 'server' | 'nva', readonly string[]])[] = [
  ['clean', 'client', []],
  ['clean', 'server', []],
  ['bulk', 'client', []],
  ['loss', 'client', ['packet_loss']],
  ['loss', 'server', ['packet_loss']],
  ['blackHole', 'client', ['pmtud_black_hole']],
  ['blackHole', 'server', ['pmtud_black_hole']],
  ['mtuTold', 'client', ['icmp_unreachable']],
  ['mtuTold', 'server', ['icmp_unreachable']],
  ['zeroWindow', 'client', ['zero_window']],
  ['resets', 'client', ['resets_in_conversation']],
  ['closedPort', 'client', ['connection_refused']],
  ['reject', 'client', ['icmp_unreachable']],
  ['synDrop', 'client', ['syn_unanswered']],
  ['osDrop', 'server', ['syn_unanswered']],
  ['wayBack', 'client', ['syn_unanswered']],
  ['wayBack', 'server', ['handshake_unfinished']],
  ['wayBack', 'nva', ['one_way_traffic']],
  ['reordering', 'server', ['packet_reordering']],
  ['latency', 'client', ['connect_slow']],
  ['narrow', 'client', ['connect_slow']],
  ['corruption', 'client', ['bad_checksums', 'packet_loss']],
  ['noName', 'client', ['nxdomain']],
  ['forwarder', 'client', []],
  ['forwarder', 'nva', ['capture_both_sides']],
];

/** One of each filter: tshark takes its time. */
const WITH_TSHARK = new Set([
  'loss client',
  'blackHole client',
  'blackHole server',
  'resets client',
  'closedPort client',
  'reject client',
  'synDrop client',
  'wayBack server',
  'latency client',
  'noName client',
]);

describe('rules on faults of the lab', () => {
  it.each(EXPECTED)('[PCAPR-01] %s seen from the %s gives %j', async (fault, vm, ids) => {
    const { findings, analysis } = await found(sceneFile(fault, vm));
    expect(findings.map((f) => f.id)).toEqual(ids);
    for (const f of findings) {
      expect(f.frames.length).toBeGreaterThan(0);
      expect(f.frames.length).toBeLessThanOrEqual(10);
      expect([...f.frames].sort((a, b) => a - b)).toEqual(f.frames);
      expect(f.frames.every((n) => n >= 1 && n <= analysis.capture.packets)).toBe(true);
      expect(f.remediation.length).toBeGreaterThan(0);
      expect(f.explanation).not.toMatch(/undefined|NaN|null/u);
    }
  });

  it('[PCAPR-01] half of all packets lost is loss and no MTU black hole', async () => {
    const { ids } = await found(sceneFile('heavyLoss'));
    expect(ids).toContain('packet_loss');
    expect(ids).not.toContain('pmtud_black_hole');
  });

  it('[PCAPR-02] severity follows the harm done', async () => {
    const severity = async (fault: Fault) => (await found(sceneFile(fault))).findings[0]?.severity;
    expect(await severity('synDrop')).toBe('CRITICAL');
    expect(await severity('blackHole')).toBe('CRITICAL');
    expect(await severity('closedPort')).toBe('HIGH');
    expect(['MEDIUM', 'HIGH']).toContain(await severity('zeroWindow'));
    expect(await severity('loss')).toBe('MEDIUM');
    expect(await severity('heavyLoss')).toBe('HIGH');
  });

  it('[PCAPR-01] the zero window is blamed on the side that does not read', async () => {
    const { findings } = await found(sceneFile('zeroWindow', 'server'));
    expect(findings[0]?.title).toBe('The server of 10.7.2.4:7100 does not read its data');
  });

  it
    .skipIf(!hasTshark)
    .each(EXPECTED.filter(([fault, vm, ids]) => ids.length > 0 && WITH_TSHARK.has(`${fault} ${vm}`)))(
    '[PCAPR-03] %s at the %s: tshark shows the frames of every finding under its predicate',
    async (fault, vm) => {
      const file = sceneFile(fault, vm);
      for (const f of (await found(file)).findings) {
        const [filter] = f.predicate.split(' => ') as [string];
        const shown = new Set(tsharkFrames(file, filter));
        expect(f.frames.filter((n) => !shown.has(n))).toEqual([]);
      }
    },
  );
});

const A = [10, 0, 0, 1];
const B = [10, 0, 0, 2];
const arp = (op: number, mac: number, ip: readonly number[], target: readonly number[]) =>
  eth(0x0806, bytes(u16(1), u16(0x0800), 6, 4, u16(op), [2, 0, 0, 0, 0, mac], ip, zeros(6), target));

interface Talk {
  readonly v6?: boolean;
  readonly ttlOfReset?: number;
}

/** A conversation that the server's side ends with a reset after data. */
function resetTalk(port: number, { v6 = false, ttlOfReset = 64 }: Talk = {}) {
  const wrap = (fromClient: boolean, segment: Uint8Array, ttl = 64) =>
    v6
      ? eth(0x86dd, ip6(6, segment, { src: fromClient ? 1 : 2, dst: fromClient ? 2 : 1, hops: ttl }))
      : eth(0x0800, ip4(6, segment, { src: fromClient ? A : B, dst: fromClient ? B : A, ttl }));
  const c = { src: port, dst: 443 };
  const s = { src: 443, dst: port };
  return [
    wrap(true, tcp({ ...c, seq: 100, ack: 0, flags: SYN })),
    wrap(false, tcp({ ...s, seq: 500, ack: 101, flags: SYN | ACK })),
    wrap(true, tcp({ ...c, seq: 101, ack: 501, flags: ACK })),
    wrap(true, tcp({ ...c, seq: 101, ack: 501, flags: ACK | PSH, payload: zeros(50) })),
    wrap(false, tcp({ ...s, seq: 501, ack: 151, flags: RST | ACK }), ttlOfReset),
  ];
}

describe('rules on packets made by hand', () => {
  const query = (id: number, name: string) =>
    eth(0x0800, ip4(17, udp(40_000 + id, 53, dns({ id, name })), { id }));
  const answer = (id: number, name: string, rcode: number) =>
    eth(
      0x0800,
      ip4(17, udp(53, 40_000 + id, dns({ id, name, flags: 0x8180 | rcode })), { id, src: B, dst: A }),
    );

  it('[PCAPR-01] two machines with one address', async () => {
    const frames = [arp(1, 1, A, B), arp(2, 7, B, A), arp(1, 1, A, B), arp(2, 9, B, A)];
    const { findings } = await found(craftedFile('dup.pcap', frames));
    expect(findings[0]).toMatchObject({ id: 'duplicate_ip', severity: 'CRITICAL' });
    expect(findings[0]?.explanation).toContain('02:00:00:00:00:07');
  });

  it('[PCAPR-01] an address nobody answers for', async () => {
    const { ids } = await found(
      craftedFile(
        'arp.pcap',
        [1, 2, 3, 4].map(() => arp(1, 1, A, [10, 0, 0, 77])),
      ),
    );
    expect(ids).toEqual(['arp_unanswered']);
  });

  it('[PCAPR-01] a routing loop; the same packet twice is none', async () => {
    const round = (ttl: number) => eth(0x0800, ip4(17, udp(5000, 6000, zeros(20)), { id: 4711, ttl }));
    const loop = await found(craftedFile('loop.pcap', [9, 7, 5, 3, 1].map(round)));
    expect(loop.findings[0]).toMatchObject({
      id: 'routing_loop',
      severity: 'CRITICAL',
      frames: [1, 2, 3, 4, 5],
    });
    expect((await found(craftedFile('twice.pcap', [9, 8].map(round)))).ids).not.toContain('routing_loop');
  });

  it('[PCAPR-01] TTLs that run out at one router; a traceroute does not count', async () => {
    const exceeded = (router: number, id: number) => {
      const quoted = ip4(17, udp(5000, 33_434 + id, zeros(8)), { id, dst: [9, 9, 9, 9] });
      return eth(0x0800, ip4(1, bytes(11, 0, 0, 0, u32(0), quoted), { id, src: [10, 0, 9, router], dst: A }));
    };
    const many = Array.from({ length: 12 }, (_, i) => exceeded(1, i));
    expect((await found(craftedFile('ttl.pcap', many))).ids).toEqual(['ttl_exceeded']);
    const traceroute = Array.from({ length: 12 }, (_, i) => exceeded(1 + Math.floor(i / 3), i));
    expect((await found(craftedFile('trace.pcap', traceroute))).ids).toEqual([]);
  });

  it('[PCAPR-01] a DNS server that is silent, one that fails, and one that answers', async () => {
    const ask = (n: number) => query(n, `host${n}.example.com`);
    const silent = await found(craftedFile('silent.pcap', [1, 2, 3].map(ask)));
    expect(silent.findings[0]).toMatchObject({ id: 'dns_server_silent', severity: 'CRITICAL' });
    const pairs = (rcode: number) =>
      [1, 2, 3].flatMap((n) => [ask(n), answer(n, `host${n}.example.com`, rcode)]);
    expect((await found(craftedFile('fails.pcap', pairs(2)))).ids).toEqual(['servfail']);
    expect((await found(craftedFile('answers.pcap', pairs(0)))).ids).toEqual([]);
  });

  it('[PCAPR-01] names that carry data', async () => {
    const label = (n: number) =>
      Array.from(
        { length: 40 },
        (_, i) => 'abcdefghijklmnopqrstuvwxyz234567'[(n * 31 + i * i * 7 + i * n) % 32],
      ).join('');
    const frames = Array.from({ length: 60 }, (_, n) => [
      query(n + 1, `${label(n)}.t.example.org`),
      answer(n + 1, `${label(n)}.t.example.org`, 0),
    ]).flat();
    const { ids } = await found(craftedFile('tunnel.pcap', frames));
    expect(ids).toContain('dns_tunnelling');
  });

  it('[PCAPR-04] a reset from a device in between is told from one by the server', async () => {
    const own = await found(craftedFile('own.pcap', resetTalk(40_001)));
    expect(own.findings[0]?.title).toBe('The server resets established connections of 10.0.0.2:443');
    const foreign = await found(craftedFile('foreign.pcap', resetTalk(40_001, { ttlOfReset: 113 })));
    expect(foreign.findings[0]?.title).toBe('A device in between resets connections of 10.0.0.2:443');
    expect(foreign.findings[0]?.explanation).toContain('113 instead of 64');
  });

  it('[PCAPR-01] small gaps, and large segments repeated after they arrived, are no MTU black hole', async () => {
    const mss = bytes(2, 4, u16(1460));
    const talk = (
      port: number,
      rest: readonly (readonly [fromClient: boolean, seq: number, ack: number, size: number])[],
    ) =>
      [
        [true, tcp({ src: port, dst: 80, seq: 100, ack: 0, flags: SYN, options: mss })],
        [false, tcp({ src: 80, dst: port, seq: 500, ack: 101, flags: SYN | ACK, options: mss })],
        ...rest.map(([fromClient, seq, ack, size]) => {
          const ends = fromClient ? { src: port, dst: 80 } : { src: 80, dst: port };
          return [fromClient, tcp({ ...ends, seq, ack, flags: ACK, payload: zeros(size) })] as const;
        }),
      ].map(([fromClient, segment], i) =>
        eth(
          0x0800,
          ip4(6, segment as Uint8Array, { id: i, src: fromClient ? A : B, dst: fromClient ? B : A }),
        ),
      );
    const gaps = [40_001, 40_002, 40_003].flatMap((port) =>
      talk(port, [
        [true, 101, 501, 50],
        [false, 501, 151, 60],
        [false, 569, 151, 60],
      ]),
    );
    expect((await found(craftedFile('gaps.pcap', gaps))).ids).not.toContain('pmtud_black_hole');
    const arrived = talk(40_004, [
      [true, 101, 501, 50],
      [false, 501, 151, 1460],
      [true, 151, 1961, 0],
      ...[1, 2, 3, 4, 5].flatMap(
        () =>
          [
            [false, 501, 151, 1460],
            [true, 151, 1961, 0],
          ] as const,
      ),
    ]);
    expect((await found(craftedFile('arrived.pcap', arrived))).ids).not.toContain('pmtud_black_hole');
  });

  it('[PCAPR-05] IPv6 has the same findings, with filters of its own', async () => {
    const { findings } = await found(craftedFile('v6.pcap', resetTalk(40_001, { v6: true })));
    expect(findings[0]).toMatchObject({
      id: 'resets_in_conversation',
      title: 'The server resets established connections of [::2]:443',
    });
    expect(findings[0]?.predicate).toContain('ipv6.addr == ::2 && tcp.port == 443');
  });

  it('[PCAPR-01] one SYN just before the end of the capture proves nothing; left alone for long it does', async () => {
    const syn = eth(0x0800, ip4(6, tcp({ src: 40_000, dst: 80, seq: 1, ack: 0, flags: SYN })));
    expect((await found(craftedFile('syn.pcap', [{ data: syn, seconds: 1000 }]))).ids).toEqual([]);
    const later = { data: arp(1, 1, A, A), seconds: 1010 };
    const waited = await found(craftedFile('syn-old.pcap', [{ data: syn, seconds: 1000 }, later]));
    expect(waited.ids).toEqual(['syn_unanswered']);
  });

  it('[PCAPR-12] no packets, cut packets: the capture itself is a finding', async () => {
    expect((await found(craftedFile('none.pcap', []))).findings[0]?.explanation).toContain('no packets');
    const cut = { data: eth(0x0800, ip4(17, udp(1, 2, zeros(20)))).subarray(0, 44), length: 900 };
    const { findings } = await found(craftedFile('cut.pcap', [cut, cut]));
    expect(findings.find((f) => f.id === 'capture_quality')?.explanation).toContain('2 packets were cut');
  });

  it('[PCAPR-12] frames nobody here can read are not called fine', async () => {
    const { analysis, findings } = await found(craftedFile('user.pcap', [zeros(23)], { link: 160 }));
    expect(findings[0]?.explanation).toContain('link type that is not decoded (the file has USER 13)');
    const text = executiveSummary(semanticReport(analysis, findings));
    expect(text).toContain('Nothing in this capture could be decoded');
    expect(text).not.toContain('No rule found anything wrong');
  });
});
