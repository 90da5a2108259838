/**
 * What a host in a command really points at, whatever its spelling.
 *
 * 1. Instance-metadata and link-local addresses are named in every spelling a resolver accepts.
 * 2. An address not written in its usual form is `disguised`, wherever it points.
 * 3. A name that carries what looks like encoded data is `encoded`: a DNS query is a way out.
 */
import ipaddr from 'ipaddr.js';

export type HostTrouble = 'metadata' | 'disguised' | 'encoded' | 'malformed';

const METADATA_NAMES: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'metadata.azure.com',
  'metadata.azure.internal',
  'metadata.internal',
  'instance-data',
  'instance-data.ec2.internal',
  'metadata.tencentyun.com',
  'metadata.platformequinix.com',
  'rancher-metadata',
]);

/** Public names that resolve to whatever address is written into them. */
const WILDCARD_DNS = ['nip.io', 'sslip.io', 'xip.io', 'rbndr.us', '1u.ms', 'localtest.me', 'lvh.me'];

/** Addresses that hand out identity or settings of the machine, besides link-local ones. */
const METADATA_V4: ReadonlySet<string> = new Set(['168.63.129.16', '100.100.100.200', '192.0.0.192']);

const CANONICAL_V4 = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/;
const NUMERIC_LABEL = /^(?:\d+|0[xX][0-9a-fA-F]*)$/;
const NAME =
  /^[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?$/;

function v4Trouble(host: string): HostTrouble | null {
  for (const part of host.split('.')) if (Number(part) > 255) return 'malformed';
  if (host.startsWith('169.254.') || METADATA_V4.has(host)) return 'metadata';
  return null;
}

function v6Trouble(text: string): HostTrouble | null {
  if (!ipaddr.IPv6.isValid(text)) return 'malformed';
  const address = ipaddr.IPv6.parse(text);
  const [a, b] = address.parts as [number, number];
  const last = address.parts[7];
  if ((a & 0xffc0) === 0xfe80) return 'metadata';
  if ((a === 0xfd00 && b === 0x0ec2) || (a === 0xfd20 && b === 0x00ce)) return 'metadata';
  if (address.parts.every((part, index) => part === (index === 7 ? 1 : 0)) && last === 1) return null;
  // Mapped, translated and tunnelled forms carry an IPv4 address inside.
  if ((a & 0xe000) === 0x2000 && a !== 0x2002 && !(a === 0x2001 && b === 0)) return null;
  if ((a & 0xfe00) === 0xfc00) return null;
  return 'disguised';
}

/** Unbroken runs of letters and digits at least this long are looked at; added up they are data, not a name. */
const OPAQUE_RUN = 16;
const OPAQUE_TOTAL = 30;
const ALPHABETIC_RUN = 32;
/** One checksum in a name is how load balancers and certificate checks are named. */
const CHECKSUM = /^[0-9a-f]{32}$/;

/** Encoded text mixes digits or cases into its letters; words do not. */
function looksEncoded(run: string): boolean {
  if (CHECKSUM.test(run)) return false;
  if (run.length >= ALPHABETIC_RUN) return true;
  const digits = run.replace(/[^0-9]/g, '').length;
  if (digits === run.length) return false;
  return digits >= 2 || (/[a-z]/.test(run) && /[A-Z]/.test(run.slice(1)));
}

/** A name whose labels hold long unbroken runs, as base32 or hexadecimal does. */
export function carriesData(name: string): boolean {
  if (name.length < OPAQUE_TOTAL) return false;
  let total = 0;
  let start = 0;
  for (let i = 0; i <= name.length; i += 1) {
    const code = i < name.length ? name.charCodeAt(i) : 0x2e;
    if ((code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a))
      continue;
    if (i - start >= OPAQUE_RUN && looksEncoded(name.slice(start, i))) total += i - start;
    start = i + 1;
  }
  return total >= OPAQUE_TOTAL;
}

/** What is wrong with asking this host over HTTP, or null. `[…]` is an IPv6 literal. */
export function hostTrouble(host: string): HostTrouble | null {
  if (host.startsWith('[')) {
    return host.endsWith(']') ? v6Trouble(host.slice(1, -1)) : 'malformed';
  }
  if (host.includes(':')) return v6Trouble(host);
  if (CANONICAL_V4.test(host)) return v4Trouble(host);
  if (!NAME.test(host) || host.length > 253) return 'malformed';
  const name = (host.endsWith('.') ? host.slice(0, -1) : host).toLowerCase();
  const last = name.slice(name.lastIndexOf('.') + 1);
  if (NUMERIC_LABEL.test(last)) return 'disguised';
  if (METADATA_NAMES.has(name)) return 'metadata';
  if (WILDCARD_DNS.some((zone) => name === zone || name.endsWith(`.${zone}`))) return 'disguised';
  return carriesData(name) ? 'encoded' : null;
}
