import { detectNamed, detectValue } from './assignments.ts';
import { detectCommand, PROGRAM_NAMES } from './commands.ts';
import { detectCrypt, detectLdapHash, detectPbkdf2, detectSam } from './hashes.ts';
import { detectAuthPair, detectBasic, detectBearer, detectCookies, detectSignature } from './headers.ts';
import { detectJwt } from './jwt.ts';
import {
  detectAccountId,
  detectAccountRow,
  detectKey256,
  detectKey512,
  detectMarkedKey,
  detectSubscription,
} from './keys.ts';
import { detectCode, detectJwk } from './objects.ts';
import { detectBareKey, detectEncodedPem, detectPemBegin, detectPemEnd, detectPutty } from './pem.ts';
import { placeholderEnd } from './placeholder.ts';
import {
  detectCommunity,
  detectDeviceKey,
  detectIdentifiedBy,
  detectImapLogin,
  detectPgpass,
  detectRedisAuth,
  detectSaslInitial,
  detectSaslPrompt,
  detectSecureString,
} from './protocols.ts';
import type { Anchor, Detector } from './scan.ts';
import { detectAadSecret, detectTelegram, VENDORS, vendorDetector, webhookDetector } from './tokens.ts';
import { detectEncodedUrl, detectOracle, detectProxy, detectUrl } from './urls.ts';

/** What is already redacted is stepped over, so its words are never read as names. */
const stepOverPlaceholder: Detector = (scan, start) => {
  const end = placeholderEnd(scan.text, start);
  if (end < 0) return false;
  scan.stepOver(end);
  return true;
};

const detectVaultId: Detector = (scan, _start, end) => {
  scan.named = {
    from: end,
    until: end + 700,
    meaning: { strength: 'strong', category: 'generic_secret' },
  };
  return false;
};

/** One character of every class that base64 has. */
const BASE64_CHARS = 'abcdefghijklmnopqrstuvwxyz0/';

const anchors = (detect: Detector, ...texts: readonly string[]): Anchor[] =>
  texts.map((text) => ({ shape: text.toLowerCase(), detect }));

/** Every string that makes the scanner stop and look, with the detector that looks. */
export const ANCHORS: readonly Anchor[] = [
  ...anchors(stepOverPlaceholder, '[REDACTED:'),
  ...anchors(detectPemBegin, '-----BEGIN '),
  ...anchors(detectPemEnd, '-----END '),
  ...anchors(detectEncodedPem, 'LS0tLS1CRUdJTi'),
  ...anchors(
    detectBareKey,
    'IBAAKCAQEA',
    'IBAAKCAgEA',
    'IBADANBgkqhkiG',
    'b3BlbnNzaC1rZXktdjE',
    'MHcCAQEE',
    'CAQAwBQYDK2Vw',
  ),
  ...anchors(detectPutty, 'Private-Lines'),
  ...VENDORS.map((v) => ({ shape: v.shape ?? v.prefix.toLowerCase(), detect: vendorDetector(v) })),
  { shape: ['0', 'q', '~'], detect: detectAadSecret },
  ...anchors(detectTelegram, ':AA'),
  ...anchors(
    webhookDetector('slack_token'),
    'hooks.slack.com/services/',
    'hooks.slack.com/workflows/',
    'hooks.slack.com/triggers/',
  ),
  ...anchors(
    webhookDetector('generic_secret'),
    'discord.com/api/webhooks/',
    'discordapp.com/api/webhooks/',
    'webhook.office.com/webhookb2/',
    'outlook.office.com/webhook/',
  ),
  ...anchors(detectJwt, 'eyJ'),
  ...anchors(detectUrl, '://'),
  ...anchors(detectEncodedUrl, '%3A%2F%2F'),
  ...anchors(detectOracle, 'oracle:thin:'),
  { shape: ['=', '=', ' :-_%/'], detect: detectKey512 },
  { shape: [BASE64_CHARS, '=', ' :-_%/'], detect: detectKey256 },
  ...anchors(
    detectMarkedKey,
    '+ASt',
    '+ASb',
    '+AEh',
    'ACDb',
    'AzCa',
    'AzSe',
    'AzFu',
    '+ACR',
    '+ABa',
    'APIM',
    'AIoT',
    'JQQJ99',
    'AZDO',
  ),
  ...anchors(detectSubscription, 'subscription', 'subscriptions/', 'subscriptionId', 'subscription_id'),
  ...anchors(detectAccountId, 'homeTenantId', 'cloudName'),
  ...anchors(detectAccountRow, 'AzureCloud', 'AzureUSGovernment', 'AzureChinaCloud'),
  ...anchors(detectJwk, 'kty'),
  ...anchors(detectCode, '?code=', '&code='),
  ...anchors(detectVaultId, '.vault.azure.net/secrets/'),
  ...anchors(
    detectCrypt,
    '$apr1$',
    '$1$',
    '$2a$',
    '$2b$',
    '$2y$',
    '$5$',
    '$6$',
    '$y$',
    '$7$',
    '$8$',
    '$9$',
    '$argon2',
    '$P$',
    '$S$',
    '$scrypt',
    'SCRAM-SHA-256$',
  ),
  ...anchors(detectLdapHash, '{SSHA}', '{SHA}', '{SSHA512}', '{SMD5}', '{CRYPT}'),
  ...anchors(detectPbkdf2, 'pbkdf2'),
  ...anchors(detectSam, ':::'),
  ...anchors(detectBearer, 'bearer'),
  ...anchors(detectBasic, 'basic'),
  ...anchors(detectCookies, 'cookie'),
  ...anchors(detectSignature, 'sig'),
  ...anchors(detectSaslInitial, 'auth'),
  ...anchors(detectSaslPrompt, '334 UGFzc3dvcmQ6'),
  ...anchors(detectImapLogin, 'LOGIN'),
  ...anchors(detectRedisAuth, 'AUTH'),
  ...anchors(detectAuthPair, 'auth'),
  ...anchors(detectCommunity, 'snmp-server community', 'rocommunity', 'rwcommunity'),
  ...anchors(
    detectDeviceKey,
    'isakmp key',
    'tacacs-server key',
    'radius-server key',
    'key-string',
    'pre-shared-key',
    'authentication-key',
  ),
  ...anchors(detectIdentifiedBy, 'identified by'),
  ...anchors(detectPgpass, ':5432:'),
  ...anchors(detectSecureString, 'ConvertTo-SecureString'),
  ...anchors(detectProxy, 'proxy'),
  { shape: [' ', 'p', 'w'], detect: (scan, start, end) => detectNamed(scan, start + 1, end) },
  ...PROGRAM_NAMES.map((name) => ({ shape: `${name} `, detect: detectCommand })),
  ...anchors(
    detectNamed,
    ...['pass', 'pwd', 'secret', 'token', 'key', 'cred', 'psk', 'kennwort', 'wachtwoord', 'senha', 'trase'],
    ...[
      'authorization',
      'masterauth',
      'connectionstring',
      'sess',
      'jwt',
      'webhook',
      'community',
      '_pw',
      '-pw',
      'dbpw',
      'rootpw',
      'signature',
    ],
  ),
  ...anchors(detectValue, 'value'),
];
