import { createServer } from 'node:http';
import { dnsServer } from './dns-server.ts';
import { workbench } from './road.ts';

/** Runs inside a network namespace whose loopback has a public-looking address. Prints what happened as JSON. */
let secretHits = 0;
const secret = createServer((_q, r) => {
  secretHits++;
  r.end('secret');
});
const open = createServer((q, r) =>
  q.url === '/go' ? r.writeHead(302, { location: 'http://twice.test:8080/' }).end() : r.end('public'),
);
await new Promise<void>((ready) => secret.listen(8080, '127.0.0.1', ready));
await new Promise<void>((ready) => open.listen(8080, '93.184.216.34', ready));
const dns = await dnsServer((name, n) => {
  const flips = ['127.0.0.1'];
  if (name === 'flip.test') return n === 1 ? ['93.184.216.34'] : flips;
  if (name === 'mixed.test') return ['93.184.216.34', '127.0.0.1'];
  // The first question comes from the call itself, the second from the redirect to the same name.
  if (name === 'twice.test') return n === 1 ? ['93.184.216.34'] : flips;
  return undefined;
});
const bench = workbench();
const get = (url: string) =>
  bench.call(
    'tools: { http.get: { allow_domains: ["*.test"] } }',
    'http.get',
    { url },
    { dnsServers: [dns.address] },
  );
const first = await get('http://flip.test:8080/');
const questions = dns.questions.filter((name) => name === 'flip.test').length;
const flipped = await get('http://flip.test:8080/');
const mixed = await get('http://mixed.test:8080/');
const redirected = await get('http://twice.test:8080/go');
console.log(JSON.stringify({ public: first, flipped, mixed, redirected, secretHits, questions }));
bench.remove();
dns.close();
secret.close();
open.close();
