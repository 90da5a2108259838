/** Addresses and prefixes as numbers, enough to say which prefix an address falls into. */
export function toNumber(address: string): number | undefined {
  const parts = address.split('.').map(Number);
  if (parts.length !== 4 || parts.some((p) => !Number.isInteger(p) || p < 0 || p > 255)) return undefined;
  return parts.reduce((sum, p) => sum * 256 + p, 0);
}

export interface Prefix {
  readonly base: number;
  readonly length: number;
}

export function parsePrefix(text: string): Prefix | undefined {
  const [address = '', bits = '32'] = text.split('/');
  const base = toNumber(address);
  const length = Number(bits);
  return base === undefined || !Number.isInteger(length) || length < 0 || length > 32
    ? undefined
    : { base, length };
}

export function contains(prefix: string, address: string): boolean {
  const p = parsePrefix(prefix);
  const a = toNumber(address);
  if (p === undefined || a === undefined) return false;
  const size = 2 ** (32 - p.length);
  return Math.floor(a / size) === Math.floor(p.base / size);
}

export function isPrivate(address: string): boolean {
  return ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'].some((p) => contains(p, address));
}

/** The most specific of some prefixes that hold the address. */
export function longestMatch<T>(
  items: readonly T[],
  prefixOf: (item: T) => string,
  address: string,
): T | undefined {
  return items
    .filter((item) => contains(prefixOf(item), address))
    .sort((a, b) => (parsePrefix(prefixOf(b))?.length ?? 0) - (parsePrefix(prefixOf(a))?.length ?? 0))[0];
}
