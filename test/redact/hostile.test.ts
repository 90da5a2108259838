import { describe, expect, it } from 'vitest';
import { redact } from '../../src/redact/index.ts';

/** Everything that could make a careless scanner read the same text again and again. */
const UNITS = [
  'a',
  '=',
  '\n',
  ' ',
  '\\',
  '-',
  '"',
  '{',
  'QUJD',
  'eyJ',
  'eyJ.',
  '://',
  '://a:',
  '://a:b@',
  '%3A%2F%2F',
  'password=',
  'password: ',
  'password="',
  'password=\\"',
  "pwd='",
  'pwd: a ',
  'key\u001b[31m',
  'secret ',
  'token is ',
  '-----BEGIN PRIVATE KEY-----\n',
  '-----END PRIVATE KEY-----\n',
  '-----BEGIN CERTIFICATE-----',
  'LS0tLS1CRUdJTi',
  'sk-',
  '-sk-',
  '/hf_',
  'ghp_',
  'AKIA',
  'SK0',
  'xoxb-',
  'abc8Q~',
  '12345678:AA',
  'AIza',
  'SG.',
  'bearer+',
  'Bearer ',
  'basic ',
  'auth=',
  'AUTH PLAIN ',
  'cookie: ',
  'cookie:a=b;',
  'Set-Cookie: a',
  'sig=',
  'sig%3d',
  'subscription',
  'cloudName',
  'curl ',
  'curl -u ',
  'mysql -p',
  '"name":"password" ',
  '"name":"password","value" ',
  '"keys":{',
  '"keys":["a",',
  '"kty"',
  '{"value":"a","name":"password"',
  '$6$',
  ':::',
  '{SSHA}',
  'pbkdf2$',
  '[REDACTED:password]',
  '[REDACTED:',
  '\nPASS a',
  'a1 LOGIN ',
  'PASSWORD\n--\n',
  'Password  \n',
  'пароль: ',
  '?code=',
  'proxy=a:',
  ':5432:',
  'login a password ',
  '<password ',
  'Authorization: Digest a=',
  '\u0000',
  '\ud800',
];

const SMALL = 40_000;
const LARGE = 10_000_000;

describe('hostile input', () => {
  it('[RED-07] takes time in proportion to its size, whatever it is made of', () => {
    const slow: string[] = [];
    for (const unit of UNITS) {
      const small = best(unit.repeat(Math.ceil(SMALL / unit.length)));
      const large = best(unit.repeat(Math.ceil((SMALL * 8) / unit.length)));
      // Eight times the text: a quadratic scanner needs 64 times as long. The floor absorbs noise.
      if (large > 30 && large > small * 40) slow.push(`${JSON.stringify(unit)} ${small} → ${large} ms`);
    }
    expect(slow).toEqual([]);
  }, 60_000);

  it('[RED-07] reads ten megabytes of the worst of it within seconds', () => {
    for (const unit of [
      'password: ',
      'pwd: a ',
      'cookie:a=b;',
      'eyJ.',
      '-----BEGIN PRIVATE KEY-----\n',
      '://a:',
      '"keys":{',
    ]) {
      expect(timed(unit.repeat(Math.ceil(LARGE / unit.length))), unit).toBeLessThan(25_000);
    }
  }, 120_000);
});

function best(text: string): number {
  return Math.min(timed(text), timed(text));
}

/** Processor time, so that a busy machine does not count against the scanner. */
function timed(text: string): number {
  const before = process.cpuUsage();
  redact(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
