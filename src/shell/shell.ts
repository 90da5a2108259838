import { type Authority, createAuthority } from '../authority/index.ts';
import { type Approver, type Clock, CODES, type Ids, WritError } from '../core/index.ts';
import { type OpenShellJournal, openShellAudit } from './audit.ts';
import { createAnonymizer } from './process/anonymize.ts';
import { type Road, travel } from './road.ts';
import type { Shell } from './types.ts';

export interface ShellOptions {
  readonly sessionId: string;
  readonly auditDir: string;
  readonly openJournal: OpenShellJournal;
  readonly approver: Approver;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Where commands run. */
  readonly cwd: string;
  readonly authority?: Authority;
  /** Folders looked in before the system's own, named by the composition root only (the lab's stand-ins). */
  readonly programPath?: readonly string[];
  /** Variables added to the few that pass from our own environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly anonymize?: boolean;
  /** Default 30 s. */
  readonly timeoutMs?: number;
  /** Default 120 s. */
  readonly azTimeoutMs?: number;
  /** Bytes kept of stdout and stderr each. Default 10 MB. */
  readonly maxOutputBytes?: number;
  readonly approverTimeoutMs?: number;
  /** Stops what is running and everything after. */
  readonly signal?: AbortSignal;
}

/** A shell that can be closed; rooms that only use it see `Shell`. */
export interface OwnedShell extends Shell {
  /** Commands of an earlier process of this session whose end nobody saw, by audit id. */
  readonly interrupted: readonly string[];
  close(): Promise<void>;
}

/** The session's name becomes part of file names. */
const SESSION = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;

export async function createShell(options: ShellOptions): Promise<OwnedShell> {
  const { sessionId, clock, ids, approver } = options;
  if (!SESSION.test(sessionId)) throw badSession(sessionId);
  const audit = await openShellAudit({
    sessionId,
    auditDir: options.auditDir,
    clock,
    open: options.openJournal,
  });
  const wait = options.approverTimeoutMs;
  const road: Road = {
    sessionId,
    audit,
    authority:
      options.authority ??
      createAuthority({ clock, ids, approver, ...(wait === undefined ? {} : { approverTimeoutMs: wait }) }),
    anonymizer: options.anonymize ? createAnonymizer() : undefined,
    signal: options.signal,
    execute: {
      cwd: options.cwd,
      programPath: options.programPath ?? [],
      env: options.env ?? {},
      timeoutMs: options.timeoutMs ?? 30_000,
      azTimeoutMs: options.azTimeoutMs ?? 120_000,
      maxOutputBytes: options.maxOutputBytes ?? 10 * 1024 * 1024,
      found: new Map(),
    },
  };
  // One command at a time: callers queue.
  let queue: Promise<unknown> = Promise.resolve();
  return {
    sessionId,
    interrupted: audit.interrupted,
    execute: (request) => {
      const answer = queue.then(() => travel(road, request));
      queue = answer.catch(() => undefined);
      return answer;
    },
    close: async () => {
      await queue;
      await audit.close();
    },
  };
}

function badSession(sessionId: string): WritError {
  return new WritError(
    CODES.invalid_input,
    `${JSON.stringify(sessionId.slice(0, 80))} cannot name a session`,
    {
      suggestion: 'use letters, digits, dots, dashes and underscores, at most 128',
    },
  );
}
