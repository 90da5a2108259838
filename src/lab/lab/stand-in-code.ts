/**
 * The program behind the launchers: one small file that every call loads, and a few beside it (the query
 * language, YAML, the shell grammar, packet synthesis) that only the calls that need them do. An installed
 * package brings them ready made; in a checkout they are bundled when the first lab is prepared. Without
 * either the launchers load the modules one by one, which is right but slower.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const isSource = import.meta.url.endsWith('.ts');
const local = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const entry = local(`../stand-in/main.${isSource ? 'ts' : 'js'}`);
const packets = local(`../packets/index.${isSource ? 'ts' : 'js'}`);
const guest = local(`../guest/run-command.${isSource ? 'ts' : 'js'}`);
const readyMade = local('../stand-in/bundle');

const MAIN = 'stand-in.cjs';

/** What is kept out of the main file: how it is imported, and what it is called. */
const APART = [
  { filter: /^yaml$/, entry: 'yaml', file: 'yaml.cjs' },
  { filter: /^unbash$/, entry: 'unbash', file: 'unbash.cjs' },
  { filter: /^@jmespath-community\/jmespath$/, entry: '@jmespath-community/jmespath', file: 'jmespath.cjs' },
  { filter: /\/packets\/index\.[jt]s$/, entry: packets, file: 'packets.cjs' },
  { filter: /\/guest\/run-command\.[jt]s$/, entry: guest, file: 'guest.cjs' },
] as const;

type Files = ReadonlyMap<string, string>;

let bundled: Promise<Files | undefined> | undefined;

/** Puts the program into a lab directory; answers an expression for its `main`. */
export async function placeStandIn(dir: string): Promise<string> {
  bundled ??= existsSync(readyMade) ? Promise.resolve(read(readyMade)) : bundle();
  const files = await bundled;
  if (!files)
    return `((...a) => import(${JSON.stringify(pathToFileURL(entry).href)}).then((m) => m.main(...a)))`;
  for (const [name, text] of files) writeFileSync(join(dir, name), text);
  return `require(${JSON.stringify(join(dir, MAIN))}).main`;
}

function read(folder: string): Files {
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/** Bundles the stand-in; undefined where the bundler is not installed. */
export async function bundle(): Promise<Files | undefined> {
  try {
    const { build } = await import('esbuild');
    const common = {
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node24',
      minify: true,
      write: false,
      logLevel: 'silent',
      absWorkingDir: local('..'),
    } as const;
    const one = (from: string) =>
      build({
        ...common,
        entryPoints: [from],
        plugins: [
          {
            name: 'apart',
            setup: (setup) => {
              for (const { filter, entry: own, file } of APART)
                setup.onResolve({ filter }, () =>
                  own === from ? undefined : { path: `./${file}`, external: true },
                );
            },
          },
        ],
      });
    const main = await one(entry);
    const rest = await Promise.all(APART.map((part) => one(part.entry)));
    const text = (result: typeof main) => result.outputFiles[0]!.text;
    return new Map([[MAIN, text(main)], ...rest.map((result, i) => [APART[i]!.file, text(result)] as const)]);
  } catch {
    return undefined;
  }
}
