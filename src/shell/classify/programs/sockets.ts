/** netstat, ss, lsof: which sockets and files are open. */
import { undeclaredOption, unexpandedWord } from '../options.ts';
import { at, over, type Rule, risky, safe, type Verdict, type Word } from '../rule.ts';
import { odd, token } from './common.ts';
import { optionProgram, type Program } from './program.ts';

const continuous = risky(
  'sockets.continuous',
  1,
  'This mode goes on until it is stopped.',
  ['netstat -c', 'ss -E', 'lsof -r 5 -i', 'netstat -ntc'],
  ['netstat -an', 'ss -e'],
);
const closes = risky(
  'ss.kill',
  1,
  'This closes the connections it finds.',
  ['ss -K dst 10.0.0.1', 'ss -tK', 'ss --kill'],
  ['ss -tk'],
);
const socketFile = risky('ss.file', 1, 'This reads a filter from a file or writes what it finds to one.', [
  'ss -F /etc/shadow',
  'ss -D /tmp/x',
  'ss --diag=/tmp/x',
]);
const lsofFile = risky(
  'lsof.file',
  1,
  'This option of lsof reads or writes a file of its own, or names another kernel image.',
  ['lsof -Db/tmp/evil -i', 'lsof +m m', 'lsof -m /tmp/core', 'lsof -k /tmp/vmunix', 'lsof -A /tmp/afs'],
  ['lsof -i', 'lsof -d cwd'],
);

const netstat: Program = optionProgram({
  names: ['netstat'],
  safe: safe('netstat.read', 1, 'netstat lists connections, routes and counters.', [
    'netstat -an',
    'netstat -rn',
    'netstat -p tcp -an',
  ]),
  rules: [continuous],
  options: {
    // `-p`, `-f` and `-I` take a value on some systems and none on others; either way it is a plain word.
    flags:
      '-2 -4 -6 -a -A -b -d -e -f -F -C -g -h -i -I -l -L -m -n -o -p -q -r -R -s -S -t -T -u -U -v -V -W -x -X -Z --all --extend --fib --groups --help --inet --inet6 --interfaces --listening --numeric --numeric-hosts --numeric-ports --numeric-users --program --programs --raw --route --statistics --symbolic --tcp --timers --udp --udplite --sctp --unix --verbose --version --wide --ip --context',
    values: [['--protocol', token]],
    refused: [[continuous, '-c --continuous', '-w']],
  },
  operands(scan) {
    for (const operand of scan.operands) {
      if (!/^[A-Za-z][A-Za-z0-9_.]{0,15}$/.test(operand.value)) return at(odd, operand);
    }
    return null;
  },
});

const ss: Program = optionProgram({
  names: ['ss'],
  safe: safe('ss.read', 1, 'ss lists sockets.', [
    'ss -tulnp',
    "ss -tn '( dport = :443 )'",
    'ss -o state established dst 10.0.0.0/8',
    'ss -A tcp,udp',
  ]),
  rules: [closes, socketFile],
  options: {
    flags:
      '-0 -4 -6 -a -b -B -d -e -h -H -i -l -m -M -n -o -O -p -Q -r -s -S -t -T -u -V -w -x -z -Z --all --bound-inactive --bpf --bpf-maps --cgroup --contexts --context --dccp --extended --help --inet-sockopt --info --ipv4 --ipv6 --listening --memory --mptcp --no-header --no-queues --numeric --oneline --options --packet --processes --raw --resolve --sctp --summary --tcp --threads --tipc --tipcinfo --tos --udp --unix --version --vsock --xdp',
    values: [['-f -A -N --family --query --socket --net', token]],
    refused: [
      [closes, '-K --kill', ''],
      [socketFile, '', '-D --diag -F --filter'],
      [continuous, '-E --events', ''],
    ],
  },
});

/** Letters of lsof, which has an option grammar of its own: `+` options, values attached or next. */
const LSOF_FLAGS = new Set('abChHlnNOPQRtUvVwXEMLz');
const LSOF_VALUES = new Set('cdgpsuFSToeix');
const LSOF_FILES = new Set('DmkA');
/** Values that lsof takes from the next word only when that word does not begin another option. */
const LSOF_OPTIONAL = new Set('isFSToL');

function lsofWord(word: Word, next: Word | undefined): { rule: Rule | null; used: number } {
  const text = word.value;
  const plus = text.startsWith('+');
  for (let k = 1; k < text.length; k += 1) {
    const letter = text.charAt(k);
    if (LSOF_FILES.has(letter) && !(plus && letter === 'D')) return { rule: lsofFile, used: 0 };
    if (letter === 'r') return { rule: continuous, used: 0 };
    if (plus) {
      // +c WIDTH, +d/+D DIR, +f, +L COUNT, +E, +w: how much is shown of what.
      if (!'cdDfLEw'.includes(letter)) return { rule: undeclaredOption, used: 0 };
      if (k + 1 < text.length || 'fEwL'.includes(letter)) return { rule: null, used: 0 };
      return { rule: next === undefined ? odd : null, used: 1 };
    }
    if (LSOF_FLAGS.has(letter)) continue;
    if (!LSOF_VALUES.has(letter)) return { rule: undeclaredOption, used: 0 };
    if (k + 1 < text.length) return { rule: null, used: 0 };
    const begins = next !== undefined && (next.value.startsWith('-') || next.value.startsWith('+'));
    if (LSOF_OPTIONAL.has(letter)) return { rule: null, used: next === undefined || begins ? 0 : 1 };
    return { rule: next === undefined || begins ? odd : null, used: 1 };
  }
  return { rule: null, used: 0 };
}

const lsof: Program = {
  names: ['lsof'],
  folders: [],
  safe: safe('lsof.read', 1, 'lsof lists open files and sockets.', [
    'lsof -i',
    'lsof -nP -iTCP:443 -sTCP:LISTEN',
    'lsof -i :443',
    'lsof -p 1',
  ]),
  rules: [lsofFile],
  judge(words): Verdict {
    for (let i = 1; i < words.length; i += 1) {
      const word = words[i]!;
      if (word.glob) return at(unexpandedWord, word);
      const text = word.value;
      if (text === '--') break;
      if (text.length < 2 || !(text.startsWith('-') || text.startsWith('+'))) continue;
      if (text.startsWith('--')) return at(undeclaredOption, word);
      const { rule, used } = lsofWord(word, words[i + 1]);
      if (rule !== null) return at(rule, word);
      if (used === 1 && words[i + 1]?.glob === true) return at(unexpandedWord, words[i + 1]!);
      i += used;
    }
    return over(lsof.safe, words);
  },
};

export const SOCKETS: readonly Program[] = [netstat, ss, lsof];
