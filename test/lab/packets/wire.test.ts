import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldChecksum, sum16 } from '../../../src/lab/packets/wire/bytes.ts';
import { dnsQuery, dnsResponse, RCODE } from '../../../src/lab/packets/wire/dns.ts';
import { parseMac, putArpFrame } from '../../../src/lab/packets/wire/ethernet.ts';
import { ICMP, putIcmp } from '../../../src/lab/packets/wire/icmp.ts';
import { PROTOCOL, pseudoHeaderSum, putIpv4 } from '../../../src/lab/packets/wire/ipv4.ts';
import { PcapWriter } from '../../../src/lab/packets/wire/pcap-writer.ts';
import { FLAG, optionBytes, putTcp, TCP_BYTES } from '../../../src/lab/packets/wire/tcp.ts';
import { putUdp } from '../../../src/lab/packets/wire/udp.ts';

const word = fc.integer({ min: 0, max: 0xffff });
const long = fc.integer({ min: 0, max: 0xffffffff });
const header = fc.record({
  source: long,
  destination: long,
  id: word,
  ttl: fc.integer({ min: 1, max: 255 }),
  dontFragment: fc.boolean(),
});

/** A receiver adds everything up, checksum included: what is right folds to zero. */
function holds(buffer: Uint8Array, from: number, to: number, start = 0): boolean {
  return foldChecksum(sum16(buffer, from, to, start)) === 0;
}

describe('headers', () => {
  it('[LABP-02] the checksum of RFC 1071 on its own example', () => {
    const bytes = Uint8Array.of(0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7);
    expect(foldChecksum(sum16(bytes, 0, bytes.length))).toBe(0x220d);
  });

  it('[LABP-02] IPv4, TCP, UDP and ICMP checksums hold for any content', () => {
    const payload = fc.uint8Array({ maxLength: 200 });
    fc.assert(
      fc.property(
        header,
        payload,
        word,
        word,
        long,
        long,
        fc.boolean(),
        (ip, data, a, b, seq, ack, stamped) => {
          const options = stamped
            ? { mss: 1460, sackPermitted: true, timestamp: { value: seq, echo: ack }, windowScale: 7 }
            : { sack: [{ from: seq, to: ack }] };
          const tcp = { ...ip, protocol: PROTOCOL.tcp };
          const bytes = TCP_BYTES + optionBytes(options) + data.length;
          const buffer = new Uint8Array(20 + bytes).fill(0xaa);
          const body = putIpv4(buffer, 0, tcp, bytes);
          buffer.set(data, buffer.length - data.length);
          const segment = {
            sourcePort: a,
            destinationPort: b,
            sequence: seq,
            acknowledgment: ack,
            flags: FLAG.ack,
            window: a,
            options,
          };
          putTcp(buffer, body, tcp, segment, data.length);
          expect(holds(buffer, 0, 20)).toBe(true);
          expect(holds(buffer, 20, buffer.length, pseudoHeaderSum(tcp, bytes))).toBe(true);
          expect((buffer[20 + 12]! >> 4) * 4).toBe(bytes - data.length);

          const udp = { ...ip, protocol: PROTOCOL.udp };
          const datagram = new Uint8Array(8 + data.length);
          datagram.set(data, 8);
          putUdp(datagram, 0, udp, { source: a, destination: b }, data.length);
          expect(holds(datagram, 0, datagram.length, pseudoHeaderSum(udp, datagram.length))).toBe(true);
          expect(datagram[6]! + datagram[7]!).toBeGreaterThan(0);

          const echo = new Uint8Array(8 + data.length);
          echo.set(data, 8);
          putIcmp(echo, 0, ICMP.echoRequest, [a, b], data.length);
          expect(holds(echo, 0, echo.length)).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('options take the space they say, in any combination', () => {
    fc.assert(
      fc.property(
        fc.record(
          {
            mss: word,
            sackPermitted: fc.constant(true),
            windowScale: fc.integer({ min: 0, max: 14 }),
            timestamp: fc.record({ value: long, echo: long }),
          },
          { requiredKeys: [] },
        ),
        fc.array(fc.record({ from: long, to: long }), { maxLength: 5 }),
        (base, sack) => {
          const options = { ...base, ...(sack.length > 0 && base.mss === undefined ? { sack } : {}) };
          const bytes = optionBytes(options);
          expect(bytes % 4).toBe(0);
          expect(bytes).toBeLessThanOrEqual(40);
          const buffer = new Uint8Array(TCP_BYTES + 48).fill(0xee);
          const ip = { source: 1, destination: 2, protocol: PROTOCOL.tcp, id: 0, ttl: 1, dontFragment: true };
          putTcp(
            buffer,
            0,
            ip,
            {
              sourcePort: 1,
              destinationPort: 2,
              sequence: 3,
              acknowledgment: 4,
              flags: 0,
              window: 5,
              options,
            },
            0,
          );
          expect(walkOptions(buffer, TCP_BYTES, TCP_BYTES + bytes)).toBe(true);
          expect(buffer[TCP_BYTES + bytes]).toBe(0xee);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('an ARP request goes to everybody and asks for nobody yet', () => {
    const frame = new Uint8Array(42);
    const mac = parseMac('00-0D-3A-01-02-03');
    const end = putArpFrame(frame, 0, {
      operation: 'request',
      senderMac: mac,
      senderIp: 0x0a000104,
      targetMac: new Uint8Array(6),
      targetIp: 0x0a000101,
    });
    expect(end).toBe(42);
    expect(Buffer.from(frame).toString('hex')).toBe(
      'ffffffffffff000d3a0102030806000108000604000100' + '0d3a0102030a0001040000000000000a000101',
    );
  });
});

/** Kind by kind, as a receiver walks them; every length must end exactly at the end. */
function walkOptions(buffer: Uint8Array, from: number, to: number): boolean {
  let at = from;
  while (at < to) {
    if (buffer[at] === 1) at += 1;
    else if (buffer[at + 1]! >= 2) at += buffer[at + 1]!;
    else return false;
  }
  return at === to;
}

describe('DNS messages', () => {
  it('[LABP-04] an answer repeats the question and carries aliases, addresses or the zone', () => {
    const query = Buffer.from(dnsQuery(0x1234, 'db.corp.internal'));
    expect(query.subarray(12).toString('latin1')).toBe('\x02db\x04corp\x08internal\x00\x00\x01\x00\x01');
    const answer = Buffer.from(
      dnsResponse(0x1234, 'db.corp.internal', {
        rcode: RCODE.nameError,
        cnames: [],
        addresses: [],
        authority: 'corp.internal',
        ttl: 0,
      }),
    );
    expect(answer.readUInt16BE(0)).toBe(0x1234);
    expect(answer.readUInt16BE(2) & 0xf).toBe(3);
    expect(answer.readUInt16BE(8)).toBe(1);
  });
});

describe('pcap file', () => {
  it('[LABP-03] microseconds or nanoseconds, cut at the snap length, grown as needed', () => {
    for (const [resolution, magic, ticks] of [
      ['us', 0xa1b2c3d4, 250_000],
      ['ns', 0xa1b23c4d, 250_000_000],
    ] as const) {
      const writer = new PcapWriter({ resolution, snaplen: 100 });
      for (let index = 0; index < 20_000; index += 1) {
        const { buffer, at } = writer.reserve(1514);
        buffer.fill(index & 255, at, at + 1514);
        writer.commit(1_700_000_000 + index, 0.25, 1514);
      }
      const file = Buffer.from(writer.finish());
      expect(file.readUInt32LE(0)).toBe(magic);
      expect(file.readUInt32LE(20)).toBe(1);
      expect(file.length).toBe(24 + 20_000 * 116);
      const last = 24 + 19_999 * 116;
      expect(file.readUInt32LE(last)).toBe(1_700_019_999);
      expect(file.readUInt32LE(last + 4)).toBe(ticks);
      expect(file.readUInt32LE(last + 8)).toBe(100);
      expect(file.readUInt32LE(last + 12)).toBe(1514);
      expect(file[last + 16]).toBe(19_999 & 255);
    }
  });
});
