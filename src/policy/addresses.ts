import ipaddr from 'ipaddr.js';

/**
 * Which addresses are not the public Internet. Unknown is private: only addresses that are plainly global
 * unicast are public, and an address that carries another inside is judged by what it carries.
 */

/** Beyond what ipaddr.js names: special-purpose ranges and well-known machine-local services. */
const EXTRA_V4: readonly (readonly [string, string])[] = [
  ['168.63.129.16/32', 'the Azure platform address'],
  ['192.0.0.0/24', 'reserved for protocol assignments'],
  ['192.88.99.0/24', 'a 6to4 relay'],
  ['192.31.196.0/24', 'reserved (AS112)'],
  ['192.52.193.0/24', 'reserved (AMT)'],
  ['192.175.48.0/24', 'reserved (AS112)'],
  ['198.18.0.0/15', 'reserved for benchmarks'],
];
const EXTRA_V6: readonly (readonly [string, string])[] = [
  ['2001::/23', 'reserved for protocol assignments'],
  ['2001:db8::/32', 'reserved for documentation'],
  ['3fff::/20', 'reserved for documentation'],
  ['5f00::/16', 'reserved for segment routing'],
];
const v4 = EXTRA_V4.map(([range, name]) => ({ range: ipaddr.IPv4.parseCIDR(range), name }));
const v6 = EXTRA_V6.map(([range, name]) => ({ range: ipaddr.IPv6.parseCIDR(range), name }));
const GLOBAL_V6 = ipaddr.IPv6.parseCIDR('2000::/3');
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const NAT64_LOCAL = ipaddr.IPv6.parseCIDR('64:ff9b:1::/48');
const SIX_TO_FOUR = ipaddr.IPv6.parseCIDR('2002::/16');

/** Services that hand out credentials to whoever asks on the machine. */
const METADATA = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '169.254.169.253',
  '169.254.0.23',
  '169.254.10.10',
  '169.254.42.42',
  'fe80::a9fe:a9fe',
  'fd00:42::42',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
]);

/** Why an address is not public, or undefined when it is. Text that is no address gives undefined too. */
export function privateReason(text: string): string | undefined {
  const address = parseAddress(text);
  return address === undefined ? undefined : reasonFor(address);
}

export function isMetadataAddress(text: string): boolean {
  const address = parseAddress(text);
  if (address === undefined) return false;
  const inner = address instanceof ipaddr.IPv6 ? carried(address)?.inner : undefined;
  return METADATA.has(address.toString()) || (inner !== undefined && METADATA.has(inner.toString()));
}

/** An address in any spelling: dotted, short, decimal, octal, hexadecimal, IPv6 with or without a zone. */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  const unzoned = bare.includes(':') ? (bare.split('%')[0] as string) : bare;
  if (unzoned === '' || !ipaddr.isValid(unzoned)) return undefined;
  return ipaddr.parse(unzoned);
}

/** One spelling for comparing: IPv4-mapped addresses come out as IPv4. */
export function canonicalAddress(text: string): string | undefined {
  const address = parseAddress(text);
  if (address === undefined) return undefined;
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()
    ? address.toIPv4Address().toString()
    : address.toString();
}

function reasonFor(address: ipaddr.IPv4 | ipaddr.IPv6): string | undefined {
  if (address instanceof ipaddr.IPv4) {
    const extra = v4.find(({ range }) => address.match(range));
    if (extra) return extra.name;
    const range = address.range();
    return range === 'unicast' ? undefined : named(range);
  }
  const within = carried(address);
  if (within !== undefined) {
    const reason = reasonFor(within.inner);
    if (reason !== undefined) return `it carries ${within.inner.toString()}: ${reason}`;
    if (within.alone) return undefined;
  }
  if (address.match(NAT64_LOCAL)) return 'a local translation address';
  const extra = v6.find(({ range }) => address.match(range));
  if (extra) return extra.name;
  if (!address.match(GLOBAL_V6)) return named(address.range() === 'unicast' ? 'reserved' : address.range());
  const range = address.range();
  return range === 'unicast' ? undefined : named(range);
}

interface Carried {
  readonly inner: ipaddr.IPv4;
  /** Only the address inside says where a packet goes; otherwise the prefix around it counts as well. */
  readonly alone: boolean;
}

/** The IPv4 address inside a mapped, translated, 6to4, IPv4-compatible or ISATAP one. */
function carried(address: ipaddr.IPv6): Carried | undefined {
  const bytes = address.toByteArray();
  const at = (offset: number) => new ipaddr.IPv4(bytes.slice(offset, offset + 4));
  if (address.isIPv4MappedAddress() || address.match(NAT64)) return { inner: at(12), alone: true };
  if (address.match(SIX_TO_FOUR)) return { inner: at(2), alone: true };
  // ::ffff:0:a.b.c.d (translated) and ::a.b.c.d (compatible, but for :: and ::1 themselves).
  const zeros = bytes.slice(0, 8).every((byte) => byte === 0);
  const marks = bytes.slice(8, 12).join(' ');
  const embedded =
    (zeros && marks === '255 255 0 0') ||
    (zeros && marks === '0 0 0 0' && (bytes[12] !== 0 || bytes[13] !== 0)) ||
    // ISATAP: any prefix, then 0:5efe or 200:5efe, then the address.
    marks === '0 0 94 254' ||
    marks === '2 0 94 254';
  return embedded ? { inner: at(12), alone: false } : undefined;
}

const names: Record<string, string> = {
  loopback: 'this machine itself',
  private: 'a private network',
  linkLocal: 'a link-local address',
  uniqueLocal: 'a private network',
  carrierGradeNat: 'shared address space of a provider',
  multicast: 'a multicast group',
  broadcast: 'the broadcast address',
  unspecified: 'the unspecified address',
  reserved: 'a reserved range',
};

function named(range: string): string {
  return names[range] ?? `a special range (${range})`;
}
