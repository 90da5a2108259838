import { readFileSync } from 'node:fs';

/**
 * The corpus holds no secret, not even a made-up one: `{{! 'ghp '_ an:36}}` says how to make it. Words with an apostrophe are
 * literal, the others `kind:size`; the result is the same at every run. `!` marks what must not
 * survive; a macro without it makes something that must.
 */
export interface CorpusRow {
  readonly kind: string;
  readonly text: string;
  readonly secrets: readonly string[];
  readonly keep: readonly string[];
}

interface StoredRow {
  readonly kind: string;
  readonly text: string;
  readonly keep?: readonly string[];
}

export function readCorpus(seed = 1): CorpusRow[] {
  const lines = readFileSync(new URL('./corpus.jsonl', import.meta.url), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line, index) => expand(JSON.parse(line) as StoredRow, generator(seed * 7919 + index)));
}

function expand(row: StoredRow, random: () => number): CorpusRow {
  const secrets: string[] = [];
  const keep: string[] = [...(row.keep ?? [])];
  const text = row.text.replace(/\{\{(!?)([^{}]*)\}\}/g, (_, mark: string, recipe: string) => {
    const value = recipe
      .trim()
      .split(' ')
      .map((word) => piece(word, random))
      .join('');
    if (mark === '!') secrets.push(value);
    else keep.push(value);
    return value;
  });
  // A block's secret is its body: its first and last lines are enough.
  return { kind: row.kind, text, secrets: secrets.flatMap(bodyLines), keep };
}

function bodyLines(secret: string): string[] {
  if (!secret.includes('-----BEGIN')) return [secret];
  const lines = secret.split(/\\n|\n/).filter((line) => line.length > 20 && !line.includes('-----'));
  return [lines[0]!, lines.at(-1)!];
}

const ALPHABETS: Readonly<Record<string, string>> = {
  an: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  b64c: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
  url: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-',
  low: 'abcdefghijklmnopqrstuvwxyz0123456789',
  up: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789',
  hex: '0123456789abcdef',
  HEX: '0123456789ABCDEF',
  dig: '0123456789',
};

const WORDS = [
  'Winter!Sun',
  'Blue#Horse9',
  'tr4in&Station',
  'Kaffee%Pause',
  'op3n-Sesame',
  'zw0lf$Boxkaempfer',
  'l3mon.Tree',
];

function piece(word: string, random: () => number): string {
  if (word.startsWith("'")) return word.slice(1);
  const [kind, size = '0'] = word.split(':');
  const n = Number(size);
  const pick = (alphabet: string, count: number) =>
    Array.from({ length: count }, () => alphabet[Math.floor(random() * alphabet.length)]).join('');
  switch (kind) {
    case 'pw':
      return WORDS[Math.floor(random() * WORDS.length)]! + pick(ALPHABETS.an!, 3);
    case 'pwu': // a password that may stand in a URL
      return `${['winterSun', 'blueHorse9', 'op3n-Sesame', 'l3mon.Tree'][Math.floor(random() * 4)]}${pick(ALPHABETS.an!, 4)}7`;
    case 'b64': {
      const bytes = Buffer.from(Array.from({ length: n }, () => Math.floor(random() * 256)));
      return bytes.toString('base64');
    }
    case 'pair':
      return Buffer.from(`user${pick(ALPHABETS.dig!, 2)}:${pick(ALPHABETS.an!, 10)}`).toString('base64');
    case 'guid':
      return `${pick(ALPHABETS.hex!, 8)}-${pick(ALPHABETS.hex!, 4)}-4${pick(ALPHABETS.hex!, 3)}-a${pick(ALPHABETS.hex!, 3)}-${pick(ALPHABETS.hex!, 12)}`;
    case 'jwt':
      return jwt(pick);
    case 'pem':
    case 'pemn':
      return pem(size.replaceAll('_', ' '), kind === 'pem' ? '\n' : '\\n', pick);
    default: {
      const alphabet = ALPHABETS[kind!];
      if (alphabet === undefined) throw new Error(`unknown recipe ${word}`);
      // At least one of each kind of character, as issuers' tokens have with near certainty.
      const body = pick(alphabet, n);
      return kind === 'an' || kind === 'url' ? `${body.slice(0, -3)}x7Q` : body;
    }
  }
}

function jwt(pick: (alphabet: string, count: number) => string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256', typ: 'JWT', kid: pick(ALPHABETS.an!, 8) })}.${part({ sub: pick(ALPHABETS.dig!, 8), exp: 1999999999 })}.${pick(ALPHABETS.url!, 86)}`;
}

function pem(label: string, eol: string, pick: (alphabet: string, count: number) => string): string {
  const lines = Array.from({ length: 8 }, () => pick(ALPHABETS.b64c!, 64));
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`].join(eol);
}

/** mulberry32: small, seeded, the same everywhere. */
function generator(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
