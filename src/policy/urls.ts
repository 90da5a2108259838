import { canonicalAddress, isMetadataAddress, parseAddress, privateReason } from './addresses.ts';
import type { Edit, Finding } from './finding.ts';

export interface DomainLists {
  readonly allow_domains: readonly string[];
  readonly deny_domains: readonly string[];
  readonly deny_private_ips: boolean;
}

export interface JudgeUrl {
  /** Before anything is resolved: scheme, name, port, literal address. */
  url(url: URL): Finding | undefined;
  /** The address a name led to, before a connection is made to exactly that address. */
  address(address: string, host: string): Finding | undefined;
}

interface DomainPattern {
  readonly text: string;
  readonly host: string;
  readonly port: string | undefined;
  readonly below: boolean;
}

/**
 * U1 Only http and https; the scheme belongs to the decision, not to the client.
 * U2 A listed name never makes a private address public: the literal and every resolved address are judged.
 * U3 Metadata services stay closed even when private addresses are open, unless that very address is listed.
 */
export function compileDomains(lists: DomainLists): JudgeUrl {
  const allow = index(lists.allow_domains);
  const deny = index(lists.deny_domains);
  const listedLiterals = new Set(
    lists.allow_domains.map((text) => canonicalAddress(pattern(text).host)).filter((a) => a !== undefined),
  );

  const address = (text: string, host: string): Finding | undefined => {
    const parsed = parseAddress(text);
    const shown = text === host ? text : `${host} leads to ${text}`;
    if (parsed === undefined) return denied('deny_private_ips', `${shown}, which is no address`);
    const metadata = isMetadataAddress(text);
    const reason = privateReason(text);
    if (lists.deny_private_ips && reason !== undefined)
      return denied('deny_private_ips', `${shown}: ${metadata ? 'a metadata service' : reason}`, OPEN);
    if (metadata && !listedLiterals.has(canonicalAddress(text) ?? ''))
      return denied('deny_private_ips', `${shown}: a metadata service, which must be listed by its address`, {
        op: 'add',
        at: ['allow_domains'],
        value: inBrackets(text),
      });
    return undefined;
  };

  return {
    address,
    url: (url) => {
      if (url.protocol !== 'http:' && url.protocol !== 'https:')
        return {
          verdict: 'deny',
          rule: 'scheme',
          at: [],
          reason: `${url.protocol} is neither http: nor https:`,
        };
      const host = hostOf(url);
      if (host === '') return { verdict: 'deny', rule: 'scheme', at: [], reason: 'the URL names no host' };
      if (find(allow, host, url) === undefined)
        return denied(
          'allow_domains',
          lists.allow_domains.length === 0
            ? 'allow_domains is empty, so no domain is allowed'
            : `${url.host} is not in allow_domains`,
          { op: 'add', at: ['allow_domains'], value: inBrackets(host) },
        );
      const hit = find(deny, host, url);
      if (hit !== undefined)
        return {
          verdict: 'deny',
          rule: 'deny_domains',
          at: ['deny_domains', hit],
          mend: { op: 'remove', at: ['deny_domains', hit] },
          reason: `${url.host} is denied by "${lists.deny_domains[hit]}" in deny_domains`,
        };
      if (parseAddress(host) !== undefined) return address(host, host);
      if (lists.deny_private_ips && isLocalName(host))
        return denied('deny_private_ips', `${host} is a name of this machine or its network`, OPEN);
      return undefined;
    },
  };
}

/** True when one of the patterns covers the URL's host (and port, where the pattern names one). */
export function matchesDomain(patterns: readonly string[], url: URL): boolean {
  return find(index(patterns), hostOf(url), url) !== undefined;
}

/** What is wrong with a domain pattern; undefined when it can be used. */
export function domainMistake(text: string): string | undefined {
  if (text === '*') return undefined;
  if (/[/?#@\\\s]/.test(text)) return 'write a domain, not a URL: api.example.com';
  const { host, port, below } = pattern(text);
  if (host === '' || host.includes('*')) return 'write example.com, *.example.com, example.com:8443 or *';
  if (port !== undefined && (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65_535))
    return 'a port is a number from 1 to 65535';
  if (below && parseAddress(host) !== undefined)
    return 'an address has no sub-domains: write it without "*."';
  return URL.canParse(`http://${inBrackets(host)}/`) ? undefined : 'this is not a domain name or address';
}

function hostOf(url: URL): string {
  const host = url.hostname.replace(/\.+$/, '');
  return host.startsWith('[') ? host.slice(1, -1) : host;
}

function isLocalName(host: string): boolean {
  return /(^|\.)(localhost|local|localdomain|internal|intranet|home\.arpa)$/.test(host) || /^ip6-/.test(host);
}

function pattern(text: string): DomainPattern {
  const below = text.startsWith('*.');
  const rest = below ? text.slice(2) : text;
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(rest);
  const plain = bracketed ?? /^([^:]*)(?::(\d+))?$/.exec(rest);
  const raw = plain === null ? rest : (plain[1] as string);
  return { text, host: normalHost(raw), port: plain?.[2], below };
}

function normalHost(raw: string): string {
  const bare = raw.replace(/\.+$/, '');
  const url = `http://${inBrackets(bare)}/`;
  return URL.canParse(url) ? hostOf(new URL(url)) : bare.toLowerCase();
}

/** As a URL writes it: an IPv6 address in brackets. */
function inBrackets(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** Patterns by their host, so that a decision does not depend on how many there are. */
type DomainIndex = ReadonlyMap<string, readonly { readonly pattern: DomainPattern; readonly i: number }[]>;

function index(texts: readonly string[]): DomainIndex {
  const map = new Map<string, { pattern: DomainPattern; i: number }[]>();
  texts.forEach((text, i) => {
    const entry = pattern(text);
    const key = text === '*' ? '*' : (canonicalAddress(entry.host) ?? entry.host);
    const list = map.get(key);
    if (list) list.push({ pattern: entry, i });
    else map.set(key, [{ pattern: entry, i }]);
  });
  return map;
}

function find(patterns: DomainIndex, host: string, url: URL): number | undefined {
  if (patterns.size === 0) return undefined;
  const all = patterns.get('*')?.[0];
  if (all) return all.i;
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const address = canonicalAddress(host);
  // The name itself, then each parent domain for the `*.` patterns (which cover the apex too).
  for (let name = address ?? host, exact = true; ; exact = false) {
    const hit = patterns
      .get(name)
      ?.find((entry) => (exact || entry.pattern.below) && (entry.pattern.port ?? port) === port);
    if (hit) return hit.i;
    const dot = name.indexOf('.');
    if (address !== undefined || dot === -1) return undefined;
    name = name.slice(dot + 1);
  }
}

const OPEN: Edit = { op: 'set', at: ['deny_private_ips'], value: false };

function denied(rule: string, reason: string, mend?: Edit): Finding {
  return { verdict: 'deny', rule, at: [rule], reason, ...(mend && { mend }) };
}
