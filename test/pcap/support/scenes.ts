/** Captures with one fault each, made by the lab: what rules, reports and comparisons are tried on. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { synthesizeCapture } from '../../../src/lab/packets/index.ts';
import type { Analysis } from '../../../src/pcap/analysis.ts';
import { analyze } from '../../../src/pcap/analyze.ts';
import { findingsOf } from '../../../src/pcap/findings/index.ts';
import type { Finding } from '../../../src/pcap/semantic/types.ts';
import { NOW_MS, type PairSettings, pair } from '../../lab/packets/pair.ts';
import { type Bytes, type Captured, type PcapOptions, pcap } from './craft.ts';

const DENY = { name: 'no', priority: 100, direction: 'Inbound', access: 'Deny', destination_port: '7100' };
const input = (action: string) => [{ chain: 'INPUT', protocol: 'tcp', port: 7100, action }];

export const FAULTS = {
  clean: {},
  bulk: { flow: { bytes: 200_000, every_ms: 4000 } },
  loss: { server: { link: { loss_pct: 3 } }, flow: { bytes: 20_000 } },
  heavyLoss: { server: { link: { loss_pct: 50 } }, flow: { bytes: 20_000 } },
  blackHole: { server: { link: { mtu: 1400, icmp_frag_needed: false } } },
  mtuTold: { server: { link: { mtu: 1400, icmp_frag_needed: true } } },
  zeroWindow: { server: { app: { reads_slowly: true } }, flow: { bytes: 400_000, every_ms: 5000 } },
  resets: { server: { app: { resets_pct: 50 } } },
  closedPort: { server: { listens: [] } },
  reject: { server: { os_firewall: input('REJECT') } },
  synDrop: { rules: [DENY], flow: { every_ms: 2000 } },
  osDrop: { server: { os_firewall: input('DROP') } },
  wayBack: { appliance: {}, via: 'back' },
  reordering: { server: { link: { reorder_pct: 5, delay_ms: 5 } }, flow: { bytes: 50_000 } },
  latency: { server: { link: { delay_ms: 80 } } },
  corruption: { server: { link: { corrupt_pct: 5 } }, flow: { bytes: 20_000 } },
  noName: { flow: { to: 'nothere.contoso.internal' } },
  narrow: { server: { link: { rate_mbit: 1 } }, flow: { bytes: 50_000 } },
  forwarder: { appliance: {} },
} satisfies Record<string, PairSettings>;
export type Fault = keyof typeof FAULTS;

const directory = mkdtempSync(join(tmpdir(), 'writ-scenes-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const made = new Map<string, string>();

/** A file with the capture of this fault at this machine. */
export function sceneFile(fault: Fault, vm: 'client' | 'server' | 'nva' = 'client'): string {
  const name = `${fault}-${vm}.pcap`;
  const known = made.get(name);
  if (known !== undefined) return known;
  const world = pair({ id: `scene-${fault}`, ...FAULTS[fault] });
  const file = join(directory, name);
  writeFileSync(file, synthesizeCapture(world, { vm, startMs: NOW_MS, durationMs: 30_000 }));
  made.set(name, file);
  return file;
}

export function craftedFile(
  name: string,
  frames: readonly (Bytes | Captured)[],
  options: PcapOptions = {},
): string {
  const file = join(directory, name);
  writeFileSync(file, pcap(frames, options));
  return file;
}

export const scratch = (name: string) => join(directory, name);

export async function found(
  file: string,
): Promise<{ readonly analysis: Analysis; readonly findings: readonly Finding[]; readonly ids: string[] }> {
  const analysis = await analyze(file);
  const findings = findingsOf(analysis);
  return { analysis, findings, ids: findings.map((f) => f.id) };
}
