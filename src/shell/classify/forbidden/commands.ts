/** Programs that can destroy a machine, each with the arguments that make them do so. */
import type { Rule } from '../rule.ts';
import { components, isFatalTarget, isRoot } from './paths.ts';
import { deleteRoot, killAll, makeFilesystem, power, rootPermissions, writeDevice } from './rules.ts';

/** `cwd`: the folder the script changed into, when that is known. */
type Test = (args: readonly string[], cwd: string | null) => Rule | null;

function operands(args: readonly string[]): string[] {
  const found: string[] = [];
  let literal = false;
  for (const arg of args) {
    if (!literal && arg === '--') literal = true;
    else if (literal || !arg.startsWith('-') || arg === '-') found.push(arg);
  }
  return found;
}

/** A short letter, alone or in a cluster, or a long option, which may be shortened. */
function has(args: readonly string[], letters: string, ...long: string[]): boolean {
  for (const arg of args) {
    if (arg === '--') return false;
    if (arg.startsWith('--')) {
      const name = arg.split('=', 1)[0]!;
      if (name.length > 2 && long.some((full) => full.startsWith(name))) return true;
    } else if (arg.startsWith('-') && [...letters].some((letter) => arg.includes(letter, 1))) return true;
  }
  return false;
}

const onDevice =
  (rule: Rule): Test =>
  (args, cwd) =>
    args.some((arg) => isFatalTarget(arg, cwd)) ? rule : null;

/** Writes to its last operand. */
const toLast: Test = (args, cwd) => {
  const last = operands(args).at(-1);
  const target = args.find((arg) => arg.startsWith('--target-directory='))?.slice(19);
  return (last !== undefined && isFatalTarget(last, cwd)) ||
    (target !== undefined && isFatalTarget(target, cwd))
    ? writeDevice
    : null;
};

/** Writes to the value of an option: next word, attached, or after `=`. */
const toOption =
  (...names: string[]): Test =>
  (args, cwd) => {
    for (let i = 0; i < args.length; i += 1) {
      const arg = args[i]!;
      for (const name of names) {
        const short = /^-[A-Za-z]$/.test(name);
        const letter = name.charAt(1);
        if (arg === name || (short && /^-[A-Za-z]+$/.test(arg) && arg.endsWith(letter))) {
          if (isFatalTarget(args[i + 1] ?? '', cwd)) return writeDevice;
        } else if (arg.startsWith(`${name}=`) && isFatalTarget(arg.slice(name.length + 1), cwd))
          return writeDevice;
        else if (short && arg.startsWith('-') && !arg.startsWith('--')) {
          const at = arg.indexOf(letter, 1);
          if (at !== -1 && isFatalTarget(arg.slice(at + 1), cwd)) return writeDevice;
        }
      }
    }
    return null;
  };

const remove: Test = (args, cwd) =>
  has(args, 'rR', '--recursive') && operands(args).some((path) => isRoot(path, cwd)) ? deleteRoot : null;

const permissions: Test = (args, cwd) =>
  has(args, 'R', '--recursive') && operands(args).some((path) => isRoot(path, cwd)) ? rootPermissions : null;

const move: Test = (args, cwd) =>
  operands(args)
    .slice(0, -1)
    // `/` itself cannot be moved; everything in it can.
    .some((path) => isRoot(path, cwd) && components(path, cwd)?.length !== 0)
    ? deleteRoot
    : toLast(args, cwd);

const rsync: Test = (args, cwd) => {
  const last = operands(args).at(-1);
  const deletes = args.some((arg) => arg.startsWith('--del'));
  return deletes && last !== undefined && isRoot(last, cwd) ? deleteRoot : toLast(args, cwd);
};

const copyBlocks: Test = (args, cwd) => {
  for (const arg of args) {
    const value = /^(?:of|hof|wipe|ofs)=(.*)$/s.exec(arg)?.[1];
    if (value !== undefined && isFatalTarget(value, cwd)) return writeDevice;
  }
  return null;
};

/** tar writes to the archive when it creates or appends; other devices on its line are read. */
const archive: Test = (args, cwd) => {
  const mode = args[0] ?? '';
  const writes = /^-?[A-Za-z]*[cru]/.test(mode) || has(args, '', '--create', '--append', '--update');
  return writes
    ? toOption('-f', '--file')([mode.startsWith('-') ? mode : `-${mode}`, ...args.slice(1)], cwd)
    : null;
};

const initLevel: Test = (args) => {
  const level = operands(args)[0];
  return level === '0' || level === '6' ? power : null;
};

const STOPS = /^(?:poweroff|reboot|halt|kexec|soft-reboot|emergency|rescue)$/;
const STOP_UNITS =
  /^(?:poweroff|reboot|halt|kexec|shutdown|runlevel[06]|ctrl-alt-del|soft-reboot|emergency)\.(?:target|service)$/;
const VALUED = new Set([
  '-H',
  '-M',
  '-t',
  '-p',
  '-P',
  '-n',
  '-o',
  '-s',
  '--host',
  '--machine',
  '--type',
  '--property',
  '--lines',
  '--output',
  '--signal',
  '--root',
  '--job-mode',
  '--message',
]);

const systemctl: Test = (args) => {
  let verb: string | null = null;
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i]!;
    if (arg.startsWith('-')) {
      if (VALUED.has(arg)) i += 1;
      continue;
    }
    if (verb === null) {
      if (STOPS.test(arg)) return power;
      verb = arg;
    } else if (
      /^(?:start|isolate|restart|reload-or-restart|enable)$/.test(verb) &&
      (STOP_UNITS.test(arg) || (verb === 'isolate' && STOPS.test(arg)))
    ) {
      return power;
    }
  }
  return null;
};

const kill: Test = (args) => {
  let i = 0;
  if (args[0] === '-s' || args[0] === '-n') i = 2;
  else if (args[0]?.startsWith('-') === true && args[0] !== '--') i = 1;
  return args.slice(i).includes('-1') ? killAll : null;
};

const EDITS =
  /^(?:mklabel|mktable|mkpart|mkpartfs|mkfs|rm|resizepart|resize|move|cp|set|toggle|name|rescue|disk_set|disk_toggle)$/;
const whenVerb =
  (verbs: RegExp, rule: Rule): Test =>
  (args, cwd) =>
    args.some((arg) => verbs.test(arg)) && args.some((arg) => isFatalTarget(arg, cwd)) ? rule : null;
const whenOption =
  (test: (args: readonly string[]) => boolean): Test =>
  (args, cwd) =>
    test(args) && args.some((arg) => isFatalTarget(arg, cwd)) ? writeDevice : null;

const always =
  (rule: Rule): Test =>
  () =>
    rule;

const TESTS: ReadonlyMap<string, Test> = new Map<string, Test>([
  ...['rm', 'grm', 'srm', 'wipe'].map((name) => [name, remove] as const),
  ...['chmod', 'chown', 'chgrp'].map((name) => [name, permissions] as const),
  ['mv', move],
  ['rsync', rsync],
  ...['cp', 'gcp', 'install', 'scp', 'ddrescue', 'qemu-img'].map((name) => [name, toLast] as const),
  ...['dd', 'gdd', 'dcfldd', 'dc3dd'].map((name) => [name, copyBlocks] as const),
  ...['tee', 'shred', 'sponge', 'truncate', 'blkdiscard', 'pvcreate', 'vgcreate', 'pvremove', 'socat'].map(
    (name) => [name, onDevice(writeDevice)] as const,
  ),
  ...[
    'mke2fs',
    'mkswap',
    'mkdosfs',
    'mkntfs',
    'mkreiserfs',
    'newfs',
    'newfs_msdos',
    'newfs_apfs',
    'newfs_hfs',
    'mkexfatfs',
  ].map((name) => [name, onDevice(makeFilesystem)] as const),
  ['wipefs', whenOption((args) => has(args, 'ao', '--all', '--offset'))],
  ['badblocks', whenOption((args) => has(args, 'wn'))],
  [
    'hdparm',
    whenOption((args) =>
      args.some((arg) =>
        /^--(?:security-(?:erase|set|disable)|write-sector|trim-sector|sanitize|dco-restore|make-bad)/.test(
          arg,
        ),
      ),
    ),
  ],
  [
    'sgdisk',
    whenOption((args) =>
      args.some(
        (arg) =>
          /^-(?:Z|z|o|n|d|g|m|N|t|c|e|G|l|r)/.test(arg) ||
          /^--(?:zap|clear|new|delete|mbrtogpt|gpttombr|load|typecode|randomize)/.test(arg),
      ),
    ),
  ],
  [
    'sfdisk',
    whenOption(
      (args) => !has(args, 'ldJsVFg', '--list', '--dump', '--json', '--show', '--verify', '--list-free'),
    ),
  ],
  ['mdadm', whenOption((args) => has(args, 'C', '--create', '--zero-superblock'))],
  ['parted', whenVerb(EDITS, writeDevice)],
  [
    'nvme',
    whenVerb(/^(?:format|sanitize|write|write-zeroes|write-uncor|delete-ns|create-ns|dsm)$/, writeDevice),
  ],
  ['cryptsetup', whenVerb(/^(?:luksFormat|erase|luksErase|reencrypt|format)$/, writeDevice)],
  ['zpool', whenVerb(/^(?:create|labelclear|add|replace)$/, writeDevice)],
  ['tar', archive],
  [
    'curl',
    toOption(
      '-o',
      '--output',
      '-D',
      '--dump-header',
      '-c',
      '--cookie-jar',
      '--trace',
      '--trace-ascii',
      '--stderr',
    ),
  ],
  ['wget', toOption('-O', '--output-document', '-o', '--output-file')],
  ['tcpdump', toOption('-w')],
  ['tshark', toOption('-w')],
  ['sort', toOption('-o', '--output')],
  ['openssl', toOption('-out')],
  ['gcc', toOption('-o')],
  ['cpio', toOption('-O', '-F', '--file')],
  [
    'diskutil',
    (args) =>
      args.some((arg) =>
        /^(?:erase(?:disk|volume|all)?|partitiondisk|zerodisk|randomdisk|secureerase|reformat)$/i.test(arg),
      )
        ? writeDevice
        : null,
  ],
  ...['shutdown', 'reboot', 'halt', 'poweroff'].map((name) => [name, always(power)] as const),
  ['init', initLevel],
  ['telinit', initLevel],
  ['systemctl', systemctl],
  ['loginctl', systemctl],
  ['kexec', (args) => (has(args, 'e', '--exec') ? power : null)],
  ['kill', kill],
  ['killall5', always(killAll)],
]);

/** The rule that forbids this command, judged by name (in whatever folder) and arguments; or null. */
export function catastrophe(name: string, args: readonly string[], cwd: string | null): Rule | null {
  const test = TESTS.get(name);
  if (test !== undefined) return test(args, cwd);
  return name === 'mkfs' || name.startsWith('mkfs.') ? makeFilesystem : null;
}

export const DESTROYERS: readonly string[] = [...TESTS.keys()];

export function isKnownDestroyer(name: string): boolean {
  return TESTS.has(name) || name === 'mkfs' || name.startsWith('mkfs.');
}
