/**
 * ip (iproute2), which has a parser of its own: objects and commands may be shortened, and the first
 * entry of its tables that fits wins. The order of those tables differs between versions, so a shortened
 * word is read-only only if it is so for every object it could mean.
 */
import { undeclaredOption, unexpandedWord } from '../options.ts';
import { at, over, risky, safe, type Verdict, type Word } from '../rule.ts';
import { odd, token } from './common.ts';
import type { Program } from './program.ts';

const changes = risky(
  'ip.change',
  1,
  'Only show, list and get of ip are read-only; this changes addresses, links, routes or rules.',
  [
    'ip link set eth0 down',
    'ip route add default via 10.0.0.1',
    'ip link s eth0 down',
    'ip n f dev show',
    'ip link delete show',
    'ip route save',
  ],
  ['ip link show', 'ip route get 8.8.8.8', 'ip r get 8.8.8.8', 'ip addr'],
);
const executes = risky(
  'ip.exec',
  1,
  'This runs another program in a network namespace or VRF.',
  ['ip netns exec blue id', 'ip -all netns exec id', 'ip vrf exec red id', 'ip netns e blue id'],
  ['ip netns list'],
);
const batch = risky('ip.batch', 1, 'This reads commands from a file and runs them.', [
  'ip -batch /tmp/cmds',
  'ip -b /tmp/cmds',
  'ip -force -batch x',
  'ip --batch x',
]);
const watches = risky(
  'ip.monitor',
  1,
  'This mode goes on until it is stopped.',
  ['ip monitor', 'ip mon all', 'ip xfrm monitor'],
  ['ip route'],
);
const keys = risky(
  'ip.keys',
  1,
  'This shows keys of encrypted connections.',
  ['ip xfrm state', 'ip xfrm state list', 'ip x s'],
  ['ip xfrm policy'],
);

const FLAGS: ReadonlySet<string> = new Set(
  '4 6 0 B M s stats statistics d details r resolve h human human-readable iec j json p pretty o oneline br brief t timestamp ts tshort c color N Numeric V Version c=auto c=always c=never color=auto color=always color=never'.split(
    ' ',
  ),
);
const VALUES: ReadonlySet<string> = new Set('f family l loops rc rcvbuf n netns'.split(' '));

const SHOW = 'show list lst ls sh sho li lis l';
/** Objects → the words that only read. `s` means show where no earlier command begins with it. */
const OBJECTS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  (
    [
      ['address', `${SHOW} s`],
      ['addrlabel', `${SHOW} s`],
      ['route', `${SHOW} s get g ge`],
      ['rule', `${SHOW} s`],
      ['neighbor', `${SHOW} s get g ge`],
      ['neighbour', `${SHOW} s get g ge`],
      ['link', SHOW],
      ['maddress', SHOW],
      ['macsec', SHOW],
      ['mroute', SHOW],
      ['mrule', SHOW],
      ['netconf', SHOW],
      ['netns', `${SHOW} list-id identify pids`],
      ['nexthop', `${SHOW} get`],
      ['ntable', SHOW],
      ['ntbl', SHOW],
      ['stats', SHOW],
      ['tcpmetrics', `${SHOW} get`],
      ['tcp_metrics', `${SHOW} get`],
      ['token', `${SHOW} get`],
      ['tunnel', SHOW],
      ['tunl', SHOW],
      ['tuntap', SHOW],
      ['tap', SHOW],
      ['vrf', `${SHOW} identify pids`],
      ['l2tp', SHOW],
      ['fou', SHOW],
      ['ila', SHOW],
    ] as const
  ).map(([name, commands]) => [name, new Set(commands.split(' '))]),
);
/** One letter means the first object that begins with it, in the order of ip's own table. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ['a', 'address'],
  ['r', 'route'],
  ['n', 'neighbor'],
  ['l', 'link'],
]);
const NEVER: ReadonlyMap<string, typeof watches> = new Map([['monitor', watches]]);

function optionVerdict(word: Word): { verdict: Verdict | null; takesValue: boolean } {
  // One or two dashes are the same to ip.
  const name = word.value.replace(/^--?/, '');
  if (FLAGS.has(name)) return { verdict: null, takesValue: false };
  if (VALUES.has(name)) return { verdict: null, takesValue: true };
  if (/^(?:b|ba|bat|batc|batch|force|forc|for|fo)$/.test(name))
    return { verdict: at(batch, word), takesValue: false };
  if (/^(?:a|al|all)$/.test(name)) return { verdict: at(executes, word), takesValue: false };
  return { verdict: at(undeclaredOption, word), takesValue: false };
}

function objectVerdict(object: Word, command: Word | undefined): Verdict | null {
  const text = LETTERS.get(object.value) ?? object.value;
  if (command !== undefined && /^(?:e|ex|exe|exec)$/.test(command.value) && /^(?:n|v)/.test(text))
    return at(executes, command);
  let known = false;
  for (const [name, commands] of OBJECTS) {
    if (!name.startsWith(text)) continue;
    known = true;
    if (command !== undefined && !commands.has(command.value) && command.value !== 'help')
      return at(changes, command);
  }
  for (const [name, rule] of NEVER) if (name.startsWith(text)) return at(rule, object);
  return known ? null : at(changes, object);
}

/** `ip xfrm policy` is harmless to show; `state` prints keys. */
function xfrmVerdict(words: readonly Word[], object: number): Verdict | null {
  const kind = words[object + 1];
  if (kind === undefined) return null;
  if ('state'.startsWith(kind.value)) return at(keys, kind);
  if ('monitor'.startsWith(kind.value)) return at(watches, kind);
  if (kind.value !== 'policy') return at(changes, kind);
  const command = words[object + 2];
  return command === undefined || SHOW.split(' ').includes(command.value) ? null : at(changes, command);
}

const ip: Program = {
  names: ['ip'],
  folders: [],
  safe: safe('ip.read', 1, 'ip with show, list or get only reads.', [
    'ip addr',
    'ip -br a',
    'ip -6 route get 2001:4860:4860::8888',
    'ip -s link show dev eth0',
    'ip n',
    'ip route show table all',
    'ip xfrm policy',
  ]),
  rules: [changes, executes, batch, watches, keys],
  judge(words) {
    const glob = words.find((word) => word.glob);
    if (glob !== undefined) return at(unexpandedWord, glob);
    let i = 1;
    for (; i < words.length && words[i]!.value.startsWith('-'); i += 1) {
      const { verdict, takesValue } = optionVerdict(words[i]!);
      if (verdict !== null) return verdict;
      if (!takesValue) continue;
      i += 1;
      if (words[i] === undefined || token(words[i]!.value) !== null) return over(odd, words);
    }
    const object = words[i];
    if (object === undefined || object.value === 'help') return over(ip.safe, words);
    if (!/^[a-z0-9_]+$/.test(object.value)) return at(odd, object);
    const verdict =
      object.value.length > 0 && 'xfrm'.startsWith(object.value)
        ? xfrmVerdict(words, i)
        : objectVerdict(object, words[i + 1]);
    if (verdict !== null) return verdict;
    for (let k = i + 2; k < words.length; k += 1) {
      if (token(words[k]!.value) !== null || words[k]!.value.startsWith('-')) return at(odd, words[k]!);
    }
    return over(ip.safe, words);
  },
};

export const IP: readonly Program[] = [ip];
