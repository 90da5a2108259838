import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createAuthority } from '../../authority/index.ts';
import {
  type Action,
  digestOf,
  parseJson,
  sha256,
  systemClock,
  systemIds,
  type Writ,
} from '../../core/index.ts';
import { baseEnvironment, type Profile, run } from '../../sandbox/index.ts';
import type { HostMessage, HostRequest } from './protocol.ts';

/** Starts the host for one request and reads its answer. */
export type HostAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string; readonly timeout: boolean };

export interface HostCall {
  readonly file: string;
  readonly request: HostRequest;
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly profile: Profile;
  readonly signal?: AbortSignal;
}

export function hostArgv(file: string): readonly string[] {
  const name = import.meta.url.endsWith('.ts') ? './host.ts' : './host.js';
  return [process.execPath, '--no-warnings', fileURLToPath(new URL(name, import.meta.url)), file];
}

export function fileDigest(file: string): string {
  return sha256(readFileSync(file));
}

export async function callHost(writ: Writ, call: HostCall): Promise<HostAnswer> {
  const mark = randomBytes(12).toString('hex');
  const message: HostMessage = { mark, request: call.request };
  const outcome = await run(writ, {
    argv: hostArgv(call.file),
    cwd: call.cwd,
    env: { ...baseEnvironment({}, {}), HOME: '/nonexistent' },
    stdin: JSON.stringify(message),
    timeoutMs: call.timeoutMs,
    profile: call.profile,
    limits: { maxOutputBytes: call.maxOutputBytes, processes: 64, memoryBytes: 1024 ** 3 },
    ...(call.signal ? { signal: call.signal } : {}),
  });
  switch (outcome.kind) {
    case 'exited': {
      const lines = Buffer.from(outcome.output.stdout).toString('utf8').trimEnd().split('\n');
      const last = lines.findLast((line) => line.startsWith(`${mark} `));
      if (last === undefined) {
        if (outcome.output.stdoutTruncated)
          return { ok: false, reason: `it printed more than ${call.maxOutputBytes} bytes`, timeout: false };
        const said = Buffer.from(outcome.output.stderr)
          .toString('utf8')
          .trim()
          .split('\n')
          .filter((line) => /error/i.test(line))[0];
        return {
          ok: false,
          reason: `it gave no answer (exit ${outcome.exitCode})${said === undefined ? '' : `: ${said.slice(0, 500)}`}`,
          timeout: false,
        };
      }
      const parsed = parseJson(last.slice(mark.length + 1));
      return parsed.ok
        ? { ok: true, value: parsed.value }
        : { ok: false, reason: 'its answer is not JSON', timeout: false };
    }
    case 'timeout':
    case 'aborted':
      return { ok: false, reason: `it was stopped after ${call.timeoutMs / 1000} s`, timeout: true };
    case 'not_started':
      return { ok: false, reason: outcome.reason, timeout: false };
  }
}

/** A writ to ask a listed tool about itself or about a call: no effect can come of it, but it is a process. */
export async function askingWrit(file: string, cwd: string, about: string): Promise<Writ> {
  const action: Action = {
    kind: 'process.start',
    subject: `${about} ${file}`,
    detail: { argv: hostArgv(file), cwd, file, sha256: fileDigest(file), about },
  };
  const authority = createAuthority({ clock: systemClock, ids: systemIds });
  const granted = await authority.authorize({
    action,
    evaluators: [
      {
        name: 'tools',
        evaluate: () => ({
          evaluator: 'tools',
          verdict: 'allow',
          rule: 'tools.listed',
          reason: 'writ.yaml or the caller names this file as a tool',
        }),
      },
    ],
    reasoning: about,
    requester: 'tools',
    policyDigest: digestOf(['tools.listed']),
    whenApprovalNeeded: 'never',
  });
  if (granted.outcome !== 'granted') throw new Error(`${file} may not be asked`);
  return granted.writ;
}
