import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  contains,
  covers,
  formatIp,
  isAligned,
  maskOf,
  overlaps,
  parseIp,
  parsePrefix,
} from '../../../src/lab/network/ipv4.ts';

const address = fc.nat(0xffffffff);
const bits = fc.integer({ min: 0, max: 32 });
const prefix = fc
  .tuple(address, bits)
  .map(([base, length]) => ({ base: (base & maskOf(length)) >>> 0, bits: length }));

describe('IPv4', () => {
  it('parses what it prints', () => {
    fc.assert(fc.property(address, (ip) => parseIp(formatIp(ip)) === ip));
  });

  it.each(['1.2.3', '1.2.3.4.5', '256.1.1.1', '01.2.3.4', 'a.b.c.d', '1.2.3.4 ', '-1.2.3.4', ''])(
    'refuses %j',
    (text) => {
      expect(parseIp(text)).toBeUndefined();
    },
  );

  it.each(['10.0.0.0/33', '10.0.0.0/', '10.0.0.0/x', '/8', '10.0.0/8'])('refuses the prefix %j', (text) => {
    expect(parsePrefix(text)).toBeUndefined();
  });

  it('a prefix contains exactly the addresses that share its bits', () => {
    fc.assert(
      fc.property(
        prefix,
        address,
        (p, ip) => contains(p, ip) === (p.bits === 0 || ip >>> (32 - p.bits) === p.base >>> (32 - p.bits)),
      ),
    );
  });

  it('overlap is covering one way or the other', () => {
    fc.assert(fc.property(prefix, prefix, (a, b) => overlaps(a, b) === (covers(a, b) || covers(b, a))));
  });

  it('an aligned prefix has no bits beyond its length', () => {
    fc.assert(fc.property(prefix, (p) => isAligned(p)));
    expect(isAligned(parsePrefix('10.0.0.1/24')!)).toBe(false);
  });
});
