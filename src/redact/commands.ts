import { BLANK, IDENT, is, skip } from './chars.ts';
import { plausible } from './plausible.ts';
import type { Detector, Scan } from './scan.ts';
import { type Value, valueAt } from './value.ts';

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
  if (is(text, start - 1, IDENT) || !is(text, end, BLANK) || end < (scan.done.get('command') ?? 0))
    return false;
  let program = PROGRAMS[text.slice(start, end)];
  if (program === undefined) return false;
  let took = false;
  let at = skip(text, end, BLANK, end + 64);
  const stop = end + LINE;
  while (at < stop) {
    const word = valueAt(text, at, 'word');
    if (word?.end === undefined || word.end === at) break;
    const after = word.end + (word.quoted ? word.escapes + 1 : 0);
    const next = skip(text, after, BLANK, after + 64);
    const content = text.slice(word.start, word.end);
    if (Object.hasOwn(PROGRAMS, content)) program = PROGRAMS[content]!;
    else if (takeFrom(scan, program, content, word, next)) took = true;
    // Something other than a blank ends the command line: the string it stands in, a pipe, a list.
    if (next === after) break;
    at = Math.max(next, skip(text, scan.position, BLANK, scan.position + 64));
  }
  scan.done.set('command', at);
  return took;
};

function takeFrom(scan: Scan, program: Program, word: string, at: Value, next: number): boolean {
  const { text } = scan;
  const separator = program.separator ?? ':';
  if (program.pair?.includes(word)) return takePair(scan, valueAt(text, next, 'word'), separator);
  const equals = word.indexOf('=');
  if (equals > 0 && program.pair?.includes(word.slice(0, equals)))
    return takePair(scan, valueAt(text, at.start + equals + 1, 'word'), separator);
  const glued = program.pair?.some((o) => o.length === 2 && word.startsWith(o) && word.length > 3);
  if (glued) return takePair(scan, valueAt(text, at.start + 2, 'word'), separator);
  if (program.value?.includes(word) && text[next] !== '-') return takeBare(scan, valueAt(text, next, 'word'));
  const attached = program.attached?.find((o) => word.startsWith(o) && word.length > o.length);
  return attached !== undefined && takeBare(scan, valueAt(text, at.start + attached.length, 'word'));
}

function takePair(scan: Scan, value: Value | undefined, separator: string): boolean {
  if (value?.end === undefined) return false;
  const pair = scan.text.slice(value.start, value.end);
  const split = pair.indexOf(separator);
  if (split < 0 || !plausible(pair.slice(split + 1), 'strong')) return false;
  return scan.take(value.start + split + 1, value.end, 'password');
}

function takeBare(scan: Scan, value: Value | undefined): boolean {
  if (value?.end === undefined) return false;
  const word = scan.text.slice(value.start, value.end);
  // Ports and mappings (`docker run -p 8080:80`) are not passwords; neither are the well-known communities.
  if (!plausible(word, 'strong') || /^[\d:./]+(?:tcp|udp)?$|^public$|^private$/.test(word)) return false;
  return scan.take(value.start, value.end, 'password');
}
