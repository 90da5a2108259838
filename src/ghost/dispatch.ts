import { z } from 'zod';
import type { OrchestrateResponse, Orchestrator } from '../cloud/index.ts';
import { isJsonObject, type Json, type ToolRequest } from '../core/index.ts';
import { redact } from '../redact/index.ts';
import type { Shell, ShellResponse } from '../shell/index.ts';
import { type Conclusion, conclusionSchema } from './conclusion.ts';
import { TOOL_NAMES, type ToolName } from './declarations.ts';

/** One tool call, carried out. The brain reaches nothing but the shell and the orchestrator. */
export interface Dispatched {
  readonly result: { readonly [key: string]: Json };
  /** A person said no, or nobody was there to say yes. */
  readonly denied:
    | { readonly command: string; readonly reason: string; readonly auditId: string | null }
    | undefined;
  readonly succeeded: boolean;
  readonly hypothesisId: string | undefined;
  readonly shell?: { readonly command: string; readonly response: ShellResponse };
  readonly task?: OrchestrateResponse;
}

export type Call =
  | { readonly kind: 'tool'; readonly run: () => Promise<Dispatched> }
  | { readonly kind: 'conclude'; readonly conclusion: Conclusion }
  | { readonly kind: 'refused'; readonly dispatched: Dispatched };

const line = z.string().min(1).max(20_000);
const short = z.string().min(1).max(2_000);
const hypothesis = z.string().max(10).toLowerCase().optional().catch(undefined);

const schemas = {
  run_shell_cmd: z.object({
    command: line,
    reasoning: z.string().max(4_000).default('no reason given'),
    hypothesis_id: hypothesis,
  }),
  capture_traffic: z.object({
    target: short,
    resource_group: short,
    storage_account: short,
    duration_seconds: z.coerce.number().int().optional(),
    investigation_context: z.string().max(4_000).default(''),
    storage_auth_mode: z.enum(['login', 'key']).optional(),
    storage_container: short.optional(),
    hypothesis_id: hypothesis,
  }),
  check_task: z.object({ task_id: short, hypothesis_id: hypothesis }),
  cancel_task: z.object({
    task_id: short,
    reason: z.string().max(2_000).optional(),
    hypothesis_id: hypothesis,
  }),
  cleanup_task: z.object({ task_id: short, hypothesis_id: hypothesis }),
} as const;

export interface Hands {
  readonly shell: Shell;
  readonly orchestrator: Orchestrator;
}

/** Reads a call. Wrong names and wrong types become error results that say what was expected. */
export function readCall(hands: Hands, request: ToolRequest): Call {
  const name = TOOL_NAMES.find((n) => n === request.name);
  if (name === undefined)
    return refused({
      status: 'error',
      error: 'unknown_tool',
      tool: String(request.name).slice(0, 100),
      known_tools: [...TOOL_NAMES],
    });
  if (name === 'complete_investigation') {
    const parsed = conclusionSchema.safeParse(request.args);
    return parsed.success
      ? { kind: 'conclude', conclusion: parsed.data }
      : refused(invalidArguments(name, parsed.error));
  }
  const parsed = schemas[name].safeParse(isJsonObject(request.args) ? request.args : {});
  if (!parsed.success) return refused(invalidArguments(name, parsed.error));
  return { kind: 'tool', run: () => run(hands, name, parsed.data) };
}

function run(
  hands: Hands,
  name: Exclude<ToolName, 'complete_investigation'>,
  args: z.infer<(typeof schemas)[keyof typeof schemas]>,
): Promise<Dispatched> {
  if (name === 'run_shell_cmd') {
    const { command, reasoning, hypothesis_id } = args as z.infer<typeof schemas.run_shell_cmd>;
    return runShell(hands, command, reasoning, hypothesis_id);
  }
  if (name === 'capture_traffic') {
    const { target, investigation_context, hypothesis_id, ...parameters } = args as z.infer<
      typeof schemas.capture_traffic
    >;
    return runTask(
      hands,
      { intent: name, target, investigation_context, parameters },
      `capture of ${target}`,
      hypothesis_id,
    );
  }
  const { task_id, hypothesis_id, ...rest } = args as z.infer<typeof schemas.cancel_task>;
  return runTask(hands, { intent: name, task_id, ...rest }, `${name} ${task_id}`, hypothesis_id);
}

async function runShell(
  hands: Hands,
  command: string,
  reasoning: string,
  hypothesisId: string | undefined,
): Promise<Dispatched> {
  const response = await hands.shell.execute({ command, reasoning });
  const { denial_reason: reason, ...result } = response;
  // A command that no person was asked about is a mistake of the brain's, not a refusal.
  const denied = response.status === 'denied' && response.error !== 'not_executable';
  const meta = {
    ...(response.error === 'timeout' ? { timeout: true } : {}),
    ...(reason ? { denial_reason: reason } : {}),
  };
  return {
    result: {
      ...(result as unknown as Record<string, Json>),
      ...(Object.keys(meta).length > 0 ? { _meta: meta } : {}),
    },
    denied: denied
      ? { command: redact(command).text, reason: reason ?? '', auditId: response.audit_id }
      : undefined,
    succeeded: response.status === 'completed',
    hypothesisId,
    shell: { command: redact(command).text, response },
  };
}

async function runTask(
  hands: Hands,
  request: Parameters<Orchestrator['orchestrate']>[0],
  what: string,
  hypothesisId: string | undefined,
): Promise<Dispatched> {
  const response = await hands.orchestrator.orchestrate(request);
  // A cancelled task counts as a denial only when a person caused it, not when the brain cancelled it itself.
  const denied = response.status === 'task_cancelled' && response.error === 'denied';
  const reason = response.error_detail ?? '';
  return {
    result: {
      ...(response as unknown as Record<string, Json>),
      ...(denied && reason !== '' ? { _meta: { denial_reason: reason } } : {}),
    },
    denied: denied ? { command: what, reason, auditId: null } : undefined,
    succeeded: response.status === 'task_completed',
    hypothesisId,
    task: response,
  };
}

function refused(result: Dispatched['result']): Call {
  return {
    kind: 'refused',
    dispatched: { result, denied: undefined, succeeded: false, hypothesisId: undefined },
  };
}

function invalidArguments(tool: string, error: z.ZodError): Dispatched['result'] {
  return {
    status: 'error',
    error: 'invalid_arguments',
    tool,
    problems: error.issues.slice(0, 5).map((i) => `${i.path.join('.') || 'arguments'}: ${i.message}`),
  };
}
