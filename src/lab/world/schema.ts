/**
 * The world file as people write it: which keys there are and what each may hold. What one part says about
 * another (names, overlaps, duplicates) is `check.ts`; defaults are `complete.ts`, which needs no zod.
 */
import { z } from 'zod';
import { isAligned, parseIp, parsePrefix } from '../network/ipv4.ts';
import { SERVICE_TAG } from '../network/service-tags.ts';
import {
  ACCESS,
  ACTIONS,
  CHAINS,
  DIRECTIONS,
  FLOW_PROTOCOLS,
  NEXT_HOP_TYPES,
  NSG_PROTOCOLS,
  OS_PROTOCOLS,
  OSES,
  PEERING_STATES,
  POLICIES,
  POWER_STATES,
  RECORD_TYPES,
  TRANSPORTS,
} from './types.ts';

const NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,78}[A-Za-z0-9_])?$/;

const name = z
  .string('write a name')
  .regex(NAME, 'write a name of letters, digits, ".", "_" and "-", at most 80 characters');
const text = z.string('write text').max(10_000, 'keep it under 10000 characters');
const flag = z.boolean('write true or false');
const ip = z
  .string('write an IPv4 address')
  .refine((s) => parseIp(s) !== undefined, 'write an IPv4 address such as 10.0.1.4');
const cidr = z.string('write a prefix such as 10.0.1.0/24').superRefine((s, ctx) => {
  const prefix = s.includes('/') ? parsePrefix(s) : undefined;
  if (!prefix) ctx.addIssue({ code: 'custom', message: 'write a prefix such as 10.0.1.0/24' });
  else if (!isAligned(prefix))
    ctx.addIssue({
      code: 'custom',
      message: `"${s}" has bits set beyond its length: write the network's first address`,
    });
});
const addressOrCidr = z
  .string('write an address or a prefix')
  .refine((s) => parsePrefix(s) !== undefined, 'write an address or a prefix such as 10.0.1.0/24');
const subnetRef = z
  .string('write vnet/subnet')
  .regex(/^[^/]+\/[^/]+$/, 'write vnet/subnet, for example prod-vnet/web');
const port = z
  .int('write a port number')
  .min(1, 'write a port from 1 to 65535')
  .max(65_535, 'write a port from 1 to 65535');

/** Words people capitalise in their own way; the canonical spelling comes out. */
function oneOf<const T extends readonly string[]>(words: T) {
  return z.string(`write one of ${words.join(', ')}`).transform((s, ctx): T[number] => {
    const found = words.find((word) => word.toLowerCase() === s.toLowerCase());
    if (found !== undefined) return found;
    ctx.addIssue({ code: 'custom', message: `"${s}" is not one of ${words.join(', ')}` });
    return z.NEVER;
  });
}

const portText = z
  .union([z.number(), z.string()], 'write a port, a range such as 8000-8100, or "*"')
  .transform((value, ctx) => {
    const s = String(value).trim();
    if (s === '*' || isPortOrRange(s)) return s;
    ctx.addIssue({ code: 'custom', message: `"${s}" is no port: write 443, "8000-8100" or "*"` });
    return z.NEVER;
  });

export function isPortOrRange(s: string): boolean {
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(s);
  if (!match) return false;
  const low = Number(match[1]);
  const high = Number(match[2] ?? match[1]);
  return low <= high && high <= 65_535;
}

const ruleAddress = z.string('write an address, a prefix, "*" or a service tag').superRefine((s, ctx) => {
  if (s === '*' || parsePrefix(s) !== undefined || SERVICE_TAG.test(s)) return;
  ctx.addIssue({
    code: 'custom',
    message: `"${s}" is no address: write an address, a prefix, "*", or a service tag (VirtualNetwork, Internet, AzureLoadBalancer, Storage, Sql, Storage.westeurope …)`,
  });
});

/** A value or a list of them (which it becomes); an empty list would mean nothing, so it is refused. */
function oneOrMore<T extends z.ZodType>(item: T) {
  const many = z.array(item).min(1, 'write at least one value').max(4000);
  return z.preprocess(
    (value) => (Array.isArray(value) || value === undefined || value === null ? value : [value]),
    many,
  );
}

function list<T extends z.ZodType>(item: T) {
  return z.array(item, 'write a list').max(10_000, 'at most 10000 entries').nullish();
}

const subnet = z.strictObject({
  name,
  prefix: cidr,
  nsg: name.nullish(),
  route_table: name.nullish(),
  service_endpoints: list(
    z.string().regex(/^Microsoft\.[A-Za-z.]+$/, 'write a service such as Microsoft.Storage'),
  ),
});

const peering = z.strictObject({
  name,
  remote: name,
  state: oneOf(PEERING_STATES).nullish(),
  allow_forwarded: flag.nullish(),
  allow_gateway: flag.nullish(),
});

const vnet = z.strictObject({
  name,
  group: name,
  prefixes: z.array(cidr, 'write a list of prefixes').min(1, 'write at least one prefix').max(500),
  subnets: list(subnet),
  peerings: list(peering),
  bgp_routes: list(z.strictObject({ prefix: cidr, next_hop: ip })),
});

const nsgRule = z.strictObject({
  name,
  priority: z
    .int('write a whole number')
    .min(100, 'priorities go from 100 to 4096')
    .max(4096, 'priorities go from 100 to 4096'),
  direction: oneOf(DIRECTIONS),
  access: oneOf(ACCESS),
  protocol: oneOf(NSG_PROTOCOLS).nullish(),
  source: oneOrMore(ruleAddress).nullish(),
  source_port: oneOrMore(portText).nullish(),
  destination: oneOrMore(ruleAddress).nullish(),
  destination_port: oneOrMore(portText).nullish(),
});

const route = z.strictObject({
  name,
  prefix: cidr,
  next_hop_type: oneOf(NEXT_HOP_TYPES),
  next_hop_ip: ip.nullish(),
});

const osRule = z.strictObject({
  chain: oneOf(CHAINS),
  protocol: oneOf(OS_PROTOCOLS).nullish(),
  port: oneOrMore(portText).nullish(),
  source: z.union([z.literal('*'), addressOrCidr], 'write an address, a prefix or "*"').nullish(),
  destination: z.union([z.literal('*'), addressOrCidr], 'write an address, a prefix or "*"').nullish(),
  action: oneOf(ACTIONS),
});

const percent = z.number('write a number').min(0, 'write 0 to 100').max(100, 'write 0 to 100');
const policy = oneOf(POLICIES).nullish();

const link = z.strictObject({
  loss_pct: percent.nullish(),
  delay_ms: z.number().min(0).max(60_000).nullish(),
  jitter_ms: z.number().min(0).max(60_000).nullish(),
  rate_mbit: z.number().positive('write a rate above 0, or null for none').nullish(),
  mtu: z.int('write a whole number of bytes').min(68, 'an MTU is at least 68').max(9000).nullish(),
  icmp_frag_needed: flag.nullish(),
  reorder_pct: percent.nullish(),
  corrupt_pct: percent.nullish(),
});

const vm = z.strictObject({
  name,
  group: name,
  subnet: subnetRef,
  ip,
  nic: name.nullish(),
  nic_nsg: name.nullish(),
  public_ip: ip.nullish(),
  os: oneOf(OSES).nullish(),
  power: oneOf(POWER_STATES).nullish(),
  ip_forwarding: flag.nullish(),
  os_ip_forward: flag.nullish(),
  listens: list(
    z.strictObject({
      port,
      protocol: oneOf(TRANSPORTS).nullish(),
      bind: z
        .union([z.literal('*'), z.literal('::'), z.literal('localhost'), ip], 'write an address')
        .nullish(),
      process: z
        .string()
        .regex(/^[\w.@-]{1,60}$/, 'write the name of a program')
        .nullish(),
    }),
  ),
  os_firewall: list(osRule),
  os_policy: z.strictObject({ INPUT: policy, OUTPUT: policy, FORWARD: policy }).nullish(),
  link: link.nullish(),
  app: z.strictObject({ reads_slowly: flag.nullish(), resets_pct: percent.nullish() }).nullish(),
});

const record = z.strictObject({
  name: z
    .string()
    .regex(
      /^(@|\*|[A-Za-z0-9_*](?:[A-Za-z0-9_.-]{0,250}[A-Za-z0-9_])?)$/,
      'write the name relative to the zone, or "@"',
    ),
  type: oneOf(RECORD_TYPES),
  value: oneOrMore(z.string('write the value as text').min(1, 'write a value').max(1000)),
  ttl: z.int().min(1).max(2_147_483_647).nullish(),
});

const hostName =
  /^(?=.{1,253}$)[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62})(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62}))*\.?$/;
const zone = z.strictObject({
  zone: z.string().regex(hostName, 'write a domain such as corp.internal'),
  group: name,
  links: list(name),
  records: list(record),
});

const storage = z.strictObject({
  name: z.string().regex(/^[a-z0-9-]{3,24}$/, 'write 3 to 24 lower-case letters and digits'),
  group: name,
  containers: list(
    z
      .string()
      .regex(/^[a-z0-9$](?:[a-z0-9-]{1,61}[a-z0-9])$/, 'write 3 to 63 lower-case letters, digits and "-"'),
  ),
  default_action: oneOf(ACCESS).nullish(),
  subnet_rules: list(subnetRef),
  ip_rules: list(addressOrCidr),
  keys: flag.nullish(),
});

const flow = z.strictObject({
  from: name,
  to: z
    .string('write a VM, a storage account, an address or a host name')
    .regex(hostName, 'write a VM, a storage account, an address or a host name'),
  protocol: oneOf(FLOW_PROTOCOLS).nullish(),
  port: port.nullish(),
  every_ms: z.number().min(1, 'write at least 1').max(86_400_000).nullish(),
  bytes: z.int().min(0).max(100_000_000).nullish(),
  reply_bytes: z.int().min(0).max(100_000_000).nullish(),
});

const isoTime = z
  .string('write a time such as 2026-01-15T14:30:00Z')
  .refine(
    (s) => /^\d{4}-\d\d-\d\dT/.test(s) && !Number.isNaN(Date.parse(s)),
    'write a time such as 2026-01-15T14:30:00Z',
  );

const pointer = z.string().regex(/^(\/[^/]*)*$/, 'write a JSON Pointer such as /vms/0/power');
const operation = z.discriminatedUnion(
  'op',
  [
    z.strictObject({ op: z.literal(['add', 'replace', 'test']), path: pointer, value: z.json() }),
    z.strictObject({ op: z.literal('remove'), path: pointer }),
    z.strictObject({ op: z.literal(['move', 'copy']), path: pointer, from: pointer }),
  ],
  'write op: add, remove, replace, move, copy or test',
);

const location = z
  .string('write a region such as westeurope')
  .regex(/^[A-Za-z0-9 ]{2,40}$/, 'write a region such as westeurope');

export const worldSchema = z.strictObject({
  id: z.string('write an id').regex(/^[a-z0-9][a-z0-9._-]{0,99}$/i, 'write an id of letters, digits and "-"'),
  title: text.nullish(),
  symptom: text.nullish(),
  now: isoTime,
  groups: z
    .array(z.strictObject({ name, location }), 'write a list of resource groups')
    .min(1, 'write at least one resource group'),
  vnets: list(vnet),
  nsgs: list(z.strictObject({ name, group: name, rules: list(nsgRule) })),
  route_tables: list(z.strictObject({ name, group: name, routes: list(route) })),
  vms: list(vm),
  private_dns: list(zone),
  public_dns: list(zone.omit({ links: true })),
  storage: list(storage),
  watchers: list(location),
  local: z.strictObject({ vpn: flag.nullish(), dns: list(ip), address: ip.nullish() }).nullish(),
  flows: list(flow),
  activity: list(
    z.strictObject({ time: isoTime, caller: text, operation: text, resource: text, status: text.nullish() }),
  ),
  faults_over_time: list(
    z.strictObject({
      at_s: z.number().min(0, 'write seconds after `now`'),
      patch: z.array(operation).min(1),
    }),
  ),
  /** Only the scorer reads it: here it may hold anything. */
  truth: z.unknown().optional(),
});

export type WorldDocument = z.output<typeof worldSchema>;
