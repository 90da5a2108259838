/** Whether a flow suffers from a cause, read off the trace of that flow alone. */
import type { CauseKind } from '../../../src/core/index.ts';
import { trace } from '../../../src/lab/network/trace.ts';
import type { Path, Station, Trace } from '../../../src/lab/network/types.ts';
import type { Flow, Link, World } from '../../../src/lab/world/types.ts';

export interface Cause {
  readonly kind: CauseKind;
  readonly resource: string;
  readonly detail?: string;
}

export function traceOf(world: World, flow: Flow): Trace {
  return trace(world, {
    from: { kind: 'vm', name: flow.from },
    to: flow.to,
    protocol: flow.protocol,
    port: flow.port,
  });
}

function last(path: Path | null): Station | undefined {
  return path?.stations.at(-1);
}

function dropReason(path: Path | null): string | null {
  return path?.end.kind === 'dropped' ? path.end.reason : null;
}

function usesRoute(path: Path | null, cause: Cause): boolean {
  return (
    path?.stations.some(
      (s) => s.kind === 'route' && s.route.table === cause.resource && s.route.name === cause.detail,
    ) ?? false
  );
}

/** The wire of the VM is on one of the two ways, and does this to packets. */
function wire(traced: Trace, vm: string, bad: (link: Link) => boolean): boolean {
  const stations = [...(traced.request?.stations ?? []), ...(traced.reply?.stations ?? [])];
  return (
    traced.outcome.kind === 'answered' &&
    stations.some((s) => s.kind === 'link' && s.vm === vm && bad(s.link))
  );
}

function server(world: World, traced: Trace, flow: Flow, cause: Cause) {
  const node = traced.request?.destination;
  const here = node?.kind === 'vm' && node.name === cause.resource && String(flow.port) === cause.detail;
  return here ? world.vms.find((vm) => vm.name === node.name) : undefined;
}

function zoneOf(world: World, cause: Cause) {
  return world.private_dns.find((zone) => zone.zone === cause.resource);
}

/** The flow fails, or does badly, because of this cause. */
export function suffers(world: World, flow: Flow, cause: Cause): boolean {
  const traced = traceOf(world, flow);
  const { request, reply, resolution, outcome } = traced;
  const end = last(request);
  const unresolved = outcome.kind === 'name_not_resolved' && resolution?.status === 'NXDOMAIN';
  const asksFor = `${cause.detail}.${cause.resource}` === flow.to;
  switch (cause.kind) {
    case 'nsg_deny':
      return (
        end?.kind === 'nsg' &&
        end.access === 'Deny' &&
        end.nsg === cause.resource &&
        end.rule === cause.detail
      );
    case 'route_blackhole':
      return dropReason(request) === 'route_none' && usesRoute(request, cause);
    case 'route_wrong_next_hop':
      return ['no_next_hop', 'unroutable'].includes(dropReason(request) ?? '') && usesRoute(request, cause);
    case 'asymmetric_route':
      return dropReason(reply) === 'conversation_unknown' && usesRoute(reply, cause);
    case 'peering_disconnected': {
      const peering = world.vnets.flatMap((v) => v.peerings).find((p) => p.name === cause.resource);
      return peering !== undefined && peering.state !== 'Connected' && outcome.kind === 'silence';
    }
    case 'dns_record_missing':
      return unresolved && asksFor && resolution.zone === cause.resource;
    case 'dns_zone_not_linked':
      return (
        unresolved &&
        resolution.zone === null &&
        flow.to.endsWith(`.${cause.resource}`) &&
        zoneOf(world, cause)?.links.includes(cause.detail ?? '') === false
      );
    case 'dns_record_wrong':
      return asksFor && resolution?.zone === cause.resource && outcome.kind !== 'answered';
    case 'vm_not_running':
      return end?.kind === 'power' && end.vm === cause.resource && end.power !== 'running';
    case 'service_not_listening':
      return (
        end?.kind === 'destination' &&
        !end.answers &&
        end.node.kind === 'vm' &&
        end.node.name === cause.resource &&
        String(flow.port) === cause.detail
      );
    case 'os_firewall_drop':
    case 'os_firewall_reject':
      return (
        end?.kind === 'os_firewall' &&
        end.vm === cause.resource &&
        end.action === (cause.kind === 'os_firewall_drop' ? 'DROP' : 'REJECT') &&
        String(flow.port) === cause.detail
      );
    case 'packet_loss':
      return wire(traced, cause.resource, (link) => link.loss_pct > 0);
    case 'high_latency':
      return wire(traced, cause.resource, (link) => link.delay_ms >= 20);
    case 'bandwidth_limit':
      return wire(traced, cause.resource, (link) => link.rate_mbit !== null);
    case 'mtu_blackhole':
      return wire(
        traced,
        cause.resource,
        (link) => link.mtu < 1500 && !link.icmp_frag_needed && flow.bytes > 1400,
      );
    case 'packet_corruption':
      return wire(traced, cause.resource, (link) => link.corrupt_pct > 0);
    case 'packet_reordering':
      return wire(traced, cause.resource, (link) => link.reorder_pct > 0);
    case 'app_not_reading':
      return server(world, traced, flow, cause)?.app.reads_slowly === true;
    case 'app_resets':
      return (server(world, traced, flow, cause)?.app.resets_pct ?? 0) > 0;
    case 'service_endpoint_missing':
    case 'storage_firewall': {
      const why = cause.kind === 'storage_firewall' ? 'not_on_the_list' : 'service_endpoint_missing';
      return traced.storage?.account === cause.resource && traced.storage.why === why;
    }
    case 'nva_not_forwarding':
      return dropReason(request) === 'not_forwarding' && end?.kind === 'forward' && end.vm === cause.resource;
    case 'overexposed_rule':
    case 'no_fault':
      return false;
  }
}

/** The flow does what its users expect: answered, admitted, and nothing in the way spoils it. */
export function isFine(world: World, flow: Flow): boolean {
  const traced = traceOf(world, flow);
  const { outcome, request, reply } = traced;
  // A flow without an answer of its own (syslog) is fine when it arrives.
  const arrived = flow.reply_bytes === 0 ? request?.end.kind === 'delivered' : outcome.kind === 'answered';
  if (!arrived || (outcome.kind === 'answered' && outcome.forbidden)) return false;
  const clean = (path: Path | null) => {
    const p = path?.properties;
    return (
      p === undefined ||
      (p.lossPct === 0 &&
        p.corruptPct === 0 &&
        p.reorderPct === 0 &&
        p.delayMs < 15 &&
        p.rateMbit === null &&
        (p.mtu >= 1500 || p.fragNeededTold || flow.bytes <= 1300))
    );
  };
  const node = request?.destination;
  const vm = node?.kind === 'vm' ? world.vms.find((v) => v.name === node.name) : undefined;
  const app = vm === undefined || (!vm.app.reads_slowly && vm.app.resets_pct === 0);
  return clean(request) && clean(reply) && app;
}
