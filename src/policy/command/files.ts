import { type Inspector, isLongOption, shortLetters } from './inspection.ts';

/** Programs about files that can start other programs when asked. */

const FIND_EXEC = new Set(['-exec', '-execdir', '-ok', '-okdir']);
const FIND_WRITES = new Set(['-delete', '-fprint', '-fprint0', '-fprintf', '-fls', '-files0-from']);

export const findInspector: Inspector = (args, found, walk) => {
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string;
    if (FIND_WRITES.has(arg))
      found.doubt(walk.name, `${arg} deletes or writes files that only the run will show`);
    if (!FIND_EXEC.has(arg)) continue;
    const rest = args.slice(i + 1);
    const end = rest.findIndex((word) => word === ';' || word === '+');
    const inner = end === -1 ? rest : rest.slice(0, end);
    found.doubt(walk.name, `${arg} runs a program on files that only the run will show`);
    if (inner.length > 0) walk.enter(inner, `find ${arg}`, { open: true });
    i += inner.length;
  }
};

/** Long options and short letters that name a program to run; one table for programs of the same shape. */
interface Runs {
  readonly long: readonly string[];
  readonly short?: RegExp;
}

const RUNS: Record<string, Runs> = {
  tar: {
    long: [
      'checkpoint-action',
      'to-command',
      'use-compress-program',
      'rsh-command',
      'rmt-command',
      'info-script',
      'new-volume-script',
    ],
    short: /[IF]/,
  },
  rsync: { long: ['rsh', 'rsync-path', 'daemon', 'config'], short: /e/ },
  scp: { long: [], short: /[SoFJ]/ },
  sftp: { long: [], short: /[SoFJbD]/ },
  sort: { long: ['compress-program'] },
  split: { long: ['filter'] },
  zip: { long: ['unzip-command'], short: /T/ },
  curl: {
    long: ['config', 'netrc-file', 'proxy', 'engine', 'unix-socket', 'abstract-unix-socket'],
    short: /[Kx]/,
  },
  wget: { long: ['config', 'use-askpass', 'execute', 'input-file'], short: /[ei]/ },
  tcpdump: { long: [], short: /z/ },
  man: { long: ['pager', 'html', 'gxditview', 'browser'], short: /[PHC]/ },
  date: { long: ['set'], short: /[sf]/ },
  column: { long: [] },
};

export const fileInspectors: ReadonlyMap<string, Inspector> = new Map(
  Object.entries(RUNS).map(([name, runs]): [string, Inspector] => [
    name,
    (args, found, walk) => {
      for (const [i, arg] of args.entries()) {
        // tar takes its first word as letters even without a dash.
        const letters = name === 'tar' && i === 0 && !arg.startsWith('-') ? arg : shortLetters(arg);
        const option = isLongOption(arg, runs.long);
        if (option || (runs.short?.test(letters) && !arg.startsWith('--')))
          found.doubt(walk.name, `${arg} could run a program or read settings that do`);
      }
    },
  ]),
);
