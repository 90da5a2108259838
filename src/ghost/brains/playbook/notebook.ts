import {
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
  type ToolRequest,
  type Turn,
} from '../../../core/index.ts';

/**
 * The notebook of an investigation that is written as straight-line code.
 *
 * The playbook runs from its first line at every turn. `ask` answers at once for what the history already
 * holds; the first question it does not hold ends the run and becomes the next tool call. So the next step is
 * a pure function of the history, and a resumed session simply asks again what has no fresh answer.
 */
export type Answer =
  | { readonly kind: 'ok'; readonly auditId: string; readonly output: string; readonly truncated: boolean }
  | {
      readonly kind: 'failed';
      readonly auditId: string;
      readonly output: string;
      readonly exitCode: number | null;
    }
  /** The engineer said no, or nobody could be asked. */
  | { readonly kind: 'denied'; readonly auditId: string | null; readonly reason: string };

export interface TaskAnswer {
  readonly status: string;
  readonly taskId: string | null;
  readonly result: JsonObject | null;
  readonly message: string;
  readonly denied: boolean;
}

interface Question {
  readonly key: string;
  readonly request: Omit<ToolRequest, 'id'>;
}

/** Thrown to end a run: these questions come next. */
class Need {
  readonly questions: readonly Question[];
  constructor(questions: readonly Question[]) {
    this.questions = questions;
  }
}

export class Notebook {
  readonly #answers: ReadonlyMap<string, readonly JsonObject[]>;
  readonly #asked = new Map<string, number>();
  #unsaid: string[] = [];
  /** Audit ids of commands that were denied, for what could not be verified. */
  readonly denials: { readonly command: string; readonly reason: string }[] = [];

  constructor(history: readonly Turn[]) {
    this.#answers = answersIn(history);
  }

  /** A line for the engineer; said once, with the call that follows it. */
  say(line: string): void {
    this.#unsaid.push(line);
  }

  ask(command: string, reasoning: string, hypothesis?: string): Answer {
    return this.askAll([{ command, reasoning, ...(hypothesis === undefined ? {} : { hypothesis }) }])[0]!;
  }

  /** Several questions in one turn: independent of each other, answered together. */
  askAll(
    questions: readonly {
      readonly command: string;
      readonly reasoning: string;
      readonly hypothesis?: string;
    }[],
  ): readonly Answer[] {
    const wanted = questions.map(({ command, reasoning, hypothesis }) => ({
      key: `run_shell_cmd ${command}`,
      request: {
        name: 'run_shell_cmd',
        args: { command, reasoning, ...(hypothesis ? { hypothesis_id: hypothesis } : {}) },
      },
    }));
    return this.#answered(wanted).map((result, i) => this.#shellAnswer(result, questions[i]!.command));
  }

  /** Makes sure these are answered, without taking the answers: they are asked for later one by one. */
  prefetch(questions: readonly { readonly command: string; readonly reasoning: string }[]): void {
    const unanswered = questions.filter((q) => this.#answers.get(`run_shell_cmd ${q.command}`) === undefined);
    if (unanswered.length > 0) {
      throw new Need(
        unanswered.map((q) => ({
          key: `run_shell_cmd ${q.command}`,
          request: { name: 'run_shell_cmd', args: { command: q.command, reasoning: q.reasoning } },
        })),
      );
    }
  }

  task(
    tool: 'capture_traffic' | 'check_task' | 'cleanup_task' | 'cancel_task',
    args: JsonObject,
  ): TaskAnswer {
    // The same check may be made again and again; each repetition is a question of its own.
    const base = `${tool} ${String(args.task_id ?? args.target)}`;
    const result = this.#answered([{ key: base, request: { name: tool, args } }])[0]!;
    return {
      status: String(result.status),
      taskId: typeof result.task_id === 'string' ? result.task_id : null,
      result: isJsonObject(result.result) ? result.result : null,
      message: String(result.message ?? ''),
      denied: result.status === 'task_cancelled' && result.error === 'denied',
    };
  }

  #answered(questions: readonly Question[]): readonly JsonObject[] {
    const found = questions.map((q) => {
      const list = this.#answers.get(q.key);
      // A read asked for again has its answer; a task's state is asked for anew each time.
      return q.request.name === 'run_shell_cmd' ? list?.[0] : list?.[this.#asked.get(q.key) ?? 0];
    });
    const open = questions.filter((_, i) => found[i] === undefined);
    if (open.length > 0) throw new Need(open);
    for (const q of questions) this.#asked.set(q.key, (this.#asked.get(q.key) ?? 0) + 1);
    // What was said before an answered question was said with it.
    this.#unsaid = [];
    return found as readonly JsonObject[];
  }

  #shellAnswer(result: JsonObject, command: string): Answer {
    const auditId = typeof result.audit_id === 'string' ? result.audit_id : null;
    const meta = isJsonObject(result.output_metadata) ? result.output_metadata : {};
    if (result.status === 'denied' || auditId === null) {
      const reason = isJsonObject(result._meta) ? String(result._meta.denial_reason ?? '') : '';
      this.denials.push({ command, reason });
      return { kind: 'denied', auditId, reason };
    }
    if (result.status === 'completed' && result.exit_code === 0) {
      return {
        kind: 'ok',
        auditId,
        output: String(result.output ?? ''),
        truncated: meta.truncation_applied === true,
      };
    }
    return {
      kind: 'failed',
      auditId,
      output: `${String(result.stderr ?? '')}\n${String(result.output ?? '')}`.trim(),
      exitCode: typeof result.exit_code === 'number' ? result.exit_code : null,
    };
  }

  /** Runs the playbook: what to say and ask next, or its end. */
  run<T>(
    playbook: (notebook: Notebook) => T,
  ):
    | { readonly text: string; readonly calls: readonly ToolRequest[] }
    | { readonly text: string; readonly end: T } {
    try {
      const end = playbook(this);
      return { text: this.#unsaid.join('\n'), end };
    } catch (need) {
      if (!(need instanceof Need)) throw need;
      return {
        text: this.#unsaid.join('\n'),
        calls: need.questions.map((q, i) => ({ id: `p${this.#count()}_${i + 1}`, ...q.request })),
      };
    }
  }

  #count(): number {
    let n = 1;
    for (const list of this.#answers.values()) n += list.length;
    return n;
  }
}

/** Results by the call they answer, in order. Results from an earlier session's trail are not answers. */
function answersIn(history: readonly Turn[]): ReadonlyMap<string, readonly JsonObject[]> {
  const calls = new Map<string, string>();
  const answers = new Map<string, JsonObject[]>();
  for (const turn of history) {
    if (turn.role === 'model') for (const call of turn.calls) calls.set(call.id, keyOf(call));
    if (turn.role !== 'tools') continue;
    for (const { id, result } of turn.results) {
      const key = calls.get(id);
      if (key === undefined || !isJsonObject(result) || fromTrail(result)) continue;
      const list = answers.get(key) ?? [];
      list.push(result);
      answers.set(key, list);
    }
  }
  return answers;
}

function keyOf(call: ToolRequest): string {
  const args = isJsonObject(call.args) ? call.args : {};
  return call.name === 'run_shell_cmd'
    ? `run_shell_cmd ${String(args.command)}`
    : `${call.name} ${String(args.task_id ?? args.target)}`;
}

function fromTrail(result: JsonObject): boolean {
  return isJsonObject(result._meta) && result._meta.from_audit_trail === true;
}

/** The JSON a command printed, or undefined when it printed something else. */
export function jsonOf(answer: Answer): Json | undefined {
  if (answer.kind !== 'ok') return undefined;
  const parsed = parseJson(answer.output);
  return parsed.ok ? parsed.value : undefined;
}
