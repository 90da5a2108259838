/** What a person wrote, taken apart: names, addresses, ports, and what kind of trouble it is. */
export interface Symptom {
  readonly text: string;
  /** Words that could be names of resources, in order of appearance. */
  readonly words: readonly string[];
  readonly addresses: readonly string[];
  readonly hostNames: readonly string[];
  readonly ports: readonly number[];
  /** Other numbers that could be ports, when the text names none as such. */
  readonly numbers: readonly number[];
  readonly protocol: 'tcp' | 'udp' | 'icmp';
  readonly sentences: readonly string[];
  /** Slow, lossy, stalling, garbled: reachable, but not well. */
  readonly degraded: boolean;
  /** Works at times. */
  readonly intermittent: boolean;
  /** A question about too much access rather than too little. */
  readonly exposure: boolean;
  readonly refused: boolean;
  readonly resets: boolean;
  readonly nameTrouble: boolean;
  readonly largeTransfers: boolean;
}

const ADDRESS = /\b(?:\d{1,3}\.){3}\d{1,3}\b/g;
const HOST = /\b(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z]\b/gi;
const WORD = /[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?/g;

const SERVICES: Readonly<Record<string, number>> = {
  ssh: 22,
  https: 443,
  http: 80,
  dns: 53,
  rdp: 3389,
  redis: 6379,
  postgres: 5432,
  postgresql: 5432,
  mysql: 3306,
  mssql: 1433,
  smtp: 25,
  nfs: 2049,
  mongodb: 27017,
  ldap: 389,
  ldaps: 636,
  kafka: 9092,
  amqp: 5672,
  rabbitmq: 5672,
  mqtt: 1883,
  smb: 445,
  ntp: 123,
  syslog: 514,
  elasticsearch: 9200,
};

export function readSymptom(text: string): Symptom {
  const lower = text.toLowerCase();
  const hostNames = unique((text.match(HOST) ?? []).map((h) => h.toLowerCase())).filter(
    (h) => !/^\d/.test(h) && !/\.(md|json|pcap|yaml|txt)$/.test(h),
  );
  const has = (pattern: RegExp) => pattern.test(lower);
  const ports = portsIn(text);
  return {
    text,
    words: unique((text.match(WORD) ?? []).filter((w) => w.length > 1)),
    addresses: unique(text.match(ADDRESS) ?? []),
    hostNames,
    ports: ports.length > 0 ? ports : servicePorts(lower),
    numbers: bareNumbers(text),
    protocol: has(/\budp\b/)
      ? 'udp'
      : ports.length === 0 &&
          servicePorts(lower).length === 0 &&
          has(/\b(ping|icmp)\b/) &&
          !has(/\btcp\b|\bport\b/)
        ? 'icmp'
        : 'tcp',
    sentences: text.split(/(?<=[.!?;])\s+/),
    degraded: has(
      /\b(slow|slowly|sluggish|crawl\w*|latency|lag\w*|loss\w*|lossy|throughput|bandwidth|mbit|gbit|kb\/s|mb\/s|stall\w*|stutter\w*|jitter\w*|retransmi\w*|garbled|corrupt\w*|checksum\w*|out of order|reorder\w*|degrad\w*|takes? (far |much |too |very )?(long|minutes|seconds|ages)|(ms|milliseconds) (round|rtt))\b/,
    ),
    intermittent: has(
      /\b(intermittent\w*|sometimes|sporadic\w*|occasional\w*|now and then|flap\w*|every (few|so often|now)|at random|randomly|some of the|one in|half of|comes and goes|on and off)\b/,
    ),
    exposure: has(
      /\b(exposed|exposure|open to (the )?(internet|world|everyone|anyone)|reachable from (the )?(internet|outside|anywhere|world)|public(ly)? (reachable|accessible|exposed|open)|audit(or|ors)? (found|flag\w*|complain\w*|report\w*)|(external|security|port|vulnerability|insurer's|insurance|penetration|internet|public) (scan\w*|tests?)|(?<![\w-])scan (found|finds|report\w*|show\w*|flag\w*|says)|half the (world|internet)|the whole (world|internet)|(any|every)(one|body) (on|in|from) (the )?(internet|world|outside)|strangers|login attempts|brute.?force|(unknown|foreign|random) (addresses|hosts)|which (setting|rule) (lets|allows)|lets (the world|everyone|everybody|anyone) in|too (open|wide|broad|permissive)|should not be (able|reachable|open)|over-?(exposed|permissive))\b/,
    ),
    refused: has(/(?<!nothing is |not |never )\b(refus\w+|connection refused|reject\w*)\b/),
    resets: has(
      /(?<!no |nothing is |not )\b(reset\w*|econnreset|rst|aborted|broken pipe|disconnect\w*|hangs? up|hung up|dropped mid|cut off|connection (closed|lost) (by|in))\b/,
    ),
    nameTrouble: has(
      /\b(resolv\w*|nxdomain|dns|name lookup|lookups?|host ?name|unknown host|wrong (address|ip|server|machine|host))\b/,
    ),
    largeTransfers: has(
      /\b(large|big|bulk|full-size|whole file|bigger|payload|uploads?|downloads?|transfers?|handshake (completes|works|is fine)|small (requests?|ones|files|packets))\b/,
    ),
  };
}

function portsIn(text: string): readonly number[] {
  const found: { at: number; port: number }[] = [];
  const patterns = [
    /\bports?\s+(?:(?:is|would be|number|no\.?)\s+)?((?:\d{1,5}(?:\s*(?:,|and|or|\/|&)\s*)?)+)/gi,
    /\b(?:tcp|udp)(?:\s+port)?[\s/]+(\d{1,5})\b/gi,
    /\b(\d{1,5})\/(?:tcp|udp)\b/gi,
    /(?:\d{1,3}\.){3}\d{1,3}\)\s+(\d{2,5})\b(?!\s*(?:ms|%|mb|gb|kb|times))/gi,
    /(?:\d{1,3}\.){3}\d{1,3}:(\d{1,5})\b/g,
    /[a-z][\w.-]*:(\d{2,5})\b(?!:)/gi,
    /\b(?:on|over|via)\s+(\d{2,5})\b(?!\s*(?:ms|%|mb|gb|kb|mbit|seconds|minutes|hours|days|packets|requests|of|vms?|machines|hosts|\.\d))/gi,
  ];
  for (const pattern of patterns) {
    for (const match of text.matchAll(pattern)) {
      for (const digits of match[1]!.match(/\d{1,5}/g) ?? [])
        found.push({ at: match.index, port: Number(digits) });
    }
  }
  return unique(found.sort((a, b) => a.at - b.at).map((f) => f.port)).filter((p) => p > 0 && p < 65_536);
}

/** Numbers that stand for themselves: no address, no date, no time, no quantity, no part of a name. */
function bareNumbers(text: string): readonly number[] {
  const pattern =
    /(?<![\w.:/%+-])(\d{2,5})(?![\w.:%-]*\w)(?!\s*(?:ms|%|[kmg]b|mbit|s|sec\w*|min\w*|hours?|days?|nights?|times|packets|requests|users|vms?|machines|hosts|shops|of)\b)/gi;
  return unique([...text.matchAll(pattern)].map((m) => Number(m[1]))).filter((n) => n < 65_536);
}

function servicePorts(lower: string): readonly number[] {
  const url = /\b(https?):\/\//.exec(lower)?.[1];
  const named = Object.entries(SERVICES)
    .filter(([name]) => new RegExp(`\\b${name}\\b`).test(lower))
    .map(([, port]) => port);
  return unique([...(url ? [SERVICES[url]!] : []), ...named]);
}

function unique<T>(items: readonly T[]): readonly T[] {
  return [...new Set(items)];
}
