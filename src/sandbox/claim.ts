import { CODES, isJsonObject, type Json, Writ, WritError } from '../core/index.ts';

/**
 * C1 Nothing starts without a real writ.
 * C2 The writ's action names exactly the argv (or the stages) to be run, word for word, and the folder
 *    when it names one.
 * C3 The single use is taken before the first process starts, also when the start then fails.
 */
export function claim(writ: Writ, stages: readonly (readonly string[])[], folders: readonly string[]): void {
  if (!Writ.is(writ)) throw refusal('there is no writ: nothing runs without one');
  const { detail } = writ.action;
  if (!isJsonObject(detail)) throw refusal('the action of this writ has no detail');
  const granted = detail.pipeline !== undefined ? stagesOf(detail.pipeline) : stagesOf([detail.argv ?? null]);
  if (granted === undefined) throw refusal('the action of this writ names no argv');
  // An action that says two things at once is refused rather than read one way.
  if (detail.pipeline !== undefined && detail.argv !== undefined)
    throw refusal('the action of this writ names both an argv and a pipeline');
  if (!sameStages(granted, stages)) throw refusal('this writ is for another argv');
  if (detail.cwd !== undefined && !folders.every((folder) => folder === detail.cwd))
    throw refusal('this writ is for another folder');
  writ.use(writ.action);
}

function stagesOf(value: Json): readonly (readonly string[])[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  for (const stage of value as readonly Json[]) {
    if (!Array.isArray(stage) || stage.length === 0) return undefined;
    if (!stage.every((word) => typeof word === 'string')) return undefined;
  }
  return value as readonly (readonly string[])[];
}

function sameStages(a: readonly (readonly string[])[], b: readonly (readonly string[])[]): boolean {
  return a.length === b.length && a.every((stage, i) => sameWords(stage, b[i] ?? []));
}

function sameWords(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, i) => word === b[i]);
}

function refusal(message: string): WritError {
  return new WritError(CODES.writ_misuse, message, {
    suggestion: 'ask authority for a writ whose action.detail.argv (or .pipeline) is what you run',
  });
}
