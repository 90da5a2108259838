/** The capture as a product: limits, filters, time, names, and what it is when there is nothing to see. */
import { describe, expect, it } from 'vitest';
import { macAddress } from '../../../src/lab/network/places.ts';
import { captureStatistics, synthesizeCapture } from '../../../src/lab/packets/index.ts';
import { applyJsonPatch } from '../../../src/lab/world/patch.ts';
import { makeTimeline } from '../../../src/lab/world/timeline.ts';
import { NOW_MS, pair } from './pair.ts';
import { complaints, counts, hasTshark, rows } from './tshark.ts';

const minute = { startMs: NOW_MS, durationMs: 60_000 };

/** Header fields of every packet, without any tool. */
function records(file: Uint8Array): { time: number; kept: number; length: number; bytes: Buffer }[] {
  const buffer = Buffer.from(file);
  const found = [];
  for (let at = 24; at < buffer.length; ) {
    const kept = buffer.readUInt32LE(at + 8);
    const time = buffer.readUInt32LE(at) + buffer.readUInt32LE(at + 4) / 1e6;
    const length = buffer.readUInt32LE(at + 12);
    found.push({ time, kept, length, bytes: buffer.subarray(at + 16, at + 16 + kept) });
    at += 16 + kept;
  }
  return found;
}

describe('a capture', () => {
  it('[LABP-33] is a function of the world and its parameters', () => {
    const options = { vm: 'client', ...minute };
    const settings = { id: 'same', server: { link: { loss_pct: 2, jitter_ms: 3, reorder_pct: 2 } } };
    const once = synthesizeCapture(pair(settings), options);
    expect(Buffer.compare(once, synthesizeCapture(pair(settings), options))).toBe(0);
    expect(Buffer.compare(once, synthesizeCapture(pair({ ...settings, id: 'other' }), options))).not.toBe(0);
  });

  it('[LABP-33] a later start of the same minutes shows the same packets', () => {
    const world = pair({ id: 'later', server: { link: { loss_pct: 2 } }, flow: { bytes: 30_000 } });
    const early = records(synthesizeCapture(world, { vm: 'server', startMs: NOW_MS, durationMs: 40_000 }));
    const late = records(
      synthesizeCapture(world, { vm: 'server', startMs: NOW_MS + 12_345, durationMs: 20_000 }),
    );
    const from = late[0]!.time;
    const shared = early.filter((packet) => packet.time >= from).slice(0, late.length);
    expect(late.length).toBeGreaterThan(300);
    const other = late.findIndex((packet, index) => !packet.bytes.equals(shared[index]!.bytes));
    expect(other).toBe(-1);
  });

  it('[LABP-34] keeps times in order and inside the window', () => {
    const world = pair({ id: 'window', client: { link: { jitter_ms: 4, reorder_pct: 5 } } });
    const times = records(synthesizeCapture(world, { vm: 'client', ...minute })).map((p) => p.time * 1000);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times[0]!).toBeGreaterThan(NOW_MS - 10);
    expect(times.at(-1)!).toBeLessThan(NOW_MS + 60_010);
  });

  it('[LABP-35] keeps the asked number of bytes of each packet and says how long it was', () => {
    const world = pair({ id: 'snap' });
    const cut = records(synthesizeCapture(world, { vm: 'client', ...minute, bytesPerPacket: 64 }));
    const whole = records(synthesizeCapture(world, { vm: 'client', ...minute, bytesPerPacket: 0 }));
    expect(cut.every((p) => p.kept === Math.min(64, p.length))).toBe(true);
    expect(whole.every((p) => p.kept === p.length)).toBe(true);
    expect(cut.map((p) => p.length)).toEqual(whole.map((p) => p.length));
  });

  it('[LABP-36] ends at the size asked for, and never holds more than 200,000 packets', () => {
    const world = pair({ id: 'busy', flow: { every_ms: 1, bytes: 20_000 } });
    const small = captureStatistics(world, { vm: 'client', ...minute, maxBytes: 500_000 });
    expect(small.cutShort).toBe('bytes');
    expect(small.bytes.length).toBeLessThan(502_000);
    const before = process.cpuUsage();
    const large = captureStatistics(world, { vm: 'client', ...minute, bytesPerPacket: 60 });
    expect(large.cutShort).toBe('packets');
    expect(large.packets).toBeLessThanOrEqual(200_000);
    expect(large.packets).toBeGreaterThan(100_000);
    const spent = process.cpuUsage(before);
    expect((spent.user + spent.system) / 1e6).toBeLessThan(10);
  });

  it('[LABP-37] filters by protocol, address and port, one match being enough; none matches nothing', () => {
    const flows = [
      { from: 'client', to: 'server', port: 7100, protocol: 'tcp', every_ms: 1000, bytes: 500 },
      { from: 'client', to: 'server', port: 7100, protocol: 'udp', every_ms: 1000, bytes: 500 },
      { from: 'server', to: 'client', port: 22, protocol: 'tcp', every_ms: 1000, bytes: 500 },
    ];
    const world = pair({ id: 'filters', flows, client: { listens: [{ port: 22 }] } });
    const of = (filters: Parameters<typeof captureStatistics>[1]['filters']) =>
      records(synthesizeCapture(world, { vm: 'client', ...minute, ...(filters ? { filters } : {}) })).map(
        (p) => ({
          arp: p.bytes.readUInt16BE(12) === 0x0806,
          protocol: p.bytes[23],
          ports: [p.bytes.readUInt16BE(34), p.bytes.readUInt16BE(36)],
        }),
      );
    expect(of(undefined).some((p) => p.arp)).toBe(true);
    expect(of([{ protocol: 'UDP' }]).every((p) => p.protocol === 17)).toBe(true);
    const remote = of([{ protocol: 'TCP', remotePort: '7000-7200' }]);
    expect(remote.length).toBeGreaterThan(300);
    expect(remote.every((p) => p.protocol === 6 && p.ports.includes(7100))).toBe(true);
    const local = of([{ localPort: '22;23', remoteIPAddress: '10.7.2.4' }]);
    expect(local.every((p) => p.ports.includes(22))).toBe(true);
    expect(of([{ remoteIPAddress: '10.9.9.9' }, { protocol: 'UDP' }]).length).toBeGreaterThan(100);
    expect(of([])).toEqual([]);
    expect(() => of([{ remotePort: 'http' }])).toThrow(/remotePort cannot be "http"/);
  });

  it('[LABP-38] of a VM that does not run, or talks to nobody, is a file without packets', () => {
    for (const settings of [{ client: { power: 'deallocated' } }, { flows: [] }]) {
      const { packets, bytes } = captureStatistics(pair({ id: 'quiet', ...settings }), {
        vm: 'client',
        ...minute,
      });
      expect(packets).toBe(0);
      expect(bytes.length).toBe(24);
    }
  });

  it('[LABP-38] refuses a VM that is not there and numbers that cannot be, saying what to write', () => {
    const world = pair();
    expect(() => synthesizeCapture(world, { vm: 'nobody', ...minute })).toThrow(
      /no VM "nobody" in world pair/,
    );
    expect(() => synthesizeCapture(world, { vm: 'client', startMs: NOW_MS, durationMs: 0 })).toThrow(
      /durationMs/,
    );
    expect(() => synthesizeCapture(world, { vm: 'client', ...minute, bytesPerPacket: -1 })).toThrow(
      /bytesPerPacket/,
    );
  });

  it('[LABP-39] carries the hardware address of the NIC and of the fabric', () => {
    const world = pair({ id: 'mac' });
    const [first] = records(synthesizeCapture(world, { vm: 'client', ...minute }));
    const mac = macAddress(world.vms[0]!).replaceAll(/[:-]/gu, '').toLowerCase();
    expect(mac).toHaveLength(12);
    expect(first!.bytes.subarray(0, 12).toString('hex')).toContain(mac);
    expect(first!.bytes.subarray(0, 12).toString('hex')).toContain('123456789abc');
  });
});

describe.skipIf(!hasTshark)('a world that changes', () => {
  const deny = {
    name: 'stop',
    priority: 100,
    direction: 'Inbound',
    access: 'Deny',
    destination_port: '7100',
  };

  it('[LABP-40] conversations fail from the moment of the change, and those under way go on', () => {
    const world = pair({
      id: 'changes',
      server: { link: { delay_ms: 400 } },
      more: {
        faults_over_time: [{ at_s: 30, patch: [{ op: 'add', path: '/nsgs/0/rules/-', value: deny }] }],
      },
    });
    const answers = rows(
      synthesizeCapture(world, { vm: 'client', ...minute }),
      'ip.src == 10.7.2.4',
      'frame.time_epoch',
      'tcp.flags.syn',
    );
    const opened = answers.filter(([, syn]) => syn === '1').map(([t]) => Number(t) * 1000 - NOW_MS);
    expect(Math.max(...opened)).toBeLessThan(31_000);
    const last = Math.max(...answers.map(([t]) => Number(t) * 1000 - NOW_MS));
    expect(last).toBeGreaterThan(31_200);
    expect(last).toBeLessThan(36_000);
  });

  it('[LABP-40] a change of the flows themselves takes place', () => {
    const late = { from: 'client', to: 'server', port: 7200, protocol: 'tcp', every_ms: 500, bytes: 100 };
    const world = pair({
      id: 'more-flows',
      more: {
        faults_over_time: [
          { at_s: 20, patch: [{ op: 'add', path: '/flows/-', value: late }] },
          { at_s: 40, patch: [{ op: 'remove', path: '/flows/0' }] },
        ],
      },
    });
    const opened = rows(
      synthesizeCapture(world, { vm: 'client', ...minute }),
      'tcp.flags == 0x002 && !tcp.analysis.retransmission',
      'tcp.dstport',
      'frame.time_epoch',
    ).map(([port, time]) => ({ port, at: Number(time) * 1000 - NOW_MS }));
    const times = (port: string) => opened.filter((o) => o.port === port).map((o) => o.at);
    expect(Math.min(...times('7200'))).toBeGreaterThan(19_990);
    expect(Math.max(...times('7100'))).toBeLessThan(40_030);
    expect(times('7100').length).toBeGreaterThanOrEqual(79);
    expect(times('7200').length).toBeGreaterThanOrEqual(79);
  });

  it('[LABP-40] a change made through a timeline counts the same', () => {
    const world = pair({ id: 'stops' });
    const timeline = makeTimeline(
      world,
      [{ at_ms: NOW_MS + 20_000, patch: [{ op: 'replace', path: '/vms/1/power', value: 'stopped' }] }],
      applyJsonPatch,
    );
    const pcap = synthesizeCapture(timeline, { vm: 'client', ...minute });
    const last = rows(pcap, 'ip.src == 10.7.2.4', 'frame.time_epoch').at(-1)!;
    expect(Number(last[0]) * 1000 - NOW_MS).toBeLessThan(20_010);
    const server = rows(
      synthesizeCapture(timeline, { vm: 'server', ...minute }),
      'frame',
      'frame.time_epoch',
    );
    expect(Number(server.at(-1)![0]) * 1000 - NOW_MS).toBeLessThan(20_010);
  });
});

describe.skipIf(!hasTshark)('addresses', () => {
  it('[LABP-23] are translated on the way to a public address, each end seeing its own side', () => {
    const world = pair({
      id: 'public',
      client: { public_ip: '20.50.1.1' },
      server: { public_ip: '20.50.2.2' },
      flow: { to: '20.50.2.2', every_ms: 2000 },
      rules: [{ name: 'in', priority: 100, direction: 'Inbound', access: 'Allow', source: '20.50.1.1' }],
    });
    const at = (vm: string) => {
      const pcap = synthesizeCapture(world, { vm, ...minute });
      expect(complaints(pcap)).toEqual(new Map());
      return new Set(rows(pcap, 'tcp', 'ip.src', 'ip.dst').map((pair) => pair.sort().join(' ')));
    };
    expect(at('client')).toEqual(new Set(['10.7.1.4 20.50.2.2']));
    expect(at('server')).toEqual(new Set(['10.7.2.4 20.50.1.1']));
  });
});

describe.skipIf(!hasTshark)('names', () => {
  const zone = (records: object[], links = ['vnet']) => ({
    private_dns: [{ zone: 'corp.internal', group: 'rg-pair', links, records }],
  });
  const flow = { to: 'db.corp.internal', every_ms: 1000 };

  it('[LABP-21] are looked up at the platform before every conversation', () => {
    const world = pair({ id: 'names', flow, more: zone([{ name: 'db', type: 'A', value: '10.7.2.4' }]) });
    const pcap = synthesizeCapture(world, { vm: 'client', ...minute });
    const answers = rows(
      pcap,
      'dns.flags.response == 1',
      'dns.a',
      'ip.src',
      'dns.qry.name',
      'dns.flags.rcode',
    );
    expect(answers.length).toBeGreaterThanOrEqual(59);
    expect(answers[0]).toEqual(['10.7.2.4', '168.63.129.16', 'db.corp.internal', '0']);
    expect(rows(pcap, 'tcp.flags == 0x002', 'ip.dst').length).toBeGreaterThanOrEqual(59);
    expect(complaints(pcap)).toEqual(new Map());
  });

  it('[LABP-21] that do not exist lead nowhere', () => {
    for (const more of [zone([]), zone([{ name: 'db', type: 'A', value: '10.7.2.4' }], [])]) {
      const pcap = synthesizeCapture(pair({ id: 'no-name', flow, more }), { vm: 'client', ...minute });
      const seen = counts(pcap, {
        nx: 'dns.flags.rcode == 3',
        tcp: 'tcp',
        other: 'dns.flags.rcode == 0 && dns.flags.response == 1',
      });
      expect(seen.nx).toBeGreaterThanOrEqual(59);
      expect(seen.tcp).toBe(0);
      expect(seen.other).toBe(0);
      expect(complaints(pcap)).toEqual(new Map());
    }
  });

  it('[LABP-21] that go round in circles fail; unanswered questions are asked again after five seconds', () => {
    const loop = [
      { name: 'db', type: 'CNAME', value: 'a.corp.internal' },
      { name: 'a', type: 'CNAME', value: 'db.corp.internal' },
    ];
    const circular = synthesizeCapture(pair({ id: 'loop', flow, more: zone(loop) }), {
      vm: 'client',
      ...minute,
    });
    expect(rows(circular, 'dns.flags.rcode == 2', 'frame.number').length).toBeGreaterThanOrEqual(59);
    const lossy = pair({
      id: 'silent',
      flow: { ...flow, every_ms: 10_000 },
      client: { link: { loss_pct: 100 } },
      more: zone([{ name: 'db', type: 'A', value: '10.7.2.4' }]),
    });
    const asked = rows(
      synthesizeCapture(lossy, { vm: 'client', ...minute }),
      'dns',
      'dns.id',
      'frame.time_epoch',
    );
    const first = asked.filter(([id]) => id === asked.at(-3)![0]);
    expect(first).toHaveLength(2);
    expect(Number(first[1]![1]) - Number(first[0]![1])).toBeCloseTo(5, 2);
  });

  it('[LABP-22] of storage accounts resolve, and the firewall answers inside the conversation', () => {
    const more = {
      storage: [
        { name: 'openstore', group: 'rg-pair', containers: ['data'] },
        { name: 'shutstore', group: 'rg-pair', containers: ['data'], default_action: 'Deny' },
      ],
    };
    const flows = ['openstore', 'shutstore'].map((to) => ({
      from: 'client',
      to,
      port: 443,
      every_ms: 2000,
      bytes: 9000,
    }));
    const pcap = synthesizeCapture(pair({ id: 'stores', flows, more }), { vm: 'client', ...minute });
    expect(complaints(pcap)).toEqual(new Map());
    const names = new Set(
      rows(pcap, 'tls.handshake.type == 1', 'tls.handshake.extensions_server_name').map(String),
    );
    expect(names).toEqual(new Set(['openstore.blob.core.windows.net', 'shutstore.blob.core.windows.net']));
    const bytes = new Map<string, number>();
    for (const [from, length] of rows(pcap, 'tcp.len > 0 && ip.dst == 10.7.1.4', 'ip.src', 'tcp.len')) {
      bytes.set(from!, (bytes.get(from!) ?? 0) + Number(length));
    }
    const [less, more_] = [...bytes.values()].sort((a, b) => a - b);
    expect(more_! / less!).toBeCloseTo(15, 0);
  });
});
