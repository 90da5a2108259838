import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readComplaint } from '../../../src/ghost/brains/playbook/complaint.ts';
import { readSymptom } from '../../../src/ghost/brains/playbook/symptom.ts';
import { inventoryOf } from './inventory-of.ts';

const inventory = inventoryOf(
  'web-01 front 10.1.1.4',
  'web-02 front 10.1.1.5',
  'api-01 back 10.1.2.4',
  'api-02 back 10.1.2.5',
  'db-01 data 10.1.3.4',
  'mon-01 watch 10.1.4.4',
  'fw-01 edge 10.1.9.4 !',
);
const accounts = ['shopblobs01', 'shopblobs02'];

const read = (text: string) => readComplaint(readSymptom(text), inventory, accounts);
const told = (text: string) =>
  read(text).conversations.map((c) => `${c.client?.name ?? '?'} → ${c.server.name} ${c.port ?? 'icmp'}`);

const SENTENCES: readonly (readonly [string, readonly string[]])[] = [
  ['web-01 (10.1.1.4) cannot reach api-01 (10.1.2.4) on 8080.', ['web-01 → api-01 8080']],
  ['web-01 times out on api-01 (10.1.2.4) 8080.', ['web-01 → api-01 8080']],
  ['From web-01 to api-01 port 8080 nothing happens.', ['web-01 → api-01 8080']],
  [
    'web-01 and web-02 cannot reach api-01 (10.1.2.4:8080).',
    ['web-01 → api-01 8080', 'web-02 → api-01 8080'],
  ],
  [
    'web-01 reaches neither api-01 nor api-02 on port 8080.',
    ['web-01 → api-01 8080', 'web-01 → api-02 8080'],
  ],
  ['web-01 is told "connection refused" by api-01 when it delivers on port 6500.', ['web-01 → api-01 6500']],
  ['db-01 (port 514) receives nothing from web-01.', ['web-01 → db-01 514']],
  ['web-01 reaches api-01 on 443, but not on 8554.', ['web-01 → api-01 8554']],
  ['web-01 pulls its data from api-01 (10.1.2.4:8000) and it comes late.', ['web-01 → api-01 8000']],
  ['web-01 cannot open api-01:8080, but web-02 does, all is fine there.', ['web-01 → api-01 8080']],
  ['web-01 cannot reach db-01 on 5432 through fw-01. fw-01 is up, we can ping it.', ['web-01 → db-01 5432']],
  [
    'mon-01 gets no reply to its pings of db-01. People use db-01 on 443 without trouble.',
    ['mon-01 → db-01 icmp'],
  ],
  ['Machines in subnet front cannot open api-01 on 8080.', ['web-01 → api-01 8080']],
];

describe('a complaint is read as conversations', () => {
  it.each(SENTENCES)('[PLAY-01] %s', (text, conversations) => {
    expect(told(text)).toEqual(conversations);
  });

  it('[PLAY-01] whoever is said to be fine is a control, not a party', () => {
    const { controls } = read('web-01 cannot reach api-01 on 8080. api-02 works without a single error.');
    expect(controls.map((vm) => vm.name)).toEqual(['api-02']);
  });

  it('[PLAY-01] host names and accounts have those who ask for them', () => {
    const host = read('web-01 cannot resolve pay.shop.internal, NXDOMAIN.').hosts;
    expect(host.map((h) => [h.name, h.clients.map((vm) => vm.name)])).toEqual([
      ['pay.shop.internal', ['web-01']],
    ]);
    const account = read('web-01 can write to shopblobs01 but gets 403 from shopblobs02.').storageAccounts;
    expect(account.map((a) => [a.name, a.clients.map((vm) => vm.name)])).toEqual([
      ['shopblobs02', ['web-01']],
    ]);
  });

  it('[PLAY-01] what is seen from a laptop has no client in the network', () => {
    expect(told('From my laptop ping 10.1.2.4 gets nothing and https://10.1.2.4 times out on 443.')).toEqual([
      '? → api-01 443',
    ]);
  });

  it('[PLAY-01] no text makes it throw, or invent a machine', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(fc.string(), fc.constantFrom('web-01', 'api-01', 'to', 'on 80', '.', '(', 'cannot')),
        ),
        (parts) => {
          const { conversations } = read(parts.join(' '));
          for (const c of conversations) expect(inventory.vms).toContain(c.server);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('a symptom is read', () => {
  it.each([
    ['reachable on tcp/8080 and port 443', [8080, 443]],
    ['api-01 (10.1.2.4:9000) is slow, 250 ms', [9000]],
    ['it waits on 30 ms and 5 MB', []],
    ['the page at https://10.1.2.4 hangs', [443]],
    ['port would be 8443', [8443]],
  ] as const)('[PLAY-02] ports of "%s"', (text, ports) => {
    expect(readSymptom(text).ports).toEqual(ports);
  });

  it('[PLAY-02] exposure is a question of too much access, and a scanner is a machine', () => {
    expect(readSymptom('The external scan reports 5432 open from anywhere').exposure).toBe(true);
    expect(readSymptom('Why do we get login attempts from half the world?').exposure).toBe(true);
    expect(readSymptom('The new scanner pool does not upload letters').exposure).toBe(false);
  });
});
