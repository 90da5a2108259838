import type { Brain, Json } from '../../core/index.ts';

/** A recorded conversation, played back turn by turn: for tests and for showing what a model did. */
export interface ScriptTurn {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args: Json }[];
}

export function scriptBrain(turns: readonly ScriptTurn[]): Brain {
  let next = 0;
  return {
    name: 'script',
    next: async () => {
      const turn = turns[next++] ?? { text: '' };
      return {
        text: turn.text ?? '',
        calls: (turn.calls ?? []).map((call, i) => ({
          id: `call_${next}_${i + 1}`,
          name: call.name,
          args: call.args,
        })),
      };
    },
  };
}
