/** scutil and networksetup: the questions macOS answers about its own network settings. */
import { undeclaredOption } from '../options.ts';
import { at, over, risky, safe, type Verdict, type Word } from '../rule.ts';
import { host, odd, token } from './common.ts';
import type { Program } from './program.ts';

const editor = risky(
  'scutil.editor',
  1,
  'scutil without a question reads commands that change the configuration.',
  ['scutil', 'scutil -p'],
  ['scutil --dns'],
);
const settings = risky(
  'mac.settings',
  1,
  'This changes network settings of the machine.',
  [
    'scutil --set ComputerName x',
    'scutil --nc start VPN',
    'networksetup -setdnsservers Wi-Fi 6.6.6.6',
    'networksetup -SetDNSServers Wi-Fi 6.6.6.6',
    'networksetup -ordernetworkservices Wi-Fi',
  ],
  ['scutil --get ComputerName', 'networksetup -getdnsservers Wi-Fi'],
);

const QUESTIONS: ReadonlySet<string> = new Set(['--dns', '--proxy', '--nwi', '--help', '--advisory']);
const NAMES: ReadonlySet<string> = new Set(['ComputerName', 'LocalHostName', 'HostName']);

const scutil: Program = {
  names: ['scutil'],
  folders: [],
  safe: safe('scutil.read', 1, 'scutil shows network settings.', [
    'scutil --dns',
    'scutil --get HostName',
    'scutil -r 8.8.8.8',
    'scutil --nc list',
  ]),
  rules: [editor, settings],
  judge(words) {
    const first = words[1];
    if (first === undefined || first.value === '-p' || first.value === '--prefs') return over(editor, words);
    const second = words[2]?.value;
    if (words.some((word) => word.glob)) return over(odd, words);
    const yes = over(scutil.safe, words);
    switch (first.value) {
      case '--get':
        return second !== undefined && NAMES.has(second) && words.length === 3 ? yes : at(odd, first);
      case '-r':
        return second !== undefined && host(second) === null && words.length === 3 ? yes : at(odd, first);
      case '--nc':
        return second === 'list' || second === 'status' ? yes : at(settings, words[2] ?? first);
      case '--set':
        return at(settings, first);
      default:
        return QUESTIONS.has(first.value) && words.length === 2 ? yes : at(undeclaredOption, first);
    }
  },
};

/** networksetup knows one command a call, in any case of letters. */
const READS = /^-(?:get[a-z0-9]+|list[a-z0-9]+|show[a-z0-9]+|is[a-z0-9]+|help|version|printcommands)$/i;

function networksetupVerdict(words: readonly Word[]): Verdict | null {
  const first = words[1];
  if (first === undefined) return over(odd, words);
  if (first.glob || !READS.test(first.value)) return at(first.value.startsWith('-') ? settings : odd, first);
  for (let i = 2; i < words.length; i += 1) {
    const word = words[i]!;
    if (word.glob || word.value.startsWith('-') || token(word.value.replaceAll(' ', '_')) !== null)
      return at(odd, word);
  }
  return null;
}

const networksetup: Program = {
  names: ['networksetup'],
  folders: [],
  safe: safe('networksetup.read', 1, 'networksetup shows network settings.', [
    'networksetup -listallhardwareports',
    'networksetup -getinfo "USB 10/100 LAN"',
    'networksetup -getMTU en0',
  ]),
  rules: [settings],
  judge: (words) => networksetupVerdict(words) ?? over(networksetup.safe, words),
};

export const MAC: readonly Program[] = [scutil, networksetup];
