/** Makes a lab directory: the world as JSON, fresh state, and launchers that answer for `az` and the tools. */
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CODES, WritError } from '../../core/index.ts';
import { TOOL_NAMES } from '../tools/index.ts';
import { loadWorld } from '../world/load.ts';
import type { World } from '../world/types.ts';
import { MAX_SPEED } from './clock.ts';
import { WORLD_FILE } from './open.ts';
import { placeStandIn } from './stand-in-code.ts';
import { firstState, writeState } from './state.ts';

export interface PrepareOptions {
  /** How many times faster than ours the world's clock runs. Default 1. */
  readonly speed?: number;
}

export interface PreparedLab {
  readonly dir: string;
  /** To be put first on PATH. */
  readonly bin: string;
  readonly world: World;
  readonly speed: number;
}

const MARK = 'lab.json';

export async function prepareLab(
  worldFile: string,
  dir: string,
  options: PrepareOptions = {},
): Promise<PreparedLab> {
  const world = loadWorld(worldFile);
  const speed = options.speed ?? 1;
  if (!(speed > 0 && speed <= MAX_SPEED))
    throw new WritError(CODES.invalid_input, `speed ${speed} is out of range`, {
      suggestion: `write a number above 0 and up to ${MAX_SPEED}`,
      exit: 2,
    });
  const home = resolve(dir);
  makeEmpty(home);
  const bin = join(home, 'bin');
  mkdirSync(bin, { mode: 0o700 });
  const code = await placeStandIn(home);
  for (const tool of ['az', ...TOOL_NAMES]) writeLauncher(join(bin, tool), tool, home, code);
  writeFileSync(join(home, WORLD_FILE), JSON.stringify(world), { mode: 0o600 });
  writeFileSync(
    join(home, MARK),
    `${JSON.stringify({ world: world.id, file: resolve(worldFile), speed }, null, 2)}\n`,
    { mode: 0o600 },
  );
  writeState(home, firstState(world, Date.now(), speed));
  return { dir: home, bin, world, speed };
}

/** An old lab is cleared away; anything else that is not empty is left alone. */
function makeEmpty(dir: string): void {
  if (existsSync(dir) && readdirSync(dir).length > 0) {
    if (!existsSync(join(dir, MARK)))
      throw new WritError(CODES.invalid_input, `${dir} is not empty and is not a lab`, {
        suggestion: 'give another --dir',
        exit: 2,
      });
    rmSync(dir, { recursive: true, force: true });
  }
  mkdirSync(dir, { recursive: true, mode: 0o700 });
}

/** The kernel reads at most this much of a `#!` line, and splits it at blanks. */
const LONGEST_SHEBANG = 120;

function writeLauncher(file: string, tool: string, dir: string, code: string): void {
  const node = process.execPath;
  const start = `require('node:module').enableCompileCache?.(${JSON.stringify(join(dir, 'cache'))});\n${code}('${tool}', ${JSON.stringify(dir)});\n`;
  if (node.length < LONGEST_SHEBANG && !/\s/.test(node)) writeFileSync(file, `#!${node}\n${start}`);
  else {
    writeFileSync(`${file}.cjs`, start);
    const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
    writeFileSync(file, `#!/bin/sh\nexec ${quoted(node)} ${quoted(`${file}.cjs`)} "$@"\n`);
  }
  chmodSync(file, 0o755);
}
