/**
 * The program behind the launchers, as one file. An installed package brings it ready made; in a checkout it
 * is bundled when the first lab is prepared. Without either the launchers load the modules one by one, which
 * is right but slower.
 */
import { copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(import.meta.url);
const isSource = here.endsWith('.ts');
const entry = fileURLToPath(new URL(`../stand-in/main.${isSource ? 'ts' : 'js'}`, import.meta.url));
const readyMade = fileURLToPath(new URL('../stand-in/bundle.cjs', import.meta.url));

let bundled: Promise<string | undefined> | undefined;

/** An expression for `main`, to be called with tool and lab directory. */
export async function standInCode(dir: string): Promise<string> {
  const target = join(dir, 'stand-in.cjs');
  if (existsSync(readyMade)) {
    copyFileSync(readyMade, target);
    return `require(${JSON.stringify(target)}).main`;
  }
  bundled ??= bundle();
  const text = await bundled;
  if (text === undefined)
    return `((...a) => import(${JSON.stringify(`file://${entry}`)}).then((m) => m.main(...a)))`;
  writeFileSync(target, text);
  return `require(${JSON.stringify(target)}).main`;
}

async function bundle(): Promise<string | undefined> {
  try {
    const { build } = await import('esbuild');
    const result = await build({
      entryPoints: [entry],
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node24',
      minify: true,
      write: false,
      logLevel: 'silent',
    });
    return result.outputFiles[0]?.text;
  } catch {
    return undefined;
  }
}
