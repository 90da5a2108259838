/** Stable placeholders for private addresses and Azure resource ids, the same within one session. */
export interface Anonymizer {
  apply(text: string): string;
  readonly mappings: number;
}

const RESOURCE_ID = /\/subscriptions\/[^\s"',]{1,400}/gi;
const CIDR_OR_IPV4 =
  /\b(?:10\.\d{1,3}|172\.(?:1[6-9]|2\d|3[01])|192\.168|169\.254|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))(?:\.\d{1,3}){2}(?:\/\d{1,2})?\b/g;
const IPV6 = /\b(?:f[cd][0-9a-f]{2}|fe[89ab][0-9a-f]):[0-9a-f:]{2,40}(?:\/\d{1,3})?/gi;

export function createAnonymizer(): Anonymizer {
  const known = new Map<string, string>();
  const placeholder = (kind: string, original: string) => {
    const key = `${kind} ${original.toLowerCase()}`;
    const existing = known.get(key);
    if (existing !== undefined) return existing;
    const number = [...known.keys()].filter((k) => k.startsWith(`${kind} `)).length + 1;
    const made = `<${kind}-${number}>`;
    known.set(key, made);
    return made;
  };
  return {
    apply: (text) =>
      text
        .replace(RESOURCE_ID, (id) => placeholder('resource', id))
        .replace(CIDR_OR_IPV4, (a) => placeholder(a.includes('/') ? 'cidr' : 'ip', a))
        .replace(IPV6, (a) => placeholder(a.includes('/') ? 'cidr' : 'ip', a)),
    get mappings() {
      return known.size;
    },
  };
}
