/** ifconfig, arp, route: read-only only in their shortest forms; any further word is a setting. */
import { optionTable, scanOptions, undeclaredOption, unexpandedWord } from '../options.ts';
import { at, over, risky, safe, type Verdict, type Word } from '../rule.ts';
import { host, odd, token } from './common.ts';
import { optionProgram, type Program } from './program.ts';

const configures = risky(
  'interface.configure',
  1,
  'This changes a network interface.',
  [
    'ifconfig eth0 down',
    'ifconfig eth0 10.0.0.9',
    'ifconfig eth0 mtu 9000',
    'ifconfig -a down',
    'ifconfig eth0 myhost',
  ],
  ['ifconfig eth0', 'ifconfig -a'],
);
const arpChange = risky(
  'arp.change',
  1,
  'This adds or removes entries of the ARP table.',
  [
    'arp -s 10.0.0.1 aa:bb:cc:dd:ee:ff',
    'arp -d 10.0.0.1',
    'arp -ad',
    'arp -f /tmp/ethers',
    'arp --delete 10.0.0.1',
  ],
  ['arp -an', 'arp 10.0.0.1'],
);
const routeChange = risky(
  'route.change',
  1,
  'This changes or watches the routing table.',
  [
    'route add default gw 10.0.0.1',
    'route del default',
    'route change default 10.0.0.2',
    'route flush',
    'route -f',
  ],
  ['route -n', 'route -n get default'],
);

const NAME = /^[A-Za-z][A-Za-z0-9_.:@-]{0,31}$/;
/** Listing options that select among all interfaces: with a further word some systems apply it to all of them. */
const LISTING = new Set(['-a', '-l', '-u', '-d', '-m', '-r', '-L', '-C', '-h', '--help', '--version', '-V']);

const ifconfig: Program = {
  names: ['ifconfig'],
  folders: [],
  safe: safe('ifconfig.read', 1, 'ifconfig shows interfaces.', [
    'ifconfig',
    'ifconfig -a',
    'ifconfig eth0',
    'ifconfig -s eth0',
  ]),
  rules: [configures],
  judge(words) {
    let listing = false;
    let name: Word | null = null;
    for (let i = 1; i < words.length; i += 1) {
      const word = words[i]!;
      if (word.glob) return at(unexpandedWord, word);
      if (word.value.startsWith('-') && name === null) {
        if (LISTING.has(word.value)) listing = true;
        else if (!/^-(?:s|v)$/.test(word.value))
          return at(word.value === '-arp' ? configures : undeclaredOption, word);
        continue;
      }
      if (name !== null || listing) return at(configures, word);
      if (!NAME.test(word.value)) return at(odd, word);
      name = word;
    }
    return over(ifconfig.safe, words);
  },
};

const arp: Program = optionProgram({
  names: ['arp'],
  safe: safe('arp.read', 1, 'arp shows the ARP table.', [
    'arp -a',
    'arp -an',
    'arp -n -i eth0',
    'arp 10.0.0.1',
  ]),
  rules: [arpChange],
  options: {
    flags: '-a -e -l -n -v -x -V -h --all --numeric --verbose --help --version',
    values: [['-i -H -t --device --hw-type', token]],
    refused: [[arpChange, '-d -s -S -f -D -A -F --delete --set --file --use-device', '']],
  },
  operands(scan) {
    const extra = scan.operands[1];
    if (extra !== undefined) return at(arpChange, extra);
    const first = scan.operands[0];
    const objection = first === undefined ? null : host(first.value);
    return first === undefined || objection === null ? null : at(objection, first);
  },
});

const routeTable = optionTable({
  flags:
    '-n -e -v -F -C -4 -6 -V -h --numeric --extend --verbose --fib --cache --inet --inet6 --help --version',
  values: [['-A', token]],
  refused: [[routeChange, '-f -p -T -t -q -d', '']],
});
const MODIFIERS = new Set(['-inet', '-inet6', '-net', '-host', '-ifscope']);

const route: Program = {
  names: ['route'],
  folders: [],
  safe: safe('route.read', 1, 'route shows the routing table.', [
    'route',
    'route -n',
    'route -n get default',
    'route print',
  ]),
  rules: [routeChange],
  judge(words) {
    const get = words.findIndex((word) => !word.glob && word.value === 'get');
    if (get !== -1) return routeGet(words, get);
    const scan = scanOptions(routeTable, words);
    if (scan.verdict !== null) return scan.verdict;
    const first = scan.operands[0];
    if (first === undefined) return over(route.safe, words);
    // `print` and `show` are what other systems call the listing.
    if ((first.value === 'print' || first.value === 'show') && scan.operands.length === 1)
      return over(route.safe, words);
    return at(/^[a-z]+$/.test(first.value) ? routeChange : odd, first);
  },
};

/** `route [-n] get [modifiers] DESTINATION`: the BSD form of a question. */
function routeGet(words: readonly Word[], get: number): Verdict {
  for (let i = 1; i < get; i += 1)
    if (words[i]!.value !== '-n' && words[i]!.value !== '-v') return at(routeChange, words[i]!);
  let destinations = 0;
  for (let i = get + 1; i < words.length; i += 1) {
    const word = words[i]!;
    if (word.glob) return at(unexpandedWord, word);
    if (word.value.startsWith('-')) {
      if (!MODIFIERS.has(word.value)) return at(undeclaredOption, word);
      if (word.value === '-ifscope') i += 1;
      continue;
    }
    const objection = host(word.value);
    if (objection !== null) return at(objection, word);
    destinations += 1;
  }
  return destinations === 1 ? over(route.safe, words) : over(odd, words);
}

export const INTERFACES: readonly Program[] = [ifconfig, arp, route];
