/**
 * Display filters, in the language every analyser of captures understands. A predicate is `FILTER => STATEMENT`:
 * run the filter over the capture, and the finding's frames are among what it shows.
 */
export const predicate = (filter: string, statement: string) => `${filter} => ${statement}`;

const family = (address: string) => (address.includes(':') ? 'ipv6' : 'ip');
export const host = (address: string) => `${family(address)}.addr == ${address}`;
export const from = (address: string) => `${family(address)}.src == ${address}`;
export const to = (address: string) => `${family(address)}.dst == ${address}`;
export const service = (s: { readonly address: string; readonly port: number }) =>
  `${host(s.address)} && tcp.port == ${s.port}`;

/** Text from packets as a string of the filter language. */
export const quoted = (text: string) => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

export const SYN = 'tcp.flags.syn == 1 && tcp.flags.ack == 0';
