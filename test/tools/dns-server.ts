import { createSocket, type Socket } from 'node:dgram';

/** A DNS server on loopback that answers what a test tells it, and counts who asks. */
export interface DnsServer {
  readonly address: string;
  readonly questions: string[];
  close(): void;
}

/** `answer` gives the IPv4 addresses of a name for the n-th question about it; undefined is NXDOMAIN. */
export async function dnsServer(
  answer: (name: string, n: number) => readonly string[] | undefined,
  port = 0,
): Promise<DnsServer> {
  const socket: Socket = createSocket('udp4');
  const questions: string[] = [];
  const asked = new Map<string, number>();
  socket.on('message', (query, from) => {
    const { name, type, end } = question(query);
    // Only A questions count: the resolver asks for AAAA at the same time.
    const isA = type === 1;
    const n = (asked.get(name) ?? 0) + (isA ? 1 : 0);
    if (isA) asked.set(name, n);
    if (isA) questions.push(name);
    const addresses = answer(name, Math.max(1, n));
    const records = isA ? (addresses ?? []) : [];
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (addresses === undefined ? 3 : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    const body = records.map((address) =>
      Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
    );
    socket.send(Buffer.concat([header, query.subarray(12, end), ...body]), from.port, from.address);
  });
  await new Promise<void>((ready) => socket.bind(port, '127.0.0.1', ready));
  return { address: `127.0.0.1:${socket.address().port}`, questions, close: () => socket.close() };
}

function question(query: Buffer): { readonly name: string; readonly type: number; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}
