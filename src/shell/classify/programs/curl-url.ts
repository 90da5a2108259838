/** Where a request goes: addresses, host overrides and headers, read more strictly than curl reads them. */
import { hostTrouble } from '../hosts.ts';
import { type Rule, risky } from '../rule.ts';
import { encodedName, odd } from './common.ts';

export const metadata = risky(
  'curl.metadata',
  1,
  'This is a link-local or instance-metadata address: it hands out the identity of the machine.',
  [
    'curl http://169.254.169.254/metadata/instance',
    'curl 169.254.169.254',
    'curl http://metadata.google.internal/',
    "curl 'http://[fd00:ec2::254]/latest/'",
    'curl --resolve a.example:80:169.254.169.254 http://a.example/',
    "curl -H 'Metadata: true' http://10.0.0.4/",
    'curl http://168.63.129.16/machine',
    'curl http://localhost:40342/metadata/identity/oauth2/token',
  ],
  ['curl http://10.0.0.5/', 'curl https://example.com/169.254.169.254'],
);
export const disguised = risky(
  'curl.disguised-host',
  1,
  'The host is written in a way that hides which address it is.',
  [
    'curl http://2852039166/',
    'curl http://0xa9fea9fe/',
    'curl http://0251.0376.0251.0376/',
    'curl http://169.254.43518/',
    "curl 'http://[::ffff:169.254.169.254]/'",
    'curl http://10.0.0.5.nip.io/',
  ],
  ['curl http://10.0.0.5/'],
);
export const scheme = risky(
  'curl.scheme',
  1,
  'Only http and https addresses are read-only questions.',
  [
    'curl file:///etc/passwd',
    'curl ftp://example.com/x',
    'curl ftp.example.com',
    'curl gopher://10.0.0.5/x',
    'curl mqtt://10.0.0.5/t',
  ],
  ['curl https://example.com', 'curl example.com'],
);
export const oddUrl = risky(
  'curl.odd-url',
  1,
  'The address holds a user name, a range, or characters that programs read differently.',
  [
    'curl https://a:b@example.com/',
    "curl 'http://example.com\\@169.254.169.254/'",
    "curl 'http://10.0.0.[1-9]/'",
    "curl 'http://{a,b}.example/'",
    'curl "http://example.com#@169.254.169.254/"',
  ],
  ["curl -g 'https://example.com/[x]'", 'curl https://example.com/@user'],
);
export const controlPlane = risky(
  'curl.control-plane',
  1,
  'This is the port of an engine that runs containers or keeps their secrets; an answer can hold anything.',
  [
    'curl http://localhost:2375/containers/json',
    'curl -k https://10.0.0.5:10250/pods',
    'curl http://127.0.0.1:2379/v2/keys',
  ],
  ['curl http://localhost:8080/', 'curl -k https://10.0.0.5:6443/healthz'],
);
export const longSecret = risky(
  'curl.carries-data',
  1,
  'The address holds a long encoded value: a token, a signature, or data on its way out.',
  [`curl https://example.com/?d=${'QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVowMTIz'.repeat(2)}`],
  ['curl https://example.com/commit/0123456789abcdef0123456789abcdef01234567'],
);
export const URL_RULES: readonly Rule[] = [metadata, disguised, scheme, oddUrl, controlPlane, longSecret];

export function hostObjection(host: string): Rule | null {
  switch (hostTrouble(host)) {
    case null:
      return null;
    case 'metadata':
      return metadata;
    case 'disguised':
      return disguised;
    case 'encoded':
      return encodedName;
    case 'malformed':
      return oddUrl;
  }
}

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//;
/** curl guesses the protocol of a bare host name from these beginnings. */
const GUESSED = /^(?:ftp|dict|ldap|imap|smtp|pop3|gopher|tftp|telnet)\./i;
const AUTHORITY = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/;

/** `globs`: whether curl will expand `{…}` and `[…]` in the address. */
export function urlObjection(url: string, globs = true): Rule | null {
  const match = SCHEME.exec(url);
  if (match !== null && !/^https?$/i.test(match[1]!)) return scheme;
  if (match === null && (GUESSED.test(url) || /^[A-Za-z][A-Za-z0-9+.-]*:(?!\d)/.test(url))) return scheme;
  // `http:host` without the slashes is read in more than one way.
  if (
    match === null &&
    /^(?:https?|file|ftps?|dict|ldaps?|scp|sftp|smb|telnet|tftp|gopher|mqtt|ws|wss):/i.test(url)
  )
    return scheme;
  const rest = match === null ? url : url.slice(match[0].length);
  const stop = rest.search(/[/?#]/);
  const authority = stop === -1 ? rest : rest.slice(0, stop);
  const tail = stop === -1 ? '' : rest.slice(stop);
  if (/[\x00-\x20\x7f-\uffff\\]/.test(url)) return oddUrl;
  // Readers disagree where the host ends when `?` or `#` ends it and an `@` follows.
  if (!tail.startsWith('/') && tail.includes('@')) return oddUrl;
  if (globs && /[{}[\]]/.test(tail)) return oddUrl;
  if (METADATA_PATH.test(tail)) return metadata;
  if (tail.length > LONG_VALUE && ENCODED_VALUE.test(tail)) return longSecret;
  const parts = AUTHORITY.exec(authority);
  if (parts === null) return oddUrl;
  return CONTROL_PORTS.has(parts[2] ?? '') ? controlPlane : hostObjection(parts[1]!);
}

const CONTROL_PORTS: ReadonlySet<string> = new Set(['2375', '2376', '4243', '2379', '10250', '10255']);
const LONG_VALUE = 60;
const ENCODED_VALUE = /[A-Za-z0-9+_]{60}/;

/** Paths under which machines hand out their identity, on whatever address the service listens. */
const METADATA_PATH =
  /\/(?:metadata\/identity|oauth2\/token|msi\/token|latest\/(?:meta-data|user-data|dynamic|api\/token)|computemetadata|opc\/v\d)/i;

const CONNECT_TO =
  /^(?:\[[0-9A-Fa-f:.]*\]|[A-Za-z0-9._-]*):(?:\d*):(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]*):(?:\d*)$/;
const RESOLVE = /^\+?(?:\*|[A-Za-z0-9._-]+):\d{1,5}:([0-9A-Fa-f.:[\],]+)$/;

/** `--connect-to H:P:H2:P2` and `--resolve H:P:A,A2`: the address behind the name counts. */
export function routeObjection(value: string): Rule | null {
  const direct = CONNECT_TO.exec(value);
  if (direct !== null) return direct[1] === '' ? null : hostObjection(direct[1]!);
  const resolve = RESOLVE.exec(value);
  if (resolve === null) return odd;
  for (const address of resolve[1]!.split(',')) {
    const objection = hostObjection(address);
    if (objection !== null) return objection;
  }
  return null;
}

/** Texts that servers with old holes run: function imports of shells, lookups of loggers. */
export const EXPLOIT = /\(\)\s{0,4}\{|\$\{/;

export interface HeaderRules {
  readonly readsFile: Rule;
  readonly credential: Rule;
  readonly sends: Rule;
  readonly method: Rule;
}

/** Headers that only describe what is wanted. The rest authenticate, override, or belong to a body. */
export function headerObjection(value: string, rules: HeaderRules): Rule | null {
  if (value.startsWith('@')) return rules.readsFile;
  const match = /^([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*[:;](.*)$/.exec(value);
  if (match === null || EXPLOIT.test(value)) return odd;
  const name = match[1]!.toLowerCase();
  if (/^metadata|ec2-metadata|^x-google-metadata|^secret$|^x-identity-header$/.test(name)) return metadata;
  if (/auth|cookie|token|api-?key|access-?key|subscription-?key|secret|passw|credential|session/.test(name))
    return rules.credential;
  if (/method|override|rewrite|original-url/.test(name)) return rules.method;
  if (/^(?:content-length|transfer-encoding|expect|te|trailer)$/.test(name)) return rules.sends;
  if (name === 'host') {
    const host = match[2]!.trim();
    const parts = AUTHORITY.exec(host);
    return host === '' ? null : parts === null ? odd : hostObjection(parts[1]!);
  }
  return null;
}
