/** dig, nslookup, host, and getent: one question, four ways to print the answer. */
import { resolve } from '../network/dns.ts';
import { parseIp } from '../network/ipv4.ts';
import { PLATFORM_IP } from '../network/service-tags.ts';
import type { Resolution } from '../network/types.ts';
import { fail, out, type ToolContext, type ToolResult } from './context.ts';

const TYPES = new Set(['A', 'AAAA', 'CNAME', 'MX', 'NS', 'PTR', 'SOA', 'SRV', 'TXT', 'ANY']);

function reverseName(ip: string): string {
  return `${ip.split('.').reverse().join('.')}.in-addr.arpa`;
}

/** A server given by name is looked up first, as the tools do. */
function serverAddress(ctx: ToolContext, server: string | undefined): string | undefined {
  if (server === undefined || parseIp(server) !== undefined) return server;
  return resolve(ctx.world, ctx.origin, server).address ?? server;
}

export function dig(argv: readonly string[], ctx: ToolContext): ToolResult {
  let name = '.';
  let type = 'A';
  let server: string | undefined;
  const plus = new Set<string>();
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i]!;
    if (word.startsWith('@')) server = word.slice(1);
    else if (word.startsWith('+')) plus.add(word.slice(1).split('=')[0]!);
    else if (word === '-x') [name, type] = [reverseName(argv[++i] ?? ''), 'PTR'];
    else if (word === '-t') type = (argv[++i] ?? 'A').toUpperCase();
    else if (word === '-p' || word === '-b' || word === '-c') i++;
    else if (word.startsWith('-')) continue;
    else if (TYPES.has(word.toUpperCase())) type = word.toUpperCase();
    else if (word.toUpperCase() !== 'IN') name = word;
  }
  const found = resolve(ctx.world, ctx.origin, name, type, serverAddress(ctx, server));
  const banner = `\n; <<>> DiG 9.18.28-1-Ubuntu <<>> ${argv.join(' ')}\n`;
  if (found.status === 'TIMEOUT') {
    const complaint = `;; communications error to ${found.server}#53: timed out\n`;
    return out(
      `${plus.has('short') ? '' : banner}${complaint.repeat(3)}${plus.has('short') ? '' : '\n'};; no servers could be reached\n`,
      9,
    );
  }
  if (plus.has('short')) return out(found.answers.map((a) => `${a.value}\n`).join(''));
  const answer = found.answers
    .map((a) => `${column(`${a.name}.`)}${a.ttl}\tIN\t${a.type}\t${a.value}\n`)
    .join('');
  if (plus.has('noall')) return out(plus.has('answer') ? answer : '');
  return out(`${banner}${message(found, answer, ctx)}`);
}

function message(found: Resolution, answer: string, ctx: ToolContext): string {
  const authority = found.answers.length === 0 ? `;; AUTHORITY SECTION:\n${soa(found)}\n` : '';
  const id = Math.floor(ctx.random() * 65_536);
  return [
    ';; global options: +cmd\n;; Got answer:\n',
    `;; ->>HEADER<<- opcode: QUERY, status: ${found.status}, id: ${id}\n`,
    `;; flags: qr rd ra; QUERY: 1, ANSWER: ${found.answers.length}, AUTHORITY: ${authority === '' ? 0 : 1}, ADDITIONAL: 1\n\n`,
    ';; OPT PSEUDOSECTION:\n; EDNS: version: 0, flags:; udp: 1232\n',
    `;; QUESTION SECTION:\n${column(`;${found.name}.`)}\tIN\t${found.type}\n\n`,
    answer === '' ? '' : `;; ANSWER SECTION:\n${answer}\n`,
    authority,
    `;; Query time: ${1 + Math.floor(ctx.random() * (found.server === PLATFORM_IP ? 3 : 25))} msec\n`,
    `;; SERVER: ${found.server}#53(${found.server}) (UDP)\n`,
    `;; WHEN: ${when(ctx.now)}\n;; MSG SIZE  rcvd: ${60 + found.answers.length * 16}\n\n`,
  ].join('');
}

function soa(found: Resolution): string {
  if (found.zone !== null)
    return `${column(`${found.zone}.`)}10\tIN\tSOA\tazureprivatedns.net. azureprivatedns-host.microsoft.com. 1 3600 300 2419200 10\n`;
  return `${column('.')}86400\tIN\tSOA\ta.root-servers.net. nstld.verisign-grs.com. 2026011500 1800 900 604800 86400\n`;
}

function column(text: string): string {
  return text.length < 24 ? `${text}${'\t'.repeat(3 - Math.floor(text.length / 8))}` : `${text}\t`;
}

function when(ms: number): string {
  const [day, date, month, year, time] = new Date(ms).toUTCString().replace(',', '').split(' ');
  return `${day} ${month} ${date} ${time} UTC ${year}`;
}

export function nslookup(argv: readonly string[], ctx: ToolContext): ToolResult {
  const words = argv.filter((w) => !w.startsWith('-'));
  const wanted = argv.find((w) => /^-(query)?type=|^-q=/.test(w))?.split('=')[1];
  const name = words[0];
  if (name === undefined) return fail('nslookup: give a host to look up\n', 1);
  const isAddress = parseIp(name) !== undefined;
  const type = wanted?.toUpperCase() ?? (isAddress ? 'PTR' : 'A');
  const found = resolve(
    ctx.world,
    ctx.origin,
    isAddress ? reverseName(name) : name,
    type,
    serverAddress(ctx, words[1]),
  );
  const head = `Server:\t\t${found.server}\nAddress:\t${found.server}#53\n\n`;
  if (found.status === 'TIMEOUT')
    return out(
      `;; communications error to ${found.server}#53: timed out\n`.repeat(3) +
        ';; no servers could be reached\n\n',
      1,
    );
  if (found.status !== 'NOERROR')
    return out(`${head}** server can't find ${found.name}: ${found.status}\n\n`, 1);
  if (found.answers.length === 0) return out(`${head}*** Can't find ${found.name}: No answer\n\n`, 1);
  const lines = found.answers.map((a) => {
    if (a.type === 'CNAME') return `${a.name}\tcanonical name = ${a.value}\n`;
    if (a.type === 'PTR') return `${a.name}\tname = ${a.value}\n`;
    if (a.type === 'A' || a.type === 'AAAA') return `Name:\t${a.name}\nAddress: ${a.value}\n`;
    return `${a.name}\t${a.type.toLowerCase()} = ${a.value}\n`;
  });
  return out(`${head}Non-authoritative answer:\n${lines.join('')}\n`);
}

export function host(argv: readonly string[], ctx: ToolContext): ToolResult {
  const rest: string[] = [];
  let type: string | undefined;
  for (let i = 0; i < argv.length; i++) {
    if (argv[i] === '-t') type = argv[++i]?.toUpperCase();
    else if (argv[i] === '-W' || argv[i] === '-R') i++;
    else if (!argv[i]!.startsWith('-')) rest.push(argv[i]!);
  }
  const name = rest[0];
  if (name === undefined) return fail('Usage: host [-t type] name [server]\n', 1);
  const isAddress = parseIp(name) !== undefined;
  const asked = isAddress ? reverseName(name) : name;
  const found = resolve(
    ctx.world,
    ctx.origin,
    asked,
    type ?? (isAddress ? 'PTR' : 'A'),
    serverAddress(ctx, rest[1]),
  );
  if (found.status === 'TIMEOUT')
    return out(
      `;; communications error to ${found.server}#53: timed out\n;; no servers could be reached\n`,
      1,
    );
  if (found.status !== 'NOERROR') return out(`Host ${asked} not found: 3(${found.status})\n`, 1);
  if (found.answers.length === 0) return out(`${asked} has no ${found.type} record\n`);
  return out(found.answers.map((a) => `${a.name} ${phrase(a.type)} ${a.value}\n`).join(''));
}

function phrase(type: string): string {
  switch (type) {
    case 'A':
      return 'has address';
    case 'CNAME':
      return 'is an alias for';
    case 'PTR':
      return 'domain name pointer';
    default:
      return `has ${type} record`;
  }
}
