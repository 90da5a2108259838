import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadTasks, type Task } from '../../cloud/index.ts';
import { quoteArgv } from '../../core/index.ts';
import { readJournal } from '../../ledger/read.ts';
import { readShellAudit, type Shell, type ShellAuditRecord } from '../../shell/index.ts';
import type { IntegrityHead } from './facts.ts';

/** Phases 1–4: the audit trail and the registry, read-only, and the summaries of captures through the shell. */
export interface Trail {
  readonly records: readonly ShellAuditRecord[];
  readonly tasks: readonly Task[];
  readonly heads: readonly IntegrityHead[];
  readonly problems: readonly string[];
}

export async function readTrail(auditDir: string, sessionId: string): Promise<Trail> {
  const shellFile = join(auditDir, `shell_audit_${sessionId}.jsonl`);
  const taskFile = join(auditDir, `orchestrator_tasks_${sessionId}.jsonl`);
  const shell = existsSync(shellFile)
    ? await readShellAudit(shellFile)
    : { records: [], problems: [`${shellFile} is missing`] };
  const { tasks } = await loadTasks(auditDir);
  return {
    records: shell.records,
    tasks: [...tasks.values()].filter((t) => t.session_id === sessionId),
    heads: (await Promise.all([shellFile, taskFile].filter(existsSync).map(headOf))).flat(),
    problems: shell.problems,
  };
}

async function headOf(file: string): Promise<IntegrityHead> {
  let records = 0;
  let head: string | null = null;
  for await (const item of readJournal(file)) {
    if (item.kind !== 'record') continue;
    records++;
    head = item.record.hash;
  }
  return { file, records, head };
}

/** The short summary if there is one, else the section of the full report; null when reading was denied. */
export async function readSummaries(
  shell: Shell,
  tasks: readonly Task[],
): Promise<ReadonlyMap<string, string | null>> {
  const summaries = new Map<string, string | null>();
  for (const { report_path: report } of tasks) {
    if (report === null || summaries.has(report)) continue;
    const short = report.replace('_forensic_report.md', '_executive_summary.md');
    const path = short !== report && existsSync(short) ? short : report;
    const response = await shell.execute({
      command: quoteArgv(['cat', path]),
      reasoning: 'Read the capture’s summary for the report of this investigation.',
    });
    const read = response.status === 'completed' && response.exit_code === 0;
    summaries.set(
      report,
      read ? (path === short ? String(response.output) : summarySection(response.output)) : null,
    );
  }
  return summaries;
}

function summarySection(text: string): string {
  const from = text.indexOf('## Executive Summary');
  if (from < 0) return text.split('\n').slice(0, 50).join('\n');
  const rest = text.slice(from + '## Executive Summary'.length);
  const until = rest.search(/\n## /);
  return (until < 0 ? rest : rest.slice(0, until)).trim();
}
