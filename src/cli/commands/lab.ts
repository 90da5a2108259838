import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createAuthority, type Evaluator } from '../../authority/index.ts';
import { CODES, digestOf, EXIT, systemClock, systemIds, visible, WritError } from '../../core/index.ts';
import type { PreparedLab } from '../../lab/index.ts';
import type { Cli, DefineCommand } from '../cli.ts';
import type { TroubleFlags } from '../lab-trouble.ts';

interface UpFlags {
  readonly dir?: string;
  readonly speed?: string;
  readonly printEnv?: boolean;
  readonly json?: boolean;
}

export const define: DefineCommand = (command, cli) => {
  command
    .command('list')
    .description('the worlds that can be investigated')
    .option('--dir <dir>', 'a folder of world files instead of those that come with Writ')
    .option('--json', 'one JSON document')
    .addHelpText('after', '\nExample:\n  writ lab list')
    .action((flags: { dir?: string; json?: boolean }) => list(cli, flags));
  command
    .command('check')
    .description('whether a file is a world, and if not: where and why, and what to write')
    .argument('<file>', 'a world file')
    .option('--json', 'one JSON document')
    .addHelpText('after', '\nExample:\n  writ lab check my-world.yaml')
    .action((file: string, flags: { json?: boolean }) => check(cli, file, flags));
  command
    .command('up')
    .description('a shell in which az, ping, dig, curl and the like answer from a world')
    .argument('<world>', 'a name from writ lab list, or a world file')
    .option('--dir <dir>', 'where the lab keeps its state (default: a new temporary folder)')
    .option('--speed <n>', 'how many times faster time runs in the world (default WRIT_LAB_SPEED, or 1)')
    .option('--print-env', 'prepare only, and print what to set: eval "$(writ lab up W --print-env)"')
    .option('--json', 'prepare only, and print one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  writ lab up redis-behind-dead-nva --speed 60\n  eval "$(writ lab up ./my-world.yaml --print-env)" && az vm list -o table',
    )
    .action((world: string, flags: UpFlags) => up(cli, world, flags));
  command
    .command('trouble')
    .description('in a lab: let az fail the way Azure can, until "none" takes it away')
    .argument('[kind]', 'which trouble, or none; without it, what there is and what is set')
    .option('--on <command>', 'only for az commands that begin with these words')
    .option('--times <n>', 'only for so many calls')
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  writ lab trouble forbidden --on "network watcher packet-capture create"\n  writ lab trouble unreachable --on "storage blob download" --times 1\n  writ lab trouble none',
    )
    .action(async (kind: string | undefined, flags: TroubleFlags) =>
      (await import('../lab-trouble.ts')).trouble(cli, kind, flags),
    );
  command
    .command('bench')
    .description('investigate worlds with the embedded brain and score what it claims')
    .argument('[worlds...]', 'names or files; all of them when left out')
    .option('--dir <dir>', 'a folder of world files instead of those that come with Writ')
    .option('--brain <name>', 'the brain to measure', 'playbook')
    .option('--approve <what>', 'all: every RISKY command is approved; none: every one is denied', 'all')
    .option('--speed <n>', 'how many times faster time runs', '600')
    .option('--keep <dir>', 'keep the folders of the runs below this one')
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      '\nExamples:\n  writ lab bench\n  writ lab bench --dir ./my-worlds --approve none --json',
    )
    .action((worlds: string[], flags: BenchFlags) => bench(cli, worlds, flags));
};

interface BenchFlags {
  readonly dir?: string;
  readonly brain: string;
  readonly approve: string;
  readonly speed: string;
  readonly keep?: string;
  readonly json?: boolean;
}

async function bench(cli: Cli, worlds: readonly string[], flags: BenchFlags): Promise<void> {
  if (flags.approve !== 'all' && flags.approve !== 'none')
    throw new WritError(CODES.invalid_input, `--approve ${flags.approve}: there is no such answer`, {
      suggestion: 'write all or none',
      exit: EXIT.usage,
    });
  if (flags.brain !== 'playbook')
    throw new WritError(
      CODES.invalid_input,
      `the bench runs the playbook brain; ${flags.brain} needs a model and a person`,
      { suggestion: 'leave --brain out, or run writ investigate --lab WORLD --brain …', exit: EXIT.usage },
    );
  const { listWorlds, worldFile } = await import('../../lab/index.ts');
  const { runBench, summarize } = await import('../lab-bench.ts');
  const folder = flags.dir === undefined ? undefined : resolve(cli.cwd, flags.dir);
  const all = folder === undefined ? listWorlds() : listWorlds(folder);
  const files =
    worlds.length > 0
      ? worlds.map((w) => (folder === undefined ? worldFile(w) : worldFile(w, folder)))
      : all.map((w) => w.file);
  const results = await runBench(cli, {
    files,
    approve: flags.approve,
    speed: Number(flags.speed),
    ...(flags.keep === undefined ? {} : { keep: resolve(cli.cwd, flags.keep) }),
    onWorld: (r) => {
      const claims =
        r.claimed.map((c) => `${c.kind}:${c.resource}${c.detail ? `/${c.detail}` : ''}`).join(', ') ||
        'nothing';
      const mark = r.exact === undefined ? '·' : r.exact ? cli.style.green('✓') : cli.style.red('✗');
      cli.note(
        `${mark} ${r.id}: claimed ${claims}  (${r.commands} commands, ${r.approvals} approvals, ${r.turns} turns, ${r.seconds} s)`,
      );
      for (const missed of r.missed ?? [])
        cli.note(`    missed ${missed.kind}:${missed.resource}${missed.detail ? `/${missed.detail}` : ''}`);
    },
  });
  const summary = summarize(results);
  if (flags.json) cli.json({ worlds: results, summary });
  else
    cli.print(
      Object.entries(summary)
        .map(([key, value]) => `${key} ${value}`)
        .join('  '),
    );
}

async function list(cli: Cli, flags: { readonly dir?: string; readonly json?: boolean }): Promise<void> {
  const { listWorlds } = await import('../../lab/index.ts');
  const worlds = flags.dir === undefined ? listWorlds() : listWorlds(resolve(cli.cwd, flags.dir));
  if (worlds.some((w) => w.problem !== null)) cli.exitCode = EXIT.usage;
  if (flags.json) return cli.json({ worlds });
  if (worlds.length === 0) cli.note('there are no world files here');
  for (const world of worlds) {
    if (world.problem !== null) cli.print(`${cli.style.red(world.id)}  ${oneLine(world.problem)}`);
    else {
      // The title may give the cause away; who wants to investigate reads the symptom.
      cli.print(cli.style.bold(world.id));
      cli.print(`  ${oneLine(world.symptom)}`);
    }
  }
}

async function check(cli: Cli, file: string, flags: { readonly json?: boolean }): Promise<void> {
  const { checkWorld } = await import('../../lab/index.ts');
  const { world, remarks } = checkWorld(resolve(cli.cwd, file));
  const counts = { vms: world.vms.length, vnets: world.vnets.length, flows: world.flows.length };
  if (flags.json) return cli.json({ ok: true, id: world.id, ...counts, remarks });
  cli.print(
    `${cli.style.green('ok')} ${world.id}: ${counts.vms} VMs, ${counts.vnets} VNets, ${counts.flows} flows`,
  );
  for (const remark of remarks) cli.print(`  ${cli.style.yellow('look')}: ${remark}`);
}

async function up(cli: Cli, world: string, flags: UpFlags): Promise<void> {
  const { prepareLab, speedFromEnvironment, worldFile } = await import('../../lab/index.ts');
  const file = worldFile(world);
  const scripted = flags.json === true || flags.printEnv === true;
  if (!scripted && !cli.interactive)
    throw new WritError(CODES.invalid_input, 'there is no terminal for a shell', {
      suggestion: 'use --print-env or --json in scripts',
      exit: EXIT.usage,
    });
  const temporary = flags.dir === undefined;
  const dir = temporary ? mkdtempSync(join(tmpdir(), 'writ-lab-')) : resolve(cli.cwd, flags.dir);
  const speed = flags.speed === undefined ? (speedFromEnvironment(cli.env) ?? 1) : Number(flags.speed);
  const lab = await prepareLab(file, dir, { speed });
  const path = `${lab.bin}:${cli.env.PATH ?? ''}`;
  if (flags.json)
    return cli.json({
      world: lab.world.id,
      symptom: lab.world.symptom,
      dir: lab.dir,
      bin: lab.bin,
      speed,
      env: { PATH: path, WRIT_LAB_DIR: lab.dir },
    });
  if (flags.printEnv) {
    cli.print(`export PATH=${quoted(lab.bin)}:"$PATH"`);
    cli.print(`export WRIT_LAB_DIR=${quoted(lab.dir)}`);
    return;
  }
  await openShell(cli, lab, path);
  // Nobody named the folder, so nobody will look for it.
  if (temporary) rmSync(dir, { recursive: true, force: true });
}

/** World files come from anywhere: nothing in them may drive the terminal. */
function oneLine(text: string): string {
  return visible(text.replace(/\s+/g, ' ').trim());
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The person's own shell, on the person's own terminal, because the person typed this command. */
async function openShell(cli: Cli, lab: PreparedLab, path: string): Promise<void> {
  const { baseEnvironment, runInteractive } = await import('../../sandbox/index.ts');
  const argv = [cli.env.SHELL ?? '/bin/sh'];
  const onlyThisShell: Evaluator = {
    name: 'lab',
    evaluate: (action) => ({
      evaluator: 'lab',
      verdict: action.kind === 'process.start' ? 'allow' : 'deny',
      rule: 'lab.shell',
      reason: 'the person at the terminal opened a lab',
    }),
  };
  const answer = await createAuthority({ clock: systemClock, ids: systemIds }).authorize({
    action: { kind: 'process.start', subject: argv[0]!, detail: { argv, cwd: cli.cwd } },
    evaluators: [onlyThisShell],
    reasoning: `writ lab up ${lab.world.id}`,
    requester: cli.env.USER ?? 'user',
    policyDigest: digestOf(['lab.shell']),
    whenApprovalNeeded: 'never',
  });
  if (answer.outcome !== 'granted') throw new WritError(CODES.denied, 'the shell was not allowed');
  cli.note(`${cli.style.bold(lab.world.id)}: ${oneLine(lab.world.symptom)}`);
  cli.note(
    `az, ping, dig, nslookup, host, traceroute, mtr, curl and nc answer from this world; leave with exit. State: ${lab.dir}`,
  );
  const outcome = await runInteractive(answer.writ, {
    argv,
    cwd: cli.cwd,
    env: baseEnvironment({ PATH: path, WRIT_LAB_DIR: lab.dir, PS1: `(lab ${lab.world.id}) \\w $ ` }, cli.env),
  });
  if (outcome.kind !== 'exited') cli.exitCode = EXIT.failed;
}
