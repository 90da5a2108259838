/** Rules about applications, ICMP messages and checksums: each fires on its fault, is silent otherwise, and verifies. */

import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyReport } from '../../../src/pcap/report/verify.ts';
import { semanticReport } from '../../../src/pcap/semantic/build.ts';
import {
  ACK,
  type Bytes,
  bytes,
  type Captured,
  dns,
  eth,
  ip4,
  ip6,
  PSH,
  SYN,
  tcp,
  u16,
  u32,
  udp,
  zeros,
} from '../support/craft.ts';
import { craftedFile, found } from '../support/scenes.ts';
import { hasTshark, tsharkFrames } from '../support/tshark-frames.ts';

const A = [10, 0, 0, 1];
const B = [10, 0, 0, 2];

/** A conversation on a port: the client's bytes, the server's bytes. */
function talk(port: number, client: ArrayLike<number>, server: ArrayLike<number>): Bytes[] {
  const c = (o: { seq: number; ack: number; flags: number; payload?: ArrayLike<number> }) =>
    eth(0x0800, ip4(6, tcp({ src: 40_000, dst: port, ...o }), { src: A, dst: B }));
  const s = (o: { seq: number; ack: number; flags: number; payload?: ArrayLike<number> }) =>
    eth(0x0800, ip4(6, tcp({ src: port, dst: 40_000, ...o }), { src: B, dst: A }));
  return [
    c({ seq: 100, ack: 0, flags: SYN }),
    s({ seq: 500, ack: 101, flags: SYN | ACK }),
    c({ seq: 101, ack: 501, flags: ACK | PSH, payload: client }),
    s({ seq: 501, ack: 101 + client.length, flags: ACK | PSH, payload: server }),
  ];
}

const http = (status: string) =>
  talk(80, bytes('GET / HTTP/1.1\r\n\r\n'), bytes(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`));
const alert = (level: number, what: number) =>
  talk(443, bytes(0x16, 3, 1, u16(4), 1, 0, 0, 0), bytes(0x15, 3, 3, u16(2), level, what));

function dhcp(type: number, transaction: number): Bytes {
  const fixed = bytes(1, 1, 6, 0, u32(transaction), zeros(228), u32(0x63825363));
  return eth(0x0800, ip4(17, udp(68, 67, bytes(fixed, 53, 1, type, 255)), { dst: [255, 255, 255, 255] }));
}

const echo = (type: number, sequence: number) =>
  eth(
    0x0800,
    ip4(1, bytes(type, 0, 0, 0, u16(7), u16(sequence), zeros(8)), {
      src: type === 8 ? A : B,
      dst: type === 8 ? B : A,
    }),
  );
const echo6 = (sequence: number) =>
  eth(0x86dd, ip6(58, bytes(128, 0, 0, 0, u16(7), u16(sequence), zeros(8))));

const redirect = () => {
  const quoted = ip4(17, udp(5000, 6000, zeros(8)), { src: A, dst: [9, 9, 9, 9] });
  return eth(0x0800, ip4(1, bytes(5, 1, 0, 0, [10, 0, 0, 254], quoted), { src: [10, 0, 0, 253], dst: A }));
};

/** Queries with their answers after a time. */
function lookups(times: readonly number[]): Captured[] {
  return times.flatMap((ms, i): Captured[] => {
    const nanoseconds = (ms % 1000) * 1_000_000;
    const name = `host${i}.example.com`;
    const query = ip4(17, udp(40_000 + i, 53, dns({ id: i, name })), { src: A, dst: B });
    const answer = ip4(17, udp(53, 40_000 + i, dns({ id: i, name, flags: 0x8180 })), { src: B, dst: A });
    return [
      { data: eth(0x0800, query), seconds: 1000 + i * 10, nanoseconds: 0 },
      { data: eth(0x0800, answer), seconds: 1000 + i * 10 + Math.floor(ms / 1000), nanoseconds },
    ];
  });
}

interface Case {
  readonly id: string;
  readonly fires: readonly (Bytes | Captured)[];
  readonly silent: readonly (Bytes | Captured)[];
}

const CASES: readonly Case[] = [
  { id: 'dhcp_trouble', fires: [dhcp(1, 1), dhcp(1, 2), dhcp(1, 3)], silent: [dhcp(1, 1), dhcp(2, 1)] },
  { id: 'dhcp_trouble', fires: [dhcp(3, 1), dhcp(6, 1)], silent: [dhcp(3, 1), dhcp(5, 1)] },
  { id: 'tls_alerts', fires: alert(2, 48), silent: alert(1, 0) },
  { id: 'http_errors', fires: http('503 Service Unavailable'), silent: http('304 Not Modified') },
  { id: 'icmp_redirect', fires: [redirect()], silent: [echo(8, 1), echo(0, 1)] },
  {
    id: 'echo_unanswered',
    fires: [1, 2, 3].map((n) => echo(8, n)),
    silent: [1, 2, 3].flatMap((n) => [echo(8, n), echo(0, n)]),
  },
  { id: 'echo_unanswered', fires: [1, 2, 3].map(echo6), silent: [echo6(1)] },
  { id: 'dns_slow', fires: lookups([5, 5, 700, 900, 1200]), silent: lookups([5, 5, 7, 9, 12]) },
];

describe('rules about applications and messages', () => {
  it.each(CASES.map((c, i) => [c.id, i, c] as const))(
    '[PCAPR-01] %s (case %i) fires, is silent without the fault, and is derived again',
    async (id, i, { fires, silent }) => {
      const file = craftedFile(`fires-${i}.pcap`, fires);
      const { findings, analysis } = await found(file);
      const finding = findings.find((f) => f.id === id);
      expect(finding).toBeDefined();
      expect(finding!.frames.length).toBeGreaterThan(0);
      expect(finding!.explanation).not.toMatch(/undefined|NaN/u);
      expect((await found(craftedFile(`silent-${i}.pcap`, silent))).ids).not.toContain(id);
      const report = file.replace('.pcap', '_semantic.json');
      writeFileSync(report, JSON.stringify(semanticReport(analysis, findings)));
      expect(await verifyReport(report, dirname(file))).toMatchObject({ verified: true });
      if (!hasTshark) return;
      const [filter = ''] = finding!.predicate.split(' => ');
      const shown = tsharkFrames(file, filter);
      expect(finding!.frames.filter((frame) => !shown.includes(frame))).toEqual([]);
    },
  );

  it('[PCAPR-02] an error of the server weighs more than one of the client', async () => {
    const severity = async (status: string) =>
      (await found(craftedFile('http.pcap', http(status)))).findings.find((f) => f.id === 'http_errors')
        ?.severity;
    expect(await severity('500 No')).toBe('MEDIUM');
    expect(await severity('404 Not Found')).toBe('LOW');
  });
});

type Sum = 'right' | 'damaged' | 'offloaded' | 'unset';

/** A segment whose checksum is right, wrong, left to the card (the bare pseudo-header) or not set. */
function summed(n: number, kind: Sum, src = A): Bytes {
  const segment = tcp({
    src: 40_000,
    dst: 80,
    seq: 1000 + n * 10,
    ack: 1,
    flags: ACK,
    payload: bytes('0123456789'),
  });
  const pseudo = bytes(src, B, 0, 6, u16(segment.length));
  const sum = (data: Bytes) => {
    let total = 0;
    for (let i = 0; i < data.length; i += 2) total += (data[i]! << 8) | (data[i + 1] ?? 0);
    while (total > 0xffff) total = (total & 0xffff) + (total >>> 16);
    return total;
  };
  const right = ~sum(bytes(pseudo, segment)) & 0xffff;
  const value = { right, damaged: right ^ 0x0101, offloaded: sum(pseudo), unset: 0 }[kind];
  segment.set(u16(value), 16);
  return eth(0x0800, ip4(6, segment, { src, dst: B }));
}

describe('checksums', () => {
  const of = (count: number, kind: (n: number) => Sum) =>
    Array.from({ length: count }, (_, n) => summed(n, kind(n)));

  it('[PCAPR-06] some wrong checksums of a sender are damage, in the very frames the reference names', async () => {
    const file = craftedFile(
      'damaged.pcap',
      of(60, (n) => (n % 20 === 3 ? 'damaged' : 'right')),
    );
    const { findings } = await found(file);
    const finding = findings.find((f) => f.id === 'bad_checksums');
    expect(finding).toMatchObject({ severity: 'HIGH', frames: [4, 24, 44] });
    if (!hasTshark) return;
    expect(tsharkFrames(file, 'tcp.checksum.status == 0', ['-o', 'tcp.check_checksum:TRUE'])).toEqual([
      4, 24, 44,
    ]);
  });

  it('[PCAPR-06] offload is no damage: the bare pseudo-header, zeros, or every packet of a sender', async () => {
    const kinds: readonly ((n: number) => Sum)[] = [
      () => 'offloaded',
      (n) => (n % 2 === 0 ? 'offloaded' : 'right'),
      () => 'unset',
      () => 'damaged',
      () => 'right',
    ];
    for (const [i, kind] of kinds.entries()) {
      const { ids } = await found(craftedFile(`sums-${i}.pcap`, of(40, kind)));
      expect(ids).not.toContain('bad_checksums');
    }
  });
});
