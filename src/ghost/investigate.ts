import { existsSync } from 'node:fs';
import type { Orchestrator } from '../cloud/index.ts';
import type { Brain, Clock, Turn } from '../core/index.ts';
import { redact } from '../redact/index.ts';
import type { Shell } from '../shell/index.ts';
import type { Conclusion } from './conclusion.ts';
import type { Person, Watch } from './events.ts';
import { rebuildHistory } from './history.ts';
import { type LoopEnd, runLoop } from './loop.ts';
import { compileRca, type Rca } from './rca/compile.ts';
import { readSummaries, readTrail } from './rca/gather.ts';
import { writeRca } from './rca/write.ts';
import { saveSession } from './session.ts';
import type { SessionV1 } from './session-v1.ts';
import { handleOrphans } from './startup.ts';

/** One investigation, from the orphan report to the written RCA. */
export interface InvestigationOptions {
  readonly session: SessionV1;
  readonly shell: Shell;
  readonly orchestrator: Orchestrator;
  readonly brain: Brain;
  readonly person: Person;
  readonly watch: Watch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Asked for when empty and a person is there. */
  readonly symptom: string;
  readonly html: boolean;
}

export type InvestigationEnd =
  | {
      readonly kind: 'reported';
      readonly rca: Rca;
      readonly reportPath: string | null;
      readonly jsonPath: string | null;
    }
  | { readonly kind: 'no_symptom' }
  | { readonly kind: 'brain_failed'; readonly reason: string }
  | { readonly kind: 'interrupted' };

export async function investigate(options: InvestigationOptions): Promise<InvestigationEnd> {
  const { watch, clock } = options;
  const started = clock.monotonic();
  const state = { session: options.session, history: [] as Turn[] };
  watch({
    type: 'started',
    session_id: state.session.session_id,
    brain: options.brain.name,
    model: state.session.model,
    resumed: state.session.is_resume,
  });
  const manual = await handleOrphans(options.orchestrator, options.shell, options.person, watch);
  state.session = {
    ...state.session,
    manual_cleanup_pending: [...state.session.manual_cleanup_pending, ...manual],
  };

  if (state.session.is_resume) state.history.push(...(await resumedHistory(state.session, watch)));
  else {
    const symptom = redact(
      (options.symptom || (await options.person.line('What network problem should I investigate?\n> ')))
        .trim()
        .slice(0, 8000),
    ).text;
    if (symptom === '') return { kind: 'no_symptom' };
    state.session = { ...state.session, symptom };
    state.history.push({ role: 'user', text: symptom });
  }
  watch({ type: 'symptom', text: state.session.symptom });
  saveSession(state.session);

  const end = await runLoop(
    { ...options, hands: { shell: options.shell, orchestrator: options.orchestrator } },
    state,
  );
  return finish(options, state.session, end, started);
}

async function resumedHistory(session: SessionV1, watch: Watch): Promise<readonly Turn[]> {
  const trail = await readTrail(session.audit_dir, session.session_id);
  if (
    trail.records.length === 0 &&
    !existsSync(`${session.audit_dir}/shell_audit_${session.session_id}.jsonl`)
  ) {
    watch({ type: 'warning', text: 'Audit file not found — conversation history cannot be reconstructed.' });
    return [{ role: 'user', text: session.symptom }];
  }
  for (const problem of trail.problems) watch({ type: 'warning', text: problem });
  return rebuildHistory(session, trail.records);
}

async function finish(
  options: InvestigationOptions,
  session: SessionV1,
  end: LoopEnd,
  started: number,
): Promise<InvestigationEnd> {
  const { watch, clock } = options;
  const howToResume = `writ investigate --resume ${session.session_id}`;
  switch (end.kind) {
    case 'interrupted':
    case 'brain_failed':
      saveSession(session);
      if (end.kind === 'brain_failed') watch({ type: 'error', text: end.reason });
      watch({ type: 'saved', session_id: session.session_id, how_to_resume: howToResume });
      return end.kind === 'interrupted'
        ? { kind: 'interrupted' }
        : { kind: 'brain_failed', reason: end.reason };
    case 'concluded':
    case 'stopped': {
      const conclusion = end.kind === 'concluded' ? end.conclusion : null;
      const settled = settleHypotheses(session, conclusion);
      const rca = await buildRca(options, settled, conclusion, end.kind === 'stopped' ? end.reason : null);
      const written = writeRca(settled.audit_dir, rca, options.html);
      const path = written.ok ? written.markdown : null;
      if (!written.ok) {
        watch({ type: 'error', text: `the report could not be written (${written.reason}); here it is:` });
        watch({ type: 'progress', text: written.text });
      }
      saveSession({ ...settled, rca_report_path: path, ended_at: clock.now().toISOString() });
      watch({
        type: 'report',
        path,
        confidence: rca.confidence,
        verdict: rca.verdict,
        turns: settled.turn_count,
        seconds: (clock.monotonic() - started) / 1000,
        causes: rca.causes.map(({ kind, resource, detail, verdict }) => ({
          kind,
          resource,
          detail,
          verdict,
        })),
      });
      return { kind: 'reported', rca, reportPath: path, jsonPath: written.ok ? written.json : null };
    }
  }
}

async function buildRca(
  options: InvestigationOptions,
  session: SessionV1,
  conclusion: Conclusion | null,
  stoppedBecause: string | null,
): Promise<Rca> {
  const before = await readTrail(session.audit_dir, session.session_id);
  const summaries = await readSummaries(options.shell, before.tasks);
  // Reading summaries added records of its own: the report shows the whole trail.
  const trail = summaries.size > 0 ? await readTrail(session.audit_dir, session.session_id) : before;
  return compileRca({
    session,
    records: trail.records,
    tasks: trail.tasks,
    conclusion,
    stoppedBecause,
    summaries,
    generatedAt: options.clock.now().toISOString(),
    integrity: trail.heads,
    trailProblems: trail.problems,
  });
}

/** complete_investigation settles what the text left open; denials' UNVERIFIABLE stands. */
function settleHypotheses(session: SessionV1, conclusion: Conclusion | null): SessionV1 {
  if (conclusion === null) return session;
  const named = (ids: readonly string[], id: string) => ids.some((i) => i.toLowerCase() === id);
  const log = session.hypothesis_log.map((h) => {
    if (h.state === 'UNVERIFIABLE') return h;
    if (named(conclusion.confirmed_hypotheses, h.id)) return { ...h, state: 'CONFIRMED' as const };
    if (named(conclusion.refuted_hypotheses, h.id)) return { ...h, state: 'REFUTED' as const };
    if (named(conclusion.contradicted_hypotheses, h.id)) return { ...h, state: 'CONTRADICTED' as const };
    if (named(conclusion.unverifiable_hypotheses, h.id)) return { ...h, state: 'UNVERIFIABLE' as const };
    return h;
  });
  return { ...session, hypothesis_log: log, active_hypothesis_ids: [] };
}
