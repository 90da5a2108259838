/** Containers: every way a capture file can be written, and every way it can be broken. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { countFile, NotACapture } from '../../src/pcap/index.ts';
import {
  type Bytes,
  block,
  bytes,
  concat,
  dns,
  enhancedPacket,
  eth,
  interfaceBlock,
  ip4,
  option,
  pcap,
  save,
  sectionHeader,
  simplePacket,
  u16,
  u32,
  udp,
  zeros,
} from './support/craft.ts';
import { scratch } from './support/scratch.ts';

const folder = scratch();
const query = (port: number) => eth(0x0800, ip4(17, udp(port, 53, dns())));
const three = [query(1000), query(1001), query(1002)];

const count = (name: string, file: Bytes) => countFile(save(folder.path(name), file));

describe('pcap', () => {
  test.each([
    ['little-endian microseconds', { big: false, nano: false }, '1600000000.123456000'],
    ['big-endian microseconds', { big: true, nano: false }, '1600000000.123456000'],
    ['little-endian nanoseconds', { big: false, nano: true }, '1600000000.123456789'],
    ['big-endian nanoseconds', { big: true, nano: true }, '1600000000.123456789'],
  ] as const)('[PCAP-01] %s', async (_name, options, time) => {
    const frames = three.map((data) => ({ data, seconds: 1_600_000_000, nanoseconds: 123_456_789 }));
    const counters = await count('a.pcap', pcap(frames, options));
    expect(counters).toMatchObject({
      packets: 3,
      dns_queries: 3,
      udp_streams: 3,
      first_ts: time,
      error: null,
    });
    expect(counters.file_type).toContain(options.nano ? 'nanosecond' : 'pcap');
  });

  test('[PCAP-01] old versions swap the two lengths; a patched magic has longer record headers', async () => {
    const cut = pcap([{ data: query(1).slice(0, 50), length: 75, seconds: 1, nanoseconds: 0 }], {
      version: [2, 2],
    });
    // In version 2.2 the length on the wire comes first.
    const swapped = Uint8Array.from(cut);
    swapped.set(cut.slice(36, 40), 32);
    swapped.set(cut.slice(32, 36), 36);
    expect(await count('v22.pcap', swapped)).toMatchObject({
      packets: 1,
      bytes_len: 75,
      bytes_cap: 50,
      truncated_packets: 1,
    });
    const header = pcap([]);
    header.set(u32(0xa1b2cd34).reverse(), 0);
    const record = bytes(
      u32(1).reverse(),
      zeros(4),
      u32(75).reverse(),
      u32(75).reverse(),
      zeros(8),
      query(1),
    );
    expect(await count('patched.pcap', concat([header, record, record, record]))).toMatchObject({
      packets: 3,
      dns_queries: 3,
    });
  });

  test('[PCAP-04] a record that claims too much ends the file, and what came before is kept', async () => {
    const file = pcap([...three, ...three]);
    const record = 16 + three[0]!.length;
    file.set([0xff, 0xff, 0xff, 0x7f], 24 + 5 * record + 8);
    const counters = await count('huge.pcap', file);
    expect(counters).toMatchObject({ packets: 5, file_type: null });
    expect(counters.error).toContain('2147483647');
  });

  test.each([1, 15, 16, 40, 90])(
    '[PCAP-03] cut %i bytes into the second record: one packet and a note',
    async (extra) => {
      const file = pcap(three).slice(0, 24 + 16 + three[0]!.length + extra);
      const counters = await count('cut.pcap', file);
      expect(counters.packets).toBe(1);
      expect(counters.error).toContain('middle of a packet');
      expect(counters.encap).toBe('Ethernet');
    },
  );

  test('[PCAP-05] an unknown link type is counted and not decoded', async () => {
    const counters = await count('odd.pcap', pcap(three, { link: 299 }));
    expect(counters).toMatchObject({ packets: 3, frames_udp: 0, encap: 'Unknown' });
  });

  test('[PCAP-05] zero packets is a result, not an error', async () => {
    expect(await count('none.pcap', pcap([]))).toMatchObject({ packets: 0, first_ts: null, error: null });
  });
});

describe('pcapng', () => {
  const resolution = (value: number, big = false) => option(9, bytes(value), big);

  test.each([false, true])(
    '[PCAP-02] several interfaces, each with its own clock (big-endian %s)',
    async (big) => {
      const file = concat([
        sectionHeader(big),
        interfaceBlock(1, [], big),
        interfaceBlock(1, resolution(9, big), big),
        interfaceBlock(101, resolution(0x80 | 10, big), big),
        block(0x0bee, zeros(40), big),
        enhancedPacket(three[0]!, 1_600_000_000_500_000n, 0, big),
        enhancedPacket(three[1]!, 1_600_000_001_123_456_789n, 1, big),
        block(5, zeros(24), big),
        enhancedPacket(ip4(17, udp(9, 53, dns())), (1_600_000_002n << 10n) | 512n, 2, big),
      ]);
      expect(await count('multi.pcapng', file)).toMatchObject({
        packets: 3,
        dns_queries: 3,
        interfaces: 3,
        encap: 'Per packet',
        first_ts: '1600000000.500000000',
        last_ts: '1600000002.500000000',
      });
    },
  );

  test('[PCAP-02] time offset, picoseconds, simple and obsolete packets, a second section in the other order', async () => {
    const offset = option(14, bytes(u32(100).reverse(), zeros(4)));
    const obsolete = block(
      2,
      bytes(
        u16(0),
        u16(0),
        u32(0).reverse(),
        u32(7).reverse(),
        u32(75).reverse(),
        u32(75).reverse(),
        three[0]!,
      ),
    );
    const file = concat([
      sectionHeader(),
      interfaceBlock(1, bytes(resolution(12), offset)),
      enhancedPacket(three[0]!, 2_500_000_000_001n),
      simplePacket(three[1]!),
      obsolete,
      sectionHeader(true),
      interfaceBlock(1, [], true),
      enhancedPacket(three[2]!, 5_000_000n, 0, true),
    ]);
    const counters = await count('mixed.pcapng', file);
    expect(counters).toMatchObject({
      packets: 4,
      dns_queries: 4,
      interfaces: 2,
      first_ts: '102.500000000',
      last_ts: '5.000000000',
    });
    expect(counters.time_ordered).toBe(false);
  });

  test('[PCAP-04] lengths that lie end the reading with a reason', async () => {
    const good = [sectionHeader(), interfaceBlock(1), enhancedPacket(three[0]!, 1n)];
    const claims = (at: number, value: number) => {
      const file = concat([...good, enhancedPacket(three[1]!, 2n)]);
      file.set(u32(value).reverse(), file.length - 108 + at);
      return file;
    };
    const bad: readonly (readonly [string, Bytes])[] = [
      ['captured length', claims(20, 0x7fff_ffff)],
      ['block length', claims(4, 0xffff_fff0)],
      ['short block', claims(4, 8)],
      ['unknown interface', claims(8, 77)],
      ['trailing length', claims(104, 12)],
    ];
    for (const [what, file] of bad) {
      const counters = await count('bad.pcapng', file);
      expect(counters.packets, what).toBe(1);
      expect(counters.error, what).toBeTruthy();
    }
  });

  test('[PCAP-05] no packets and no interface', async () => {
    expect(await count('none.pcapng', sectionHeader())).toMatchObject({
      packets: 0,
      interfaces: null,
      error: null,
    });
  });
});

describe('gzip and what is no capture', () => {
  test('[PCAP-01] gzip of either container', async () => {
    const many = Array.from({ length: 20_000 }, (_, i) => query(1000 + (i % 5000)));
    const packed = Uint8Array.from(gzipSync(pcap(many)));
    expect(await count('a.pcap.gz', packed)).toMatchObject({
      packets: 20_000,
      udp_streams: 5000,
      error: null,
    });
    const ng = concat([sectionHeader(), interfaceBlock(1), enhancedPacket(three[0]!, 1n)]);
    const counters = await count('b.pcapng.gz', Uint8Array.from(gzipSync(ng)));
    expect(counters).toMatchObject({ packets: 1, file_type: 'Wireshark/... - pcapng (gzip compressed)' });
  });

  test('[PCAP-03] gzip data that ends early or is damaged', async () => {
    const packed = Uint8Array.from(gzipSync(pcap(Array.from({ length: 5000 }, (_, i) => query(i)))));
    const cut = await count('cut.gz', packed.slice(0, packed.length >> 1));
    expect(cut.packets).toBeGreaterThan(0);
    expect(cut.error).toBeTruthy();
    const damaged = Uint8Array.from(packed);
    damaged.fill(0xff, packed.length >> 1, (packed.length >> 1) + 200);
    expect((await count('damaged.gz', damaged)).error).toBeTruthy();
  });

  test('[PCAP-05] text, nothing, a directory, a missing file, gzip of text: exit 2 with what to do', async () => {
    const text = folder.path('text.pcap');
    writeFileSync(text, 'this is no capture\n'.repeat(50));
    const empty = folder.path('empty.pcap');
    writeFileSync(empty, '');
    const packed = folder.path('text.gz');
    writeFileSync(packed, gzipSync('hello'.repeat(1000)));
    mkdirSync(folder.path('dir'));
    for (const path of [text, empty, packed, folder.path('dir'), folder.path('missing.pcap')]) {
      const error = await countFile(path).catch((thrown: unknown) => thrown);
      expect(error, path).toBeInstanceOf(NotACapture);
      expect(error).toMatchObject({ exit: 2, code: 3004 });
      expect((error as NotACapture).suggestion).toBeTruthy();
    }
  });

  test.skipIf(process.getuid?.() === 0)('[PCAP-05] no permission: exit 2', async () => {
    const path = save(folder.path('locked.pcap'), pcap(three));
    chmodSync(path, 0);
    await expect(countFile(path)).rejects.toThrow('permission denied');
  });
});
