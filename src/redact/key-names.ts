import type { RedactionCategory } from './types.ts';

/**
 * What a name says about the value behind it.
 * - strong: the value is a secret unless it plainly is not one (a placeholder, `null`, prose).
 * - medium: the name is used for other things too, so a plain word is left alone.
 * - weak: only a value that looks random is a secret.
 */
export type Strength = 'strong' | 'medium' | 'weak';

export interface KeyMeaning {
  readonly strength: Strength;
  readonly category: RedactionCategory;
}

type Rule = readonly [ending: string, strength: Strength, category: RedactionCategory];

/** Endings that mean the same wherever the word before them ends (`PGPASSWORD`, `dbpassword`). */
const glued: readonly Rule[] = [
  ...(
    ['password', 'passwd', 'passphrase', 'passcode', 'passwort', 'kennwort', 'wachtwoord', 'senha'] as const
  ).map((word): Rule => [word, 'strong', 'password']),
  ['motdepasse', 'strong', 'password'],
  ['contrasena', 'strong', 'password'],
  ['storepass', 'strong', 'password'],
  ['requirepass', 'strong', 'password'],
  ['masterauth', 'strong', 'password'],
  ['psksecret', 'strong', 'password'],
  ['clientsecret', 'strong', 'generic_secret'],
  ['appsecret', 'strong', 'generic_secret'],
  ['consumersecret', 'strong', 'generic_secret'],
  ['sharedsecret', 'strong', 'generic_secret'],
  ['webhooksecret', 'strong', 'generic_secret'],
  ['apisecret', 'strong', 'api_key'],
  ['awssecretaccesskey', 'strong', 'aws_key'],
  ['secretaccesskey', 'strong', 'aws_key'],
  ['awssecretkey', 'strong', 'aws_key'],
  ['awssessiontoken', 'strong', 'aws_key'],
  ['xamzsecuritytoken', 'strong', 'aws_key'],
  ['xamzsignature', 'strong', 'aws_key'],
  ['xgoogsignature', 'strong', 'gcp_key'],
  ['secret', 'medium', 'generic_secret'],
  ['secrets', 'medium', 'generic_secret'],
  ['sharedaccesskey', 'strong', 'connection_string'],
  ['sharedaccesssignature', 'weak', 'sas_token'],
  ['accountkey', 'strong', 'storage_key'],
  ['storagekey', 'strong', 'storage_key'],
  ['storageaccesskey', 'strong', 'storage_key'],
  ['presharedkey', 'strong', 'generic_secret'],
  ['sharedkey', 'strong', 'generic_secret'],
  ['privatekey', 'medium', 'private_key'],
  ['privatekeydata', 'medium', 'private_key'],
  ['clientkeydata', 'strong', 'private_key'],
  ['clientkey', 'medium', 'private_key'],
  ['apikey', 'strong', 'api_key'],
  ['apitoken', 'strong', 'api_key'],
  ['appkey', 'medium', 'api_key'],
  ['functionkey', 'strong', 'api_key'],
  ['functionskey', 'strong', 'api_key'],
  ['hostkey', 'weak', 'api_key'],
  ['subscriptionkey', 'strong', 'api_key'],
  ['instrumentationkey', 'strong', 'api_key'],
  ['accesskey', 'strong', 'api_key'],
  ['secretkey', 'strong', 'api_key'],
  ['secretkeybase', 'strong', 'generic_secret'],
  ['masterkey', 'strong', 'storage_key'],
  ['readonlykey', 'weak', 'storage_key'],
  ['encryptionkey', 'medium', 'generic_secret'],
  ['encryptkey', 'medium', 'generic_secret'],
  ['signingkey', 'medium', 'generic_secret'],
  ['hmackey', 'medium', 'generic_secret'],
  ['primarykey', 'weak', 'storage_key'],
  ['secondarykey', 'weak', 'storage_key'],
  ['accesstoken', 'strong', 'bearer_token'],
  ['refreshtoken', 'strong', 'bearer_token'],
  ['authtoken', 'strong', 'bearer_token'],
  ['bearertoken', 'strong', 'bearer_token'],
  ['idtoken', 'strong', 'bearer_token'],
  ['sessiontoken', 'strong', 'bearer_token'],
  ['securitytoken', 'strong', 'bearer_token'],
  ['sastoken', 'weak', 'sas_token'],
  ['authkey', 'medium', 'api_key'],
  ['authorization', 'medium', 'bearer_token'],
  ['connectionstring', 'weak', 'connection_string'],
  ['sessionid', 'weak', 'generic_secret'],
  ['sessid', 'weak', 'generic_secret'],
  ['xsrftoken', 'weak', 'generic_secret'],
  ['csrftoken', 'weak', 'generic_secret'],
  ['wepkey', 'strong', 'password'],
  ['keymaterial', 'strong', 'private_key'],
  ['keystring', 'strong', 'generic_secret'],
];

/** Endings that count only as a word of their own (`db_pass`, not `bypass`). */
const whole: readonly Rule[] = [
  ['pass', 'strong', 'password'],
  ['pwd', 'strong', 'password'],
  ['pw', 'strong', 'password'],
  ['psk', 'strong', 'generic_secret'],
  ['token', 'medium', 'bearer_token'],
  ['tokens', 'weak', 'bearer_token'],
  ['key', 'weak', 'api_key'],
  ['keys', 'weak', 'api_key'],
  ['auth', 'weak', 'basic_auth_url'],
  ['credential', 'medium', 'generic_secret'],
  ['credentials', 'medium', 'generic_secret'],
  ['cred', 'medium', 'generic_secret'],
  ['creds', 'medium', 'generic_secret'],
  ['passwords', 'medium', 'password'],
  ['community', 'weak', 'password'],
  ['jwt', 'medium', 'jwt'],
  ['sas', 'weak', 'sas_token'],
  ['webhook', 'weak', 'generic_secret'],
];

/** Short glued forms in common use: `dbpass`, `userpwd`, `rootpw`. Longer words are English. */
const gluedShort: readonly Rule[] = [
  ['pwd', 'strong', 'password'],
  ['pass', 'strong', 'password'],
  ['token', 'medium', 'bearer_token'],
];
const english = /(?:by|com|encom|tres|sur|over|under|im)pass$|(?:old|^)pwd$/;

/** Names that end like a secret's but are not one: what kind of key or token it is, says the word before. */
const innocent =
  /(?:public|pub|partition|row|sort|cache|foreign|hash|map|socket|surrogate|idempotency|lookup|dedup|group|tag|object|s3|blob|translation|locale|i18n|index|unique|hot|short|arrow|next|continuation|continue|skip|page|sync|delta|cursor|change|resume)_?(?:key|keys|token)$/;

/** Qualifiers that may follow without changing what it is: `password2`, `SECRET_KEY_BASE`, `api_key_prod`. */
const qualifier =
  /_?(?:\d+|value|plain|plaintext|cleartext|text|raw|b64|base64|hash|hashed|enc|encrypted|old|new|prod|dev|staging|test|current|default|bytes|data)$/;

const compact = (name: string) => name.replaceAll('_', '');

/** Splits camelCase and separators into lower-case words joined by `_`. At most 128 characters come in. */
export function wordsOf(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .toLowerCase();
}

const byLength = (rules: readonly Rule[]) => [...rules].sort((a, b) => b[0].length - a[0].length);
const gluedRules = byLength(glued);
const wholeRules = new Map(whole.map((rule) => [rule[0], rule]));

/** What the name of a value says about it; undefined when it says nothing. */
export function keyMeaning(name: string): KeyMeaning | undefined {
  if (name.length > 128) return undefined;
  let words = wordsOf(name);
  for (let round = 0; round < 3; round++) {
    const found = meaningOf(words);
    if (found !== undefined) return found;
    const shorter = words.replace(qualifier, '');
    if (shorter === words || shorter === '') return undefined;
    words = shorter;
  }
  return undefined;
}

function meaningOf(words: string): KeyMeaning | undefined {
  if (innocent.test(words)) return undefined;
  const joined = compact(words);
  for (const [ending, strength, category] of gluedRules)
    if (joined.endsWith(ending)) return { strength, category };
  const last = words.slice(words.lastIndexOf('_') + 1);
  const exact = wholeRules.get(last);
  if (exact !== undefined) return { strength: exact[1], category: exact[2] };
  if (last.length <= 16 && !english.test(last))
    for (const [ending, strength, category] of gluedShort)
      if (last.endsWith(ending)) return { strength, category };
  return undefined;
}
