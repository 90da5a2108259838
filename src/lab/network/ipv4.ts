/** IPv4 addresses and prefixes as numbers: small, because every `az` call loads it. */

export interface Prefix {
  readonly base: number;
  readonly bits: number;
}

const DOTTED = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;

/** The address as an unsigned number, or undefined when the text is none. */
export function parseIp(text: string): number | undefined {
  const match = DOTTED.exec(text);
  if (!match) return undefined;
  let value = 0;
  for (let i = 1; i <= 4; i++) {
    const part = match[i]!;
    // "010" means eight to some programs and ten to others: neither here.
    if (part.length > 1 && part.startsWith('0')) return undefined;
    const octet = Number(part);
    if (octet > 255) return undefined;
    value = value * 256 + octet;
  }
  return value;
}

export function formatIp(value: number): string {
  return `${(value >>> 24) & 255}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`;
}

/** `10.0.0.0/16`, or an address as a /32. */
export function parsePrefix(text: string): Prefix | undefined {
  const slash = text.indexOf('/');
  const base = parseIp(slash < 0 ? text : text.slice(0, slash));
  if (base === undefined) return undefined;
  if (slash < 0) return { base, bits: 32 };
  const length = text.slice(slash + 1);
  if (!/^\d{1,2}$/.test(length) || Number(length) > 32) return undefined;
  return { base, bits: Number(length) };
}

export function maskOf(bits: number): number {
  return bits === 0 ? 0 : (0xffffffff << (32 - bits)) >>> 0;
}

/** True when no bit is set beyond the length. */
export function isAligned(prefix: Prefix): boolean {
  return (prefix.base & ~maskOf(prefix.bits)) === 0;
}

export function formatPrefix(prefix: Prefix): string {
  return `${formatIp((prefix.base & maskOf(prefix.bits)) >>> 0)}/${prefix.bits}`;
}

export function contains(prefix: Prefix, ip: number): boolean {
  const mask = maskOf(prefix.bits);
  return (prefix.base & mask) >>> 0 === (ip & mask) >>> 0;
}

/** `inner` lies wholly inside `outer`. */
export function covers(outer: Prefix, inner: Prefix): boolean {
  return outer.bits <= inner.bits && contains(outer, inner.base);
}

export function overlaps(a: Prefix, b: Prefix): boolean {
  return contains(a, b.base) || contains(b, a.base);
}

/** For text already known to be right (a loaded world): membership in one step. */
export function inPrefix(prefix: string, ip: string): boolean {
  const p = parsePrefix(prefix);
  const address = parseIp(ip);
  return p !== undefined && address !== undefined && contains(p, address);
}

const PRIVATE = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '169.254.0.0/16'].map(
  (text) => parsePrefix(text)!,
);

/** Addresses the public internet does not carry. */
export function isPrivate(ip: string): boolean {
  const address = parseIp(ip);
  return address !== undefined && PRIVATE.some((prefix) => contains(prefix, address));
}
