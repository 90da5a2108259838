/**
 * Real traffic: two network namespaces joined by a virtual cable that loses, delays and reorders packets. The
 * capture is compared with tshark frame for frame. Needs root, iproute2, tcpdump and tshark; skipped otherwise.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { analyze } from '../../src/pcap/index.ts';
import { differences } from './support/compare.ts';
import { scratch } from './support/scratch.ts';
import { tsharkVersion } from './support/tshark.ts';

const A = `writ-a-${process.pid}`;
const B = `writ-b-${process.pid}`;

/** sysctl, tc and nft live where only root's PATH leads. */
const env = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/sbin` };

function sh(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore', env }).status === 0;
}

function mayMakeNamespaces(): boolean {
  if (process.getuid?.() !== 0 || tsharkVersion()?.startsWith('4.0.') !== true) return false;
  if (!sh('tcpdump', '--version') || !sh('ip', 'netns', 'add', A)) return false;
  const ok = sh('ip', 'netns', 'exec', A, 'true');
  sh('ip', 'netns', 'del', A);
  return ok;
}

const possible = mayMakeNamespaces();

/** A server in namespace B: echoes what it is asked for, stalls on "stall", resets on "reset". */
const SERVER = `
const net = require('node:net'), dgram = require('node:dgram');
net.createServer((s) => {
  s.on('error', () => {});
  s.on('data', (d) => {
    const words = String(d.subarray(0, 20)).trim().split(' ');
    if (words[0] === 'send') { s.write(Buffer.alloc(Number(words[1]), 97)); s.end(); }
    else if (words[0] === 'stall') s.pause();
    else if (words[0] === 'reset') s.resetAndDestroy();
  });
}).listen(7000, '10.99.0.2');
const u = dgram.createSocket('udp4');
u.on('message', (m, r) => { if (m.length > 12) { m[2] |= 0x80; u.send(m, r.port, r.address); } });
u.bind(53, '10.99.0.2');
`;

/** A client in namespace A: downloads, hits a closed port, fills a stalled window, is reset, asks names. */
const CLIENT = `
const net = require('node:net'), dgram = require('node:dgram');
const talk = (port, text, after) => new Promise((done) => {
  const s = net.connect(port, '10.99.0.2');
  const end = () => done();
  s.on('error', end); s.on('close', end); s.on('data', () => {});
  s.on('connect', () => { s.write(text); if (after) after(s); });
  setTimeout(() => { s.destroy(); done(); }, 4000).unref();
});
(async () => {
  await Promise.all([talk(7000, 'send 400000'), talk(7000, 'send 300000'), talk(7999, 'x'), talk(7000, 'reset')]);
  await talk(7000, 'stall ', (s) => { s.write(Buffer.alloc(3000000)); setTimeout(() => s.destroy(), 2500); });
  const u = dgram.createSocket('udp4');
  const q = (id) => Buffer.concat([Buffer.from([0, id, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 4]), Buffer.from('test'), Buffer.from([0, 0, 1, 0, 1])]);
  for (let i = 0; i < 20; i++) { u.send(q(i), 53, '10.99.0.2'); await new Promise((d) => setTimeout(d, 10)); }
  u.send(Buffer.alloc(30), 9, '10.99.0.2');
  await new Promise((d) => setTimeout(d, 400));
  process.exit(0);
})();
`;

/** The capture has begun and the server answers; on a busy machine either may take seconds. */
async function listening(file: string): Promise<void> {
  const ready = () =>
    existsSync(file) &&
    spawnSync('ip', ['netns', 'exec', B, 'ss', '-Htln', 'sport = :7000'], { encoding: 'utf8', env })
      .stdout !== '';
  for (let tries = 0; tries < 100 && !ready(); tries++) await sleep(100);
}

/** One TCP packet in thirty is lost on its way in. */
function dropSome(space: string): void {
  for (const rule of [
    'add table inet loss',
    'add chain inet loss incoming { type filter hook input priority 0 ; }',
    'add rule inet loss incoming meta l4proto tcp numgen random mod 30 0 drop',
  ])
    sh('ip', 'netns', 'exec', space, 'nft', rule);
}

describe.skipIf(!possible)(
  'real traffic between namespaces (needs root, iproute2, tcpdump, tshark 4.0)',
  () => {
    const folder = scratch();
    const running: ChildProcess[] = [];
    const inside = (space: string, ...command: readonly string[]) => ['netns', 'exec', space, ...command];

    beforeAll(() => {
      for (const space of [A, B]) sh('ip', 'netns', 'add', space);
      sh(
        'ip',
        'link',
        'add',
        `va${process.pid}`,
        'netns',
        A,
        'type',
        'veth',
        'peer',
        'name',
        `vb${process.pid}`,
        'netns',
        B,
      );
      const ends: readonly [string, string, string][] = [
        [A, `va${process.pid}`, '10.99.0.1/24'],
        [B, `vb${process.pid}`, '10.99.0.2/24'],
      ];
      for (const [space, device, address] of ends) {
        sh('ip', ...inside(space, 'ip', 'addr', 'add', address, 'dev', device));
        sh('ip', ...inside(space, 'ip', 'link', 'set', device, 'up'));
        sh('ip', ...inside(space, 'ip', 'link', 'set', 'lo', 'up'));
      }
    });

    afterAll(() => {
      for (const child of running) child.kill('SIGTERM');
      for (const space of [A, B]) sh('ip', 'netns', 'del', space);
    });

    const capture = async (name: string, shape: readonly string[], mtu: number): Promise<string> => {
      const file = folder.path(name);
      const device = `vb${process.pid}`;
      sh('ip', ...inside(B, 'ip', 'link', 'set', device, 'mtu', String(mtu)));
      sh('ip', ...inside(A, 'ip', 'link', 'set', `va${process.pid}`, 'mtu', String(mtu)));
      for (const [space, dev] of [
        [A, `va${process.pid}`],
        [B, device],
      ] as const) {
        sh('ip', ...inside(space, 'tc', 'qdisc', 'del', 'dev', dev, 'root'));
        sh('ip', ...inside(space, 'nft', 'flush', 'ruleset'));
        const netem = ['tc', 'qdisc', 'add', 'dev', dev, 'root', 'netem', ...shape];
        // Kernels without netem still drop at random with a firewall rule.
        if (shape.length > 0 && !sh('ip', ...inside(space, ...netem))) dropSome(space);
      }
      for (const [space, dev] of [
        [A, `va${process.pid}`],
        [B, device],
      ] as const)
        sh('ip', ...inside(space, 'ip', 'link', 'set', dev, 'gso_max_segs', '1'));
      // Small receive buffers, so that a reader who stops closes the window soon.
      sh('ip', ...inside(B, 'sysctl', '-qw', 'net.ipv4.tcp_rmem=4096 8192 16384'));
      const dump = spawn('ip', inside(B, 'tcpdump', '-i', device, '-U', '-w', file), {
        stdio: 'ignore',
        env,
      });
      const server = spawn('ip', inside(B, process.execPath, '-e', SERVER), { stdio: 'ignore', env });
      running.push(dump, server);
      await listening(file);
      const client = spawn('ip', inside(A, process.execPath, '-e', CLIENT), { stdio: 'ignore', env });
      running.push(client);
      await new Promise((resolve) => client.once('exit', resolve));
      await sleep(300);
      for (const child of [dump, server]) {
        child.kill('SIGTERM');
        await new Promise((resolve) =>
          child.exitCode === null ? child.once('exit', resolve) : resolve(undefined),
        );
      }
      return file;
    };

    test('[PCAP-11] loss, delay and reordering: every verdict is tshark’s', async () => {
      const file = await capture('lossy.pcap', ['delay', '8ms', '4ms', 'loss', '3%', 'reorder', '10%'], 1500);
      expect(await differences(file)).toEqual([]);
      const analysis = await analyze(file);
      // Single packets may be among the lost ones: only what many packets carry is certain here.
      expect(analysis.tcp!.totals.retransmissions).toBeGreaterThan(0);
      expect(analysis.tcp!.totals.rst).toBeGreaterThan(0);
      expect(analysis.dns!.queries).toBeGreaterThan(0);
    }, 90_000);

    test('[PCAP-11] a clean link with a small MTU: resets, closed ports and a stalled window', async () => {
      const file = await capture('clean.pcap', [], 576);
      expect(await differences(file)).toEqual([]);
      const analysis = await analyze(file);
      expect(analysis.tcp!.totals.zero_windows).toBeGreaterThan(0);
      const stalled = analysis.tcp!.with_issues.items.find((stream) => stream.from_server.zero_windows > 0)!;
      expect(stalled.from_server.zero_window_ms).toBeGreaterThan(100);
      expect(analysis.tcp!.connections.handshakes_completed).toBe(4);
    }, 90_000);
  },
);
