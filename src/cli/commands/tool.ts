import { relative, resolve } from 'node:path';
import { CODES, EXIT, systemClock, systemIds, visible } from '../../core/index.ts';
import { readTextFile } from '../../policy/index.ts';
import type { Cli, DefineCommand } from '../cli.ts';
import { type FolderFlags, folderOptions, folders } from '../folders.ts';
import { groundOf, registryOf } from '../runs.ts';

interface Flags extends FolderFlags {
  readonly json?: boolean;
  readonly dir?: string;
  readonly cases?: string;
}

export const define: DefineCommand = (command, cli) => {
  const make = command
    .command('new <name>')
    .description('write a tool of your own, with cases that test it')
    .option('--dir <folder>', 'where to write it', 'tools')
    .addHelpText('after', '\nExample:\n  writ tool new my.tool && writ tool test tools/my-tool.ts')
    .action((name: string, flags: Flags) => newCommand(cli, name, flags));
  const test = command
    .command('test <file>')
    .description('run the cases of a tool through policy, writ and sandbox')
    .option('--cases <file>', 'the cases (default: beside the tool, .cases.yaml)')
    .addHelpText('after', '\nExample:\n  writ tool test tools/my-tool.ts')
    .action((file: string, flags: Flags) => testCommand(cli, file, flags));
  const list = command
    .command('list')
    .description('the tools a plan can use: built in, and listed in writ.yaml')
    .addHelpText('after', '\nExample:\n  writ tool list --json')
    .action((flags: Flags) => listCommand(cli, flags));
  for (const sub of [make, test, list]) folderOptions(sub).option('--json', 'one JSON document');
};

async function newCommand(cli: Cli, name: string, flags: Flags): Promise<void> {
  const { scaffoldTool } = await import('../../tools/index.ts');
  const made = scaffoldTool(name, resolve(cli.cwd, flags.dir ?? 'tools'));
  const tool = relative(cli.cwd, made.tool);
  if (flags.json) return cli.json({ name, tool, cases: relative(cli.cwd, made.cases) });
  cli.print(`${cli.style.green('written')}  ${tool} and ${relative(cli.cwd, made.cases)}`);
  cli.print(`  try it:      writ tool test ${tool}`);
  cli.print(`  list it:     tools: [${tool}]          in writ.yaml`);
  cli.print(`  allow it:    tools: { ${name}: {} }    in a policy`);
}

async function testCommand(cli: Cli, file: string, flags: Flags): Promise<void> {
  const { loadThirdPartyTools } = await import('../../tools/index.ts');
  const { readToolCases, testTool } = await import('../../runner/index.ts');
  const { createAuthority } = await import('../../authority/index.ts');
  const places = folders(cli, flags);
  const casesFile = flags.cases ?? file.replace(/\.[cm]?[jt]s$/, '.cases.yaml');
  const cases = readToolCases(
    readTextFile(resolve(cli.cwd, casesFile), CODES.invalid_input, 1024 * 1024),
    casesFile,
  );
  const [tool] = await loadThirdPartyTools([resolve(cli.cwd, file)], [places.state, cli.cwd]);
  if (tool === undefined) return;
  const authority = createAuthority({ clock: systemClock, ids: systemIds });
  const results = await testTool(tool, cases, {
    authority,
    clock: systemClock,
    ground: groundOf(cli, places),
    signal: new AbortController().signal,
  });
  const failed = results.filter((result) => !result.passed).length;
  if (failed > 0) cli.exitCode = EXIT.failed;
  if (flags.json)
    return cli.json({ tool: tool.name, passed: results.length - failed, failed, cases: results });
  for (const { name, passed, expected, got } of results) {
    cli.print(`${passed ? cli.style.green('✓') : cli.style.red('✗')} ${visible(name)}`);
    if (!passed)
      cli.print(`    expected ${visible(JSON.stringify(expected))}, got ${visible(JSON.stringify(got))}`);
  }
  cli.print(`${tool.name}: ${results.length - failed} passed, ${failed} failed`);
}

async function listCommand(cli: Cli, flags: Flags): Promise<void> {
  const registry = await registryOf(cli, folders(cli, flags));
  const tools = registry.names.map((name) => ({
    name,
    description: registry.get(name)?.description ?? '',
    built_in: !(name in registry.otherRules),
  }));
  if (flags.json) return cli.json({ tools });
  for (const { name, description, built_in } of tools)
    cli.print(
      `${cli.style.bold(name.padEnd(14))} ${visible(description)}${built_in ? '' : cli.style.dim('  (from writ.yaml)')}`,
    );
}
