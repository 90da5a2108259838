/**
 * Name resolution as the one who asks sees it.
 *
 * D1 A private zone linked to the VNet answers for all its names: what it lacks does not exist.
 * D2 Without the link the question goes to public DNS, which knows no private name.
 * D3 Inside a VNet the names of its VMs resolve without any zone.
 */
import type { DnsRecord, DnsZone, Vnet, World } from '../world/types.ts';
import { formatIp, isPrivate, parseIp } from './ipv4.ts';
import { findVm, hasPrivateEndpoint, inVnet, storageAddress, vmAt, vnetOf } from './places.ts';
import { PLATFORM_IP, stableNumber } from './service-tags.ts';
import type { DnsAnswer, DnsStatus, Origin, Resolution } from './types.ts';

const BLOB = '.blob.core.windows.net';
/** Top-level names the public root does not have. */
const PRIVATE_TLDS = new Set(
  'internal local localdomain localhost lan home corp private intranet intra test invalid arpa'.split(' '),
);

interface Found {
  readonly status: DnsStatus;
  readonly answers: readonly DnsAnswer[];
  readonly zone: string | null;
}

/** `server` overrides the resolver the asker is set to. */
export function resolve(world: World, from: Origin, name: string, type = 'A', server?: string): Resolution {
  const asked = name.toLowerCase().replace(/\.$/, '');
  const view = viewOf(world, from, server);
  const found = view.alive ? lookup(world, view.vnets, asked, type.toUpperCase(), 0) : failed('TIMEOUT');
  return {
    name: asked,
    type: type.toUpperCase(),
    server: view.server,
    ...found,
    address: found.answers.find((a) => a.type === 'A')?.value ?? null,
  };
}

interface View {
  readonly server: string;
  /** VNets whose linked zones the resolver sees; none = public DNS only. */
  readonly vnets: readonly Vnet[];
  readonly alive: boolean;
}

function viewOf(world: World, from: Origin, asked: string | undefined): View {
  const vm = from.kind === 'vm' ? findVm(world, from.name) : undefined;
  const server =
    asked ?? (vm ? PLATFORM_IP : from.kind === 'local' ? (world.local.dns[0] ?? '8.8.8.8') : '8.8.8.8');
  const inside = vm !== undefined || (from.kind === 'local' && world.local.vpn);
  const platform = server === PLATFORM_IP || server.startsWith('127.');
  if (vm && platform) return { server, vnets: [vnetOf(world, vm)], alive: true };
  if (!inside) return { server, vnets: [], alive: !platform };
  const home = world.vnets.find((v) => inVnet(v, server));
  if (home) {
    // A resolver that is one of the VMs answers while it runs, and sees what its VNet sees.
    const host = vmAt(world, home.name, server);
    return { server, vnets: [home], alive: host === undefined || host.power === 'running' };
  }
  // Over the VPN: the platform, or a private server of the company, knows the zones of every VNet.
  const corporate = from.kind === 'local' && (platform || isPrivate(server));
  return { server, vnets: corporate ? world.vnets : [], alive: true };
}

function lookup(world: World, vnets: readonly Vnet[], name: string, type: string, depth: number): Found {
  if (depth > 8) return failed('SERVFAIL');
  const zone = longestZone(
    world.private_dns.filter((z) => vnets.some((v) => z.links.includes(v.name))),
    name,
  );
  if (zone) return inZone(world, vnets, zone, zone.zone, name, type, depth);
  const host = vnetHost(world, vnets, name, type);
  if (host) return host;
  return publicLookup(world, vnets, name, type, depth);
}

function inZone(
  world: World,
  vnets: readonly Vnet[],
  zone: DnsZone,
  label: string | null,
  name: string,
  type: string,
  depth: number,
): Found {
  const relative = name === zone.zone ? '@' : name.slice(0, -zone.zone.length - 1);
  const exact = zone.records.filter((r) => r.name === relative);
  const records = exact.length > 0 ? exact : zone.records.filter((r) => wildcard(r, relative));
  if (records.length === 0)
    return { status: relative === '@' ? 'NOERROR' : 'NXDOMAIN', answers: [], zone: label };
  const answers = records.filter((r) => r.type === type).flatMap((r) => toAnswers(name, r));
  const alias = records.find((r) => r.type === 'CNAME');
  if (answers.length > 0 || !alias || type === 'CNAME') return { status: 'NOERROR', answers, zone: label };
  const target = alias.value[0]!.toLowerCase().replace(/\.$/, '');
  return through(toAnswers(name, alias), lookup(world, vnets, target, type, depth + 1), label);
}

function wildcard(record: DnsRecord, relative: string): boolean {
  return record.name === '*'
    ? relative !== '@'
    : record.name.startsWith('*.') && relative.endsWith(record.name.slice(1));
}

function through(alias: readonly DnsAnswer[], rest: Found, zone: string | null): Found {
  return { status: rest.status, answers: [...alias, ...rest.answers], zone: rest.zone ?? zone };
}

function toAnswers(name: string, record: DnsRecord): DnsAnswer[] {
  return record.value.map((value) => ({ name, type: record.type, value, ttl: record.ttl }));
}

const INTERNAL = '.internal.cloudapp.net';

/** Names of VMs, and the way back from their addresses. */
function vnetHost(world: World, vnets: readonly Vnet[], name: string, type: string): Found | undefined {
  const inside = world.vms.filter((v) => vnets.some((n) => v.subnet.startsWith(`${n.name}/`)));
  const reverse = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\.in-addr\.arpa$/.exec(name);
  if (reverse) {
    const vm = inside.find((v) => v.ip === `${reverse[4]}.${reverse[3]}.${reverse[2]}.${reverse[1]}`);
    return vm && type === 'PTR' ? ok([answer(name, 'PTR', `${vm.name}${INTERNAL}.`)]) : undefined;
  }
  const label = name.endsWith(INTERNAL) ? name.slice(0, -INTERNAL.length).split('.')[0]! : name;
  if (label.includes('.')) return undefined;
  const vm = inside.find((v) => v.name.toLowerCase() === label);
  if (!vm) return undefined;
  return ok(type === 'A' ? [answer(name, 'A', vm.ip)] : []);
}

function publicLookup(
  world: World,
  vnets: readonly Vnet[],
  name: string,
  type: string,
  depth: number,
): Found {
  const hosted = longestZone(world.public_dns, name);
  if (hosted) return inZone(world, vnets, hosted, null, name, type, depth);
  if (name.endsWith(BLOB)) return blobLookup(world, vnets, name, type, depth);
  const tld = name.slice(name.lastIndexOf('.') + 1);
  const hidden = longestZone(world.private_dns, name) !== undefined;
  if (!name.includes('.') || PRIVATE_TLDS.has(tld) || hidden) return failed('NXDOMAIN');
  return ok(type === 'A' ? [answer(name, 'A', publicHost(name))] : []);
}

function blobLookup(world: World, vnets: readonly Vnet[], name: string, type: string, depth: number): Found {
  const label = name.slice(0, -BLOB.length);
  const account = world.storage.find((s) => s.name === label.replace(/\.privatelink$/, ''));
  if (!account) return failed('NXDOMAIN');
  if (hasPrivateEndpoint(world, account.name) && label === account.name) {
    const alias = `${account.name}.privatelink${BLOB}`;
    return through([answer(name, 'CNAME', `${alias}.`)], lookup(world, vnets, alias, type, depth + 1), null);
  }
  return ok(type === 'A' ? [answer(name, 'A', storageAddress(world, account))] : []);
}

/** Some host on the internet: the same address for the same name. */
function publicHost(name: string): string {
  return formatIp(parseIp('151.101.0.0')! + (stableNumber(name) & 0xffff));
}

function longestZone(zones: readonly DnsZone[], name: string): DnsZone | undefined {
  return zones
    .filter((z) => name === z.zone || name.endsWith(`.${z.zone}`))
    .sort((a, b) => b.zone.length - a.zone.length)[0];
}

function answer(name: string, type: string, value: string): DnsAnswer {
  return { name, type, value, ttl: 60 };
}

function ok(answers: readonly DnsAnswer[]): Found {
  return { status: 'NOERROR', answers, zone: null };
}

function failed(status: DnsStatus): Found {
  return { status, answers: [], zone: null };
}
