import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createAuthority } from '../../src/authority/index.ts';
import { type JsonObject, systemClock, systemIds } from '../../src/core/index.ts';
import { loadPolicy } from '../../src/policy/index.ts';
import { createCallJudge } from '../../src/runner/judge.ts';
import { perform, permit } from '../../src/runner/step.ts';
import { createRegistry, type Ground, type Tool } from '../../src/tools/index.ts';

/** A folder of its own for a test file, and the whole road of a call in it: policy, authority, tool. */
export function workbench() {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'writ-tools-')));
  return {
    path,
    remove: () => rmSync(path, { recursive: true, force: true }),
    file: async (name: string, content: string | Buffer = 'content') => {
      const file = join(path, name);
      await mkdir(dirname(file), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
    /** Calls a tool as a plan's step would; gives what the record would say. */
    call: async (
      policy: string,
      tool: string,
      args: JsonObject,
      ground: Partial<Ground> = {},
      timeoutMs = 60_000,
      tools: readonly Tool[] = [],
    ) => {
      const registry = createRegistry(tools);
      const judge = createCallJudge(loadPolicy(policy, 'policy.yaml', registry.otherRules), registry, {
        workingDir: path,
        masked: [],
        ...ground,
      });
      const { facts, tool: found } = await judge.prepare(tool, args);
      const call = { callId: 'c', runId: 'r', index: 0, tool, stepId: null, args, facts };
      const road = {
        judge,
        authority: createAuthority({ clock: systemClock, ids: systemIds }),
        clock: systemClock,
        requester: 'test',
        whenApprovalNeeded: 'never',
        signal: new AbortController().signal,
      } as const;
      const permission = await permit(road, call, found, 0);
      if (permission.kind === 'waiting') throw new Error('nothing waits here');
      const happened =
        permission.kind === 'denied' ? permission.happened : await perform(road, call, permission, timeoutMs);
      return {
        status: happened.status,
        data: happened.data,
        error: happened.error,
        rule: happened.decision.rule,
        reason: happened.decision.reason,
        line: happened.decision.line,
      };
    },
  };
}
