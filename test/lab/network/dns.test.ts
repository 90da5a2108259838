import { describe, expect, it } from 'vitest';
import { resolve } from '../../../src/lab/network/dns.ts';
import type { Origin } from '../../../src/lab/network/types.ts';
import type { World } from '../../../src/lab/world/types.ts';
import { world } from '../small.ts';

const at = (local = '{ vpn: false, dns: [8.8.8.8] }') =>
  world(`
vnets:
  - { name: a, group: rg, prefixes: [10.0.0.0/16], subnets: [{ name: s, prefix: 10.0.1.0/24 }] }
  - { name: b, group: rg, prefixes: [10.1.0.0/16], subnets: [{ name: s, prefix: 10.1.1.0/24 }] }
vms:
  - { name: x, group: rg, subnet: a/s, ip: 10.0.1.4 }
  - { name: y, group: rg, subnet: b/s, ip: 10.1.1.4 }
  - { name: ns, group: rg, subnet: a/s, ip: 10.0.1.53, listens: [{ port: 53, protocol: udp }] }
private_dns:
  - zone: corp.internal
    group: rg
    links: [a]
    records:
      - { name: db, type: A, value: 10.0.1.9 }
      - { name: www, type: CNAME, value: db.corp.internal }
      - { name: "*.apps", type: A, value: 10.0.1.10 }
      - { name: note, type: TXT, value: hello }
      - { name: loop, type: CNAME, value: loop.corp.internal }
  - { zone: privatelink.blob.core.windows.net, group: rg, links: [a], records: [{ name: acct, type: A, value: 10.0.1.77 }] }
public_dns: [{ zone: example.org, group: rg, records: [{ name: "@", type: A, value: 203.0.113.5 }] }]
storage: [{ name: acct, group: rg }, { name: open, group: rg }]
local: ${local}`);

const vm = (name: string): Origin => ({ kind: 'vm', name });
const ask = (w: World, from: Origin, name: string, type?: string) => resolve(w, from, name, type);

describe('DNS', () => {
  const w = at();

  it('[LAB-13] a linked zone answers, aliases and wildcards too', () => {
    expect(ask(w, vm('x'), 'db.corp.internal')).toMatchObject({
      status: 'NOERROR',
      address: '10.0.1.9',
      zone: 'corp.internal',
      server: '168.63.129.16',
    });
    expect(ask(w, vm('x'), 'DB.corp.internal.').address).toBe('10.0.1.9');
    expect(ask(w, vm('x'), 'www.corp.internal').answers.map((a) => a.type)).toEqual(['CNAME', 'A']);
    expect(ask(w, vm('x'), 'one.apps.corp.internal').address).toBe('10.0.1.10');
  });

  it('[LAB-13] what a linked zone lacks does not exist; a name of another type has no address', () => {
    expect(ask(w, vm('x'), 'cache.corp.internal')).toMatchObject({
      status: 'NXDOMAIN',
      zone: 'corp.internal',
      address: null,
    });
    expect(ask(w, vm('x'), 'note.corp.internal')).toMatchObject({ status: 'NOERROR', answers: [] });
    expect(ask(w, vm('x'), 'loop.corp.internal').status).toBe('SERVFAIL');
  });

  it('[LAB-13] a VNet without the link gets public DNS, which knows no private name', () => {
    expect(ask(w, vm('y'), 'db.corp.internal')).toMatchObject({ status: 'NXDOMAIN', zone: null });
  });

  it('names of VMs resolve inside their own VNet only, and back', () => {
    expect(ask(w, vm('x'), 'ns').address).toBe('10.0.1.53');
    expect(ask(w, vm('y'), 'ns').status).toBe('NXDOMAIN');
    expect(ask(w, vm('x'), '53.1.0.10.in-addr.arpa', 'PTR').answers[0]!.value).toMatch(/^ns\./);
  });

  it('storage accounts resolve; one with a private endpoint to it, where the zone is linked', () => {
    expect(ask(w, vm('x'), 'open.blob.core.windows.net').address).toMatch(/^20\.150\./);
    expect(ask(w, vm('x'), 'acct.blob.core.windows.net').address).toBe('10.0.1.77');
    expect(ask(w, vm('y'), 'acct.blob.core.windows.net').address).toMatch(/^20\.150\./);
    expect(ask(w, vm('y'), 'nobody.blob.core.windows.net').status).toBe('NXDOMAIN');
  });

  it('public names resolve everywhere, always to the same address', () => {
    expect(ask(w, vm('x'), 'www.debian.org').address).toBe(
      ask(w, { kind: 'local' }, 'www.debian.org').address,
    );
    expect(ask(w, { kind: 'local' }, 'example.org').address).toBe('203.0.113.5');
  });

  it('[LAB-20] the engineer’s machine: public DNS without VPN, the listed servers with it', () => {
    expect(ask(w, { kind: 'local' }, 'db.corp.internal')).toMatchObject({
      status: 'NXDOMAIN',
      server: '8.8.8.8',
    });
    expect(ask(at('{ vpn: true, dns: [8.8.8.8] }'), { kind: 'local' }, 'db.corp.internal').status).toBe(
      'NXDOMAIN',
    );
    expect(ask(at('{ vpn: true, dns: [10.0.1.53] }'), { kind: 'local' }, 'db.corp.internal').address).toBe(
      '10.0.1.9',
    );
    expect(
      ask(at('{ vpn: false, dns: [10.0.1.53] }'), { kind: 'local' }, 'db.corp.internal').address,
    ).toBeNull();
  });

  it('a resolver that is down does not answer', () => {
    const down = at('{ vpn: true, dns: [10.0.1.53] }');
    const dead = {
      ...down,
      vms: down.vms.map((v) => (v.name === 'ns' ? { ...v, power: 'stopped' as const } : v)),
    };
    expect(ask(dead, { kind: 'local' }, 'db.corp.internal').status).toBe('TIMEOUT');
  });
});
