/** Tier 3: shapes of a command that are never only a question, whatever the programs in it. */
import { type Rule, risky } from './rule.ts';

export const unreadable = risky(
  'text.unreadable',
  3,
  'The command cannot be read with certainty: a quote, bracket or operator is left open or misplaced.',
  ['ping "8.8.8.8', 'dig )', "ping 'x", 'ping &&'],
  ['ping "8.8.8.8"'],
);
export const tooLong = risky(
  'text.too-long',
  3,
  'The command is too long or too nested to be read with certainty.',
  [`ping ${'$('.repeat(300)}`],
);
export const control = risky(
  'text.control-character',
  3,
  'The command holds a tab, a line break or another control character.',
  ['ping\t10.0.0.1', 'ping 10.0.0.1\rid', 'ping 10.0.0.1\u0000id'],
  ['ping 10.0.0.1 ', 'ping 10.0.0.1\n'],
);
export const notAscii = risky(
  'text.not-ascii',
  3,
  'The command holds characters outside ASCII, which may look like others or not be visible at all.',
  ['p\u0456ng 10.0.0.1', 'ping\u00a010.0.0.1', 'ping 10.0.0.1\u200b', 'dig ex\u0430mple.com', 'ping \ud800'],
  ['ping 10.0.0.1'],
);
export const empty = risky(
  'text.empty',
  3,
  'There is no command.',
  ['', '   ', '# nothing'],
  ['ping 10.0.0.1'],
);
export const comment = risky(
  'text.comment',
  3,
  'Part of the text is a comment and would not run.',
  ['ping 10.0.0.1 # x'],
  ['dig -b 10.0.0.1#53 example.com'],
);
export const misread = risky(
  'text.two-readings',
  3,
  'Readers of shell commands disagree about a word of this one.',
  [`dig "a"#b`],
);
export const chain = risky(
  'chain.sequence',
  3,
  'Several commands are chained; they are judged and run one by one.',
  [
    'ping -c 1 10.0.0.1; id',
    'dig example.com && id',
    'ss || id',
    'arp -a & id',
    'ping 10.0.0.1\nid',
    'ping 10.0.0.1 &',
  ],
  ['ping 10.0.0.1'],
);
export const pipe = risky(
  'chain.pipe',
  3,
  'The output of a command is piped into another.',
  ['ss -t | ss -s'],
  ["tshark -r a.pcap -Y 'a || b'", 'ss -tulnp | head -20'],
);
export const redirection = risky(
  'redirect.file',
  3,
  'Output is written to a file, or input is taken from one.',
  ['ping 10.0.0.1 > out', 'dig example.com < /etc/passwd', 'ss >> log', 'ss 2> err', 'ss &> x'],
  ['ss 2>/dev/null'],
);
export const quietError = risky(
  'redirect.stderr',
  3,
  'Error output is redirected; it is captured apart in any case.',
  ['ss 2>/dev/null', 'ping 10.0.0.1 2>&1'],
);
export const inlineInput = risky(
  'redirect.inline',
  3,
  'Input is given inline, as a here-document or here-string.',
  ['nslookup <<< example.com', 'scutil <<EOF\nx\nEOF'],
);
export const substitution = risky(
  'word.substitution',
  3,
  'A part of the command is the output of another command.',
  ['ping $(id)', 'ping `id`', 'ping <(id)', 'dig "$(id).example.com"'],
  ["ping '$(id)'"],
);
export const variable = risky(
  'word.variable',
  3,
  'A part of the command is a variable or a computation, whose value is not known.',
  ['ping $HOST', `dig "\${X}.example.com"`, 'ping 10.0.0.$((1+1))', `ping \${IFS}x`],
  ["dig '$HOST.example.com'"],
);
export const expansion = risky(
  'word.expansion',
  3,
  'A shell would turn this word into others.',
  ['ping 10.0.0.{1,2}', 'ping ~/x', "ping $'\\x31'", 'ping $"x"', 'ls @(a|b)', 'ss !!', 'ping !$'],
  ['curl https://example.com/~user'],
);
export const assignment = risky(
  'word.assignment',
  3,
  'A variable is set for the command; it can change which program runs and what it does.',
  [
    'A=1 ping 10.0.0.1',
    'LD_PRELOAD=/tmp/x.so dig example.com',
    'AZURE_EXTENSION_DIR=/tmp/x az vm list',
    'X=1',
  ],
);
export const compound = risky(
  'chain.compound',
  3,
  'This is a script: loops, conditions, functions or groups.',
  [
    'while :; do :; done',
    'ping() { id; }',
    '(ping 10.0.0.1)',
    '{ ping 10.0.0.1; }',
    'if true; then id; fi',
    'time ping 10.0.0.1',
    '! ping 10.0.0.1',
    'coproc ping 10.0.0.1',
  ],
);
export const untrusted = risky(
  'name.untrusted',
  1,
  'The program is named by a path outside the system program folders, so it may be anything.',
  [
    './ping 10.0.0.1',
    '/tmp/ping 10.0.0.1',
    '../dig example.com',
    '/usr/bin/../../tmp/ping x',
    '/proc/self/fd/3/ping 10.0.0.1',
  ],
  ['/usr/bin/ping 10.0.0.1', '/opt/az/bin/az vm list'],
);
export const unlisted = risky(
  'name.unlisted',
  1,
  'The program is not on the list of read-only diagnostics.',
  ['totally-made-up --foo', 'PING 10.0.0.1', 'pcap_forensics.py a.pcap'],
  ['ping 10.0.0.1'],
);
export const broken = risky(
  'classifier.fault',
  3,
  'The classifier could not judge this command, so a person must.',
  [],
);

/** Rules without examples cannot be reached by a command; the tests reach them otherwise. */
export const STRUCTURE_RULES: readonly Rule[] = [
  unreadable,
  tooLong,
  control,
  notAscii,
  empty,
  comment,
  misread,
  chain,
  pipe,
  redirection,
  quietError,
  inlineInput,
  substitution,
  variable,
  expansion,
  assignment,
  compound,
  untrusted,
  unlisted,
  broken,
];
