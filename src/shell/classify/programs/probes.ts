/** ping, traceroute, tracepath, mtr: packets that ask a question. What makes them a flood is refused. */
import { at, over, risky, safe } from '../rule.ts';
import { asksForHelp, decimal, encodedName, host, hosts, integer, interval, odd, token } from './common.ts';
import { optionProgram, type Program } from './program.ts';

const flood = risky(
  'probe.flood',
  1,
  'This sends packets as fast as possible, or to many machines at once: a load, not a question.',
  [
    'ping -f 10.0.0.1',
    'ping -i 0 10.0.0.1',
    'ping -b 10.0.0.255',
    'ping -A 10.0.0.1',
    'mtr -r -i 0 10.0.0.1',
  ],
  ['ping -i 0.5 -c 3 10.0.0.1', 'mtr -r -i 1 10.0.0.1'],
);
const mtrInteractive = risky(
  'mtr.interactive',
  1,
  'Without a report mode mtr opens an interactive screen and does not end by itself.',
  ['mtr 8.8.8.8', 'mtr -n 8.8.8.8', 'mtr --curses 8.8.8.8'],
  ['mtr -r 8.8.8.8', 'mtr --report -c 5 8.8.8.8'],
);
const hostFile = risky(
  'probe.host-file',
  1,
  'The names to probe are read from a file: every line of it would leave in a query.',
  ['mtr -F /etc/passwd -r', 'mtr --filename hosts.txt --report'],
);

/** A filler pattern of a few bytes is a test of the line; a long one is a message. */
const pattern = (value: string) => (/^[0-9a-fA-F]{1,8}$/.test(value) ? null : encodedName);

const ping: Program = optionProgram({
  names: ['ping', 'ping6', 'ping4'],
  safe: safe(
    'ping.read',
    1,
    'ping asks whether a host answers.',
    ['ping -c 4 10.0.0.1', '/bin/ping -nqc2 10.0.0.1'],
    ['sudo ping 10.0.0.1', './ping 10.0.0.1'],
  ),
  rules: [flood],
  options: {
    flags: '-3 -4 -6 -a -B -C -d -D -h -H -L -n -o -O -q -r -R -U -v -V --help --version',
    values: [
      ['-c -t -s -m -e -S -w -W', token],
      ['-i', interval(0.2, flood)],
      ['-I -M -Q -T -N -F', token],
      ['-p', pattern],
    ],
    refused: [[flood, '-f -A -b', '-l']],
  },
  operands: hosts(1, 1),
});

const traceroute: Program = optionProgram({
  names: ['traceroute', 'traceroute6', 'traceroute4', 'tcptraceroute'],
  safe: safe('traceroute.read', 1, 'traceroute asks which way packets take.', [
    'traceroute -n -m 15 10.0.0.1',
    'traceroute -T -p 443 example.com',
  ]),
  rules: [],
  options: {
    flags:
      '-4 -6 -a -A -d -D -e -E -F -I -n -r -S -T -U -v -V --help --version --mtu --back --icmp --tcp --udp --extensions --as-path-lookups --debug --dont-fragment -h',
    values: [
      [
        '-f -m -q -N -t -l -p -w -z -P -M -O --first --max-hops --queries --sim-queries --tos --port --wait --sendwait --sport --protocol --module --options',
        token,
      ],
      ['-g -i -s --gateway --interface --source', token],
    ],
  },
  operands(scan, words) {
    const length = scan.operands[1];
    if (length !== undefined && integer(length.value) !== null) return at(odd, length);
    return hosts(1, 2)(scan, words);
  },
});

const tracepath: Program = optionProgram({
  names: ['tracepath', 'tracepath6'],
  safe: safe('tracepath.read', 1, 'tracepath asks which way packets take and how large they may be.', [
    'tracepath -n 10.0.0.1',
  ]),
  rules: [],
  options: { flags: '-4 -6 -b -n -V -h', values: [['-l -m -p', integer]] },
  operands: hosts(1, 1),
});

const REPORTS = [
  '-r',
  '--report',
  '-w',
  '--report-wide',
  '-x',
  '--xml',
  '-C',
  '--csv',
  '-j',
  '--json',
  '-l',
  '--raw',
];

const mtr: Program = optionProgram({
  names: ['mtr'],
  safe: safe('mtr.read', 1, 'mtr in a report mode asks which way packets take, and how many are lost.', [
    'mtr --report -c 5 8.8.8.8',
    'mtr -rwnbzc 10 example.com',
  ]),
  rules: [mtrInteractive, hostFile],
  options: {
    flags:
      '-r --report -w --report-wide -x --xml -C --csv -j --json -l --raw -n --no-dns -b --show-ips -z --aslookup -e --mpls -4 -6 -u --udp -T --tcp -S --sctp -h --help -v --version',
    values: [
      [
        '-c --report-cycles -s --psize -P --port -L --localport -m --max-ttl -f --first-ttl -U --max-unknown -Q --tos -B --bitpattern -y --ipinfo --max-display-path -M --mark',
        integer,
      ],
      ['-i --interval', interval(0.2, flood)],
      ['-G --gracetime -Z --timeout', decimal],
      ['-a --address -I --interface', host],
      ['-o --order', (value) => (/^[A-Za-z _]{1,32}$/.test(value) ? null : odd)],
    ],
    refused: [
      [hostFile, '', '-F --filename'],
      [mtrInteractive, '-t --curses -g --gtk -p --split', '--displaymode -d'],
    ],
  },
  operands(scan, words) {
    if (asksForHelp(scan)) return null;
    if (!scan.seen.some((name) => REPORTS.includes(name))) return over(mtrInteractive, words);
    const length = scan.operands[1];
    if (length !== undefined && integer(length.value) !== null) return at(odd, length);
    return hosts(1, 2)(scan, words);
  },
});

export const PROBES: readonly Program[] = [ping, traceroute, tracepath, mtr];
