import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The engine's side of the contract, for our own engines. Programs of their own: nothing of the room is imported. */
export interface Input {
  readonly mode: 'flight-plan' | 'take-off';
  readonly meta: { readonly workflow_id: string; readonly step_id: string };
  readonly config: Readonly<Record<string, unknown>>;
}

export interface Place {
  readonly workspace: string;
  readonly artifacts: string;
  readonly probing: boolean;
}

interface Named {
  readonly name: string;
  readonly role: 'evidence' | 'state' | 'log';
  readonly path: string;
  readonly hash: string;
  readonly size: number;
}

export class Invalid extends Error {}

export function place(): Place {
  return {
    workspace: process.env.CABINCREW_WORKSPACE ?? '',
    artifacts: process.env.CABINCREW_ARTIFACTS_DIR ?? '',
    probing: process.argv.includes('--probe'),
  };
}

/** Writes one artifact and answers how the receipt names it. */
export function artifact(
  artifacts: string,
  name: string,
  role: Named['role'],
  document: Readonly<Record<string, unknown>>,
  body: string | Uint8Array,
): Named {
  mkdirSync(join(artifacts, name), { recursive: true });
  writeFileSync(join(artifacts, name, 'body.data'), body);
  writeFileSync(
    join(artifacts, name, 'artifact.json'),
    JSON.stringify({ ...document, body_file: 'body.data' }),
  );
  const bytes = Buffer.from(body);
  return {
    name,
    role,
    path: name,
    hash: createHash('sha256').update(bytes).digest('hex'),
    size: bytes.length,
  };
}

/** Reads stdin, runs the mode asked for, prints the receipt. Exit 2 for a mistake in the configuration, 1 else. */
export function engine(
  id: string,
  modes: {
    plan(input: Input, at: Place): readonly Named[];
    takeOff(input: Input, at: Place): void;
    /** True it was done, false it was not, undefined nobody can tell. */
    probe?(input: Input, at: Place): boolean | undefined;
  },
): void {
  const at = place();
  const input = JSON.parse(readFileSync(0, 'utf8')) as Input;
  if (at.probing) {
    const found = modes.probe?.(input, at);
    process.exitCode = found === true ? 0 : found === false ? 1 : 3;
    return;
  }
  const base = {
    protocol_version: '1.0',
    engine_id: id,
    mode: input.mode,
    receipt_id: `${input.meta.step_id}/${input.mode}`,
  };
  try {
    const named = input.mode === 'flight-plan' ? modes.plan(input, at) : [];
    if (input.mode === 'take-off') modes.takeOff(input, at);
    process.stdout.write(
      JSON.stringify({ ...base, status: 'success', ...(named.length > 0 ? { artifacts: named } : {}) }),
    );
  } catch (error) {
    process.exitCode = error instanceof Invalid ? 2 : 1;
    const reason = error instanceof Error ? error.message : String(error);
    process.stdout.write(JSON.stringify({ ...base, status: 'failure', error: reason }));
  }
}

export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

export function text(value: unknown, what: string): string {
  if (typeof value !== 'string' || value === '') throw new Invalid(`${what} is not a text`);
  return value;
}

/** A key that is not understood would be a promise that nobody keeps. */
export function onlyKeys(
  value: Readonly<Record<string, unknown>>,
  keys: readonly string[],
  what: string,
): void {
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  if (unknown !== undefined) throw new Invalid(`${what}: there is no ${unknown}; write ${keys.join(', ')}`);
}
