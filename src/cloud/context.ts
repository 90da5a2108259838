import { type Clock, isJsonObject, type JsonObject, parseJson } from '../core/index.ts';
import type { Shell, ShellResponse } from '../shell/index.ts';
import type { Registry } from './registry.ts';
import type { Task } from './types.ts';

/** What every step of a task works with. */
export interface CloudContext {
  readonly shell: Shell;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly sessionId: string;
  /** Folder of the registries. */
  readonly taskDir: string;
  readonly captureDir: string;
  readonly limits: Limits;
  readonly progress: (line: string) => void;
}

export interface Limits {
  readonly pollInitialSeconds: number;
  readonly pollMaxSeconds: number;
  readonly maxPolls: number;
  readonly burstSeconds: number;
  readonly downloadRetrySeconds: number;
}

/** How a command ended, in the words the orchestrator decides by. */
export type CommandOutcome =
  /** `modified`: the person at the gate ran something else than was asked for. */
  | { readonly kind: 'ok'; readonly output: string; readonly modified: boolean }
  | { readonly kind: 'denied'; readonly reason: string }
  | { readonly kind: 'failed'; readonly detail: string; readonly absent: boolean };

export async function send(
  context: Pick<CloudContext, 'shell'>,
  command: string,
  reasoning: string,
): Promise<CommandOutcome> {
  return outcomeOf(await context.shell.execute({ command, reasoning }));
}

function outcomeOf(response: ShellResponse): CommandOutcome {
  if (response.status === 'denied') {
    return { kind: 'denied', reason: response.denial_reason || 'denied by the engineer' };
  }
  if (response.status === 'completed' && response.exit_code === 0)
    return {
      kind: 'ok',
      output: response.output.trim(),
      modified: response.action === 'user_modified',
    };
  const why =
    response.error ?? (response.exit_code === 127 ? 'program not found' : `exit code ${response.exit_code}`);
  const said = (response.stderr || response.output).trim().slice(0, 500).toWellFormed();
  return {
    kind: 'failed',
    detail: said === '' ? why : `${why}: ${said}`,
    absent: response.status === 'completed' && saysAbsent(said),
  };
}

/**
 * Azure, or `rm`, saying that the very thing is not there: as good as having deleted it. Only their own codes
 * and sentences count. A subscription, a program or a host that was "not found" says nothing about it.
 */
const ABSENT = [
  /^(?:ERROR: )?\((?:ResourceNotFound|NotFound|PacketCaptureNotFound)\)/m,
  /ErrorCode:(?:BlobNotFound|ContainerNotFound)\b/,
  /The specified (?:blob|container) does not exist/,
  /^rm: .*: No such file or directory$/m,
];

function saysAbsent(said: string): boolean {
  return ABSENT.some((sentence) => sentence.test(said));
}

/** Why a command did not answer, for the sentence that says so. */
export function whyNot(outcome: Exclude<CommandOutcome, { kind: 'ok' }>): string {
  return outcome.kind === 'denied' ? outcome.reason : outcome.detail;
}

/** One JSON object from a command's output, or nothing. */
export function objectIn(output: string): JsonObject | undefined {
  const parsed = parseJson(output);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
}

/** Reasoning for the person at the gate: what this step is for, and the investigation it belongs to. */
export function because(step: string, task: Pick<Task, 'investigation_context'>): string {
  return task.investigation_context === '' ? step : `${step} Investigation: ${task.investigation_context}`;
}
