import {
  afterEscape,
  BASE64,
  flagsAt,
  is,
  isEol,
  runStart,
  skip,
  skipBack,
  startsLine,
  TOKEN,
} from './chars.ts';
import { isGuid } from './plausible.ts';
import type { Detector } from './scan.ts';
import { tableBelow } from './tables.ts';

/** Words before a base64 value that say it is no secret: digests, signatures, public keys. */
const PUBLIC =
  /sha-?(?:1|224|256|384|512)|md5|digest|hash|checksum|integrity|signature|fingerprint|thumbprint|public|pub_?key|\bkid\b|etag|certificate|\bcert\b|content-|peer|nonce/i;

/** 512 bits in base64 end in `==`: storage and Cosmos keys, bare or in a table. */
export const detectKey512: Detector = (scan, start) => {
  const { text } = scan;
  const end = start + 2;
  const from = runStart(text, end - 2, BASE64, Math.max(scan.floor, end - 2 - 93));
  if (end - from !== 88 || is(text, end, BASE64) || text[end] === '=') return false;
  if (!varied(text, from, end) || labelledPublic(text, from)) return false;
  return scan.take(from, end, 'storage_key');
};

/** 256 bits end in one `=`: bare on a line of its own, or on a line that speaks of a key. */
export const detectKey256: Detector = (scan, before) => {
  const { text } = scan;
  const start = before + 1;
  const end = start + 1;
  if (text[end] === '=' || !is(text, start - 1, BASE64) || is(text, end, BASE64 | TOKEN)) return false;
  const from = runStart(text, start, BASE64, Math.max(scan.floor, start - 50));
  if (end - from !== 44 || !varied(text, from, end) || labelledPublic(text, from)) return false;
  const alone =
    startsLine(text, from) && isEol(text, skip(text, end, 8, end + 16)) && !base64LineBefore(text, from);
  if (!alone && !/key|secret|psk|token|cred/i.test(lineHead(text, from))) return false;
  return scan.take(from, end, 'generic_secret');
};

/** Keys that Azure marks inside: four characters near the end of 52 to 88. */
export const detectMarkedKey: Detector = (scan, start, end) => {
  const { text } = scan;
  const from = runStart(text, start, BASE64, Math.max(scan.floor, start - 86));
  let stop = skip(text, end, BASE64, end + 16);
  while (text[stop] === '=' && stop - end < 18) stop++;
  const length = stop - from;
  if (
    length < 40 ||
    length > 92 ||
    is(text, stop, BASE64) ||
    (is(text, from - 1, BASE64) && !afterEscape(text, from))
  )
    return false;
  if (!varied(text, from, stop)) return false;
  return stop - end <= 14 && !labelledPublic(text, from) && scan.take(from, stop, 'storage_key');
};

/** A key is not one character over and over, nor words. */
function varied(text: string, from: number, end: number): boolean {
  const body = text.slice(from, end);
  return /\d/.test(body) && /[a-z]/.test(body) && /[A-Z]/.test(body) && new Set(body).size >= 16;
}

function lineHead(text: string, from: number): string {
  const head = text.slice(Math.max(0, from - 120), from);
  return head.slice(Math.max(head.lastIndexOf('\n'), head.lastIndexOf('\\n')) + 1);
}

/** The last words before the value, on the same line, name something public. */
function labelledPublic(text: string, from: number): boolean {
  return PUBLIC.test(lineHead(text, from).slice(-48));
}

function base64LineBefore(text: string, from: number): boolean {
  let i = skipBack(text, from, 8, Math.max(0, from - 16));
  while (i > 0 && (flagsAt(text, i - 1) & 16) !== 0 && from - i < 24) i--;
  return i - skipBack(text, i, BASE64, Math.max(0, i - 60)) >= 48;
}

/** After an AWS key id, the next 40 characters of base64 nearby are its secret. */
export function awsSecretAfter(text: string, from: number): readonly [number, number] | undefined {
  const window = text.slice(from, from + 160);
  const found = /(?:^|[^A-Za-z0-9+/])([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])/.exec(window);
  if (
    found === null ||
    /^[0-9a-f]{40}$/i.test(found[1]!) ||
    !/\d/.test(found[1]!) ||
    !/[a-z]/.test(found[1]!)
  )
    return undefined;
  const start = from + found.index + found[0].length - 40;
  return [start, start + 40];
}

/** A GUID in the company of the word subscription. */
export const detectSubscription: Detector = (scan, _start, end) => {
  const { text } = scan;
  const window = text.slice(end, end + 88);
  const found = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i.exec(window);
  if (found === null || found.index > 48) {
    if (is(text, end, 8)) tableBelow(scan, end - 1);
    return false;
  }
  const between = window.slice(0, found.index);
  // Another name between the two owns the GUID: `subscription: Prod, tenantId: …`.
  if (/\n[^\n]*\n|tenant|object|client|app|principal|correlation|request|operation|tracking/i.test(between))
    return false;
  return scan.take(end + found.index, end + found.index + 36, 'subscription_id');
};

/** `az account list|show`: the `id` next to `homeTenantId` or `cloudName` is the subscription's. */
export const detectAccountId: Detector = (scan, _start, end) => {
  const { text } = scan;
  const window = text.slice(end, end + 300);
  const found = /\\*["']?\bid\\*["']?\s*[:=]\s*\\*["']?([0-9a-f-]{36})/i.exec(window);
  if (found === null || !isGuid(found[1]!)) return false;
  const start = end + found.index + found[0].length - 36;
  return scan.take(start, start + 36, 'subscription_id');
};

/** The same without names, `-o tsv`: cloud, home tenant, subscription. */
export const detectAccountRow: Detector = (scan, _start, end) => {
  const { text } = scan;
  const row = /^\t([0-9a-f-]{36})\t([0-9a-f-]{36})\t/i.exec(text.slice(end, end + 80));
  if (row === null || !isGuid(row[1]!) || !isGuid(row[2]!)) return false;
  return scan.take(end + 38, end + 74, 'subscription_id');
};
