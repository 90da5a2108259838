/** Programs that run the command given to them. Each line says how to find that command in their arguments. */

interface Wrapper {
  /** Letters of short options that take a value. */
  readonly letters: string;
  /** Long options that take a value as the next word. */
  readonly long: readonly string[];
  /** Operands of its own before the command. */
  readonly skip: number;
}

const w = (letters = '', skip = 0, ...long: string[]): Wrapper => ({ letters, skip, long });

export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  ['env', w('uCS', 0, '--unset', '--chdir', '--split-string')],
  ['nice', w('n', 0, '--adjustment')],
  ['ionice', w('cnpPu', 0, '--class', '--classdata', '--pid')],
  ['timeout', w('ks', 1, '--kill-after', '--signal')],
  ['gtimeout', w('ks', 1, '--kill-after', '--signal')],
  ['nohup', w()],
  ['stdbuf', w('ioe', 0, '--input', '--output', '--error')],
  ['setsid', w()],
  ['time', w('fo', 0, '--format', '--output')],
  ['chrt', w('TPD', 1)],
  ['taskset', w('', 1)],
  ['chroot', w('', 1)],
  [
    'sudo',
    w(
      'ugpCrtTDhRU',
      0,
      '--user',
      '--group',
      '--prompt',
      '--chdir',
      '--chroot',
      '--host',
      '--role',
      '--type',
      '--close-from',
    ),
  ],
  ['doas', w('uCa')],
  ['pkexec', w('', 0, '--user')],
  ['unshare', w('SGRw', 0, '--setuid', '--setgid', '--root', '--wd')],
  ['nsenter', w('tSG', 0, '--target', '--setuid', '--setgid')],
  ['setpriv', w('', 0, '--reuid', '--regid', '--groups')],
  ['strace', w('eopsuaEIOPSXb')],
  ['ltrace', w('eopsuaAFln')],
  [
    'systemd-run',
    w(
      'putEHMG',
      0,
      '--property',
      '--unit',
      '--slice',
      '--description',
      '--setenv',
      '--uid',
      '--gid',
      '--on-active',
      '--on-calendar',
    ),
  ],
  ['systemd-inhibit', w('', 0, '--what', '--who', '--why', '--mode')],
  ['busybox', w()],
  ['toybox', w()],
  ['command', w()],
  ['builtin', w()],
  ['exec', w('a')],
  ['prlimit', w('p')],
  ['setarch', w('', 1)],
  ['linux32', w()],
  ['linux64', w()],
  ['numactl', w('CNmipl')],
  ['cgexec', w('g')],
  ['chpst', w('ubmoptfcUPr')],
  ['gosu', w('', 1)],
  ['su-exec', w('', 1)],
  ['unbuffer', w()],
  ['rlwrap', w()],
  ['proxychains', w('f')],
  ['proxychains4', w('f')],
  ['torsocks', w()],
  ['torify', w()],
  ['tsocks', w()],
  ['faketime', w('f', 1)],
  ['fakeroot', w('lisb')],
  ['eatmydata', w()],
  ['nocache', w()],
  ['dumb-init', w()],
  ['tini', w('p')],
  ['firejail', w()],
  ['dbus-run-session', w()],
  ['ssh-agent', w('atP')],
  ['xvfb-run', w('enfps')],
  ['caffeinate', w('tw')],
  ['cpulimit', w('lpe')],
  ['catchsegv', w()],
  ['winpty', w()],
  [
    'xargs',
    w(
      'aEdIJLnPRsS',
      0,
      '--arg-file',
      '--delimiter',
      '--max-args',
      '--max-procs',
      '--replace',
      '--max-lines',
      '--max-chars',
    ),
  ],
  ['parallel', w('jaISN', 0, '--jobs', '--arg-file')],
  ['watch', w('nq', 0, '--interval')],
]);

export const SHELLS: ReadonlySet<string> = new Set(
  'sh bash dash zsh ksh ksh93 mksh ash rbash fish csh tcsh yash osh hush'.split(' '),
);

/** What a wrapper would run: another command, or a text a shell will read. `input`: it reads its standard input as a script. */
export type Inner =
  | { readonly kind: 'argv'; readonly argv: readonly string[] }
  | { readonly kind: 'script'; readonly text: string }
  | { readonly kind: 'input' };

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;

function afterOptions(argv: readonly string[], wrapper: Wrapper): number {
  let i = 1;
  for (; i < argv.length; i += 1) {
    const word = argv[i]!;
    if (word === '--') return i + 1;
    if (!word.startsWith('-') || word === '-') break;
    if (word.startsWith('--')) {
      if (wrapper.long.includes(word)) i += 1;
      continue;
    }
    for (let k = 1; k < word.length; k += 1) {
      if (!wrapper.letters.includes(word.charAt(k))) continue;
      if (k === word.length - 1) i += 1;
      break;
    }
  }
  return i;
}

function ofShell(argv: readonly string[]): Inner {
  for (let i = 1; i < argv.length; i += 1) {
    const word = argv[i]!;
    if (
      word === '-o' ||
      word === '+o' ||
      word === '-O' ||
      word === '+O' ||
      word === '--rcfile' ||
      word === '--init-file'
    ) {
      i += 1;
      continue;
    }
    if (/^[-+]/.test(word) && word.length > 1 && !word.startsWith('--')) {
      if (!word.startsWith('-') || !word.includes('c')) {
        if (word.includes('s')) return { kind: 'input' };
        continue;
      }
      // The text is the first word after the options that follow `-c`.
      let k = i + 1;
      while (k < argv.length && /^[-+]./.test(argv[k]!)) k += argv[k] === '-o' || argv[k] === '+o' ? 2 : 1;
      return { kind: 'script', text: argv[k] ?? '' };
    }
    if (word.startsWith('--') && word.length > 2) continue;
    if (word === '--' || word === '-') continue;
    return word === '/dev/stdin' ? { kind: 'input' } : { kind: 'argv', argv: [] };
  }
  return { kind: 'input' };
}

/** `su [-] [user] [-c text]`, and the same of runuser; `script -c text`. */
function textOption(argv: readonly string[]): string | null {
  for (let i = 1; i < argv.length; i += 1) {
    const word = argv[i]!;
    if (word.startsWith('--command=')) return word.slice('--command='.length);
    if (word === '--command' || word === '--session-command') return argv[i + 1] ?? '';
    if (/^-[a-zA-Z]*c$/.test(word)) return argv[i + 1] ?? '';
    if (/^-c./.test(word)) return word.slice(2);
  }
  return null;
}

const OTHERS: ReadonlySet<string> = new Set(
  'eval trap at batch . source su runuser script capsh flock'.split(' '),
);

export function runsOthers(name: string): boolean {
  return SHELLS.has(name) || WRAPPERS.has(name) || OTHERS.has(name);
}

/** The command inside, or null when this program runs no other. */
export function unwrap(name: string, argv: readonly string[]): Inner | null {
  if (SHELLS.has(name)) return ofShell(argv);
  switch (name) {
    case 'eval':
      return { kind: 'script', text: argv.slice(argv[1] === '--' ? 2 : 1).join(' ') };
    case 'trap':
      return argv.length > 2 ? { kind: 'script', text: argv[argv[1] === '--' ? 2 : 1] ?? '' } : null;
    case 'at':
    case 'batch':
      return { kind: 'input' };
    case '.':
    case 'source':
      return argv[1] === '/dev/stdin' ? { kind: 'input' } : null;
    case 'su':
    case 'runuser':
    case 'script':
    case 'capsh': {
      const text = textOption(argv);
      if (text !== null) return { kind: 'script', text };
      const end = argv.indexOf('--');
      return name === 'runuser' && end !== -1 ? { kind: 'argv', argv: argv.slice(end + 1) } : null;
    }
    case 'flock': {
      const text = textOption(argv);
      if (text !== null) return { kind: 'script', text };
      return { kind: 'argv', argv: argv.slice(afterOptions(argv, w('wE', 1, '--timeout', '--wait')) + 1) };
    }
    case 'command':
      // `command -v x` only asks where x is.
      if (argv.some((word) => /^-[pvV]*[vV]/.test(word))) return null;
      break;
    case 'env': {
      const index = argv.findIndex((word) => /^(?:-S|--split-string)/.test(word));
      if (index !== -1) {
        const attached = argv[index]!.replace(/^(?:-S|--split-string=?)/, '');
        return { kind: 'script', text: [attached, ...argv.slice(index + 1)].join(' ') };
      }
      break;
    }
    case 'watch': {
      const from = afterOptions(argv, WRAPPERS.get('watch')!);
      return { kind: 'script', text: argv.slice(from).join(' ') };
    }
  }
  const wrapper = WRAPPERS.get(name);
  if (wrapper === undefined) return null;
  let i = afterOptions(argv, wrapper);
  if (name === 'env' || name === 'sudo' || name === 'doas')
    while (i < argv.length && ASSIGNMENT.test(argv[i]!)) i += 1;
  return { kind: 'argv', argv: argv.slice(i + wrapper.skip) };
}
