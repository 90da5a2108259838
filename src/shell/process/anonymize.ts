/**
 * Stable placeholders for private addresses and Azure resource ids: within a session the same address is
 * always the same placeholder, so that what is seen still fits together.
 */
export interface Anonymizer {
  apply(text: string): string;
  /** How many originals have a placeholder so far. */
  readonly mappings: number;
}

const RESOURCE_ID = /\/subscriptions\/[^\s"'`,;<>()\\]{1,400}/gi;
const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
/** 10/8, 172.16/12, 192.168/16, link-local and carrier-grade addresses, alone or with a prefix length. */
const IPV4 = new RegExp(
  `(?<![\\d.])(?:10\\.${OCTET}|172\\.(?:1[6-9]|2\\d|3[01])|192\\.168|169\\.254|100\\.(?:6[4-9]|[7-9]\\d|1[01]\\d|12[0-7]))(?:\\.${OCTET}){2}(?:/(?:3[0-2]|[12]?\\d)(?!\\d))?(?![\\d]|\\.\\d)`,
  'g',
);
/** Unique local (fc00::/7) and link-local (fe80::/10) addresses. */
const IPV6 = /(?<![0-9a-f:.])(?:f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]):[0-9a-f:.]{1,40}(?:\/\d{1,3})?/gi;

export function createAnonymizer(): Anonymizer {
  const known = new Map<string, string>();
  const counts = new Map<string, number>();
  const placeholder = (kind: string, original: string) => {
    const key = original.toLowerCase();
    const existing = known.get(key);
    if (existing !== undefined) return existing;
    const number = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, number);
    const made = `<${kind}-${number}>`;
    known.set(key, made);
    return made;
  };
  const address = (found: string) => placeholder(found.includes('/') ? 'cidr' : 'ip', found);
  return {
    apply: (text) =>
      text
        .replace(RESOURCE_ID, (id) => placeholder('resource', id))
        .replace(IPV4, address)
        .replace(IPV6, address),
    get mappings() {
      return known.size;
    },
  };
}
