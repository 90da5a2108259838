/** The semantic JSON: small, stable, complete. */
import { describe, expect, test } from 'vitest';
import { analyze, semanticReport } from '../../src/pcap/index.ts';
import {
  ACK,
  bytes,
  dns,
  eth,
  ip4,
  pcap,
  RST,
  random,
  SYN,
  save,
  tcp,
  u16,
  udp,
  zeros,
} from './support/craft.ts';
import { scratch } from './support/scratch.ts';
import { chaoticStreams } from './support/tcp-chaos.ts';

const folder = scratch();

/** About four characters make a token; the contract allows about 5,000. */
const MAX_CHARACTERS = 20_000;

describe('semantic JSON', () => {
  test('[PCAP-12] empty sections are left out, an empty capture says so', async () => {
    const report = semanticReport(await analyze(save(folder.path('e.pcap'), pcap([]))), []);
    expect(Object.keys(report)).toEqual(['schema', 'capture_summary', 'findings']);
    expect(report.capture_summary).toMatchObject({
      total_packets: 0,
      duration_seconds: 0,
      protocols_present: [],
      avg_packets_per_second: 0,
      notes: ['the capture holds no packets'],
    });
    expect(report.capture_summary.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  test('[PCAP-12] the contract’s members are all there', async () => {
    const report = semanticReport(
      await analyze(save(folder.path('c.pcap'), pcap(chaoticStreams(5, 300)))),
      [],
    );
    expect(Object.keys(report.capture_summary)).toEqual(
      expect.arrayContaining([
        'file',
        'sha256',
        'total_packets',
        'duration_seconds',
        'protocols_present',
        'avg_packets_per_second',
        'bytes',
        'link_types',
        'truncated_packets',
        'malformed_packets',
      ]),
    );
    expect(report.tcp).toMatchObject({
      connection_stats: { syn_sent: expect.any(Number) },
      streams_total: expect.any(Number),
    });
    const [stream] = report.tcp!.streams_with_issues;
    expect(Object.keys(stream!)).toEqual(
      expect.arrayContaining([
        'stream_id',
        'src',
        'dst',
        'retransmissions',
        'duplicate_acks',
        'out_of_order',
        'zero_window_events',
        'rst',
        'ack_rtt_ms',
        'delta_ms',
        'sample_frames',
      ]),
    );
    expect(stream!.sample_frames.length).toBeLessThanOrEqual(5);
  });

  test('[PCAP-13] lists stay at twenty with their totals, and the document small, whatever the capture', async () => {
    const r = random(3);
    const frames = Array.from({ length: 15_000 }, (_, i) => {
      const host = [10, r.int(200), r.int(200), 1 + r.int(200)];
      switch (i % 5) {
        case 0:
          return eth(
            0x0800,
            ip4(
              17,
              udp(
                1024 + r.int(60_000),
                53,
                dns({ id: i & 0xffff, name: `${'x'.repeat(50)}${i}.example${i % 999}.com` }),
              ),
              { src: host },
            ),
          );
        case 1:
          return eth(
            0x0800,
            ip4(
              17,
              udp(
                53,
                1024 + r.int(60_000),
                dns({ id: i & 0xffff, flags: 0x8183, name: `nx${i}.example.com` }),
              ),
              { src: host },
            ),
          );
        case 2:
          return eth(
            0x0806,
            bytes(u16(1), u16(0x0800), [6, 4], u16(1), [2, 0, 0, 0, 0, 1], [10, 0, 0, 1], zeros(6), host),
          );
        case 3:
          return eth(
            0x0800,
            ip4(
              6,
              tcp({ src: 1024 + (i % 60_000), dst: 80, seq: 1, ack: 0, flags: r.pick([SYN, RST, ACK]) }),
              { src: host },
            ),
          );
        default:
          return eth(
            0x0800,
            ip4(1, bytes(3, r.int(15), 0, 0, zeros(4), ip4(17, udp(1, 2, zeros(8)))), { src: host }),
          );
      }
    });
    const analysis = await analyze(save(folder.path('wide.pcap'), pcap(frames)));
    const report = semanticReport(analysis, []);
    expect(report.dns!.nxdomain_domains).toHaveLength(20);
    expect(report.dns!.nxdomain_domains_total).toBe(3000);
    expect(report.arp!.unanswered_requests).toHaveLength(20);
    expect(report.tcp!.streams_with_issues).toHaveLength(20);
    expect(report.icmp!.unreachable_details).toHaveLength(20);
    expect(JSON.stringify(report).length).toBeLessThan(MAX_CHARACTERS);
  });

  test('[PCAP-13] the same capture gives the same document, twice', async () => {
    const path = save(folder.path('same.pcap'), pcap(chaoticStreams(8, 500)));
    const [one, two] = [await analyze(path), await analyze(path)];
    expect(JSON.stringify(semanticReport(one, []))).toBe(JSON.stringify(semanticReport(two, [])));
  });
});
