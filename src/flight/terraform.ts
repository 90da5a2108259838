import { realpathSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { messageOf, type Writ } from '../core/index.ts';
import type { Artifact } from './artifacts.ts';
import { keepLog, type Launched, type LaunchOptions, launch, networkOf } from './engine.ts';
import { firstIssue, PROTOCOL_VERSION } from './protocol.ts';
import type { StepContext } from './step-context.ts';
import { runTool, type ToolAnswer } from './tool.ts';
import { milliseconds } from './workflow.ts';

/**
 * A `terraform` step: the plan file is what is described, judged and approved, and take-off applies that file.
 *
 * TF1 Planning sees the workspace read-only and writes below its temporary folder alone: no lock, no lock file.
 * TF2 Providers come from what is installed or from `plugin_dir`, pinned by the workspace's lock file; the network
 *     is the hosts that the step names.
 * TF3 Nobody's configuration and no environment but the secrets that the step maps.
 */
const relative = z.string().min(1).max(4096);
const config = z.strictObject({
  dir: relative.optional(),
  program: relative.optional(),
  plugin_dir: relative.optional(),
  vars: z.record(z.string().regex(/^[A-Za-z_][\w-]*$/), z.json()).optional(),
  var_files: z.array(relative).max(50).optional(),
  targets: z.array(z.string().min(1).max(1000)).max(200).optional(),
  destroy: z.boolean().optional(),
  refresh: z.boolean().optional(),
});

const PLAN_FILE = 'plan.out';
const MAX_SHOWN = 32 * 1024 * 1024;
const TEN_MINUTES = 600_000;

export async function planTerraform(
  context: StepContext,
  writ: Writ,
  options: LaunchOptions,
): Promise<Launched> {
  const read = config.safeParse(context.step.config ?? {});
  if (!read.success) return { ok: false, reason: `validation failed: config.${firstIssue(read.error)}` };
  const { vars, var_files = [], targets = [], destroy, refresh } = read.data;
  const { temp } = options.folders;
  const values = join(temp, 'values.tfvars.json');
  writeFileSync(values, JSON.stringify(vars ?? {}), { flag: 'wx', mode: 0o600 });
  const plan = join(temp, PLAN_FILE);
  return withTerraform(context, options, read.data, async (terraform) => {
    const made = await terraform(
      ...['plan', '-input=false', '-no-color', '-lock=false', `-out=${plan}`, `-var-file=${values}`],
      ...var_files.map((file) => `-var-file=${resolve(context.workflow.workspace, file)}`),
      ...targets.map((target) => `-target=${target}`),
      ...(destroy ? ['-destroy'] : []),
      ...(refresh === false ? ['-refresh=false'] : []),
    );
    if (made.problem !== null) return failed('plan', made);
    for (const [name, words] of [
      ['show.json', ['-json']],
      ['show.txt', ['-no-color']],
    ] as const) {
      const shown = await terraform('show', ...words, plan);
      if (shown.problem !== null) return failed('show', shown);
      // The folder was the planner's to write in: nothing that lies there already is followed.
      writeFileSync(join(temp, name), shown.text, { flag: 'wx', mode: 0o600 });
    }
    return launch(writ, options);
  });
}

export async function performTerraform(
  context: StepContext,
  writ: Writ,
  options: LaunchOptions,
  artifacts: readonly Artifact[],
): Promise<Launched> {
  const plan = artifacts.find((a) => a.name === 'plan')?.bodyPath;
  if (plan == null) return { ok: false, reason: 'there is no plan file' };
  // The one use of the writ covers what follows: this very plan file.
  writ.use(writ.action);
  return withTerraform(context, options, config.parse(context.step.config ?? {}), async (terraform) => {
    const applied = await terraform('apply', '-input=false', '-no-color', plan);
    const log = `${applied.text}\n${applied.said}`;
    keepLog(join(options.folders.root, 'take-off.log'), Buffer.from(log), options.secrets);
    if (applied.problem !== null) return failed('apply', applied);
    return {
      ok: true,
      receipt: {
        protocol_version: PROTOCOL_VERSION,
        engine_id: 'writ/terraform',
        mode: 'take-off',
        receipt_id: `${context.log.record.flightId}/${context.step.id}/take-off`,
        status: 'success',
      },
    };
  });
}

type Terraform = (...words: readonly string[]) => Promise<ToolAnswer>;

/** Providers made ready, then the work, in one network. */
async function withTerraform(
  context: StepContext,
  options: LaunchOptions,
  { dir = '.', plugin_dir }: z.infer<typeof config>,
  work: (terraform: Terraform) => Promise<Launched>,
): Promise<Launched> {
  const { workflow, step, engine } = context;
  const program = engine.kind === 'builtin' ? engine.program : undefined;
  if (program === undefined) return { ok: false, reason: 'terraform is not installed' };
  let folder: string;
  let plugins: string | undefined;
  try {
    folder = realpathSync(join(workflow.workspace, dir));
    plugins = plugin_dir === undefined ? undefined : realpathSync(resolve(workflow.folder, plugin_dir));
  } catch (error) {
    return { ok: false, reason: `validation failed: ${messageOf(error)}` };
  }
  if (folder !== workflow.workspace && !folder.startsWith(`${workflow.workspace}/`))
    return { ok: false, reason: `validation failed: config.dir ${dir} is outside the workspace` };
  const network = await networkOf(options);
  const terraform: Terraform = (...words) =>
    runTool(context, options, {
      argv: [program, `-chdir=${folder}`, ...words],
      env: {
        ...network.env,
        ...options.secrets,
        TF_DATA_DIR: join(options.folders.temp, 'data'),
        TF_IN_AUTOMATION: '1',
        TF_INPUT: '0',
        CHECKPOINT_DISABLE: '1',
      },
      network: network.profile,
      readonly: plugins === undefined ? [] : [plugins],
      timeoutMs: milliseconds(step.timeout, TEN_MINUTES),
      maxOutputBytes: MAX_SHOWN,
    });
  try {
    const ready = await terraform(
      ...['init', '-input=false', '-no-color', '-lockfile=readonly'],
      ...(plugins === undefined ? [] : [`-plugin-dir=${plugins}`]),
    );
    if (ready.problem !== null) return failed('init', ready, PROVIDERS);
    return await work(terraform);
  } finally {
    await network.close();
  }
}

const PROVIDERS =
  ' (providers must be pinned by a .terraform.lock.hcl in the workspace and come from plugin_dir, or from hosts that the step names under network)';

function failed(verb: string, { problem }: ToolAnswer, hint = ''): Launched {
  return { ok: false, reason: `terraform ${verb}: ${(problem ?? '').slice(0, 2000)}${hint}` };
}
