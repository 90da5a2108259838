import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileDomains, isMetadataAddress, privateReason } from '../../src/policy/index.ts';
import { domainMistake } from '../../src/policy/urls.ts';

const rules = (lists: Partial<Parameters<typeof compileDomains>[0]> = {}) =>
  compileDomains({ allow_domains: ['api.example.com'], deny_domains: [], deny_private_ips: true, ...lists });
const url = (text: string, lists: Parameters<typeof rules>[0] = {}) => rules(lists).url(new URL(text));

describe('addresses', () => {
  it('[POL-12] everything that is not plainly public is private', () => {
    const closed = [
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '127.0.0.1',
      '127.255.0.1',
      '169.254.169.254',
      '169.254.170.2',
      '0.0.0.0',
      '0.1.2.3',
      '100.64.0.1',
      '100.100.100.200',
      '192.0.0.192',
      '192.0.2.1',
      '198.18.0.1',
      '203.0.113.9',
      '224.0.0.1',
      '239.1.1.1',
      '240.0.0.1',
      '255.255.255.255',
      '168.63.129.16',
      '192.88.99.1',
      '::',
      '::1',
      'fc00::1',
      'fd00:ec2::254',
      'fe80::1',
      'fe80::1%eth0',
      'fec0::1',
      'ff02::1',
      '2001:db8::1',
      '::ffff:127.0.0.1',
      '::ffff:10.0.0.1',
      '::127.0.0.1',
      '64:ff9b::a9fe:a9fe',
      '64:ff9b:1::1',
      '2002:a9fe:a9fe::',
      '2002:7f00:1::',
      '2001:0:4136:e378:8000:63bf:3fff:fdd2',
      '::ffff:0:127.0.0.1',
      'fe80::5efe:127.0.0.1',
      '2001:470::5efe:192.168.1.1',
      // What is inside is public, what is around it is not.
      'fe80::5efe:8.8.8.8',
      'fd00::5efe:808:808',
      'fc00::200:5efe:808:808',
      '::808:808',
      '::ffff:0:808:808',
      '100::1',
      '3fff::1',
      '5f00::1',
      '4000::1',
    ];
    for (const address of closed) expect(privateReason(address), address).toBeTypeOf('string');
    for (const address of [
      '8.8.8.8',
      '1.1.1.1',
      '2606:4700:4700::1111',
      '2a00:1450:4001::200e',
      '64:ff9b::808:808',
      '2002:808:808::1',
      '::ffff:8.8.8.8',
      '2a00:1450::5efe:808:808',
    ])
      expect(privateReason(address), address).toBeUndefined();
    for (const text of ['example.com', '', 'localhost', 'not an ip'])
      expect(privateReason(text), text).toBeUndefined();
  });

  it('property: IPv4 in any spelling a URL takes is judged like the plain one', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 0xffffffff }),
        fc.constantFrom('dec', 'hex', 'oct', 'short', 'mapped'),
        (n, how) => {
          const bytes = [n >>> 24, (n >>> 16) & 255, (n >>> 8) & 255, n & 255];
          const host = {
            dec: String(n),
            hex: `0x${n.toString(16)}`,
            oct: bytes.map((b) => `0${b.toString(8)}`).join('.'),
            short: `${bytes[0]}.${n & 0xffffff}`,
            mapped: `[::ffff:${bytes.join('.')}]`,
          }[how];
          const parsed = new URL(`http://${host}/`).hostname;
          const plain = privateReason(bytes.join('.'));
          expect(privateReason(parsed) === undefined).toBe(plain === undefined);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('[POL-13] only listed domains; *. covers sub-domains and the apex', () => {
    expect(url('https://api.example.com/x?y=1')).toBeUndefined();
    expect(url('https://API.Example.COM./x')).toBeUndefined();
    expect(url('https://api.example.com:8443/x')).toBeUndefined();
    for (const bad of [
      'https://evil.com/',
      'https://api.example.com.evil.com/',
      'https://xapi.example.com/',
      'https://api.example.com@evil.com/',
      'https://example.com/',
    ])
      expect(url(bad), bad).toMatchObject({ rule: 'allow_domains' });
    const star = { allow_domains: ['*.github.com'] };
    for (const good of ['https://github.com/', 'https://api.github.com/', 'https://a.b.github.com/'])
      expect(url(good, star)).toBeUndefined();
    for (const bad of ['https://github.org/', 'https://notgithub.com/', 'https://github.com.evil.org/'])
      expect(url(bad, star)).toBeDefined();
    expect(url('https://api.example.com/', { allow_domains: [] })).toMatchObject({ rule: 'allow_domains' });
    expect(url('https://api.example.com:444/', { allow_domains: ['api.example.com:443'] })).toBeDefined();
    expect(url('https://xn--bcher-kva.example/', { allow_domains: ['bücher.example'] })).toBeUndefined();
    expect(
      url('https://sub.example.com/', {
        allow_domains: ['*.example.com'],
        deny_domains: ['sub.example.com'],
      }),
    ).toMatchObject({ rule: 'deny_domains' });
  });

  it('[POL-13] an IPv6 address can be listed, with or without brackets and port; what is no domain is refused', () => {
    const open = { deny_private_ips: false };
    for (const listed of ['[::1]', '::1', '[::1]:8080', '[0:0::0:1]', '127.0.0.1', '0x7f.1', '*'])
      expect(domainMistake(listed), listed).toBeUndefined();
    for (const listed of ['[::1]', '::1', '[::1]:8080', '[0:0::0:1]'])
      expect(url('http://[::1]:8080/', { ...open, allow_domains: [listed] }), listed).toBeUndefined();
    expect(url('http://[::1]:8080/', { ...open, allow_domains: ['[::1]:80'] })).toBeDefined();
    expect(url('http://[::2]:8080/', { ...open, allow_domains: ['[::1]'] })).toBeDefined();
    for (const bad of [
      'user@example.com',
      'example.com?x',
      'example.com#x',
      'example.com/x',
      'a b.com',
      'example.com:0',
      'example.com:65536',
      'example.com:0443',
      'example.com:',
      'example.com:http',
      '*.',
      '*.*.com',
      '*.127.0.0.1',
      '*.[::1]',
      '[::1',
      'fe80::1%eth0',
      '',
      ' ',
      'exa\nmple.com',
      '*.evil.com\\.example.com',
    ])
      expect(domainMistake(bad), bad).toBeTypeOf('string');
  });

  it('[POL-14] the scheme is decided by the policy: http and https only', () => {
    for (const bad of [
      'ftp://api.example.com/',
      'file:///etc/passwd',
      'file://api.example.com/x',
      'data:text/plain,x',
      'gopher://api.example.com',
      'javascript:1',
    ])
      expect(url(bad), bad).toMatchObject({ verdict: 'deny', rule: 'scheme' });
  });

  it('[POL-15] a private literal or local name is denied even when it is listed', () => {
    for (const host of [
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '0177.0.0.1',
      '[::1]',
      '[::ffff:7f00:1]',
      '169.254.169.254',
      '10.1.2.3',
      'localhost',
      'x.localhost',
      'printer.local',
      'metadata.google.internal',
    ])
      expect(
        url(`http://${host}/`, { allow_domains: [host.replace('0x7f.1', '127.0.0.1')] }),
        host,
      ).toMatchObject({ rule: 'deny_private_ips' });
  });

  it('[POL-16] a resolved address is judged, and metadata stays closed when private addresses are open', () => {
    expect(rules().address('192.168.1.1', 'api.example.com')).toMatchObject({ rule: 'deny_private_ips' });
    expect(rules().address('8.8.8.8', 'api.example.com')).toBeUndefined();
    expect(rules().address('not an address', 'api.example.com')).toMatchObject({ verdict: 'deny' });
    const open = { deny_private_ips: false };
    expect(rules(open).address('192.168.1.1', 'api.example.com')).toBeUndefined();
    expect(rules(open).address('169.254.169.254', 'api.example.com')).toMatchObject({ verdict: 'deny' });
    expect(rules(open).address('::ffff:169.254.169.254', 'api.example.com')).toMatchObject({
      verdict: 'deny',
    });
    expect(
      rules({ ...open, allow_domains: ['169.254.169.254'] }).address('169.254.169.254', '169.254.169.254'),
    ).toBeUndefined();
    expect(isMetadataAddress('100.100.100.200')).toBe(true);
  });
});
