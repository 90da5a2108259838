import { type Inspector, isLongOption, shortLetters } from './inspection.ts';

/** git can run other programs in many ways; only what is known not to is proven. */

/** Subcommands that only this repository's own data decides; anything else could be an alias or a helper. */
const KNOWN = new Set(
  (
    'add am apply archive blame branch cat-file check-ignore checkout cherry cherry-pick clean clone commit ' +
    'count-objects describe diff diff-tree fetch for-each-ref format-patch fsck gc grep init log ls-files ' +
    'ls-remote ls-tree merge merge-base mv name-rev notes pull push range-diff rebase reflog remote reset restore ' +
    'rev-list rev-parse revert rm shortlog show show-ref sparse-checkout stash status switch symbolic-ref tag ' +
    'update-index var version whatchanged worktree write-tree config'
  ).split(' '),
);
/** Long options, of git or a subcommand, that name a program, a template or a file to write. */
const DANGEROUS = [
  'exec-path',
  'config-env',
  'upload-pack',
  'receive-pack',
  'exec',
  'ext-diff',
  'textconv',
  'output',
  'open-files-in-pager',
  'template',
  'config',
  'extcmd',
  'gui',
  'tool',
  'edit',
  'strategy',
  'interactive',
  'edit-todo',
  'sign',
  'gpg-sign',
  'show-signature',
  'verify-signatures',
  'attr-source',
  'paginate',
  'filters',
];
/** Settings that only change how things look. */
const HARMLESS_SETTING =
  /^(user\.(name|email)|color\..*|core\.(quotepath|abbrev)|log\.date|init\.defaultbranch|advice\..*)=/i;
/** Global options before the subcommand that take a value in the next word. */
const VALUE = new Set(['-C', '--git-dir', '--work-tree', '--namespace']);

export const gitInspector: Inspector = (args, found, walk) => {
  const doubt = (why: string) => found.doubt(walk.name, why);
  let i = 0;
  for (; i < args.length && (args[i] as string).startsWith('-'); i++) {
    const arg = args[i] as string;
    if (arg === '-c') {
      if (!HARMLESS_SETTING.test(args[i + 1] ?? ''))
        doubt(`the setting ${args[i + 1] ?? ''} could run a program`);
      i++;
    } else if (arg.startsWith('-c')) doubt(`the setting ${arg.slice(2)} could run a program`);
    else if (VALUE.has(arg)) i++;
    else if (arg === '-p' || isLongOption(arg, DANGEROUS)) doubt(`${arg} could run a program`);
  }
  const subcommand = args[i];
  if (subcommand === undefined) return;
  if (!KNOWN.has(subcommand)) doubt(`"${subcommand}" could be an alias or a helper program`);
  for (const arg of args.slice(i + 1)) {
    const option = isLongOption(arg, DANGEROUS);
    if (option && !(option === 'config' && subcommand !== 'clone'))
      doubt(`${arg} could run a program or write a file`);
    if (/^(ext|fd)::/.test(arg) || /^-.*=ext::/.test(arg)) doubt(`${arg} is a transport that runs a program`);
    const letters = shortLetters(arg);
    if (subcommand === 'grep' && letters.includes('O')) doubt(`${arg} opens a pager`);
    if ((subcommand === 'rebase' || subcommand === 'commit') && /[xiSte]/.test(letters.slice(0, 1)))
      doubt(`${arg} could run a program`);
    if (['clone', 'fetch', 'ls-remote', 'archive'].includes(subcommand) && /^[uoc]/.test(letters))
      doubt(`${arg} could run a program or write a file`);
  }
  if (subcommand === 'config') {
    const reads = args
      .slice(i + 1)
      .some((arg) => /^(--get(-all|-regexp|-urlmatch)?|--list|-l|get|list)$/.test(arg));
    if (!reads) doubt('git config can set what later runs a program');
  }
};
