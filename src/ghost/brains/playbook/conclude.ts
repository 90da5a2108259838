import type { JsonObject } from '../../../core/index.ts';
import type { Complaint } from './complaint.ts';
import { type Finding, mergeFindings, type OpenPoint } from './finding.ts';
import type { Notebook } from './notebook.ts';

/** What has been learnt so far. Only ever added to. */
export interface Casebook {
  readonly findings: Finding[];
  readonly open: OpenPoint[];
  readonly cleared: string[];
  readonly observations: string[];
}

/** The end of an investigation: what is proven, what is not, and what could not be looked at. */
export function conclude(complaint: Complaint, book: Casebook, notebook: Notebook): JsonObject {
  const findings = mergeFindings(book.findings);
  const open = unverified(book, notebook);
  if (findings.length === 0 && open.length > 0) {
    return inconclusive(`No cause was proven. Not verified: ${open.join('; ')}.`, book.observations);
  }
  if (findings.length === 0 && book.cleared.length === 0)
    return inconclusive('The complaint names nothing that could be looked at.', book.observations);
  const causes = findings.length > 0 ? findings : [noFault(complaint, book)];
  const confirmed = hypothesesBehind(causes);
  for (const h of confirmed)
    notebook.say(
      `${h.toUpperCase()} CONFIRMED by ${causes.find((c) => hypothesisOf(c) === h)?.evidence.join(', ')}`,
    );
  return {
    confidence: open.length === 0 ? 'high' : 'medium',
    root_cause_summary: causes.map((c) => `${c.explanation} [${c.evidence.join(', ')}]`).join(' '),
    confirmed_hypotheses: [...confirmed],
    refuted_hypotheses: ['h1', 'h2', 'h3'].filter((h) => !confirmed.includes(h)),
    causes: causes.map(({ kind, resource, detail, explanation, evidence }) => ({
      kind,
      resource,
      detail,
      explanation,
      evidence: [...evidence],
    })),
    recommended_actions: [...new Set(causes.flatMap((c) => c.remedies))],
    failed_checks: failedChecks(causes),
    observations: [...book.observations, ...open.map((o) => `Not verified: ${o}.`)],
  };
}

function unverified(book: Casebook, notebook: Notebook): readonly string[] {
  return [
    ...new Set([
      ...book.open.map((o) => `${o.what} (${o.why})`),
      ...notebook.denials.map((d) => `${d.command.slice(0, 120)} (${d.reason || 'denied'})`),
    ]),
  ];
}

/** Checks of what can be mended; one that no remedy is behind would never pass. */
function failedChecks(causes: readonly Finding[]): JsonObject[] {
  const checks = causes.filter((c) => c.remedies.length > 0).flatMap((c) => c.checks ?? []);
  return [...new Map(checks.map((c) => [c.command, { ...c }])).values()];
}

const HYPOTHESIS: Readonly<Record<string, string>> = {
  vm_not_running: 'h2',
  service_not_listening: 'h2',
  app_not_reading: 'h2',
  app_resets: 'h2',
  packet_loss: 'h3',
  high_latency: 'h3',
  bandwidth_limit: 'h3',
  mtu_blackhole: 'h3',
  packet_corruption: 'h3',
  packet_reordering: 'h3',
  no_fault: '',
};

const hypothesisOf = (cause: Finding) => HYPOTHESIS[cause.kind] ?? 'h1';

function hypothesesBehind(causes: readonly Finding[]): readonly string[] {
  return [...new Set(causes.map(hypothesisOf))].filter((h) => h !== '').sort();
}

function noFault(complaint: Complaint, book: Casebook): Finding {
  const vm = complaint.conversations[0]?.server ?? complaint.mentioned[0] ?? complaint.clients[0];
  return {
    kind: 'no_fault',
    resource: vm?.name ?? 'unknown',
    detail: null,
    explanation: `Every layer of the path was looked at and nothing is wrong${vm ? ` with ${vm.name}` : ''}; what fails, fails outside this network or has passed.`,
    evidence: [...new Set(book.cleared)].slice(0, 12),
    remedies: [],
  };
}

export function inconclusive(reason: string, observations: readonly string[] = []): JsonObject {
  return {
    confidence: 'low',
    root_cause_summary: reason,
    causes: [],
    unverifiable_hypotheses: ['h1', 'h2', 'h3'],
    recommended_actions: [],
    failed_checks: [],
    observations: [...observations],
  };
}
