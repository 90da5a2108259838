/** One call of `az`: words in, text and exit code out. Command families load only when they are called. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../../core/index.ts';
import { changeLab, type Lab, openLab, TROUBLES_FILE } from '../lab/open.ts';
import { type Parsed, parseInvocation } from './arguments.ts';
import { Arguments, type Call, type Command, type Commands, needResourceId } from './call.ts';
import { AzError, isAzError, usage } from './errors.ts';
import { commandNames, commandSpec } from './grammar.ts';
import { USER } from './ids.ts';
import { type Format, render } from './output.ts';
import { withGroups } from './shapes/common.ts';

export interface Surroundings {
  readonly dir: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly realMs: number;
}

export interface Answer {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

export async function runAz(argv: readonly string[], around: Surroundings): Promise<Answer> {
  const warnings: string[] = [];
  const stderr = (text: string) => `${warnings.join('')}${text}`;
  try {
    if (argv[0] === '--version')
      return {
        stdout: `azure-cli                         2.91.0\n\nWrit lab stand-in\n`,
        stderr: '',
        code: 0,
      };
    const invocation = parseInvocation(argv);
    if (invocation.kind === 'help') return { stdout: help(invocation.words), stderr: '', code: 0 };
    const stdout = await answer(invocation.parsed, around, (text) => warnings.push(`${text}\n`));
    return { stdout, stderr: stderr(''), code: 0 };
  } catch (error) {
    if (!isAzError(error)) throw error;
    return { stdout: '', stderr: stderr(`ERROR: ${error.message}\n`), code: error.exit };
  }
}

async function answer(parsed: Parsed, around: Surroundings, warn: (text: string) => void): Promise<string> {
  const values = parsed.values;
  const query = await compiledQuery(values.get('--query')?.[0]);
  const command = await loadCommand(parsed.spec.name);
  if (!command)
    throw usage(`'${parsed.spec.name.split(' ').at(-1)}' is misspelled or not recognized by the system.`);
  const results = await carryOut(command, parsed, around, warn);
  const whole = results.length === 1 ? results[0] : results.filter((r): r is Json => r !== undefined);
  const result = whole === undefined ? undefined : withGroups(whole);
  const format = (values.get('--output')?.[0]?.toLowerCase() ?? 'json') as Format;
  return render(result !== undefined && query ? query(result) : result, {
    format,
    queried: query !== undefined,
    table: command.table,
  });
}

async function carryOut(
  command: Command,
  parsed: Parsed,
  around: Surroundings,
  warn: (text: string) => void,
): Promise<readonly (Json | undefined)[]> {
  const { dir, realMs, env, cwd } = around;
  const each = async (lab: Lab, change: Call['change']) => {
    checkLogin(lab, parsed.spec.name);
    const alter = await troubles(dir, parsed);
    const results: (Json | undefined)[] = [];
    for (const args of byIds(parsed))
      results.push(alter(await command.run({ lab, world: lab.world, args, cwd, warn, change })));
    return results;
  };
  if (command.writes) return changeLab(dir, realMs, env, USER, each);
  const refuse = () => {
    throw new Error(`az ${parsed.spec.name} is not a command that writes`);
  };
  return each(await openLab(dir, realMs, env), refuse);
}

/** Whatever trouble somebody set for this command; mostly none, and then nothing is loaded. */
async function troubles(
  dir: string,
  { spec, values }: Parsed,
): Promise<(answer: Json | undefined) => Json | undefined> {
  if (!existsSync(join(dir, TROUBLES_FILE))) return (answer) => answer;
  const { meetTroubles } = await import('./troubles.ts');
  return meetTroubles(dir, spec.name, values.get('--account-name')?.[0]);
}

function checkLogin(lab: Lab, command: string): void {
  if (!lab.state.loggedOut || command === 'login' || command === 'logout' || command === 'version') return;
  throw new AzError("Please run 'az login' to setup account.");
}

/** `--ids a b` carries the command out once for each, with the parts of the id as arguments. */
function byIds({ spec, values }: Parsed): readonly Arguments[] {
  const ids = values.get('--ids');
  const parts = spec.arguments.filter((a) => a.idPart !== null);
  if (ids === undefined || parts.length === 0) return [new Arguments(values)];
  return ids
    .flatMap((text) => text.split(/\s+/).filter((id) => id !== ''))
    .map((id) => {
      const parsed = needResourceId(id);
      const filled = new Map(values);
      const part = { g: parsed.group, n: parsed.names[0], c: parsed.names[1] };
      for (const argument of parts) {
        const value = part[argument.idPart!];
        if (value === undefined) throw new AzError(`invalid resource ID: ${id}`);
        filled.set(argument.names.find((n) => n.startsWith('--'))!, [value]);
      }
      return new Arguments(filled);
    });
}

async function compiledQuery(text: string | undefined): Promise<((value: Json) => Json) | undefined> {
  if (text === undefined) return undefined;
  const { compile, TreeInterpreter } = await import('@jmespath-community/jmespath');
  try {
    const tree = compile(text);
    return (value) => {
      try {
        return TreeInterpreter.search(tree, value as Parameters<typeof TreeInterpreter.search>[1]) as Json;
      } catch (error) {
        throw new AzError(error instanceof Error ? error.message : String(error), 1);
      }
    };
  } catch {
    throw new AzError(
      `argument --query: invalid jmespath_type value: '${text}'\nTo learn more about --query, please visit: 'https://learn.microsoft.com/cli/azure/query-azure-cli'`,
      2,
    );
  }
}

/** The file that has a command is told by its first words. */
async function loadCommand(name: string): Promise<Command | undefined> {
  return (await family(name))[name];
}

async function family(name: string): Promise<Commands> {
  if (name.startsWith('vm ')) return (await import('./commands/compute.ts')).computeCommands;
  if (name.startsWith('network nsg ')) return (await import('./commands/nsg.ts')).nsgCommands;
  if (/^network (nic|public-ip) /.test(name)) return (await import('./commands/nic.ts')).nicCommands;
  if (name.startsWith('network route-table ')) return (await import('./commands/routes.ts')).routeCommands;
  if (name.startsWith('network vnet ')) return (await import('./commands/vnet.ts')).vnetCommands;
  if (/^network (private-)?dns /.test(name)) return (await import('./commands/dns.ts')).dnsCommands;
  if (name.startsWith('network watcher packet-capture '))
    return (await import('./commands/captures.ts')).captureCommands;
  if (name.startsWith('network watcher ')) return (await import('./commands/watcher.ts')).watcherCommands;
  if (name.startsWith('storage account ')) return (await import('./commands/storage.ts')).storageCommands;
  if (name.startsWith('storage ')) return (await import('./commands/blobs.ts')).blobCommands;
  if (name.startsWith('monitor ')) return (await import('./commands/activity.ts')).activityCommands;
  if (/^(account|group|login|logout|version)\b/.test(name))
    return (await import('./commands/account.ts')).accountCommands;
  return (await import('./commands/resources.ts')).resourceCommands;
}

function help(words: readonly string[]): string {
  const name = words.join(' ');
  const spec = commandSpec(name);
  if (spec) {
    const lines = spec.arguments.map((a) => `    ${a.names.join(' ')}${a.required ? ' [Required]' : ''}`);
    return `\nCommand\n    az ${name}\n\nArguments\n${lines.join('\n')}\n`;
  }
  const prefix = name === '' ? '' : `${name} `;
  const next = commandNames()
    .filter((n) => n.startsWith(prefix))
    .map((n) => n.slice(prefix.length).split(' ')[0]!);
  return `\nGroup\n    az${name === '' ? '' : ` ${name}`}\n\nCommands and subgroups\n${[...new Set(next)].map((n) => `    ${n}`).join('\n')}\n`;
}
