import { statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { CODES, EXIT, quoteArgv, systemClock, WritError } from '../../core/index.ts';
import type { FileVerdict, JournalItem, PublicKeys } from '../../ledger/index.ts';
import type { Cli, DefineCommand } from '../cli.ts';
import { type FolderFlags, type Folders, folderOptions, folders } from '../folders.ts';
import { osUser } from '../os-user.ts';
import { otherFormats, retireFile } from '../other-formats.ts';

interface Flags extends FolderFlags {
  readonly json?: boolean;
  readonly key?: readonly string[];
  readonly limit?: string;
  readonly follow?: boolean;
  readonly out?: string;
  readonly reason?: string;
}

export const define: DefineCommand = (command, cli) => {
  const verify = command
    .command('verify [files...]')
    .description('check journals and bundles; without a file, everything this project knows of')
    .option('--key <file...>', 'count only signatures of these public keys (PEM)')
    .option('--json', 'one JSON document')
    .addHelpText('after', VERIFY_HELP)
    .action((files: string[], flags: Flags) => verifyCommand(cli, files, flags));
  const show = command
    .command('show [file]')
    .description('print the newest records of a journal; without a file, list the journals there are')
    .option('--limit <n>', 'how many records', '100')
    .option('--follow', 'keep printing new records')
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      '\nExample:\n  writ audit show audit/shell_audit_ghost_20260115_143022.jsonl --limit 20',
    )
    .action((file: string | undefined, flags: Flags) =>
      file === undefined ? listCommand(cli, flags) : showCommand(cli, file, flags),
    );
  const bundle = command
    .command('export <places...>')
    .alias('bundle')
    .description('put journals, checkpoints and public keys into one file that can be verified elsewhere')
    .requiredOption('-o, --out <file>', 'the bundle to write')
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      '\nExample:\n  writ audit export audit .writ -o evidence.tar\n  writ audit verify evidence.tar',
    )
    .action((places: string[], flags: Flags) => exportCommand(cli, places, flags));
  const retire = command
    .command('retire <file>')
    .description(
      'say that a journal, a flight or a run store may be missing from now on, and why; it is not deleted',
    )
    .requiredOption('--reason <text>', 'why')
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  writ audit retire audit/shell_audit_old.jsonl --reason "retention: older than a year"\n  writ audit retire .writ/flights/flt_1f0c… --reason "retention: older than a year"\n  writ audit retire runs-2025.db --reason "retention: older than a year"',
    )
    .action((file: string, flags: Flags) => retireCommand(cli, file, flags));
  for (const sub of [verify, show, bundle, retire]) folderOptions(sub);
};

const VERIFY_HELP = `
Status: intact · not_established (no trusted signature covers the end) · incomplete (something is missing) · tampered
Anything but intact exits 5.

Examples:
  writ audit verify
  writ audit verify audit/shell_audit_ghost_20260115_143022.jsonl --json
  writ audit verify evidence.tar --key maker.pub`;

async function verifyCommand(cli: Cli, files: readonly string[], flags: Flags): Promise<void> {
  const ledger = await import('../../ledger/index.ts');
  const places = folders(cli, flags);
  const pinned = flags.key && pinnedKeys(ledger, cli, flags.key);
  const verdicts: FileVerdict[] = [];
  if (files.length === 0) verdicts.push(...(await verifyAll(ledger, places, pinned)));
  for (const file of new Set(files)) {
    const path = resolve(cli.cwd, file);
    const found = await verifyOne(ledger, path, places, pinned);
    // A file is reported under the name it was given.
    verdicts.push(...found.map((v) => ({ ...v, path: asNamed(file, path, v.path) })));
  }
  print(cli, verdicts, ledger.worstStatus(verdicts.map((v) => v.status)), flags.json === true);
}

type LedgerRoom = typeof import('../../ledger/index.ts');

function pinnedKeys(ledger: LedgerRoom, cli: Cli, files: readonly string[]): PublicKeys {
  const keys = files.map((file) => ledger.readPublicKey(resolve(cli.cwd, file)));
  return new Map(keys.map(({ id, pem }) => [id, pem]));
}

async function verifyAll(
  ledger: LedgerRoom,
  places: Folders,
  pinned: PublicKeys | undefined,
): Promise<readonly FileVerdict[]> {
  const { catalog, keys } = ledger.statePaths(places.state);
  const publicKeys = pinned ?? ledger.loadPublicKeys(keys);
  const dirs = ledger.usualDirs(places.state, places.audit);
  const others = otherFormats(places.state, publicKeys);
  const verdicts = await ledger.verifyState(catalog, dirs, { publicKeys }, others);
  return verdicts.map((v) => ({ ...v, path: fromHere(dirname(places.state), v.path) }));
}

async function verifyOne(
  ledger: LedgerRoom,
  path: string,
  places: Folders,
  pinned: PublicKeys | undefined,
): Promise<readonly FileVerdict[]> {
  const found = ledger.findKeys(path, places.state, places.audit);
  const publicKeys = pinned ?? found.publicKeys;
  const kind = statSync(path, { throwIfNoEntry: false });
  if (kind?.isFile() && ledger.looksLikeTar(path)) return ledger.verifyBundle(path, pinned ?? new Map());
  const { catalog } = ledger.statePaths(places.state);
  const journals = kind?.isDirectory() ? ledger.journalsIn(path) : [listedName(ledger, path, places)];
  const others = otherFormats(places.state, publicKeys);
  const answers = await ledger.verifyNamed(catalog, journals, { publicKeys }, others);
  const verdicts = answers.flatMap((answer, i) => {
    if (answer !== null) return answer;
    throw new WritError(CODES.invalid_input, `${journals[i]}: there is no such file`, {
      suggestion: `ls -l ${quoteArgv([dirname(path)])}`,
      exit: EXIT.usage,
    });
  });
  if (pinned || !found.borrowed) return verdicts;
  const note = `checked with keys from ${found.from}, which lie with the file: name a key you trust with --key`;
  return verdicts.map((v) => ({ ...v, notes: [...v.notes, note] }));
}

/** A flight is listed by its log; people name its folder. */
function listedName(ledger: LedgerRoom, path: string, { state }: Folders): string {
  return dirname(path) === ledger.statePaths(state).flights ? join(path, 'wal.jsonl') : path;
}

function asNamed(given: string, resolved: string, path: string): string {
  return path === resolved ? given : join(dirname(given), relative(dirname(resolved), path));
}

function fromHere(root: string, path: string): string {
  const way = relative(root, path);
  return way.startsWith('..') ? path : way;
}

function print(cli: Cli, files: readonly FileVerdict[], status: FileVerdict['status'], json: boolean): void {
  cli.exitCode = status === 'intact' ? EXIT.ok : EXIT.integrity;
  if (json) {
    cli.json({ status, files });
    return;
  }
  const { green, yellow, red, dim } = cli.style;
  const paint = { intact: green, not_established: yellow, incomplete: red, tampered: red };
  for (const file of files) {
    cli.print(`${paint[file.status](file.status.padEnd(15))} ${plain(file.path)}  (${file.records} records)`);
    const bad = file.first_bad;
    const record = bad?.sequence == null ? '' : `, record ${bad.sequence}`;
    if (bad) cli.print(`    line ${bad.line}, byte ${bad.byte}${record}: ${plain(bad.what)}`);
    for (const note of file.notes) cli.print(`    ${dim(plain(note))}`);
  }
  if (files.length === 0) cli.note('nothing to verify: no journals in the audit folder or the state folder');
  cli.print(`${files.length} files: ${paint[status](status)}`);
}

async function listCommand(cli: Cli, flags: Flags): Promise<void> {
  const ledger = await import('../../ledger/index.ts');
  const places = folders(cli, flags);
  const paths = ledger.usualDirs(places.state, places.audit).flatMap((dir) => ledger.journalsIn(dir));
  const journals = paths.map((path) => fromHere(cli.cwd, path));
  if (flags.json) cli.json({ journals });
  else for (const journal of journals) cli.print(plain(journal));
  if (journals.length === 0) cli.note('there are no journals in the audit folder or the state folder yet');
}

async function showCommand(cli: Cli, file: string, flags: Flags): Promise<void> {
  const { readJournal } = await import('../../ledger/read.ts');
  const limit = Number(flags.limit);
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAX_SHOWN)
    throw usage(
      `--limit ${flags.limit} is not a number from 1 to ${MAX_SHOWN}`,
      'writ audit show FILE --limit 20',
    );
  if (flags.follow && flags.json)
    throw usage('--follow never ends, --json is one document', 'leave one of them out');
  const path = resolve(cli.cwd, file);
  const newest: JournalItem[] = [];
  let problems = 0;
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  for await (const item of readJournal(path, flags.follow ? { follow: stop.signal } : {})) {
    if (item.kind === 'problem') problems += 1;
    if (flags.follow) cli.print(lineOf(cli, item));
    else newest.push(item);
    if (newest.length > limit) newest.shift();
  }
  if (problems > 0) cli.exitCode = EXIT.integrity;
  if (flags.json) {
    cli.json({
      path: file,
      records: newest.flatMap((item) => (item.record ? [item.record] : [])),
      problems: newest.flatMap((item) =>
        item.kind === 'problem'
          ? [{ line: item.line, byte: item.byte, sequence: item.sequence, what: item.what }]
          : [],
      ),
    });
    return;
  }
  for (const item of newest) cli.print(lineOf(cli, item));
  if (problems > 0)
    cli.note(`${problems} lines are not as they were written: writ audit verify ${quoteArgv([file])}`);
}

const MAX_SHOWN = 100_000;

function lineOf(cli: Cli, item: JournalItem): string {
  const { red, dim } = cli.style;
  if (item.kind === 'problem') return red(`${plain(item.file)}:${item.line}: ${plain(item.what)}`);
  const { sequence, timestamp, prev_hash: _prev, hash, ...rest } = item.record;
  return `${dim(`${sequence} ${plain(timestamp ?? '')} ${hash.slice(0, 8)}`)} ${plain(JSON.stringify(rest))}`;
}

async function exportCommand(cli: Cli, named: readonly string[], flags: Flags): Promise<void> {
  const ledger = await import('../../ledger/index.ts');
  const places = folders(cli, flags);
  const { keys } = ledger.statePaths(places.state);
  const journals = named.flatMap((name) => {
    const path = resolve(cli.cwd, name);
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path];
    return [path, join(path, 'ledger')].flatMap((dir) => ledger.journalsIn(dir));
  });
  if (journals.length === 0)
    throw usage('there are no journals in what was named', 'writ audit export audit .writ -o evidence.tar');
  const files = ledger.writeBundle({
    journals: [...new Set(journals)],
    out: resolve(cli.cwd, flags.out ?? ''),
    publicKeys: ledger.loadPublicKeys(keys),
    signer: ledger.loadExistingSigner(keys),
    clock: systemClock,
    root: cli.cwd,
  });
  if (flags.json) cli.json({ path: flags.out, files });
  else
    cli.print(
      `${files.length} files in ${flags.out}; check it anywhere: writ audit verify ${quoteArgv([flags.out ?? ''])}`,
    );
}

async function retireCommand(cli: Cli, file: string, flags: Flags): Promise<void> {
  const ledger = await import('../../ledger/index.ts');
  const places = folders(cli, flags);
  const path = listedName(ledger, resolve(cli.cwd, file), places);
  await retireFile(ledger.openLedger({ stateDir: places.state }), path, flags.reason ?? '', osUser());
  if (flags.json) cli.json({ path: file, retired: true });
  else cli.print(`${plain(file)} may be missing from now on; the ledger says who said so, and why`);
}

function usage(message: string, suggestion: string): WritError {
  return new WritError(CODES.invalid_input, message, { suggestion, exit: EXIT.usage });
}

/** Records hold hostile text: what could steer a terminal or reorder a line is printed as its code. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (c) => `\\u{${c.codePointAt(0)?.toString(16)}}`);
}
