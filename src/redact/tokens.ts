import { ALNUM, afterEscape, BASE64, flagsAt, is, skip, TOKEN } from './chars.ts';
import { awsSecretAfter } from './keys.ts';
import type { Detector } from './scan.ts';
import type { Shape } from './trigrams.ts';
import type { RedactionCategory } from './types.ts';

/**
 * Tokens that issuers have given a mark of their own. `prefix` is compared exactly; behind it come at
 * least `min` characters of the token alphabet (plus those in `extra`), among them one digit unless
 * `letters`: a name in a manual (`ghp_…`, `npm_config_cache`) is not a token.
 */
export interface Vendor {
  readonly prefix: string;
  readonly min: number;
  readonly category: RedactionCategory;
  readonly extra?: string;
  /** Nothing longer than this is the issuer's. */
  readonly max?: number;
  readonly alphabet?: RegExp;
  /** How to find it when the prefix has fewer than three characters. */
  readonly shape?: Shape;
}

const vendor = (
  prefix: string,
  min: number,
  category: RedactionCategory = 'api_key',
  extra = '',
): Vendor => ({
  prefix,
  min,
  category,
  extra,
});
const hex = /^[0-9a-f]+$/;
const upper = /^[A-Z0-9]+$/;

export const VENDORS: readonly Vendor[] = [
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((p) => vendor(p, 20, 'github_token')),
  vendor('github_pat_', 20, 'github_token'),
  ...[
    'glpat-',
    'glptt-',
    'gldt-',
    'glrt-',
    'glcbt-',
    'glimt-',
    'glft-',
    'glsoat-',
    'gloas-',
    'glagent-',
    'glffct-',
  ].map((p) => vendor(p, 16, 'api_key', '.')),
  ...[
    'xoxb-',
    'xoxp-',
    'xoxa-',
    'xoxr-',
    'xoxs-',
    'xoxe-',
    'xoxc-',
    'xoxd-',
    'xoxo-',
    'xoxe.xoxp-',
    'xapp-',
  ].map((p) => vendor(p, 10, 'slack_token', '%')),
  ...['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_', 'sk-', 'rzp_live_', 'rzp_test_'].map((p) =>
    vendor(p, 16),
  ),
  ...['AKIA', 'ASIA', 'ABIA', 'ACCA'].map(
    (p): Vendor => ({ prefix: p, min: 16, max: 16, category: 'aws_key', alphabet: upper }),
  ),
  { prefix: 'AIza', min: 30, category: 'gcp_key' },
  vendor('ya29.', 20, 'gcp_key', '.'),
  vendor('GOCSPX-', 20, 'gcp_key'),
  vendor('1//0', 30, 'gcp_key'),
  vendor('npm_', 30),
  vendor('pypi-', 40),
  vendor('rubygems_', 32),
  vendor('SG.', 30, 'api_key', '.'),
  { prefix: 'key-', min: 32, max: 32, category: 'api_key', alphabet: hex },
  vendor('xkeysib-', 40),
  vendor('dckr_pat_', 20),
  vendor('dckr_oat_', 20),
  ...['NRAK-', 'NRJS-', 'NRII-', 'NRRA-', 'NRSP-'].map((p) => vendor(p, 16)),
  ...['sq0atp-', 'sq0csp-', 'sq0idp-', 'EAAAE', 'EAAAl'].map((p) => vendor(p, 20)),
  { prefix: 'SK', shape: ['s', 'k', '0abcdef'], min: 32, max: 32, category: 'api_key', alphabet: hex },
  ...[
    'lin_api_',
    'lin_oauth_',
    'figd_',
    'hf_',
    'gsk_',
    'r8_',
    'xai-',
    'pplx-',
    'nfp_',
    'sbp_',
    'tskey-',
    'fo1_',
    'fm2_',
  ].map((p) => vendor(p, 20, 'api_key', '+/=,')),
  vendor('AGE-SECRET-KEY-1', 40, 'private_key'),
  vendor('AGE-PLUGIN-', 40, 'private_key'),
  ...['shpat_', 'shpca_', 'shppa_', 'shpss_'].map((p) => vendor(p, 24)),
  ...['dop_v1_', 'doo_v1_', 'dor_v1_'].map((p) => vendor(p, 32)),
  ...['hvs.', 'hvb.', 'hvr.'].map((p) => vendor(p, 20)),
  ...['ATATT3x', 'ATCTT3x', 'ATBB', 'ATOAA'].map((p) => vendor(p, 20, 'api_key', '=')),
  ...[
    'secret_',
    'ntn_',
    'PMAK-',
    'sntrys_',
    'sntryu_',
    'HRKU-',
    'glsa_',
    'glc_',
    'CLOJARS_',
    'dp.pt.',
    'dp.st.',
    'CFPAT-',
  ].map((p) => vendor(p, 32, 'api_key', '+/=.')),
  { prefix: 'dapi', min: 32, max: 34, category: 'api_key', alphabet: /^[0-9a-f]{32}(?:-\d)?$/ },
  { prefix: 'oy2', min: 43, max: 43, category: 'api_key', alphabet: /^[a-z0-9]+$/ },
  { prefix: 'cio', min: 32, max: 32, category: 'api_key', alphabet: /^[A-Za-z0-9]+$/ },
  ...[
    'pscale_tkn_',
    'pscale_pw_',
    'pscale_oauth_',
    'lsv2_pt_',
    'lsv2_sk_',
    'api_org_',
    'sk.eyJ',
    'tk.eyJ',
    'ops_eyJ',
  ].map((p) => vendor(p, 24, 'api_key', '.')),
  vendor('EAACEdEose0cBA', 20),
  vendor('amzn.mws.', 32),
  vendor('access_token$production$', 20, 'api_key', '$'),
  vendor('dt0c01.', 40, 'api_key', '.'),
  vendor('LTAI', 16),
  vendor('pat-na1-', 30),
  vendor('pat-eu1-', 30),
  vendor('v2.local.', 40, 'bearer_token', '.'),
  vendor('v4.local.', 40, 'bearer_token', '.'),
  vendor('AQ.', 40, 'gcp_key', '.'),
];

const LONGEST = 2048;

export function vendorDetector(v: Vendor): Detector {
  const extra = new Set([...(v.extra ?? '')].map((c) => c.charCodeAt(0)));
  const first = v.prefix.charCodeAt(0);
  const distinct = v.prefix.length >= 4;
  return (scan, start) => {
    const { text } = scan;
    const end = start + v.prefix.length;
    if (text.charCodeAt(start) !== first || !text.startsWith(v.prefix, start)) return false;
    if (start < (scan.done.get('blob') ?? 0)) return false;
    // A mark of some length is told from its neighbours; a short one must begin the word.
    if (!opens(text, start) && !(distinct && !is(text, start - 1, ALNUM))) return false;
    const limit = end + LONGEST;
    let stop = end;
    while (stop < limit && (is(text, stop, TOKEN) || extra.has(text.charCodeAt(stop)))) stop++;
    // No issuer's token is that long. Remembering it keeps hostile runs from being read again and again.
    if (stop === limit) {
      scan.done.set('blob', stop);
      return false;
    }
    while (
      stop > end &&
      '.,-_/'.includes(text[stop - 1]!) &&
      !(flagsAt(text, stop - 2) & 32 && text[stop - 1] === '-')
    )
      stop--;
    const length = stop - end;
    if (length < v.min || (v.max !== undefined && length > v.max)) return false;
    const body = text.slice(end, Math.min(stop, end + 200));
    if (v.alphabet === undefined ? !lookMade(body) : !v.alphabet.test(body)) return false;
    const took = scan.take(start, stop, v.category);
    const secret = v.alphabet === upper ? awsSecretAfter(text, stop) : undefined;
    if (secret !== undefined) scan.mark(secret[0], secret[1], 'aws_key');
    return took;
  };
}

/** A token begins a word: not in the middle of one, nor of base64. Escapes and colours may precede. */
export function opens(text: string, start: number): boolean {
  const before = flagsAt(text, start - 1);
  if ((before & (TOKEN | BASE64)) === 0) return true;
  if (text[start - 1] === '/' || text[start - 1] === '+') return true;
  return afterEscape(text, start) || /[\W_](?:[-_])$/.test(` ${text.slice(Math.max(0, start - 6), start)}`);
}

/** Digits among letters, or at least capitals among small ones: what an issuer made, not what a person named. */
function lookMade(body: string): boolean {
  return (
    (/\d/.test(body) && /[A-Za-z]/.test(body)) || (body.match(/[a-z][A-Z]|[A-Z][a-z]/g)?.length ?? 0) > 4
  );
}

/** Azure AD application secrets: three characters, a digit, `Q~`, then 31 or more. */
export const detectAadSecret: Detector = (scan, digit, end) => {
  const { text } = scan;
  const start = digit + 1;
  const from = start - 4;
  if (from < scan.floor || text[end - 1] !== '~' || text[start] !== 'Q' || !is(text, digit, 32)) return false;
  if ((is(text, from - 1, ALNUM) && !afterEscape(text, from)) || text[from - 1] === '~') return false;
  for (let i = from; i < start; i++) if (!isAad(text, i)) return false;
  let stop = end;
  while (stop < end + 80 && isAad(text, stop)) stop++;
  while (stop > end && text[stop - 1] === '.') stop--;
  return stop - end >= 24 && stop - end <= 64 && scan.take(from, stop, 'generic_secret');
};

function isAad(text: string, i: number): boolean {
  return is(text, i, TOKEN) || text[i] === '~' || text[i] === '.';
}

/** Telegram bots: digits, a colon, `AA` and 33 more. */
export const detectTelegram: Detector = (scan, start, end) => {
  const { text } = scan;
  let from = start;
  while (from > scan.floor && start - from < 12 && is(text, from - 1, 32)) from--;
  const stop = skip(text, end, TOKEN, end + 48);
  if (start - from < 8 || stop - end < 30 || stop - end > 40) return false;
  return scan.take(from, stop, 'api_key');
};

/** Addresses that are secrets themselves: whoever has a webhook's path can post. */
export function webhookDetector(category: RedactionCategory): Detector {
  return (scan, _start, end) => {
    const { text } = scan;
    let stop = end;
    while (stop < end + 512 && (is(text, stop, TOKEN) || text[stop] === '/' || text[stop] === '@')) stop++;
    return stop - end >= 20 && /\d/.test(text.slice(end, end + 120)) && scan.take(end, stop, category);
  };
}
