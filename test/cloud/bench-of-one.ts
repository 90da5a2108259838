import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createOrchestrator,
  type Orchestrator,
  type OrchestratorOptions,
  type Task,
} from '../../src/cloud/index.ts';
import { testClock } from '../../src/core/testing.ts';
import { type AzureTwin, azureTwin, type TwinOptions } from './azure-twin.ts';

/** An orchestrator on a twin of Azure, in a folder of its own. */
export interface Setup {
  readonly azure: AzureTwin;
  readonly orchestrator: Orchestrator;
  readonly folder: string;
  readonly clock: ReturnType<typeof testClock>;
  readonly capture: (
    target?: string,
    extra?: Record<string, unknown>,
  ) => ReturnType<Orchestrator['orchestrate']>;
  readonly check: (taskId: string) => ReturnType<Orchestrator['orchestrate']>;
  /** States in the order the registry has them. */
  readonly trail: (taskId: string) => string[];
  readonly records: () => Task[];
}

export async function setUp(
  twin: TwinOptions = {},
  options: Partial<OrchestratorOptions> = {},
  azure: AzureTwin = azureTwin(twin),
): Promise<Setup> {
  const folder = options.taskDir ?? mkdtempSync(join(tmpdir(), 'writ-cloud-'));
  const clock = testClock();
  const orchestrator = await createOrchestrator({
    shell: azure,
    sessionId: 'ghost_20260115_143000',
    taskDir: folder,
    captureDir: join(folder, 'captures'),
    clock,
    scanAzure: false,
    ...options,
  });
  const records = () =>
    readFileSync(
      join(folder, `orchestrator_tasks_${options.sessionId ?? 'ghost_20260115_143000'}.jsonl`),
      'utf8',
    )
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Task);
  return {
    azure,
    orchestrator,
    folder,
    clock,
    capture: (target = 'web-vm-01', extra = {}) =>
      orchestrator.orchestrate({
        intent: 'capture_traffic',
        target,
        parameters: { storage_account: 'forensicsa', resource_group: 'prod-rg', ...extra },
        investigation_context: 'Intermittent 502 from web-vm-01',
      }),
    check: (task_id) => orchestrator.orchestrate({ intent: 'check_task', task_id }),
    trail: (taskId) =>
      records()
        .filter((r) => r.task_id === taskId)
        .map((r) => r.state)
        .filter((s, i, all) => s !== all[i - 1]),
    records,
  };
}
