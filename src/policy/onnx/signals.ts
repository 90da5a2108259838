import { dangerSignals } from './danger-signals.ts';
import { entropy, randomness, randomRun } from './randomness.ts';

/**
 * What a line looks like, as a fixed row of numbers between 0 and 1: the part of the features that does not
 * depend on which words were seen in training. Each entry is one question; their order is part of a model.
 */
const NAMES =
  'password|passwd|passphrase|passcode|secret|token|api[_-]?key|access[_-]?key|signing[_-]?key|private[_-]?key|account[_-]?key|authorization|credentials?|webhook';
const KEY = new RegExp(
  String.raw`[\w.-]*(?:${NAMES})[\w.-]*|(?<![a-z])(?:pass|pwd|pw|psk|sas|sig|auth)(?![a-z])`,
  'i',
);
/** A name of the kind above, then `=`, `:`, `=>`, `value=`, or a space after a flag or in SQL, then a value. */
const ASSIGNED = new RegExp(
  String.raw`(?:(--?[\w-]{0,40})?(?:${KEY.source})["'\]]{0,2}(?:\s*(?:=>|:=|[=:])\s*|(?<=[\"'])\s*,\s*(?=[\"'])|(?<=\blogin\s+\S{1,60}\s+password)\s+|\s+value=|\s+(?:bearer|basic|token)\s+|(?<=\s-\S{0,40})\s+|(?<=PASSWORD|BY)\s+(?=['"])))(?:(?:bearer|basic|token)\s+)?["']?([^\s"',;<>]+)`,
  'gi',
);
/** Values that stand for a secret kept elsewhere, or for none at all. */
const STANDS_IN =
  /^(?:\$|<|\{|%[^%]*%|\*{2}|x{3,}$|\[|@|!|null\b|none\b|true\b|false\b|yes\b|no\b|env[.(]|process\.|os\.|config\.|var\.|local\.|data\.|vault[:/]|ref\+|arn:|file:|ENC\[|\/|\.|\d{1,4}$|(?:your|my|some|example|replace|insert)[-_ ]|[a-z_]+(?:\.[a-z_]+)+$|[\w.]+[([]|[a-z]+$|[A-Z_]+$|redacted|changeme|required|optional)/;
/** Names that end so speak of a secret and do not hold it. */
const SPEAKS_OF =
  /(?:names?|[_-]ids?|Ids?|file|path|ref|ur[il]|Ur[il]|type|length|ttl|expiry|policy|version|count|enabled|required)["']?\s*[=:]/;
const HASH_CONTEXT =
  /\b(?:sha-?(?:1|224|256|384|512)|md5|digest|checksum|integrity|commit|revision|etag|fingerprint|uuid|guid|trace|span|image|layer|resolved|certificate|public|build|base64,)/i;
const USERINFO = /[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@$<{*]{3,}@/i;
const PEM = /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY/;
const VENDOR =
  /(?<![A-Za-z0-9])(?:[a-z]{2,6}[-_](?:[a-z0-9]{2,12}[-_])?|AIza|eyJ|[A-Z]{2,4}\.(?=[A-Za-z0-9_-]{16,}\.))[A-Za-z0-9_.-]{16,}/;
/** Issued keys of a fixed length in capitals: too regular to look drawn. */
const ISSUED = /(?<![A-Za-z0-9])A[KS]IA[A-Z2-7]{16}(?![A-Za-z0-9])/;

export const SIGNALS = 28;

export function signals(line: string): readonly number[] {
  const found = [...line.matchAll(ASSIGNED)].map((m) => ({ whole: m[0], value: m[2] ?? '' }));
  const values = found.map((f) => f.value);
  const literal = found
    .filter(({ whole, value }) => !STANDS_IN.test(value) && !SPEAKS_OF.test(whole))
    .map((f) => f.value);
  const random = randomRun(line);
  const hashed = random !== '' && HASH_CONTEXT.test(line);
  const vendor = ISSUED.test(line) || (VENDOR.test(line) && random !== '' && !hashed);
  const written = literal.some((v) => v.length >= 6);
  const drawn = literal.some((v) => randomness(v) > 0.5);
  const certain = USERINFO.test(line) || PEM.test(line) || vendor || drawn;
  const words = line.match(/[A-Za-z]{2,}/g)?.length ?? 0;
  const questions = [
    KEY.test(line),
    literal.length > 0,
    values.length > literal.length && literal.length === 0,
    drawn,
    written,
    certain,
    certain || written,
    random !== '',
    random !== '' && /^[0-9a-f]+$/i.test(random),
    hashed,
    random.length >= 32,
    USERINFO.test(line),
    PEM.test(line),
    vendor,
    ...dangerSignals(line),
  ];
  return [
    ...questions.map(Number),
    Math.min(random.length, 64) / 64,
    Math.min(entropy(random), 6) / 6,
    Math.min(words, 12) / 12,
  ];
}
