import type { Readable, Writable } from 'node:stream';

/**
 * What to run. The writ must be for exactly this: its action's `detail.argv` (or `detail.pipeline`)
 * equals `argv` (or the argvs of the stages), or nothing starts.
 */
export interface RunSpec {
  /** Program and arguments. Never a command line; no shell is started here. */
  readonly argv: readonly string[];
  /** Complete environment of the child; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Bytes for stdin; closed at once when left out. */
  readonly stdin?: string | Uint8Array;
  readonly timeoutMs: number;
  /** Grace between TERM and KILL of the whole group. Default 2000. */
  readonly killAfterMs?: number;
  readonly limits?: Limits;
  readonly profile?: Profile;
  readonly signal?: AbortSignal;
  /**
   * Everything is made ready meanwhile, but nothing starts before this has resolved: a record that must be on
   * disk first. When it rejects nothing starts, and the run rejects with it.
   */
  readonly after?: Promise<unknown>;
  /** Called with each chunk as it arrives, for live progress. The bound still applies. */
  readonly onStderr?: (chunk: Uint8Array) => void;
}

export interface Limits {
  /** Bytes kept of stdout and of stderr each; what comes after is counted and dropped. Default 10 MB. */
  readonly maxOutputBytes?: number;
  readonly memoryBytes?: number;
  readonly processes?: number;
  readonly fileBytes?: number;
  readonly cpuSeconds?: number;
}

/**
 * How far the child is shut in. `none` still has its own process group, environment and limits, and carries
 * `WRIT_RUN` so that what it leaves behind can be found.
 */
export type Profile =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'bubblewrap';
      /** Paths the child may write; all else is read-only. Real paths: one that goes through a symlink is refused. */
      readonly writable?: readonly string[];
      /** Paths shown read-only over a writable or masked parent. */
      readonly readonly?: readonly string[];
      /** Paths that must look empty to the child (state, keys, sockets). */
      readonly masked?: readonly string[];
      readonly network: Network;
    };

/**
 * `host` is the machine's own network. With `relay` the child has none but a proxy at `RELAY_ADDRESS`, behind
 * which is whoever listens on that Unix socket.
 */
export type Network = 'none' | 'host' | { readonly relay: string };

export const RELAY_PORT = 3128;
export const RELAY_ADDRESS = `http://127.0.0.1:${RELAY_PORT}`;

export type RunOutcome =
  | {
      readonly kind: 'exited';
      readonly exitCode: number;
      readonly signal: NodeJS.Signals | null;
      readonly output: Output;
      readonly durationMs: number;
    }
  | { readonly kind: 'timeout'; readonly output: Output; readonly durationMs: number }
  | { readonly kind: 'aborted'; readonly output: Output; readonly durationMs: number }
  | NotStarted;

/** The program does not exist (127) or cannot be executed (126). */
export interface NotStarted {
  readonly kind: 'not_started';
  readonly exitCode: 126 | 127;
  readonly reason: string;
  readonly durationMs: number;
}

/**
 * Stages joined by pipes. `outcome` is the last stage's, with its stdout and the stderr of all stages in
 * order; `stages` has each one's own. When one stage cannot start, none does and `stages` is empty.
 */
export interface PipelineOutcome {
  readonly outcome: RunOutcome;
  readonly stages: readonly StageOutcome[];
}

export interface StageOutcome {
  readonly argv: readonly string[];
  /** 128 + n when a signal ended it. */
  readonly exitCode: number;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: Uint8Array;
  readonly stderrBytes: number;
  readonly stderrTruncated: boolean;
}

/** A process that stays has no timeout and its streams are the caller's to read. */
export type StartSpec = Omit<RunSpec, 'timeoutMs' | 'stdin' | 'onStderr' | 'after'>;

/** A program on the person's own terminal: nothing is captured, nothing times out. */
export type InteractiveSpec = Pick<RunSpec, 'argv' | 'env' | 'cwd' | 'profile' | 'limits'>;

export interface Output {
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
}

/** A process that stays: an MCP server on stdio, an engine with a live log. */
export interface RunningProcess {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<{ readonly exitCode: number | null; readonly signal: NodeJS.Signals | null }>;
  /** TERM, then KILL of the whole group. Resolves when all of it is gone. */
  stop(): Promise<void>;
}
