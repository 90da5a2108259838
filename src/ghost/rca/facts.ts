import type { Task } from '../../cloud/index.ts';
import type { ShellAuditRecord } from '../../shell/index.ts';
import type { Conclusion } from '../conclusion.ts';
import type { SessionV1 } from '../session-v1.ts';

/** What the report is made from: the audit trail, the registry and the session's index. Nothing else. */
export interface RcaInput {
  readonly session: SessionV1;
  readonly records: readonly ShellAuditRecord[];
  readonly tasks: readonly Task[];
  readonly conclusion: Conclusion | null;
  /** Why there is no conclusion, when the brain did not reach one. */
  readonly stoppedBecause: string | null;
  /** Executive summaries of captures by report path; null when the engineer denied reading. */
  readonly summaries: ReadonlyMap<string, string | null>;
  readonly generatedAt: string;
  readonly integrity: readonly IntegrityHead[];
  /** Lines of the audit files that could not be read. */
  readonly trailProblems: readonly string[];
}

export interface IntegrityHead {
  readonly file: string;
  readonly records: number;
  readonly head: string | null;
}

export type EvidenceContext = 'LOCAL' | 'CLOUD';

export interface EvidenceRow {
  readonly audit_id: string;
  readonly context: EvidenceContext;
  readonly command: string;
  readonly classification: string;
  readonly action: string;
  readonly exit_code: number | null;
  readonly outcome: 'completed' | 'failed' | 'denied' | 'forbidden' | 'timeout' | 'error';
  readonly denial_reason: string | null;
  /** 1 packet capture · 2 Azure API · 3 probe · 4 the engineer's own machine. */
  readonly fidelity: 1 | 2 | 3 | 4;
}

const PROBES = /^(ping6?|traceroute6?|tracepath|mtr|curl|dig|nslookup|host|nc)\b/;

export function evidenceRows(
  records: readonly ShellAuditRecord[],
  tasks: readonly Task[],
): readonly EvidenceRow[] {
  const captureFiles = tasks
    .flatMap((t) => [t.report_path, t.semantic_json_path, t.local_pcap_path])
    .filter((p): p is string => p !== null);
  return records.map((record) => {
    const wire = isWireEvidence(record.command, captureFiles);
    const context: EvidenceContext = record.environment === 'azure' || wire ? 'CLOUD' : 'LOCAL';
    return {
      audit_id: record.audit_id,
      context,
      command: record.command,
      classification: record.classification ?? '–',
      action: record.action ?? '–',
      exit_code: record.exit_code,
      outcome: outcomeOf(record),
      denial_reason: record.denial_reason || null,
      fidelity: wire
        ? 1
        : context === 'CLOUD'
          ? /run-command|test-connectivity/.test(record.command)
            ? 3
            : 2
          : PROBES.test(record.command)
            ? 3
            : 4,
    };
  });
}

/** Analysing or reading a capture is evidence from the wire, though the command runs here. */
function isWireEvidence(command: string, captureFiles: readonly string[]): boolean {
  if (command.startsWith('pcap-forensics ')) return true;
  if (!command.startsWith('cat ')) return false;
  const stems = captureFiles.map((path) =>
    path.replace(/(_forensic_report\.md|_semantic\.json|\.pcap|_comparison\.(md|json))$/, ''),
  );
  return stems.some((stem) => command.includes(stem));
}

function outcomeOf(record: ShellAuditRecord): EvidenceRow['outcome'] {
  if (record.status === 'denied') return 'denied';
  if (record.error === 'forbidden_command') return 'forbidden';
  if (record.error === 'timeout') return 'timeout';
  if (record.status === 'completed') return record.exit_code === 0 ? 'completed' : 'failed';
  return 'error';
}
