/** find: which paths it starts from, whether tests narrow them down, and what it runs on them. */
import { UNKNOWN } from './marks.ts';
import { isRoot } from './paths.ts';

export interface Find {
  /** It walks the whole file system, and nothing but the kind of file is asked for. */
  readonly everything: boolean;
  readonly deletes: boolean;
  readonly commands: readonly (readonly string[])[];
}

const WIDE =
  /^-(?:type|xtype|depth|d|mount|xdev|x|maxdepth|mindepth|print|print0|ls|delete|exec|execdir|ok|okdir|follow|daystart|noleaf|warn|nowarn|ignore_readdir_race|true|not|o|a|or|and|H|L|P|O\d?)$/;
const RUNS = /^-(?:exec|execdir|ok|okdir)$/;
const DESTROYS = /^(?:rm|shred|unlink|srm|wipe|truncate|rmdir)$/;

export function readFind(args: readonly string[], cwd: string | null): Find {
  let i = 0;
  while (/^-(?:H|L|P|O\d?|X|s|E|x|d)$/.test(args[i] ?? '')) i += 1;
  const starts: string[] = [];
  while (i < args.length && !/^[-(!]/.test(args[i]!)) {
    starts.push(args[i]!);
    i += 1;
  }
  const rest = args.slice(i);
  const fromRoot = starts.some((path) => isRoot(path, cwd)) || (starts.length === 0 && cwd === '/');
  let narrow = false;
  let deletes = false;
  const commands: string[][] = [];
  for (let k = 0; k < rest.length; k += 1) {
    const word = rest[k]!;
    if (word === '-delete') deletes = true;
    if (RUNS.test(word)) {
      const command: string[] = [];
      for (k += 1; k < rest.length && rest[k] !== ';' && !(rest[k] === '+' && rest[k - 1] === '{}'); k += 1)
        command.push(rest[k]!);
      if (command.length > 0) commands.push(command);
    } else if (word.startsWith('-') && !WIDE.test(word)) narrow = true;
  }
  const everything = fromRoot && !narrow;
  return {
    everything,
    deletes,
    commands: commands.map((command) =>
      command.map((word) => word.replaceAll('{}', everything ? '/' : UNKNOWN)),
    ),
  };
}

/** Whether a command find runs on every file destroys it. */
export function destroys(name: string): boolean {
  return DESTROYS.test(name);
}
