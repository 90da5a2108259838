/** `az network watcher test-connectivity`: the trace of a conversation, told hop by hop. */
import type { Json, JsonObject } from '../../../core/index.ts';
import { findVm } from '../../network/places.ts';
import { trace } from '../../network/trace.ts';
import type { Path, Station, Trace } from '../../network/types.ts';
import type { Vm } from '../../world/types.ts';
import type { Call } from '../call.ts';
import { armError, usage } from '../errors.ts';
import { nameOf } from '../ids.ts';
import { guidFor, object } from '../shapes/common.ts';
import { nicId } from '../shapes/network.ts';
import { watchedVm } from './watcher.ts';

const PROBES = 30;

export function testConnectivity(call: Call): JsonObject {
  const { args, world } = call;
  const source = watchedVm(call, args.need('--source-resource'));
  const resource = args.text('--dest-resource');
  const to = args.text('--dest-address') ?? (resource === undefined ? undefined : nameOf(resource));
  if (to === undefined) throw usage('usage error: --dest-address ADDRESS | --dest-resource NAME_OR_ID');
  if (resource !== undefined && !findVm(world, to) && !world.storage.some((s) => s.name === to))
    throw armError('ReferencedResourceNotFound', `The resource ${resource} was not found.`);
  const protocol = args.text('--protocol')?.toLowerCase() === 'icmp' ? 'icmp' : 'tcp';
  const port = protocol === 'icmp' ? null : (args.number('--dest-port') ?? 80);
  const found = trace(world, {
    from: { kind: 'vm', name: source.name },
    to,
    protocol,
    port,
    ...(args.has('--source-port') ? { sourcePort: args.number('--source-port')! } : {}),
  });
  return { ...statistics(found), hops: hops(call, source, found, to) };
}

function statistics(found: Trace): Record<string, Json> {
  const reachable = found.outcome.kind === 'answered';
  const there = found.request?.properties;
  const back = found.reply?.properties;
  if (!reachable || !there || !back)
    return { connectionStatus: 'Unreachable', probesFailed: PROBES, probesSent: PROBES };
  const lost = 1 - (1 - there.lossPct / 100) * (1 - back.lossPct / 100);
  const failed = Math.round(lost * PROBES);
  const rtt = there.delayMs + back.delayMs;
  const jitter = there.jitterMs + back.jitterMs;
  return {
    avgLatencyInMs: Math.max(1, Math.round(rtt)),
    connectionStatus: failed > 0 ? 'Degraded' : 'Reachable',
    maxLatencyInMs: Math.max(1, Math.ceil(rtt + jitter + 1)),
    minLatencyInMs: Math.max(1, Math.floor(rtt - jitter)),
    probesFailed: failed,
    probesSent: PROBES,
  };
}

interface Stop {
  readonly address: string;
  readonly type: string;
  readonly resourceId: string | undefined;
  readonly issues: readonly Json[];
}

function hops(call: Call, source: Vm, found: Trace, to: string): readonly Json[] {
  const stops = found.request ? stopsOf(call, source, found.request) : [start(source, [dnsIssue(to)])];
  const ids = stops.map((s, i) => guidFor(`hop:${i}:${s.address}`));
  return stops.map((s, i) =>
    object({
      address: s.address,
      id: ids[i]!,
      issues: s.issues,
      links:
        ids[i + 1] === undefined
          ? []
          : [
              object({
                context: {},
                issues: [],
                linkType: 'VirtualNetwork',
                nextHopId: ids[i + 1]!,
                resourceId: '',
              }),
            ],
      nextHopIds: ids[i + 1] === undefined ? [] : [ids[i + 1]!],
      previousHopIds: i === 0 ? [] : [ids[i - 1]!],
      resourceId: s.resourceId,
      type: s.type,
    }),
  );
}

function start(vm: Vm, issues: readonly Json[]): Stop {
  return { address: vm.ip, type: 'Source', resourceId: nicId(vm), issues };
}

function stopsOf(call: Call, source: Vm, path: Path): readonly Stop[] {
  const dropped = path.end.kind === 'dropped';
  // What stopped the packet is the last station (see T1); it belongs to the machine named there.
  const last = path.stations.at(-1);
  const issuesAt = (vm: string) => (dropped && last && 'vm' in last && last.vm === vm ? issueOf(last) : []);
  const middle = path.stations
    .filter((s) => s.kind === 'forward' && s.vm !== source.name)
    .map((s) => findVm(call.world, (s as { vm: string }).vm)!);
  const end = path.destination;
  const endVm = end.kind === 'vm' ? findVm(call.world, end.name) : undefined;
  const transit = new Set(middle.map((v) => v.name));
  const stops: Stop[] = [
    start(source, issuesAt(source.name)),
    ...middle.map((v) => ({
      address: v.ip,
      type: 'VirtualAppliance',
      resourceId: nicId(v),
      issues: issuesAt(v.name),
    })),
  ];
  if (endVm && !transit.has(endVm.name) && endVm !== source)
    return [
      ...stops,
      { address: endVm.ip, type: 'VirtualMachine', resourceId: nicId(endVm), issues: issuesAt(endVm.name) },
    ];
  const blocked =
    dropped && last && 'vm' in last && last.vm !== source.name && !transit.has(last.vm)
      ? findVm(call.world, last.vm)
      : undefined;
  if (blocked)
    return [
      ...stops,
      {
        address: blocked.ip,
        type: 'VirtualMachine',
        resourceId: nicId(blocked),
        issues: issuesAt(blocked.name),
      },
    ];
  const type = end.kind === 'internet' || end.kind === 'storage' ? 'Internet' : 'VirtualNetwork';
  return [...stops, { address: end.ip, type, resourceId: undefined, issues: [] }];
}

/** Only what the platform can know: not the guest's firewall, not whether somebody listens. */
function issueOf(station: Station): readonly Json[] {
  switch (station.kind) {
    case 'nsg':
      return [
        {
          context: [
            { key: 'RuleName', value: `${station.isDefault ? 'DefaultRule' : 'UserRule'}_${station.rule}` },
          ],
          origin: station.direction,
          severity: 'Error',
          type: 'NetworkSecurityRule',
        },
      ];
    case 'route':
      return [
        {
          context: [{ key: 'RouteType', value: station.route.source === 'User' ? 'User' : 'System' }],
          origin: 'Outbound',
          severity: 'Error',
          type: 'UserDefinedRoute',
        },
      ];
    case 'forward':
      return station.forwards
        ? []
        : [{ context: [], origin: 'Inbound', severity: 'Error', type: 'Platform' }];
    case 'power':
      return [{ context: [], origin: 'Inbound', severity: 'Error', type: 'Platform' }];
    case 'os_firewall':
    case 'capture':
    case 'link':
    case 'peering':
    case 'destination':
      return [];
  }
}

function dnsIssue(name: string): Json {
  return {
    context: [{ key: 'Name', value: name }],
    origin: 'Local',
    severity: 'Error',
    type: 'DnsResolution',
  };
}
