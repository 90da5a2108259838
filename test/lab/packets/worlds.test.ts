/** The worlds that come with the product say the truth about themselves. */

import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CAUSE_KINDS, type CauseKind } from '../../../src/core/index.ts';
import { trace } from '../../../src/lab/network/trace.ts';
import { synthesizeCapture } from '../../../src/lab/packets/index.ts';
import { loadWorld } from '../../../src/lab/world/load.ts';
import { applyJsonPatch } from '../../../src/lab/world/patch.ts';
import { makeTimeline } from '../../../src/lab/world/timeline.ts';
import type { PatchOperation, World } from '../../../src/lab/world/types.ts';
import { type Cause, isFine, suffers } from './evidence.ts';
import { FIXES } from './fixes.ts';
import { hasTshark, rows } from './tshark.ts';

const FOLDER = join(import.meta.dirname, '../../../worlds');

interface Shipped {
  readonly id: string;
  readonly file: string;
  readonly symptom: string;
  /** As the file has it, and as it is once all its changes have happened. */
  readonly base: World;
  readonly world: World;
  readonly causes: readonly Cause[];
  readonly herrings: readonly string[];
}

function load(file: string): Shipped {
  const base = loadWorld(file);
  const { truth } = parse(readFileSync(file, 'utf8')) as {
    truth: { causes: Cause[]; red_herrings?: string[] };
  };
  const world = makeTimeline(base, [], applyJsonPatch).at(Number.MAX_SAFE_INTEGER);
  return {
    id: base.id,
    file,
    symptom: base.symptom,
    base,
    world,
    causes: truth.causes,
    herrings: truth.red_herrings ?? [],
  };
}

const SHIPPED = globSync(join(FOLDER, '*.yaml')).sort().map(load);

function fixed(world: World, patches: readonly (readonly PatchOperation[])[]): World {
  const copy = structuredClone(world);
  for (const patch of patches) expect(applyJsonPatch(copy, patch)).toBeNull();
  return copy;
}

const faults = (shipped: Shipped) => shipped.causes.filter((cause) => cause.kind !== 'no_fault');

describe('the collection', () => {
  it('[LABP-50] has at least 24 worlds, over every kind of cause', () => {
    expect(SHIPPED.length).toBeGreaterThanOrEqual(24);
    const met = new Set(SHIPPED.flatMap((shipped) => shipped.causes.map((cause) => cause.kind)));
    expect(CAUSE_KINDS.filter((kind) => !met.has(kind))).toEqual([]);
  });

  it('[LABP-50] has worlds with two causes, with none, that change, and where the local probe lies', () => {
    expect(SHIPPED.filter((s) => s.causes.length >= 2).length).toBeGreaterThanOrEqual(4);
    expect(SHIPPED.filter((s) => s.causes[0]?.kind === 'no_fault').length).toBeGreaterThanOrEqual(3);
    expect(SHIPPED.filter((s) => s.base.faults_over_time.length > 0).length).toBeGreaterThanOrEqual(2);
    expect(SHIPPED.filter(localMisleads).length).toBeGreaterThanOrEqual(4);
  });

  it('[LABP-51] gives every world red herrings that exist in it, and none of them is a cause', () => {
    for (const { id, base, causes, herrings } of SHIPPED) {
      expect(herrings.length, id).toBeGreaterThan(0);
      const names = JSON.stringify(base);
      for (const herring of herrings) {
        expect(names, `${id}: ${herring}`).toContain(JSON.stringify(herring));
        expect(causes.map((c) => c.detail ?? c.resource)).not.toContain(herring);
      }
    }
  });

  it('[LABP-51] names every file after its world, and gives each company names and addresses of its own', () => {
    for (const { file, id } of SHIPPED) expect(basename(file, '.yaml')).toBe(id);
    const groups = SHIPPED.flatMap((s) => s.base.groups.map((g) => g.name));
    expect(new Set(groups).size).toBe(groups.length);
    const spaces = SHIPPED.flatMap((s) => s.base.vnets.flatMap((v) => v.prefixes));
    expect(new Set(spaces).size).toBe(spaces.length);
    expect(new Set(SHIPPED.flatMap((s) => s.base.groups.map((g) => g.location))).size).toBeGreaterThan(12);
  });

  it('[LABP-52] lets the symptom speak as a user would: it names what is complained about, never the cause', () => {
    for (const { id, symptom, causes, base } of SHIPPED) {
      expect(symptom.length, id).toBeGreaterThan(50);
      const names = [...base.vms, ...base.vnets.flatMap((vnet) => vnet.subnets)].map((thing) => thing.name);
      expect(
        names.some((name) => symptom.includes(name)),
        id,
      ).toBe(true);
      for (const { kind, detail, resource } of causes) {
        expect(symptom, id).not.toContain(kind);
        if (detail !== undefined && /nsg|route|over/u.test(kind)) expect(symptom, id).not.toContain(detail);
        if (/nsg|route|peering/u.test(kind)) expect(symptom, id).not.toContain(resource);
      }
    }
  });

  it('leaves every world a place to capture to and a watcher where its VMs are', () => {
    for (const { id, base } of SHIPPED) {
      expect(
        base.storage.some((s) => s.containers.includes('captures') && s.default_action === 'Allow'),
        id,
      ).toBe(true);
      const regions = new Set(base.vms.map((vm) => base.groups.find((g) => g.name === vm.group)?.location));
      for (const region of regions) expect(base.watchers, id).toContain(region);
    }
  });
});

/** The engineer's machine and a VM come to different conclusions about the same destination. */
function localMisleads({ world }: Shipped): boolean {
  return world.flows.some((flow) => {
    const query = { to: flow.to, protocol: flow.protocol, port: flow.port };
    const inside = trace(world, { from: { kind: 'vm', name: flow.from }, ...query });
    const outside = trace(world, { from: { kind: 'local' }, ...query });
    return inside.outcome.kind !== outside.outcome.kind;
  });
}

describe.each(SHIPPED.map((shipped) => [shipped.id, shipped] as const))('%s', (id, shipped) => {
  const { world, causes } = shipped;
  const fixes = FIXES[id];

  it('[LABP-53] shows each stated cause in a flow, and only then', () => {
    for (const cause of faults(shipped)) {
      if (cause.kind === 'overexposed_rule') expect(exposed(world, cause)).toBe(true);
      else
        expect(
          world.flows.some((flow) => suffers(world, flow, cause)),
          cause.kind,
        ).toBe(true);
    }
    for (const flow of world.flows) {
      const explained = faults(shipped).some((cause) => suffers(world, flow, cause));
      expect(isFine(world, flow), `${flow.from} → ${flow.to}`).toBe(!explained);
    }
  });

  it('[LABP-54] is put right by mending its causes, all of them, and not by mending one', () => {
    expect(fixes?.length).toBe(causes.length);
    const mended = fixed(world, fixes!);
    for (const flow of mended.flows) expect(isFine(mended, flow), `${flow.from} → ${flow.to}`).toBe(true);
    for (const cause of faults(shipped)) {
      if (cause.kind === 'overexposed_rule') expect(exposed(mended, cause)).toBe(false);
    }
    if (faults(shipped).length < 2) return;
    fixes!.forEach((_, left) => {
      const partly = fixed(
        world,
        fixes!.filter((__, index) => index !== left),
      );
      expect(partly.flows.every((flow) => isFine(partly, flow))).toBe(false);
    });
  });
});

function exposed(world: World, cause: Cause): boolean {
  const rule = world.nsgs.find((n) => n.name === cause.resource)?.rules.find((r) => r.name === cause.detail);
  const scanner = { kind: 'internet', ip: '203.0.113.200' } as const;
  const reachable = world.vms.some((vm) =>
    vm.listens.some((l) => {
      if (vm.public_ip === null) return false;
      const traced = trace(world, { from: scanner, to: vm.public_ip, protocol: l.protocol, port: l.port });
      const by = traced.request?.stations.find((s) => s.kind === 'nsg' && s.nsg === cause.resource);
      return traced.outcome.kind === 'answered' && by?.kind === 'nsg' && by.rule === cause.detail;
    }),
  );
  return rule !== undefined && reachable;
}

/** What tshark finds in a capture at the client of the suffering flow, and hardly ever at a healthy one. */
const SIGNS: Partial<Record<CauseKind, string>> = {
  packet_loss: 'tcp.analysis.retransmission || tcp.analysis.duplicate_ack',
  packet_corruption: 'tcp.analysis.retransmission || tcp.checksum.status == 0',
  packet_reordering: 'tcp.analysis.out_of_order',
  high_latency: 'tcp.analysis.ack_rtt > 0.2',
  bandwidth_limit: 'tcp.analysis.ack_rtt > 0.1',
  mtu_blackhole: 'tcp.analysis.retransmission && tcp.len == 1448',
  app_not_reading: 'tcp.analysis.zero_window',
  app_resets: 'tcp.flags.reset == 1',
};

describe.skipIf(!hasTshark)('what the worlds look like on the wire', () => {
  const shown = SHIPPED.flatMap((shipped) =>
    shipped.causes.flatMap((cause) => {
      const sign = SIGNS[cause.kind];
      return sign === undefined ? [] : [{ name: `${shipped.id}: ${cause.kind}`, shipped, cause, sign }];
    }),
  );

  it.each(shown)('[LABP-55] $name', ({ shipped, cause, sign }) => {
    const { base, world } = shipped;
    const flow = world.flows.find((f) => suffers(world, f, cause))!;
    const captured = synthesizeCapture(base, {
      vm: flow.from,
      startMs: Date.parse(base.now),
      durationMs: 60_000,
    });
    const seen = rows(captured, `(${sign}) && tcp.port == ${flow.port}`, 'ip.src', 'ip.dst');
    const address = (name: string) => base.vms.find((vm) => vm.name === name)!.ip;
    const between = (to: string) => seen.filter((pair) => pair.includes(address(to))).length;
    expect(between(flow.to)).toBeGreaterThan(8);
    // The neighbour the symptom calls healthy shows next to nothing of the kind.
    for (const other of base.flows) {
      if (other.from !== flow.from || other.port !== flow.port || other.to === flow.to) continue;
      expect(between(other.to)).toBeLessThan(between(flow.to) / 8);
    }
  });

  it('[LABP-01] tshark reads a capture of every world without finding a malformed packet', () => {
    const captures = SHIPPED.map(({ base }) =>
      synthesizeCapture(base, {
        vm: base.flows[0]!.from,
        startMs: Date.parse(base.now),
        durationMs: 20_000,
        bytesPerPacket: 0,
      }),
    );
    const together = Buffer.concat(captures.map((file, index) => (index === 0 ? file : file.subarray(24))));
    const malformed = rows(
      together,
      '_ws.malformed || ip.checksum.status == 0',
      'frame.number',
      '_ws.expert.message',
    );
    expect(malformed).toEqual([]);
  });
});
