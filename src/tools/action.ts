import { type Action, CODES, isJsonObject, type JsonObject, type Writ, WritError } from '../core/index.ts';
import type { Tool } from './tool.ts';

/** A tool call as an action: everything that decides what would happen is in `detail`. */
export function toolAction(call: {
  readonly tool: string;
  readonly args: JsonObject;
  readonly facts: JsonObject;
  readonly runId: string;
  readonly step: number;
}): Action {
  const { argv, cwd, ...facts } = call.facts;
  return {
    kind: 'tool.call',
    subject: call.tool,
    detail: {
      tool: call.tool,
      run: call.runId,
      step: call.step,
      args: call.args,
      facts,
      // Where the sandbox looks for what a writ lets it start.
      ...(argv === undefined ? {} : { argv }),
      ...(cwd === undefined ? {} : { cwd }),
    },
  };
}

/** The call a writ is for, with its arguments checked once more by the tool's own schema. */
export function callOf<A>(
  writ: Writ,
  tool: Pick<Tool<A>, 'name' | 'args'>,
): { readonly args: A; readonly facts: JsonObject } {
  const { action } = writ;
  const { detail } = action;
  if (action.kind !== 'tool.call' || detail.tool !== tool.name || !isJsonObject(detail.facts))
    throw new WritError(CODES.writ_misuse, `this writ is not for ${tool.name}`, {
      suggestion: 'ask authority for a writ for this very call',
    });
  const { argv, cwd, facts } = detail;
  return {
    args: tool.args.parse(detail.args),
    facts: { ...facts, ...(argv === undefined ? {} : { argv }), ...(cwd === undefined ? {} : { cwd }) },
  };
}
