/**
 * Errors by what the caller does next. A denial, a timeout or a non-zero exit is a value, never an
 * exception; these are for invalid input and a broken environment.
 */
export type ErrorFamily = 'PolicyDenied' | 'ToolError' | 'PlanValidation' | 'Replay' | 'Storage';

const families: readonly ErrorFamily[] = ['PolicyDenied', 'ToolError', 'PlanValidation', 'Replay', 'Storage'];

/** Exit codes of every `writ` command. */
export const EXIT = { ok: 0, failed: 1, usage: 2, denied: 3, waiting: 4, integrity: 5 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface ErrorContext {
  readonly [key: string]: string | number | boolean | null | undefined;
}

export interface WritErrorOptions {
  readonly suggestion?: string;
  readonly context?: ErrorContext;
  readonly exit?: ExitCode;
  readonly cause?: unknown;
}

export class WritError extends Error {
  readonly code: number;
  readonly suggestion: string | undefined;
  readonly context: ErrorContext;
  readonly exit: ExitCode;

  constructor(code: number, message: string, options: WritErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'WritError';
    this.code = code;
    this.suggestion = options.suggestion;
    this.context = options.context ?? {};
    this.exit = options.exit ?? defaultExit(code);
  }

  get family(): ErrorFamily {
    return families[Math.floor(this.code / 1000) - 1] ?? 'Storage';
  }

  toJSON() {
    return {
      code: this.code,
      family: this.family,
      message: this.message,
      suggestion: this.suggestion ?? null,
      context: this.context,
    };
  }
}

function defaultExit(code: number): ExitCode {
  if (code < 2000) return EXIT.denied;
  if (code < 3000) return EXIT.failed;
  if (code < 4000) return EXIT.usage;
  return EXIT.failed;
}

/** One place for the numbers, so that none is used twice and docs can list them. */
export const CODES = {
  denied: 1001,
  denied_quota: 1002,
  denied_approval_missing: 1003,
  denied_approval_refused: 1004,
  writ_misuse: 1005,
  tool_failed: 2001,
  tool_unknown: 2002,
  tool_timeout: 2003,
  tool_arguments: 2004,
  program_missing: 2005,
  sandbox_unavailable: 2006,
  invalid_plan: 3001,
  invalid_policy: 3002,
  invalid_config: 3003,
  invalid_input: 3004,
  unsafe_state_dir: 3005,
  replay_mismatch: 4001,
  replay_missing: 4002,
  storage_failed: 5001,
  storage_locked: 5002,
  storage_newer: 5003,
  integrity_broken: 5004,
} as const;

export function invalid(
  code: number,
  where: { file: string; line?: number; column?: number },
  message: string,
  suggestion: string,
): WritError {
  const place =
    where.line === undefined
      ? where.file
      : `${where.file}:${where.line}${where.column === undefined ? '' : `:${where.column}`}`;
  return new WritError(code, `${place}: ${message}`, { suggestion, context: { ...where }, exit: EXIT.usage });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
