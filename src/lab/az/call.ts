/** One command being carried out: its arguments, the world, and the way to change it. */
import type { Json } from '../../core/index.ts';
import type { Change, Lab } from '../lab/open.ts';
import { objection } from '../lab/open.ts';
import type { PatchOperation, World } from '../world/types.ts';
import { AzError, armError, groupNotFound } from './errors.ts';
import { parseResourceId, type ResourceIdParts } from './ids.ts';
import type { TableShape } from './output.ts';

export interface Call {
  readonly lab: Lab;
  readonly world: World;
  readonly args: Arguments;
  /** Where the command was typed: relative file names start there. */
  readonly cwd: string;
  warn(text: string): void;
  change(wanted: Change): void;
}

export interface Command {
  readonly run: (call: Call) => Json | undefined | Promise<Json | undefined>;
  /** Changes the world or its state: runs alone. */
  readonly writes?: boolean;
  readonly table?: TableShape;
}

export type Commands = Readonly<Record<string, Command>>;

/** Values by long option name, with `--ids` already taken apart. */
export class Arguments {
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(values: ReadonlyMap<string, readonly string[]>) {
    this.#values = values;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  text(name: string): string | undefined {
    return this.#values.get(name)?.[0];
  }

  /** For arguments the parser has made sure of. */
  need(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw new AzError(`the following arguments are required: ${name}`, 2);
    return value;
  }

  /** The values as they were typed. */
  words(name: string): readonly string[] | undefined {
    return this.#values.get(name);
  }

  list(name: string): readonly string[] | undefined {
    const values = this.#values.get(name);
    // Generated commands also take one value with commas in brackets: [a,b].
    if (values?.length === 1 && /^\[.*\]$/.test(values[0]!))
      return values[0]!
        .slice(1, -1)
        .split(',')
        .map((v) => v.trim().replace(/^['"]|['"]$/g, ''));
    return values;
  }

  /** A flag, or an optional boolean (`--ip-forwarding`, `--ip-forwarding false`). */
  flag(name: string): boolean | undefined {
    const values = this.#values.get(name);
    if (values === undefined) return undefined;
    return values[0] === undefined || /^(true|t|yes|y|1)$/i.test(values[0]);
  }

  number(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (!Number.isInteger(value)) throw new AzError(`argument ${name}: invalid int value: '${text}'`, 2);
    return value;
  }
}

/** The group by its name in any case; the real name comes back. */
export function needGroup(world: World, name: string): string {
  const group = world.groups.find((g) => g.name.toLowerCase() === name.toLowerCase());
  if (!group) throw groupNotFound(name);
  return group.name;
}

/** The group of `-g`, if one was given. */
export function optionalGroup(call: Call): string | undefined {
  const name = call.args.text('--resource-group');
  return name === undefined ? undefined : needGroup(call.world, name);
}

/** Finds by name in a group, ignoring case as Azure does. */
export function findIn<T extends { readonly group: string }>(
  items: readonly T[],
  group: string,
  name: string,
  nameOf: (item: T) => string,
): T | undefined {
  const lower = name.toLowerCase();
  return items.find(
    (i) => i.group.toLowerCase() === group.toLowerCase() && nameOf(i).toLowerCase() === lower,
  );
}

export function needResourceId(id: string): ResourceIdParts {
  const parts = parseResourceId(id);
  if (!parts) throw new AzError(`invalid resource ID: ${id}`);
  return parts;
}

/** Stores a change of the world, unless the world would contradict itself: then the cloud refuses. */
export async function commit(
  call: Call,
  patch: readonly PatchOperation[],
  activity: { readonly operation: string; readonly resource: string; readonly group: string },
): Promise<World> {
  const wrong = await objection(call.world, patch);
  if (wrong !== null) throw refusal(wrong);
  call.change({ patch, activity });
  const { applyJsonPatch } = await import('../world/patch.ts');
  const { complete } = await import('../world/complete.ts');
  const copy = structuredClone(call.world);
  applyJsonPatch(copy, patch);
  return complete(copy);
}

function refusal(reason: string): AzError {
  const conflict = /^rules (\S+) and (\S+) of/.exec(reason);
  if (conflict)
    return armError(
      'SecurityRuleConflict',
      `Security rule ${conflict[2]} conflicts with rule ${conflict[1]}. Rules cannot have the same Priority and Direction. To learn more, see aka.ms/nsgrules.`,
    );
  return armError('InvalidRequestFormat', `Cannot parse the request: ${reason}.`);
}

/** Some deletions ask first; there is nobody to ask here, so they need `--yes`. */
export function needConfirmation(call: Call): void {
  if (call.args.flag('--yes')) return;
  call.warn('WARNING: Unable to prompt for confirmation as no tty available. Use --yes.');
  throw new AzError('Operation cancelled.');
}
