import { BLANK, is, isEol, skip } from './chars.ts';
import { plausible } from './plausible.ts';
import type { Detector, Scan } from './scan.ts';

/**
 * Secrets that command lines carry in short options. `pair` options hold `user:password` (or another
 * separator), of which the password goes; `value` options hold the secret itself, `attached` ones
 * only glued to the option (`mysql -pSECRET`).
 */
interface Program {
  readonly value?: readonly string[];
  readonly attached?: readonly string[];
  readonly pair?: readonly string[];
  readonly separator?: string;
}

const PROGRAMS: Readonly<Record<string, Program>> = {
  curl: { pair: ['-u', '--user', '-U', '--proxy-user'], separator: ':' },
  sshpass: { value: ['-p'], attached: ['-p'] },
  mysql: { attached: ['-p'] },
  mysqldump: { attached: ['-p'] },
  mysqladmin: { attached: ['-p'] },
  mariadb: { attached: ['-p'] },
  mongo: { value: ['-p'], attached: ['-p'] },
  mongosh: { value: ['-p'], attached: ['-p'] },
  docker: { value: ['-p'] },
  podman: { value: ['-p'] },
  az: { value: ['-p'] },
  oc: { value: ['-p'] },
  'redis-cli': { value: ['-a'], attached: ['-a'] },
  ldapsearch: { value: ['-w'], attached: ['-w'] },
  ldapadd: { value: ['-w'], attached: ['-w'] },
  ldapmodify: { value: ['-w'], attached: ['-w'] },
  smbclient: { pair: ['-U'], separator: '%' },
  rpcclient: { pair: ['-U'], separator: '%' },
  sqlcmd: { value: ['-P'], attached: ['-P'] },
  bcp: { value: ['-P'], attached: ['-P'] },
  mosquitto_pub: { value: ['-P'] },
  mosquitto_sub: { value: ['-P'] },
  ipmitool: { value: ['-P'] },
  lftp: { pair: ['-u'], separator: ',' },
  snmpwalk: { value: ['-A', '-X', '-c'] },
  snmpget: { value: ['-A', '-X', '-c'] },
  xfreerdp: { attached: ['/p:'] },
  unzip: { value: ['-P'] },
  zip: { value: ['-P'] },
  '7z': { attached: ['-p'] },
};

export const PROGRAM_NAMES: readonly string[] = Object.keys(PROGRAMS);
const LINE = 4096;

/** Reads the rest of the command line behind a program's name, word by word. */
export const detectCommand: Detector = (scan, start, blank) => {
  const { text } = scan;
  const end = blank - 1;
  if (is(text, start - 1, 1) || !is(text, end, BLANK) || end < (scan.done.get('command') ?? 0)) return false;
  let program = PROGRAMS[text.slice(start, end)];
  if (program === undefined) return false;
  let took = false;
  let at = end;
  const stop = Math.min(text.length, end + LINE);
  while (at < stop) {
    at = skip(text, at, BLANK, stop);
    if (isEol(text, at)) break;
    const close = wordEnd(text, at, stop);
    const word = text.slice(at, close);
    const next = skip(text, close, BLANK, stop);
    if (Object.hasOwn(PROGRAMS, word)) program = PROGRAMS[word]!;
    else if (takeFrom(scan, program, word, at, close, next)) {
      took = true;
      at = Math.max(close, scan.position);
      continue;
    }
    at = close;
  }
  scan.done.set('command', at);
  if (took) return true;
  return false;
};

function takeFrom(
  scan: Scan,
  program: Program,
  word: string,
  at: number,
  close: number,
  next: number,
): boolean {
  const { text } = scan;
  const nextEnd = isEol(text, next) ? next : wordEnd(text, next, next + 512);
  if (program.pair?.includes(word)) return takePair(scan, next, nextEnd, program.separator ?? ':');
  const equals = word.indexOf('=');
  if (equals > 0 && program.pair?.includes(word.slice(0, equals)))
    return takePair(scan, at + equals + 1, close, program.separator ?? ':');
  const glued = program.pair?.find((o) => o.length === 2 && word.startsWith(o) && word.length > 3);
  if (glued !== undefined) return takePair(scan, at + 2, close, program.separator ?? ':');
  if (program.value?.includes(word) && text[next] !== '-') return takeBare(scan, next, nextEnd);
  const attached = program.attached?.find((o) => word.startsWith(o) && word.length > o.length);
  return attached !== undefined && takeBare(scan, at + attached.length, close);
}

function takePair(scan: Scan, from: number, to: number, separator: string): boolean {
  const [start, end] = unquoted(scan.text, from, to);
  const split = scan.text.slice(start, end).indexOf(separator);
  if (split < 0 || !plausible(scan.text.slice(start + split + 1, end), 'strong')) return false;
  return scan.take(start + split + 1, end, 'password');
}

function takeBare(scan: Scan, from: number, to: number): boolean {
  const [start, end] = unquoted(scan.text, from, to);
  const value = scan.text.slice(start, end);
  // Ports and mappings (`docker run -p 8080:80`) are not passwords; neither are option-like words.
  if (!plausible(value, 'strong') || /^[\d:./]+(?:tcp|udp)?$|^public$|^private$/.test(value)) return false;
  return scan.take(start, end, 'password');
}

function unquoted(text: string, from: number, to: number): readonly [number, number] {
  const quote = text[from];
  if (to - from >= 2 && (quote === '"' || quote === "'") && text[to - 1] === quote) return [from + 1, to - 1];
  return [from, to];
}

function wordEnd(text: string, at: number, stop: number): number {
  const quote = text[at];
  let open = quote === '"' || quote === "'" ? quote : '';
  let i = open === '' ? at : at + 1;
  for (; i < stop && !isEol(text, i); i++) {
    const c = text[i]!;
    if (open !== '') {
      if (c === open) open = '';
    } else if (c === '"' || c === "'") open = c;
    else if (is(text, i, BLANK)) break;
  }
  return i;
}
