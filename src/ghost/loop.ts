import {
  type Brain,
  type Clock,
  digestOf,
  type Json,
  messageOf,
  sha256,
  type ToolRequest,
  type Turn,
} from '../core/index.ts';
import { redactJson } from '../redact/index.ts';
import type { Conclusion } from './conclusion.ts';
import { DECLARATIONS } from './declarations.ts';
import { type Dispatched, type Hands, readCall } from './dispatch.ts';
import type { GhostEvent, Person, Watch } from './events.ts';
import { applyDenial, applyStatements, applySuccess, readStatements } from './hypotheses.ts';
import { saveSession } from './session.ts';
import type { SessionV1 } from './session-v1.ts';

/**
 * The tool-use loop.
 *
 * T1 The session is saved after every turn, before the next model call.
 * T2 At most 50 turns; then the person may add ten at a time. The same holds when fifteen turns changed nothing.
 * T3 The brain decides nothing about safety: calls go to the shell and the orchestrator, which ask the person.
 */
export const MAX_TURNS = 50;
const EXTENSION = 10;
const STALE_TURNS = 15;
const MAX_CALLS_PER_TURN = 16;
const REPEATS_BEFORE_WARNING = 2;

export interface LoopContext {
  readonly brain: Brain;
  readonly hands: Hands;
  readonly person: Person;
  readonly watch: Watch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export type LoopEnd =
  | { readonly kind: 'concluded'; readonly conclusion: Conclusion }
  /** The person ended it, or a limit did, before the brain concluded. */
  | { readonly kind: 'stopped'; readonly reason: string }
  | { readonly kind: 'brain_failed'; readonly reason: string }
  | { readonly kind: 'interrupted' };

export interface LoopState {
  session: SessionV1;
  readonly history: Turn[];
}

export async function runLoop(context: LoopContext, state: LoopState): Promise<LoopEnd> {
  const { person, watch, signal } = context;
  let limit = Math.max(MAX_TURNS, state.session.turn_count + EXTENSION);
  let lastChange = state.session.turn_count;
  const seen = new Map<string, number>();
  for (;;) {
    if (signal.aborted) return { kind: 'interrupted' };
    const stale = state.session.turn_count - lastChange >= STALE_TURNS;
    if (state.session.turn_count >= limit || stale) {
      const why = stale
        ? `${STALE_TURNS} turns changed no hypothesis`
        : `the limit of ${limit} turns is reached`;
      watch({ type: 'warning', text: `${why[0]!.toUpperCase()}${why.slice(1)}.` });
      if ((await person.choose('[E]xtend 10 more turns / [G]enerate RCA now', ['e', 'g'], 'g')) !== 'e')
        return { kind: 'stopped', reason: why };
      limit = state.session.turn_count + EXTENSION;
      lastChange = state.session.turn_count;
    }
    const before = progressMark(state.session);
    const end = await turn(context, state, limit, seen);
    if (end !== undefined) return end;
    if (progressMark(state.session) !== before) lastChange = state.session.turn_count;
  }
}

/** What counts as progress: hypotheses moving, tasks appearing. Commands alone do not. */
function progressMark(session: SessionV1): string {
  return digestOf({ h: session.hypothesis_log.map((h) => [h.id, h.state]), t: session.active_task_ids });
}

async function turn(
  context: LoopContext,
  state: LoopState,
  limit: number,
  seen: Map<string, number>,
): Promise<LoopEnd | undefined> {
  const { brain, watch, signal, clock } = context;
  const number = state.session.turn_count + 1;
  watch({ type: 'turn', turn: number, limit });
  let answer: Awaited<ReturnType<Brain['next']>>;
  try {
    answer = await brain.next(withReminder(state), DECLARATIONS, signal);
  } catch (error) {
    return signal.aborted ? { kind: 'interrupted' } : { kind: 'brain_failed', reason: messageOf(error) };
  }
  state.session = {
    ...applyStatements(state.session, readStatements(answer.text), clock),
    turn_count: number,
  };
  if (answer.text.trim() !== '') watch({ type: 'thought', text: answer.text.trim() });
  announceHypotheses(state.session, watch);
  if (answer.calls.length === 0) return textOnly(context, state, answer.text);
  state.history.push({ role: 'model', text: answer.text, calls: answer.calls });
  const results: { id: string; name: string; result: Json }[] = [];
  for (const [index, request] of answer.calls.entries()) {
    if (signal.aborted) return { kind: 'interrupted' };
    const call = index < MAX_CALLS_PER_TURN ? readCall(context.hands, request) : tooMany();
    if (call.kind === 'conclude') {
      state.session = { ...state.session, conclusion: redactJson(call.conclusion) };
      saveSession(state.session);
      return { kind: 'concluded', conclusion: call.conclusion };
    }
    const done = call.kind === 'tool' ? await call.run() : call.dispatched;
    report(done, watch);
    results.push({ id: request.id, name: request.name, result: settle(state, request, done, seen, clock) });
  }
  state.history.push({ role: 'tools', results });
  saveSession(state.session);
  return undefined;
}

/** An empty list of hypotheses must not look like "all resolved". */
function withReminder(state: LoopState): readonly Turn[] {
  if (state.session.active_hypothesis_ids.length > 0 || state.history.length === 0) return state.history;
  const text =
    state.session.hypothesis_log.length === 0
      ? 'No hypothesis has been formed yet. Form two to four, one a line ("H1: …"), before testing further.'
      : 'No hypothesis is active. Form new ones if the symptom is not explained, or call complete_investigation.';
  return [...state.history, { role: 'user', text }];
}

async function textOnly(context: LoopContext, state: LoopState, text: string): Promise<LoopEnd | undefined> {
  const choice = await context.person.choose('Continue investigation? [C]ontinue / [D]one', ['c', 'd'], 'd');
  if (choice === 'd') return { kind: 'stopped', reason: 'the engineer was done' };
  const instruction = await context.person.line('Your next instruction > ');
  state.history.push({ role: 'model', text, calls: [] }, { role: 'user', text: instruction || 'Go on.' });
  saveSession(state.session);
  return undefined;
}

/** Folds a result into the session and answers what the brain gets to see, `_meta` included. */
function settle(
  state: LoopState,
  request: ToolRequest,
  done: Dispatched,
  seen: Map<string, number>,
  clock: Clock,
): Json {
  const meta: Record<string, Json> = { ...((done.result._meta as Record<string, Json> | undefined) ?? {}) };
  if (done.denied) {
    const { session, meta: denial } = applyDenial(
      state.session,
      { ...done.denied, hypothesisId: done.hypothesisId },
      clock,
    );
    state.session = session;
    Object.assign(meta, denial ?? {});
  } else if (done.succeeded) {
    state.session = applySuccess(state.session, done.hypothesisId);
  }
  indexEvidence(state, done);
  const key = digestOf({ name: request.name, args: request.args });
  const times = (seen.get(key) ?? 0) + 1;
  seen.set(key, times);
  if (times > REPEATS_BEFORE_WARNING && request.name !== 'check_task') {
    meta.repeated = `This very call was made ${times} times. Its answer will not change: ask something else or conclude.`;
  }
  return Object.keys(meta).length > 0 ? { ...done.result, _meta: meta } : done.result;
}

/** Keeps references only: which output was seen (by digest), which tasks exist. */
function indexEvidence(state: LoopState, done: Dispatched): void {
  const { shell, task } = done;
  if (shell?.response.audit_id) {
    const digest = sha256(shell.response.output);
    state.session = {
      ...state.session,
      evidence_index: { ...state.session.evidence_index, [shell.response.audit_id]: digest },
    };
  }
  const ids = [task?.task_id, task?.paired_task?.task_id].filter(
    (id): id is string => id !== undefined && !state.session.active_task_ids.includes(id),
  );
  if (ids.length > 0)
    state.session = { ...state.session, active_task_ids: [...state.session.active_task_ids, ...ids] };
}

function tooMany() {
  const result = {
    status: 'error',
    error: 'too_many_calls',
    message: `at most ${MAX_CALLS_PER_TURN} calls a turn`,
  };
  return {
    kind: 'refused' as const,
    dispatched: { result, denied: undefined, succeeded: false, hypothesisId: undefined },
  };
}

function announceHypotheses(session: SessionV1, watch: Watch): void {
  const hypotheses = session.hypothesis_log.map(({ id, description, state, denial_count }) => ({
    id,
    description,
    state,
    denial_count,
  }));
  if (hypotheses.length > 0) watch({ type: 'hypotheses', hypotheses, active: session.active_hypothesis_ids });
}

function report(done: Dispatched, watch: Watch): void {
  watch(eventOf(done));
}

function eventOf(done: Dispatched): GhostEvent {
  if (done.shell) {
    const { command, response } = done.shell;
    return {
      type: 'command',
      command,
      classification: response.classification,
      action: response.action,
      status: response.status,
      exit_code: response.exit_code,
      audit_id: response.audit_id,
      error: response.error,
      denial_reason: response.denial_reason,
      seconds: response.duration_seconds,
    };
  }
  if (done.task)
    return {
      type: 'task',
      task_id: done.task.task_id ?? null,
      status: done.task.status,
      state: done.task.state ?? null,
      message: done.task.message,
    };
  return { type: 'warning', text: `tool call refused: ${String(done.result.error)}` };
}
