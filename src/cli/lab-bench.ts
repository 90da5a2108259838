import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrchestrator } from '../cloud/index.ts';
import { type Approver, type Brain, systemIds } from '../core/index.ts';
import { investigate, newSession, nobody, playbookBrain, type Rca } from '../ghost/index.ts';
import { loadTruth } from '../lab/index.ts';
import { openLedger } from '../ledger/index.ts';
import { createShell } from '../shell/index.ts';
import type { Cli } from './cli.ts';
import { type Claim, type Score, score } from './lab-score.ts';
import { openLabWorkspace } from './lab-workspace.ts';

/** `writ lab bench`: every world through the whole product, scored where the truth is known. */
export interface BenchOptions {
  readonly files: readonly string[];
  readonly approve: 'all' | 'none';
  readonly speed: number;
  readonly keep?: string;
  readonly onWorld: (result: WorldResult) => void;
}

export interface WorldResult extends Partial<Score> {
  readonly id: string;
  readonly claimed: readonly Claim[];
  readonly citations_valid: boolean;
  readonly commands: number;
  readonly approvals: number;
  readonly left_behind: number;
  readonly turns: number;
  readonly seconds: number;
  readonly verdict: string;
  readonly confidence: string;
}

export async function runBench(cli: Cli, options: BenchOptions): Promise<readonly WorldResult[]> {
  const results: WorldResult[] = [];
  for (const file of options.files) {
    const result = await runWorld(cli, file, options);
    results.push(result);
    options.onWorld(result);
  }
  return results;
}

async function runWorld(cli: Cli, file: string, options: BenchOptions): Promise<WorldResult> {
  const folder = mkdtempSync(join(options.keep ?? tmpdir(), 'writ-bench-'));
  const started = performance.now();
  const lab = await openLabWorkspace(cli, file, options.speed, join(folder, 'lab'));
  const auditDir = join(folder, 'audit');
  const ledger = openLedger({ stateDir: join(folder, '.writ'), clock: lab.clock });
  let approvals = 0;
  const approver: Approver = {
    ask: async () => {
      approvals++;
      return options.approve === 'all'
        ? { kind: 'approve', approver: 'bench' }
        : { kind: 'deny', approver: 'bench', reason: 'nothing is approved in this run' };
    },
  };
  const sessionId = 'ghost_bench';
  const openJournal = (path: string) => ledger.openJournal({ path, flush: 'group' });
  const shell = await createShell({
    sessionId,
    auditDir,
    openJournal,
    approver,
    clock: lab.clock,
    ids: systemIds,
    cwd: folder,
    programPath: [lab.bin],
    env: { ...lab.env },
  });
  const orchestrator = await createOrchestrator({
    shell,
    sessionId,
    taskDir: auditDir,
    captureDir: join(auditDir, 'captures'),
    clock: lab.clock,
    scanAzure: false,
    openJournal,
  });
  const brain: Brain = playbookBrain({ capture: lab.capture, auditDir });
  try {
    const session = newSession({
      sessionId,
      createdAt: lab.clock.now().toISOString(),
      brain: brain.name,
      model: brain.name,
      auditDir,
    });
    const end = await investigate({
      session,
      shell,
      orchestrator,
      brain,
      person: nobody,
      watch: () => undefined,
      clock: lab.clock,
      signal: new AbortController().signal,
      symptom: lab.symptom,
      html: false,
    });
    if (end.kind !== 'reported') throw new Error(`the investigation of ${file} ended as ${end.kind}`);
    return resultOf(
      file,
      end.rca,
      approvals,
      await leftBehind(lab.dir, auditDir),
      (performance.now() - started) / 1000,
    );
  } finally {
    await orchestrator.close();
    await shell.close();
    if (options.keep === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function resultOf(file: string, rca: Rca, approvals: number, left: number, seconds: number): WorldResult {
  const claimed = rca.causes
    .filter((c) => c.verdict !== 'CONTRADICTED')
    .map(({ kind, resource, detail }) => ({ kind, resource, detail }));
  const truth = loadTruth(file);
  return {
    id: worldId(file),
    claimed,
    ...(truth ? score(claimed, truth) : {}),
    citations_valid:
      rca.unsupported_causes.length === 0 &&
      rca.causes.every((c) => c.evidence.length > 0 && c.rejected.length === 0),
    commands: rca.evidence.length,
    approvals,
    left_behind: left,
    turns: rca.turns,
    seconds: Math.round(seconds * 100) / 100,
    verdict: rca.verdict,
    confidence: rca.confidence,
  };
}

function worldId(file: string): string {
  return (file.split('/').at(-1) ?? file).replace(/\.ya?ml$/, '');
}

/** Captures and blobs still in the world, capture files still on disk. */
async function leftBehind(labDir: string, auditDir: string): Promise<number> {
  const { readLeftovers } = await import('../lab/index.ts');
  const { captures, blobs } = readLeftovers(labDir);
  const files = readdirSync(join(auditDir, 'captures')).filter((name) => name.endsWith('.pcap'));
  return captures + blobs + files.length;
}

export function summarize(results: readonly WorldResult[]) {
  const scored = results.filter((r) => r.found !== undefined);
  const sum = (count: (r: WorldResult) => number) => scored.reduce((total, r) => total + count(r), 0);
  const found = sum((r) => r.found!.length);
  const ratio = (part: number, whole: number) => (whole === 0 ? 1 : Math.round((part / whole) * 1000) / 1000);
  return {
    worlds: results.length,
    exact: scored.filter((r) => r.exact).length,
    cause_recall: ratio(found, found + sum((r) => r.missed!.length)),
    cause_precision: ratio(found, found + sum((r) => r.wrong!.length)),
    citation_validity: ratio(results.filter((r) => r.citations_valid).length, results.length),
    left_behind: results.reduce((total, r) => total + r.left_behind, 0),
    median_commands: median(results.map((r) => r.commands)),
    median_seconds: median(results.map((r) => r.seconds)),
  };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
