import { put16, put32 } from './bytes.ts';

export const RCODE = { noError: 0, serverFailure: 2, nameError: 3 } as const;
export type Rcode = (typeof RCODE)[keyof typeof RCODE];

const TYPE = { a: 1, cname: 5, soa: 6 } as const;
const CLASS_IN = 1;
const POINTER_TO_QUESTION = 0xc00c;

export interface DnsAnswer {
  readonly rcode: Rcode;
  /** From the name asked for towards the addresses; may be empty. */
  readonly cnames: readonly string[];
  /** 32-bit addresses. */
  readonly addresses: readonly number[];
  /** The zone whose start of authority a negative answer carries. */
  readonly authority?: string;
  readonly ttl: number;
}

/** Labels of a name as DNS carries them; labels too long for the wire are cut, as no resolver could ask them. */
export function encodeName(name: string): Uint8Array {
  const out: number[] = [];
  for (const label of name.split('.')) {
    const bytes = Buffer.from(label, 'utf8').subarray(0, 63);
    if (bytes.length === 0 || out.length + bytes.length > 250) continue;
    out.push(bytes.length, ...bytes);
  }
  out.push(0);
  return Uint8Array.from(out);
}

function question(name: string): Uint8Array {
  const encoded = encodeName(name);
  const bytes = new Uint8Array(encoded.length + 4);
  bytes.set(encoded);
  put16(bytes, encoded.length, TYPE.a);
  put16(bytes, encoded.length + 2, CLASS_IN);
  return bytes;
}

export function dnsQuery(id: number, name: string): Uint8Array {
  const asked = question(name);
  const message = new Uint8Array(12 + asked.length);
  put16(message, 0, id);
  put16(message, 2, 0x0100); // recursion desired
  put16(message, 4, 1);
  message.set(asked, 12);
  return message;
}

function record(owner: Uint8Array, type: number, ttl: number, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(owner.length + 10 + data.length);
  bytes.set(owner);
  put16(bytes, owner.length, type);
  put16(bytes, owner.length + 2, CLASS_IN);
  put32(bytes, owner.length + 4, ttl);
  put16(bytes, owner.length + 8, data.length);
  bytes.set(data, owner.length + 10);
  return bytes;
}

function startOfAuthority(zone: string): Uint8Array {
  const server = encodeName('azureprivatedns.net');
  const mailbox = encodeName('azureprivatedns-host.microsoft.com');
  const data = new Uint8Array(server.length + mailbox.length + 20);
  data.set(server);
  data.set(mailbox, server.length);
  const numbers = [1, 3600, 300, 2419200, 10];
  numbers.forEach((value, index) => {
    put32(data, server.length + mailbox.length + 4 * index, value);
  });
  return record(encodeName(zone), TYPE.soa, 10, data);
}

export function dnsResponse(id: number, name: string, answer: DnsAnswer): Uint8Array {
  const asked = question(name);
  const questionPointer = Uint8Array.of(POINTER_TO_QUESTION >> 8, POINTER_TO_QUESTION & 255);
  const answers: Uint8Array[] = [];
  let owner: Uint8Array = questionPointer;
  for (const cname of answer.cnames) {
    const target = encodeName(cname);
    answers.push(record(owner, TYPE.cname, answer.ttl, target));
    owner = target;
  }
  for (const address of answer.addresses) {
    const data = new Uint8Array(4);
    put32(data, 0, address);
    answers.push(record(owner, TYPE.a, answer.ttl, data));
  }
  const authority = answer.authority === undefined ? [] : [startOfAuthority(answer.authority)];
  const header = new Uint8Array(12);
  put16(header, 0, id);
  put16(header, 2, 0x8180 | answer.rcode); // response, recursion desired and available
  put16(header, 4, 1);
  put16(header, 6, answers.length);
  put16(header, 8, authority.length);
  return Buffer.concat([header, asked, ...answers, ...authority]);
}
