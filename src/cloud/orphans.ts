import { commands } from './commands.ts';
import { type CloudContext, send } from './context.ts';
import { filesOlderThan } from './files.ts';
import { isLocation, isTaskId, TASK_PREFIX } from './names.ts';
import { isEnded } from './states.ts';
import type { Orphan, OrphanBucket, Task } from './types.ts';

/** What earlier sessions left behind, in three layers: the registries, Azure itself, and local files. */
export interface OrphanScan {
  readonly orphans: readonly Orphan[];
  /** Layers that could not be looked at. "No orphans" with a problem beside it is not an all-clear. */
  readonly problems: readonly string[];
}

export interface ScanOptions {
  readonly sessionId: string;
  readonly captureDir: string;
  readonly localMaxAgeDays: number;
  readonly scanAzure: boolean;
  /** Sessions whose process is alive: their tasks are in hand, not orphans. */
  readonly liveSessions: ReadonlySet<string>;
}

export async function scanForOrphans(context: CloudContext, options: ScanOptions): Promise<OrphanScan> {
  const fromRegistry = registryOrphans(context.registry.all(), options);
  const azure = options.scanAzure ? await azureOrphans(context) : { orphans: [], problems: [] };
  const before = new Date(context.clock.now().getTime() - options.localMaxAgeDays * 86_400_000);
  const local = filesOlderThan(options.captureDir, TASK_PREFIX, before).map((path) =>
    orphan('stale_local_files', { resource: path, detail: `older than ${options.localMaxAgeDays} days` }),
  );
  return {
    orphans: [...fromRegistry, ...azure.orphans, ...local],
    problems: [...context.registry.problems, ...azure.problems],
  };
}

export function registryOrphans(
  tasks: readonly Task[],
  options: Pick<ScanOptions, 'sessionId' | 'liveSessions'>,
): readonly Orphan[] {
  return tasks
    .filter((task) => task.session_id !== options.sessionId && !options.liveSessions.has(task.session_id))
    .flatMap((task) => {
      const bucket = bucketOf(task);
      return bucket === undefined
        ? []
        : [
            orphan(bucket, {
              task_id: task.task_id,
              session_id: task.session_id,
              state: task.state,
              location: task.location,
              resource: task.task_id,
              detail: detailOf(task),
            }),
          ];
    });
}

function bucketOf(task: Task): OrphanBucket | undefined {
  if (!isEnded(task.state)) return 'abandoned_tasks';
  if (task.state === 'DONE' || task.cleanup_status === 'completed' || task.cleanup_status === 'skipped')
    return undefined;
  return task.cleanup_status === 'partial' ? 'partially_cleaned' : 'needs_cleanup';
}

function detailOf(task: Task): string {
  const left = task.cleanup_plan.filter((s) => !s.executed).map((s) => s.resource);
  return `${task.state}, cleanup ${task.cleanup_status ?? 'not begun'}${left.length > 0 ? `: ${left.join('; ')}` : ''}`;
}

const PAGE = 100;
/** Enough for any account; a bound all the same. */
const MAX_PAGES = 50;

/** Captures in Azure with our prefix that no registry knows, in every region that has a watcher. */
async function azureOrphans(context: CloudContext): Promise<OrphanScan> {
  const regions = await send(
    context,
    commands.watcherRegions(),
    'Look for captures left behind: which regions have a Network Watcher?',
  );
  if (regions.kind !== 'ok')
    return {
      orphans: [],
      problems: [`Azure was not scanned: ${regions.kind === 'denied' ? regions.reason : regions.detail}`],
    };
  const orphans: Orphan[] = [];
  const problems: string[] = [];
  for (const region of new Set(
    regions.output
      .split('\n')
      .map((line) => line.trim())
      .filter(isLocation),
  )) {
    const names = await captureNames(context, region);
    if (names.problem !== undefined) problems.push(names.problem);
    for (const name of names.found.filter((n) => context.registry.get(n) === undefined)) {
      orphans.push(
        orphan('untracked_azure', {
          resource: name,
          location: region,
          detail: `capture in ${region} that no registry knows`,
        }),
      );
    }
  }
  return { orphans, problems };
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
    if (listed.kind !== 'ok')
      return {
        found,
        problem: `${region} was not scanned: ${listed.kind === 'denied' ? listed.reason : listed.detail}`,
      };
    const names = listed.output
      .split('\n')
      .map((line) => line.trim())
      .filter(isTaskId);
    found.push(...names);
    if (names.length < PAGE) return { found };
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

/** The command that removes something no task knows of. Each goes through the gate like any other. */
export function removalCommand(found: Orphan): string | undefined {
  if (found.bucket === 'stale_local_files') return commands.removeFile(found.resource);
  if (found.bucket === 'untracked_azure' && found.location !== null)
    return commands.deleteCapture(found.location, found.resource);
  return undefined;
}
