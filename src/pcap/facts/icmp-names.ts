/** Names of ICMP types and codes (IANA registries). */
const V4_TYPES: Readonly<Record<number, string>> = {
  0: 'echo reply',
  3: 'destination unreachable',
  4: 'source quench',
  5: 'redirect',
  8: 'echo request',
  9: 'router advertisement',
  10: 'router solicitation',
  11: 'time exceeded',
  12: 'parameter problem',
  13: 'timestamp request',
  14: 'timestamp reply',
  15: 'information request',
  16: 'information reply',
  17: 'address mask request',
  18: 'address mask reply',
  42: 'extended echo request',
  43: 'extended echo reply',
};

const V6_TYPES: Readonly<Record<number, string>> = {
  1: 'destination unreachable',
  2: 'packet too big',
  3: 'time exceeded',
  4: 'parameter problem',
  128: 'echo request',
  129: 'echo reply',
  130: 'multicast listener query',
  131: 'multicast listener report',
  132: 'multicast listener done',
  133: 'router solicitation',
  134: 'router advertisement',
  135: 'neighbour solicitation',
  136: 'neighbour advertisement',
  137: 'redirect',
  143: 'multicast listener report v2',
};

const V4_UNREACHABLE: readonly string[] = [
  'network unreachable',
  'host unreachable',
  'protocol unreachable',
  'port unreachable',
  'fragmentation needed and DF set',
  'source route failed',
  'destination network unknown',
  'destination host unknown',
  'source host isolated',
  'network administratively prohibited',
  'host administratively prohibited',
  'network unreachable for type of service',
  'host unreachable for type of service',
  'communication administratively prohibited',
  'host precedence violation',
  'precedence cutoff in effect',
];

const V6_UNREACHABLE: readonly string[] = [
  'no route to destination',
  'communication administratively prohibited',
  'beyond scope of source address',
  'address unreachable',
  'port unreachable',
  'source address failed ingress/egress policy',
  'reject route to destination',
  'error in source routing header',
];

export function icmpTypeName(version: 4 | 6, type: number): string {
  return (version === 4 ? V4_TYPES : V6_TYPES)[type] ?? `type ${type}`;
}

export function unreachableMeaning(version: 4 | 6, type: number, code: number): string {
  if (version === 6 && type === 2) return 'packet too big';
  return (version === 4 ? V4_UNREACHABLE : V6_UNREACHABLE)[code] ?? `code ${code}`;
}
