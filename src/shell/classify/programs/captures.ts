/** tshark, tcpdump, pcap-forensics: reading packet captures that already exist. */
import type { Scan } from '../options.ts';
import { at, over, type Rule, risky, safe, type Verdict, type Word } from '../rule.ts';
import { asksForHelp, integer, isCaptureFile, odd, token } from './common.ts';
import { optionProgram, type Program } from './program.ts';

const live = risky(
  'capture.live',
  1,
  'Without a file to read this captures live traffic.',
  ['tshark -i eth0', 'tcpdump -i any port 53', 'tshark', 'tcpdump', 'tshark -r a.pcap -i eth0'],
  ['tshark -r a.pcap', 'tcpdump -nr a.pcap'],
);
const writes = risky('capture.write', 1, 'This writes packets, objects, keys or logs to files.', [
  'tshark -r a.pcap -w b.pcap',
  'tshark -r a.pcap -nw /etc/hosts',
  'tcpdump -r a.pcap -w b.pcap',
  'tshark -r a.pcap --export-objects http,/tmp/x',
  'tshark -r a.pcap -b filesize:1',
]);
const runs = risky('capture.run', 1, 'This runs a program or loads a script for the capture.', [
  'tcpdump -r a.pcap -z /tmp/x.sh',
  'tshark -r a.pcap -X lua_script:/tmp/x.lua',
  'tcpdump -r a.pcap -Z root',
]);
const reads = risky(
  'capture.read-file',
  1,
  'This reads another file: a filter, a key, a list, a profile, or a file that is not a capture.',
  [
    'tcpdump -r a.pcap -F /etc/shadow',
    'tshark -r a.pcap -K /etc/krb5.keytab',
    'tcpdump -V /etc/passwd',
    'tshark -r /etc/shadow',
    'pcap-forensics /etc/shadow',
  ],
  ['tshark -r /tmp/captures/a.pcapng'],
);
const secret = risky('capture.secret', 1, 'A key for decryption stands on the command line.', [
  "tcpdump -r a.pcap -E 'aes-cbc:0x6aed'",
  'tcpdump -r a.pcap -M s3cret',
]);
const preference = risky(
  'tshark.preference',
  1,
  'This preference can name files or keys; only switches and numbers are known to be harmless.',
  [
    'tshark -r a.pcap -o tls.keylog_file:/tmp/k',
    'tshark -r a.pcap -o tls.debug_file:/tmp/x',
    'tshark -r a.pcap -o "uat:80211_keys:\\"wpa-pwd\\",\\"x\\""',
  ],
  ['tshark -r a.pcap -o tcp.relative_sequence_numbers:FALSE'],
);
const statistic = risky(
  'tshark.statistic',
  1,
  'This statistic is not on the list of those known to print counters only.',
  ['tshark -r a.pcap -q -z credentials', 'tshark -r a.pcap -z nosuch,x'],
  ['tshark -r a.pcap -q -z conv,tcp'],
);
const directory = risky(
  'forensics.directory',
  1,
  'The report would be written into a folder of the system, a hidden folder, or one named through "..".',
  ['pcap-forensics a.pcap --report-dir /etc/cron.d', 'pcap-forensics a.pcap --semantic-dir ../x'],
  ['pcap-forensics a.pcap --report-dir /tmp/captures'],
);

const captureFile = (value: string): Rule | null => (isCaptureFile(value) ? null : reads);

const STATISTICS: ReadonlySet<string> = new Set(
  (
    'afp camel compare conv dcerpc dests dhcp diameter dns endpoints endpoint expert flow follow gtp h225 http http2 http_req http_seq http_srv icmp ' +
    'icmpv6 io ip_hosts ip_srcdst ip_ttls ipv6_dests ipv6_hosts ipv6_ptype ipv6_srcdst ipv6_hop ldap mac-lte megaco mgcp ' +
    'mtp3 ncp osmux plen proto ptype radius rlc-lte rpc rtp rtsp sctp scsi sip smb smb2 smpp_commands sv tcp udp ' +
    'wsp hosts bootp collectd hart_ip hpfeeds f1ap ngap s7comm someip_messages someipsd_entries isup_msg wlan snmp gsm_a'
  ).split(' '),
);
const statistics = (value: string): Rule | null => {
  const comma = value.indexOf(',');
  return STATISTICS.has(comma === -1 ? value : value.slice(0, comma)) ? null : statistic;
};
const SWITCH = /^[a-z0-9_.-]+:(?:true|false|\d{1,9})$/i;
const preferences = (value: string): Rule | null =>
  (SWITCH.test(value) && !/file|path|dir|key|lua|extcap|command/i.test(value)) ||
  /^gui\.column\.format:/.test(value)
    ? null
    : preference;

/** Needs exactly the one file to read; everything after it is a filter. */
function needsFile(scan: Scan, words: readonly Word[]): Verdict | null {
  if (asksForHelp(scan)) return null;
  // A list of interfaces, and nothing else.
  if (words.length === 2 && (scan.seen[0] === '-D' || scan.seen[0] === '--list-interfaces')) return null;
  const files = scan.seen.filter((name) => name === '-r' || name === '--read-file').length;
  return files === 0 ? over(live, words) : files > 1 ? over(odd, words) : null;
}

const tshark: Program = optionProgram({
  names: ['tshark'],
  safe: safe('tshark.read', 1, 'tshark reads a capture file.', [
    'tshark -r a.pcap',
    "tshark -nr a.pcapng -Y 'tcp.flags.reset==1 || dns' -T fields -e ip.src",
    'tshark -r a.pcap -q -z conv,tcp',
    'tshark --version',
  ]),
  rules: [live, writes, runs, reads, preference, statistic],
  options: {
    flags:
      '-2 -n -V -x -P --print -l -q -Q -h --help -v --version --color --no-duplicate-keys -D --list-interfaces',
    values: [
      ['-r --read-file', captureFile],
      ['-Y --display-filter -R --read-filter -e -E -O -j -J -S -d --only-protocols', null],
      [
        '-T -t -u -N --enable-protocol --disable-protocol --enable-heuristic --disable-heuristic --hexdump --log-level',
        token,
      ],
      ['-c -M', integer],
      ['-a --autostop', token],
      ['-z', statistics],
      ['-o', preferences],
    ],
    refused: [
      [
        live,
        '-L --list-data-link-types -I --monitor-mode -p --no-promiscuous-mode',
        '-i --interface -f -s --snapshot-length -B --buffer-size -y --linktype --time-stamp-type --capture-comment',
      ],
      [
        writes,
        '-g',
        '-w -b --ring-buffer -F -W -U --export-objects --export-tls-session-keys --temp-dir --log-file --compress',
      ],
      [runs, '', '-X -G'],
      [reads, '', '-K -H -C --elastic-mapping-filter'],
    ],
  },
  operands: needsFile,
});

const tcpdump: Program = optionProgram({
  names: ['tcpdump'],
  safe: safe('tcpdump.read', 1, 'tcpdump reads a capture file.', [
    'tcpdump -nr a.pcap',
    "tcpdump -tttt -vvv -r a.pcap 'host 10.0.0.5 && port 53'",
    'tcpdump -r a.pcap -c 5 tcp port 443',
    'tcpdump --version',
  ]),
  rules: [live, writes, runs, reads, secret],
  options: {
    flags:
      '-A -b -d -e -h -H -K -l -n -N -O -q -S -t -u -U -v -x -X -# --number --count --micro --nano --print -D --list-interfaces --help --version',
    values: [
      ['-r', captureFile],
      ['-c -s --snapshot-length', integer],
      ['-T -y --linktype --time-stamp-precision', token],
    ],
    refused: [
      [
        live,
        '-I --monitor-mode -J --list-time-stamp-types -L --list-data-link-types -p --no-promiscuous-mode --immediate-mode',
        '-i --interface -B --buffer-size -j --time-stamp-type -Q --direction -P',
      ],
      [writes, '', '-w -C -G -W'],
      [runs, '', '-z -Z --relinquish-privileges'],
      [reads, '', '-F -V -m'],
      [secret, '', '-E -M'],
    ],
  },
  operands: needsFile,
});

/** Folders nothing may be written into without a person's word. */
const SYSTEM =
  /^\/(?:etc|bin|sbin|usr|lib[a-z0-9]*|boot|dev|proc|sys|run|opt|srv|snap)(?:\/|$)|^\/$|^\/var(?!\/(?:tmp|folders)(?:\/|$))/;
const reportFolder = (value: string): Rule | null => {
  if (!/^[A-Za-z0-9_.@/+-]+$/.test(value) || SYSTEM.test(value) || value.startsWith('//')) return directory;
  return value
    .split('/')
    .some((part) => part === '..' || (part.startsWith('.') && part !== '.' && part !== '.writ'))
    ? directory
    : null;
};

const forensics: Program = optionProgram({
  names: ['pcap-forensics'],
  folders: [],
  safe: safe('forensics.read', 1, 'pcap-forensics analyses a capture file and writes its reports.', [
    'pcap-forensics /tmp/captures/a.cap --semantic-dir /tmp/captures --report-dir /tmp/captures',
    'pcap-forensics a.pcap --compare b.pcap --json',
  ]),
  rules: [reads, directory],
  options: {
    flags: '--json --html --help -h --version -V',
    values: [
      ['--report-dir --semantic-dir', reportFolder],
      ['--compare', captureFile],
    ],
  },
  operands(scan, words) {
    if (asksForHelp(scan)) return null;
    for (const operand of scan.operands) {
      if (!isCaptureFile(operand.value)) return at(reads, operand);
    }
    return scan.operands.length === 0 ? over(odd, words) : null;
  },
});

export const CAPTURES: readonly Program[] = [tshark, tcpdump, forensics];
