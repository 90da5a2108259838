import { commands } from './commands.ts';
import { type CloudContext, send, whyNot } from './context.ts';
import { fileExists, filesOlderThan } from './files.ts';
import { isLocation, isTaskId, TASK_PREFIX } from './names.ts';
import { leftovers } from './plan.ts';
import { isLive } from './registry.ts';
import { isEnded } from './states.ts';
import type { Orphan, OrphanBucket, Task } from './types.ts';

/**
 * What earlier sessions left behind, in three layers: the registries, Azure itself, and local files.
 *
 * O1 Tasks of a session whose process lives are in hand, not left behind.
 * O2 A capture in Azure is accounted for only by a task that still means to delete it. One whose task says it
 *    is gone, or never was, is as unknown as one without a task.
 * O3 A layer that could not be looked at is a problem beside the answer, never an empty answer.
 */
export interface OutsideScan {
  readonly captures: readonly { readonly name: string; readonly location: string }[];
  readonly files: readonly string[];
  readonly fileAgeDays: number;
  readonly problems: readonly string[];
}

/** The two layers that cost something to look at: once, at the start. */
export async function scanOutside(
  context: CloudContext,
  options: { readonly localMaxAgeDays: number; readonly scanAzure: boolean },
): Promise<OutsideScan> {
  const azure = options.scanAzure ? await azureCaptures(context) : { captures: [], problems: [] };
  const before = new Date(context.clock.now().getTime() - options.localMaxAgeDays * 86_400_000);
  return {
    ...azure,
    files: filesOlderThan(context.captureDir, TASK_PREFIX, before),
    fileAgeDays: options.localMaxAgeDays,
  };
}

export interface OrphanReport {
  readonly orphans: readonly Orphan[];
  /** Layers that could not be looked at. "No orphans" with a problem beside it is not an all-clear. */
  readonly problems: readonly string[];
}

/** What of it is still left, after anything this session has cleaned up since. */
export function orphansNow(context: CloudContext, scan: OutsideScan): OrphanReport {
  const live = new Map<string, boolean>();
  const isAlive = (session: string) => {
    if (session === context.sessionId) return true;
    const known = live.get(session) ?? isLive(context.taskDir, session);
    live.set(session, known);
    return known;
  };
  const fromRegistry = context.registry.all().flatMap(({ task, holder }) => {
    const bucket = bucketOf(task);
    return bucket === undefined || isAlive(holder) ? [] : [taskOrphan(bucket, task)];
  });
  const untracked = scan.captures.flatMap(({ name, location }) => {
    const task = context.registry.get(name);
    if (task !== undefined && bucketOf(task) !== undefined) return [];
    const why =
      task === undefined
        ? `capture in ${location} that no registry knows`
        : `capture in ${location} whose task is ${task.state} and no longer counts it`;
    return [orphan('untracked_azure', { resource: name, location, detail: why })];
  });
  const local = scan.files
    .filter(fileExists)
    .map((path) =>
      orphan('stale_local_files', { resource: path, detail: `older than ${scan.fileAgeDays} days` }),
    );
  return {
    orphans: [...fromRegistry, ...untracked, ...local],
    problems: [...context.registry.problems(), ...scan.problems],
  };
}

function taskOrphan(bucket: OrphanBucket, task: Task): Orphan {
  return orphan(bucket, {
    task_id: task.task_id,
    session_id: task.session_id,
    state: task.state,
    location: task.location,
    resource: task.task_id,
    detail: detailOf(task),
  });
}

function bucketOf(task: Task): OrphanBucket | undefined {
  if (!isEnded(task.state)) return 'abandoned_tasks';
  if (task.state === 'DONE' || task.cleanup_status === 'completed' || task.cleanup_status === 'skipped')
    return undefined;
  return task.cleanup_status === 'partial' ? 'partially_cleaned' : 'needs_cleanup';
}

function detailOf(task: Task): string {
  if (!isEnded(task.state))
    return `${task.state}, and its session has ended: call check_task to go on, or call cleanup_task to remove what it created`;
  const left = leftovers(task);
  return `${task.state}, cleanup ${task.cleanup_status ?? 'not begun'}${left === '' ? '' : `: ${left}`}`;
}

const PAGE = 100;
/** Enough for any account; a bound all the same. */
const MAX_PAGES = 50;

/** Captures in Azure with our prefix, in every region that has a watcher. */
async function azureCaptures(context: CloudContext): Promise<Pick<OutsideScan, 'captures' | 'problems'>> {
  const regions = await send(
    context,
    commands.watcherRegions(),
    'Look for captures left behind: which regions have a Network Watcher?',
  );
  if (regions.kind !== 'ok') return { captures: [], problems: [`Azure was not scanned: ${whyNot(regions)}`] };
  const captures: { name: string; location: string }[] = [];
  const problems: string[] = [];
  const named = linesOf(regions.output).filter(isLocation);
  for (const location of new Set(named)) {
    const names = await captureNames(context, location);
    if (names.problem !== undefined) problems.push(names.problem);
    captures.push(...names.found.map((name) => ({ name, location })));
  }
  return { captures, problems };
}

function linesOf(output: string): readonly string[] {
  return output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

async function captureNames(
  context: CloudContext,
  region: string,
): Promise<{ found: readonly string[]; problem?: string }> {
  const found: string[] = [];
  for (let page = 0; page < MAX_PAGES; page++) {
    const listed = await send(
      context,
      commands.listCaptures(region, page * PAGE, PAGE),
      `Look for captures left behind in ${region}.`,
    );
    if (listed.kind !== 'ok') return { found, problem: `${region} was not scanned: ${whyNot(listed)}` };
    const lines = linesOf(listed.output);
    found.push(...lines.filter(isTaskId));
    if (lines.length < PAGE) return { found };
  }
  return { found, problem: `${region} has more than ${PAGE * MAX_PAGES} captures; only the first were read` };
}

function orphan(bucket: OrphanBucket, facts: Partial<Orphan> & Pick<Orphan, 'resource' | 'detail'>): Orphan {
  return { bucket, task_id: null, session_id: null, state: null, location: null, ...facts };
}

/** The report a person sees, bucket by bucket. */
export function byBucket(orphans: readonly Orphan[]): Readonly<Record<OrphanBucket, readonly Orphan[]>> {
  const of = (bucket: OrphanBucket) => orphans.filter((o) => o.bucket === bucket);
  return {
    abandoned_tasks: of('abandoned_tasks'),
    needs_cleanup: of('needs_cleanup'),
    partially_cleaned: of('partially_cleaned'),
    untracked_azure: of('untracked_azure'),
    stale_local_files: of('stale_local_files'),
  };
}
