import type { Strength } from './key-names.ts';
import { placeholderEnd } from './placeholder.ts';

/** Words that stand where a secret would: states, types, defaults. */
const NOT_SECRET = new Set(
  `null none nil undefined void empty unset blank true false yes no on off enabled disabled required optional
  mandatory missing present absent expired invalid valid incorrect wrong unknown unavailable unsupported
  redacted hidden masked removed omitted encrypted protected secret password passwd token key string str text
  int integer number boolean bool bytes object array any never prompt ask inherit default auto automatic manual
  generated basic bearer digest negotiate ntlm kerberos oauth oauth2 saml ldap md5 sha1 sha256 sha512 bcrypt
  plain login ok failed failure success successful error denied accepted rejected changed unchanged reset set
  not n/a na tbd todo example sample placeholder your type file env vault keyring secretref interactive stdin value
  new await async function typeof this self return class sensitive known pass pwd user username char varchar nvarchar text secretstring securestring nonnull nullable full read write rw ro`.split(
    /\s+/,
  ),
);

const FUNCTION_WORDS = new Set(
  `a an the is are was were be been has have had must should can cannot could may might will would shall do does
  did not no and or but if for from to of in on at by with without as than then that this these those it its
  your you we our their please minimum maximum at-least characters days policy expires expired expiry length
  changed reset required incorrect invalid last login when where which who enter re-enter new old`.split(
    /\s+/,
  ),
);

const COMPLAINTS = new Set(
  `must should cannot required invalid incorrect missing expired characters minimum maximum least field please
  enter provide provided supplied given empty blank match matches mismatch failed denied unknown set not`.split(
    /\s+/,
  ),
);

/** Roots of expressions in code and templates: what follows names a value, it is not one. */
const REFERENCE =
  /^!?(?:\$(?:\{|\(|\w+$|[@*#?]$)|%\w+%$|%\(\w+\)|\{\{|\{%|<[^>]*>?$|@[\w.]+\(|@\{|!(?:Ref|Sub|GetAtt|ImportValue|Join|vault|secret|env|reference)\b|#\{|env[:.]|var\.|vars\.|local\.|data\.|module\.|secrets\.|self\.|this\.|process\.env|os\.(?:environ|getenv)|config[.[]|settings[.[]|options[.[]|args[.[]|params[.[]|req(?:uest)?[.[]|ctx\.|arn:|op:\/\/|vault:|ref\+|secretref:|projects\/|file:|ssm:)/i;

/** A call, a member, an index, a type, a comment, a colour: what stands behind `=` in code. */
const CODE =
  /^[A-Za-z_][A-Za-z_.]{2,60}\((?:[A-Za-z_"'[(]|\)|$)|^[A-Za-z_][\w.]{0,60}\(.*\)[;,]?$|^[A-Za-z_$]+(?:\.[A-Za-z_$]+)+[;,)]*$|^\([A-Za-z_]*[),]?$|^\/[*/]|^:[a-z]+:|^#[0-9a-f]{3,8}$/i;
/** `your-api-key`, `INSERT_TOKEN_HERE`; and the name of a variable that holds one, `api_key=api_key`. */
const NAME_OF_ONE =
  /^(?:your|YOUR|my|MY|insert|INSERT|enter|ENTER|replace|put|add|some|the)[-_ ]?[A-Za-z_ -]{0,40}(?:key|token|secret|password|pwd|here|value|name|id|KEY|TOKEN|SECRET|PASSWORD|HERE|VALUE)s?$|^[a-z]+(?:_[a-z]+)*_(?:key|token|secret|password|passwd|pwd|credential)s?[),;]?$|^[A-Z]+(?:_[A-Z]+)*_(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PWD)$/;
const TYPE =
  /^\{[A-Z]\w+\}[;,]?$|^[A-Za-z_$][A-Za-z_.$]*\[[^\]]{0,20}\]?[;,)]*$|^[*&][a-z_]+[;,)]*$|^[A-Z][A-Za-z]*(?:\[[\w, |]*\]|<[\w, |]*>)[;,]?$|^Secret(?:Str|Bytes)$/;
const MASK = /^[*x•●·.…#?_\-=]+$/i;
const PATH = /^(?:~|\.{1,2})?(?:\/[a-z0-9_.@+-]+){1,20}\/?$|^[A-Za-z]:\\[^\s]*$/;
const GUID = /^\{?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\}?$/i;
const URL = /^[a-z][a-z0-9+.-]{1,20}:\/\//i;

/** Only the head of a value decides, so that judging costs the same for every length. */
export const HEAD = 256;

export function isGuid(value: string): boolean {
  return GUID.test(value);
}

/** Might this value, found behind a name of that strength, be a secret? `value` is at most HEAD characters. */
export function plausible(value: string, strength: Strength, quoted = false): boolean {
  const v = value.trim();
  if (v.length === 0 || placeholderEnd(v, 0) === v.length) return false;
  if (strength === 'weak') return looksRandom(v);
  if (v.length < 3 || !/[\p{L}\p{N}]/u.test(v)) return false;
  if (NOT_SECRET.has(v.toLowerCase().replace(/^[[(<{]+|[\])>};,!?.]+$/g, ''))) return false;
  if (MASK.test(v) || REFERENCE.test(v) || CODE.test(v) || NAME_OF_ONE.test(v) || TYPE.test(v)) return false;
  if (PATH.test(v) && !looksRandom(v)) return false;
  if (URL.test(v)) return false;
  if (v.includes(' '))
    return !(strength === 'medium' && v.split(' ').every(isWordy)) && !(quoted ? isComplaint(v) : isProse(v));
  if (strength === 'strong') return true;
  if (v.length < 6 || /^[\d.,:%]+$/.test(v)) return false;
  return !(v.length < 22 && isWordy(v));
}

/** What a form says about a field: between quotes, where a passphrase may read like a sentence. */
export function isComplaint(value: string): boolean {
  const words = value.toLowerCase().split(/[\s,.;:()]+/, 24);
  return !STRIKING_WORD.test(value) && words.some((word) => COMPLAINTS.has(word));
}

const STRIKING_WORD = /[A-Za-z]\d|\d[A-Za-z]|[!@#$%^&*+~=][A-Za-z0-9]/;

/** Several words that read like a sentence, not like a passphrase. */
export function isProse(value: string): boolean {
  const words = value.toLowerCase().split(/[\s,.;:()]+/, 24);
  return words.some((word) => FUNCTION_WORDS.has(word) || NOT_SECRET.has(word));
}

/** Words and nothing else: letters, joined by the usual signs or in camelCase. One look at each character. */
export function isWordy(value: string): boolean {
  let run = 0; // letters since the last capital or separator
  let capitals = 0; // capitals in a row
  for (let i = 0; i < value.length; i++) {
    const c = value.charCodeAt(i);
    if (c >= 97 && c <= 122) {
      if (capitals > 1) return false;
      run++;
      capitals = 0;
    } else if (c >= 65 && c <= 90) {
      // A hump of one or two letters is no word.
      if (capitals === 0 && run > 0 && run < 3) return false;
      capitals++;
      run = 1;
    } else if (c === 95 || c === 45 || c === 32 || c === 46 || c === 47) {
      run = 0;
      capitals = 0;
    } else return false;
  }
  return value.length > 0 && run !== 0;
}

/** Letters and digits thrown together, long enough to be a key; not an id, a path, a host name or a date. */
export function looksRandom(value: string): boolean {
  const v = value.replace(/=+$|(?:%3D)+$/i, '');
  if (v.length < 16 || !/^[A-Za-z0-9+/_.~%-]+$/.test(v)) return false;
  if (GUID.test(v) || /^\d[\d.:TZ+-]*$/.test(v)) return false;
  // Forty digits are a commit or a fingerprint.
  if (/^[0-9a-f]+$|^[0-9A-F]+$/.test(v))
    return v.length >= 32 && v.length !== 40 && /\d/.test(v) && /[a-f]/i.test(v);
  const lower = countOf(v, /[a-z]/g);
  const upper = countOf(v, /[A-Z]/g);
  const digit = countOf(v, /[0-9]/g);
  // Words joined by separators (`prod-vm-01.westeurope`) keep their parts short or pronounceable.
  const parts = v.split(/[-_./%]/);
  const longest = Math.max(...parts.map((part) => part.length));
  if (parts.length > 1 && longest < 14 && !parts.some(mixed)) return false;
  if (digit === 0) return v.length >= 24 && upper >= 4 && lower >= 4 && switches(v) > v.length / 3;
  if (upper > 0 && lower > 0) return v.length >= 16 && switches(v) >= 4;
  return v.length >= 20 && digit >= 3 && switches(v) > v.length / 5;
}

function mixed(part: string): boolean {
  return /[a-z]/.test(part) && /[A-Z]/.test(part) && /\d/.test(part) && switches(part) >= 3;
}

/** How often the kind of character changes: words change seldom, random text all the time. */
function switches(text: string): number {
  let count = 0;
  let before = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    const kind = c >= 48 && c <= 57 ? 1 : c >= 97 && c <= 122 ? 2 : c >= 65 && c <= 90 ? 3 : 4;
    if (kind !== before && before !== 0) count++;
    before = kind;
  }
  return count;
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
