import {
  CODES,
  EXIT,
  isJsonObject,
  type JsonObject,
  parseJson,
  visible,
  WritError,
} from '../../core/index.ts';
import type { Explanation } from '../../runner/index.ts';
import type { Cli, DefineCommand } from '../cli.ts';
import { type FolderFlags, folderOptions, folders } from '../folders.ts';
import {
  dbPathOf,
  findRun,
  groundOf,
  type RunFlags,
  readPlan,
  readPolicy,
  registryOf,
  runOptions,
} from '../runs.ts';

interface Flags extends FolderFlags {
  readonly json?: boolean;
}

interface ExplainFlags extends Flags {
  readonly tool?: string;
  readonly args?: string;
  readonly plan?: string;
  readonly step?: string;
}

export const define: DefineCommand = (command, cli) => {
  const check = command
    .command('check <files...>')
    .description('is this a valid policy? If not: where, what is wrong, what to write')
    .addHelpText('after', '\nExample:\n  writ policy check policy.yaml')
    .action((files: string[], flags: Flags) => checkCommand(cli, files, flags));
  const test = command
    .command('test <files...>')
    .description('judge the cases a policy carries; nothing is run')
    .addHelpText('after', '\nExample:\n  writ policy test examples/plans/hello/policy.yaml')
    .action((files: string[], flags: Flags) => testCommand(cli, files, flags));
  const explain = command
    .command('explain <file>')
    .description('which rule decides a call, where it is written, and the smallest change that would flip it')
    .option('--tool <tool>', 'the tool')
    .option('--args <json>', 'its arguments, as JSON', '{}')
    .option('--plan <file>', 'explain the steps of a plan instead')
    .option('--step <n>', 'only this step of the plan, counted from 0')
    .addHelpText(
      'after',
      `\nExamples:\n  writ policy explain policy.yaml --tool fs.read --args '{"path":".env"}'\n  writ policy explain policy.yaml --plan plan.yaml --step 2`,
    )
    .action((file: string, flags: ExplainFlags) => explainCommand(cli, file, flags));
  for (const sub of [check, test, explain]) folderOptions(sub).option('--json', 'one JSON document');
  runOptions(
    command
      .command('diff <runs...>')
      .description('what another policy would have decided about recorded calls; newly allowed first')
      .requiredOption('--policy <file>', 'the other policy'),
  )
    .addHelpText('after', '\nExample:\n  writ policy diff run_5b1e… run_77aa… --policy new.yaml')
    .action((runs: string[], flags: RunFlags & { readonly policy: string }) => diffCommand(cli, runs, flags));
};

async function checkCommand(cli: Cli, files: readonly string[], flags: Flags): Promise<void> {
  const registry = await registryOf(cli, folders(cli, flags));
  const checked = files.map((file) => {
    const { value, digest } = readPolicy(cli, file, registry);
    return { file, valid: true, tools: Object.keys(value.tools).sort(), cases: value.cases.length, digest };
  });
  if (flags.json) return cli.json({ files: checked });
  for (const { file, tools, cases } of checked)
    cli.print(
      `${cli.style.green('valid')}  ${visible(file)}  ${tools.join(', ') || 'no tools, so nothing is allowed'}  ${cases} cases`,
    );
}

async function testCommand(cli: Cli, files: readonly string[], flags: Flags): Promise<void> {
  const { testPolicy } = await import('../../runner/index.ts');
  const places = folders(cli, flags);
  const registry = await registryOf(cli, places);
  const results = [];
  for (const file of files) {
    const cases = await testPolicy(readPolicy(cli, file, registry), registry, groundOf(cli, places));
    results.push({
      file,
      passed: cases.filter((c) => c.passed).length,
      failed: cases.filter((c) => !c.passed).length,
      cases,
    });
  }
  if (results.some(({ failed }) => failed > 0)) cli.exitCode = EXIT.failed;
  if (flags.json) return cli.json({ files: results });
  for (const { file, passed, failed, cases } of results) {
    for (const result of cases) {
      if (result.passed) cli.print(`${cli.style.green('✓')} ${visible(result.name)}`);
      else
        cli.print(
          `${cli.style.red('✗')} ${visible(result.name)} (${file}:${result.line ?? '?'}): expected ${result.expected}, got ${result.got} by ${result.rule}: ${visible(result.reason)}`,
        );
    }
    cli.print(
      `${visible(file)}: ${passed} passed, ${failed} failed${cases.length === 0 ? ' (the policy has no cases)' : ''}`,
    );
  }
}

async function explainCommand(cli: Cli, file: string, flags: ExplainFlags): Promise<void> {
  const { explainCall } = await import('../../runner/index.ts');
  const places = folders(cli, flags);
  const registry = await registryOf(cli, places);
  const policy = readPolicy(cli, file, registry);
  const explanations: Explanation[] = [];
  for (const call of callsOf(cli, flags))
    explanations.push(await explainCall(call, policy, registry, groundOf(cli, places)));
  if (flags.json) return cli.json(flags.plan === undefined ? explanations[0] : { steps: explanations });
  const { style } = cli;
  for (const { tool, args, decision, rule, line, reason, change } of explanations) {
    const paint = decision === 'allow' ? style.green : decision === 'deny' ? style.red : style.yellow;
    cli.print(`${style.bold(visible(tool))} ${visible(JSON.stringify(args))}`);
    cli.print(`  ${paint(decision)} by ${visible(rule)}  ${style.dim(`${file}:${line ?? '?'}`)}`);
    cli.print(`  ${visible(reason)}`);
    if (change === null) cli.print('  no change of the policy alone would decide otherwise');
    else
      for (const [i, { say }] of change.edits.entries())
        cli.print(`  ${i === 0 ? `to ${change.to}:` : '     and:'} ${visible(say)}`);
  }
}

function callsOf(
  cli: Cli,
  flags: ExplainFlags,
): readonly { readonly tool: string; readonly args: JsonObject }[] {
  if (flags.plan !== undefined) {
    const { steps } = readPlan(cli, flags.plan).plan;
    if (flags.step === undefined) return steps;
    const step = steps[Number(flags.step)];
    if (step === undefined) throw usage(`the plan has no step ${flags.step}`, `0 to ${steps.length - 1}`);
    return [step];
  }
  if (flags.tool === undefined)
    throw usage('name a call', '--tool fs.read --args \'{"path":"x"}\', or --plan plan.yaml');
  const parsed = parseJson(flags.args ?? '{}');
  if (!parsed.ok || !isJsonObject(parsed.value))
    throw usage('--args is not a JSON object', '--args \'{"path":"x"}\'');
  return [{ tool: flags.tool, args: parsed.value }];
}

async function diffCommand(
  cli: Cli,
  ids: readonly string[],
  flags: RunFlags & { readonly policy: string },
): Promise<void> {
  const { createCallJudge, diffPolicy, openRunReader } = await import('../../runner/index.ts');
  const places = folders(cli, flags);
  const registry = await registryOf(cli, places);
  const judge = createCallJudge(readPolicy(cli, flags.policy, registry), registry, groundOf(cli, places));
  const reader = openRunReader(dbPathOf(cli, flags, places));
  try {
    const diff = diffPolicy(
      ids.map((id) => findRun(reader, id)),
      reader,
      judge,
    );
    if (flags.json) return cli.json({ policy: flags.policy, ...diff });
    const { style } = cli;
    for (const change of diff.changed) {
      const paint =
        change.after === 'allow' ? style.red : change.after === 'deny' ? style.green : style.yellow;
      cli.print(
        `${paint(`${change.before} → ${change.after}`)}  ${change.run_id} step ${change.step}  ${visible(change.tool)} ${visible(JSON.stringify(change.args))}`,
      );
      cli.print(
        style.dim(
          `  ${visible(change.rule)}: ${visible(change.reason)} (${flags.policy}:${change.line ?? '?'})`,
        ),
      );
    }
    const blind =
      diff.not_comparable === 0 ? '' : `; ${diff.not_comparable} could only be judged while they ran`;
    cli.print(`${diff.changed.length} of ${diff.calls} decisions would change${blind}`);
  } finally {
    reader.close();
  }
}

function usage(message: string, suggestion: string): WritError {
  return new WritError(CODES.invalid_input, message, { suggestion, exit: EXIT.usage });
}
