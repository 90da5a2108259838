import { codeInspectors } from './code.ts';
import { fileInspectors, findInspector } from './files.ts';
import { gitInspector } from './git.ts';
import { Found, type Inspection, type Inspector, type Walk } from './inspection.ts';
import { shellInspector } from './shells.ts';
import { wrapperInspectors } from './wrappers.ts';

const MAX_COMMANDS = 200;
const MAX_DEPTH = 12;

/** Programs that run what they are given, what they find in files, or what somewhere else sends. */
const OPAQUE = new Set(
  (
    'zsh ksh mksh fish csh tcsh pwsh powershell perl ruby php lua luajit tclsh wish expect Rscript R julia deno bun tsx ' +
    'ts-node java scala groovy osascript make gmake ninja cmake npm npx yarn pnpm pip pipx uv uvx poetry cargo go rustc ' +
    'gcc cc g++ clang tcc docker podman nerdctl kubectl helm ssh mosh telnet parallel watch entr script gdb lldb strace ' +
    'ltrace vi vim nvim view ex ed emacs nano less more most at batch crontab systemd-run systemctl screen tmux socat nc ' +
    'ncat netcat sudo su doas pkexec runuser chroot unshare nsenter setarch linux32 linux64 flock sqlite3 psql mysql ' +
    'mongosh redis-cli ftp lftp m4 jshell dotnet mono wine qemu ansible terraform vagrant dc ld.so rpm dpkg apt apt-get ' +
    'snap brew openssl capsh run-parts start-stop-daemon setpriv sg newgrp logrotate bwrap firejail'
  ).split(' '),
);

const INSPECTORS: ReadonlyMap<string, Inspector> = new Map<string, Inspector>([
  ...['sh', 'bash', 'dash', 'ash', 'rbash'].map((name): [string, Inspector] => [name, shellInspector]),
  ...wrapperInspectors,
  ...fileInspectors,
  ...codeInspectors,
  ['find', findInspector],
  ['git', gitInspector],
]);

/** `python3.12` is python, `gawk` is awk, `ld-linux-x86-64.so.2` runs what it is given. */
export function programFamily(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (/^(python|pypy)[\d.]*$/.test(name)) return 'python';
  if (/^(nodejs|node)$/.test(name)) return 'node';
  if (/^(g|m|n)?awk$/.test(name)) return 'awk';
  if (/^g?sed$/.test(name)) return 'sed';
  if (/^ld-.*\.so/.test(name) || /^ld\.so/.test(name)) return 'ld.so';
  if (/^vim\./.test(name)) return 'vim';
  if (/^(perl|ruby|php|lua)[\d.]*$/.test(name)) return name.replace(/[\d.]+$/, '');
  if (/^g(tar|find|xargs|env|timeout|nice|nohup|stdbuf|sort|split)$/.test(name)) return name.slice(1);
  return name;
}

/** Programs that act by the name they are called: that name is the one to judge. */
const MULTI_CALL = new Set(['busybox', 'toybox', 'coreutils']);

/** The kind of program behind a name that does not tell it (`editor` → vim); undefined when the name does. */
export function disguisedAs(word: string, real: string): string | undefined {
  const [called, is] = [programFamily(word), programFamily(real)];
  if (called === is || OPAQUE.has(called) || MULTI_CALL.has(is)) return undefined;
  const inspector = INSPECTORS.get(is);
  if (inspector !== undefined && INSPECTORS.get(called) === inspector) return undefined;
  return OPAQUE.has(is) || inspector !== undefined ? is : undefined;
}

/** Everything a command line would start, outermost first. Pure. */
export function inspectCommand(argv: readonly string[], stdin = false): Inspection {
  const found = new Found();
  enter(found, argv, '', { stdin }, 0);
  return found;
}

interface How {
  readonly builtin?: boolean;
  readonly open?: boolean;
  readonly stdin?: boolean;
}

function enter(found: Found, argv: readonly string[], via: string, how: How, depth: number): void {
  const word = argv[0] ?? '';
  const name = programFamily(word);
  if (depth > MAX_DEPTH || found.commands.length >= MAX_COMMANDS) {
    found.doubt(name, 'there are too many commands within commands');
    return;
  }
  found.commands.push({ argv, via, builtin: how.builtin === true, open: how.open === true });
  const walk: Walk = {
    name,
    stdin: how.stdin === true,
    enter: (inner, innerVia, innerHow) => enter(found, inner, innerVia, innerHow ?? {}, depth + 1),
  };
  if (OPAQUE.has(name)) found.doubt(name, 'it runs code or commands of its own');
  INSPECTORS.get(name)?.(argv.slice(1), found, walk);
}

/** Programs that take their arguments as data and start nothing. */
const DATA_ONLY = new Set(
  (
    'echo printf ls cat head tail wc sort uniq cut tr grep egrep fgrep rg date basename dirname test [ stat file md5sum ' +
    'sha1sum sha256sum sha512sum cksum diff cmp comm paste seq true false pwd touch mkdir cp mv ln jq yq tee sleep expr ' +
    'df du free uptime uname whoami id hostname printenv tree realpath readlink nl fold fmt od xxd hexdump strings base64 ' +
    'ps which git tar gzip gunzip zcat find'
  ).split(' '),
);

/** True when the program's arguments are only data, or have been looked through. */
export function isUnderstood(path: string): boolean {
  const name = programFamily(path);
  return DATA_ONLY.has(name) || INSPECTORS.has(name);
}
