import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/shell/classify/index.ts';
import type { ShellClass } from '../../../src/shell/types.ts';

const LONG = process.env['WRIT_LONG'] === '1';
const runs = (few: number) => ({ numRuns: LONG ? few * 50 : few });

const RANK: Record<ShellClass, number> = { SAFE: 0, RISKY: 1, FORBIDDEN: 2 };
const rank = (command: string): number => RANK[classify(command).classification];

const DANGEROUS: readonly string[][] = [
  ['curl', '-d', 'x', 'https://example.com'],
  ['curl', '-o', 'x', 'https://example.com'],
  ['curl', 'http://169.254.169.254/'],
  ['dig', '-f', '/etc/passwd'],
  ['ss', '-K', 'dst', '10.0.0.5'],
  ['ip', 'link', 'set', 'eth0', 'down'],
  ['tshark', '-r', 'a.pcap', '-w', 'b.pcap'],
  ['tcpdump', '-i', 'eth0'],
  ['az', 'vm', 'delete', '-g', 'rg', '-n', 'vm'],
  ['az', 'keyvault', 'secret', 'show', '--vault-name', 'kv', '-n', 's'],
  ['ping', '-f', '10.0.0.1'],
  ['arp', '-d', '10.0.0.1'],
  ['ifconfig', 'eth0', 'down'],
  ['cat', '/etc/shadow'],
  ['rm', 'x'],
];
const CATASTROPHES: readonly string[][] = [
  ['rm', '-rf', '/'],
  ['rm', '-r', '-f', '/etc/..'],
  ['mkfs.ext4', '/dev/sda1'],
  ['dd', 'if=/dev/zero', 'of=/dev/sda'],
  ['reboot'],
  ['shutdown', '-h', 'now'],
  ['systemctl', 'poweroff'],
  ['tee', '/dev/nvme0n1'],
  ['kill', '-9', '-1'],
  ['chmod', '-R', '777', '/'],
];

/** A word in another spelling that every shell reads the same. */
const respell = (word: string): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom('bare', 'single', 'double', 'escape', 'empty'), {
      minLength: word.length,
      maxLength: word.length,
    })
    .map((ways) =>
      [...word]
        .map((char, index) => {
          switch (ways[index]) {
            case 'single':
              return char === "'" ? char : `'${char}'`;
            case 'double':
              return /[$`"\\]/.test(char) ? char : `"${char}"`;
            case 'escape':
              return `\\${char}`;
            case 'empty':
              return `''${char}""`;
            default:
              return char;
          }
        })
        .join(''),
    );
const respelled = (argv: readonly string[]): fc.Arbitrary<string> =>
  fc.tuple(...argv.map(respell)).map((words) => words.join(' '));

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** `takes`: a program can only be asked to run one command; grammar can hold any script. */
interface Wrap {
  readonly takes: 'command' | 'script';
  readonly gives: 'command' | 'script';
  readonly make: (text: string) => string;
}
const program = (prefix: string): Wrap => ({
  takes: 'command',
  gives: 'command',
  make: (text) => `${prefix} ${text}`,
});
const WRAPS: readonly Wrap[] = [
  ...[
    'env',
    'env -i A=1',
    'nice -n 5',
    'timeout -k 1 5',
    'nohup',
    'command',
    'sudo -u root',
    'stdbuf -o0',
    'setsid',
    'busybox',
    'ionice -c 3',
    'chroot /mnt',
    'xargs',
    'exec',
    'strace -f',
    'doas',
  ].map(program),
  { takes: 'command', gives: 'script', make: (text) => `A=b ${text}` },
  ...['sh -c', 'bash -lc', '/bin/dash -c', 'eval', 'su root -c'].map(
    (shell): Wrap => ({ takes: 'script', gives: 'command', make: (text) => `${shell} ${quote(text)}` }),
  ),
  ...(
    [
      (text) => `( ${text} )`,
      (text) => `{ ${text}; }`,
      (text) => `true && ${text}`,
      (text) => `ping 10.0.0.1; ${text}`,
      (text) => `echo $( ${text} )`,
      (text) => `if true; then ${text}; fi`,
      (text) => `time ${text}`,
      (text) => `f() { ${text}; }; f`,
      (text) => `cat <( ${text} )`,
      (text) => `for i in 1 2; do ${text}; done`,
    ] satisfies ((text: string) => string)[]
  ).map((make): Wrap => ({ takes: 'script', gives: 'script', make })),
];

/** Wraps in turn, handing a script to a shell where a program needs one command. */
function wrapped(argv: readonly string[], wraps: readonly Wrap[]): string {
  let text = argv.join(' ');
  let kind: Wrap['gives'] = 'command';
  for (const wrap of wraps) {
    text = wrap.make(wrap.takes === 'command' && kind === 'script' ? `sh -c ${quote(text)}` : text);
    kind = wrap.gives;
  }
  return text;
}

describe('evasions', () => {
  it('[SHC-01] another spelling of a dangerous command is never SAFE', () => {
    fc.assert(
      fc.property(fc.constantFrom(...DANGEROUS).chain(respelled), (text) => {
        expect(rank(text), text).toBeGreaterThan(0);
      }),
      runs(2000),
    );
  });

  it('[SHC-02] another spelling of a catastrophe stays FORBIDDEN', () => {
    fc.assert(
      fc.property(fc.constantFrom(...CATASTROPHES).chain(respelled), (text) => {
        expect(rank(text), text).toBe(2);
      }),
      runs(1500),
    );
  });

  it('[SHC-03] wrapping a command up to eight times hides nothing', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...CATASTROPHES),
        fc.array(fc.constantFrom(...WRAPS), { maxLength: 4 }),
        (argv, wraps) => {
          const text = wrapped(argv, wraps);
          expect(rank(text), text).toBe(2);
        },
      ),
      runs(1500),
    );
  });

  it('[SHC-03] a wrapped harmless command is RISKY, and one in nine layers is FORBIDDEN', () => {
    for (const name of ['env', 'nohup', 'setsid', 'nice', 'command', 'busybox', 'sudo']) {
      expect(classify(`${`${name} `.repeat(8)}ping 10.0.0.1`).classification).toBe('RISKY');
      expect(classify(`${`${name} `.repeat(9)}ping 10.0.0.1`).rule).toBe('forbid.wrapped-too-deep');
    }
  });

  it('[SHC-09] a chain is at least as strict as each of its parts', () => {
    const part = fc.constantFrom(
      'ping 10.0.0.1',
      'dig example.com',
      'az vm list',
      'rm x',
      'cat y',
      'reboot',
      'rm -rf /',
      'curl -d x https://example.com',
      'ss -t',
    );
    const operator = fc.constantFrom(';', '&&', '||', '&', '|', '\n', ' ; ', ' && ');
    fc.assert(
      fc.property(part, operator, part, (left, op, right) => {
        const both = rank(`${left}${op}${right}`);
        expect(both).toBeGreaterThanOrEqual(Math.max(rank(left), rank(right)));
        expect(both).toBeGreaterThan(0);
      }),
      runs(400),
    );
  });

  it('[SHC-01] one character of another alphabet anywhere is never SAFE', () => {
    const odd = fc.constantFrom(
      '\u0430',
      '\u0456',
      '\u200b',
      '\u202e',
      '\u00a0',
      '\ufeff',
      '\u2013',
      '\uff0d',
      '\t',
      '\r',
      '\0',
      '\x1b',
      '\x7f',
      '\ud800',
      '\n\n',
    );
    const command = fc.constantFrom(
      'ping -c 1 10.0.0.1',
      'dig example.com',
      'az vm list -g rg -o json',
      'curl -s https://example.com',
    );
    fc.assert(
      fc.property(command, odd, fc.nat(), (text, char, where) => {
        const at = where % (text.length - 1);
        const changed = `${text.slice(0, at)}${char}${text.slice(at)}`;
        expect(rank(changed), JSON.stringify(changed)).toBeGreaterThan(0);
      }),
      runs(600),
    );
  });

  it('[SHC-07] an option nobody declared is never SAFE', () => {
    const named = fc.constantFrom(
      'ping',
      'traceroute',
      'dig',
      'host',
      'nslookup',
      'whois',
      'mtr -r',
      'netstat',
      'ss',
      'ifconfig',
      'ip',
      'arp',
      'route',
      'lsof',
      'tshark -r a.pcap',
      'tcpdump -r a.pcap',
      'curl https://example.com',
      'pcap-forensics a.pcap',
      'az vm list',
    );
    const long = fc.stringMatching(/^[a-z]{3,12}$/).map((name) => `--zz${name}`);
    fc.assert(
      fc.property(named, long, (name, option) => {
        expect(rank(`${name} ${option} 10.0.0.1`)).toBeGreaterThan(0);
        expect(rank(`${name} ${option}=10.0.0.1`)).toBeGreaterThan(0);
      }),
      runs(400),
    );
  });
});
