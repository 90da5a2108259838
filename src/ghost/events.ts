import type { Hypothesis } from './session-v1.ts';

/** Everything a person or a script can watch. The terminal draws them; `--json` prints one a line. */
export type GhostEvent =
  | {
      readonly type: 'started';
      readonly session_id: string;
      readonly brain: string;
      readonly model: string;
      readonly resumed: boolean;
    }
  | {
      readonly type: 'orphans';
      readonly buckets: Readonly<Record<string, number>>;
      readonly items: readonly string[];
      readonly problems: readonly string[];
    }
  | { readonly type: 'memory'; readonly items: readonly string[] }
  | { readonly type: 'symptom'; readonly text: string }
  | { readonly type: 'turn'; readonly turn: number; readonly limit: number }
  | { readonly type: 'thought'; readonly text: string }
  | {
      readonly type: 'hypotheses';
      readonly hypotheses: readonly Pick<Hypothesis, 'id' | 'description' | 'state' | 'denial_count'>[];
      readonly active: readonly string[];
    }
  | {
      readonly type: 'command';
      readonly command: string;
      readonly classification: string | null;
      readonly action: string | null;
      readonly status: string;
      readonly exit_code: number | null;
      readonly audit_id: string | null;
      readonly error: string | null;
      readonly denial_reason: string | null;
      readonly seconds: number | null;
    }
  | {
      readonly type: 'task';
      readonly task_id: string | null;
      readonly status: string;
      readonly state: string | null;
      readonly message: string;
    }
  | { readonly type: 'progress'; readonly text: string }
  | { readonly type: 'warning'; readonly text: string }
  | { readonly type: 'error'; readonly text: string }
  | { readonly type: 'saved'; readonly session_id: string; readonly how_to_resume: string }
  | {
      readonly type: 'report';
      readonly path: string | null;
      readonly confidence: string;
      readonly verdict: string;
      readonly turns: number;
      readonly seconds: number;
      readonly causes: readonly {
        readonly kind: string;
        readonly resource: string;
        readonly detail: string | null;
        readonly verdict: string;
      }[];
    }
  | {
      readonly type: 'proposal';
      readonly commands: readonly { readonly command: string; readonly undo: string }[];
      readonly checks: readonly string[];
      /** Recommended commands that are left out, and why. */
      readonly refused: readonly { readonly command: string; readonly why: string }[];
      readonly flight: {
        readonly flight_id: string;
        readonly state: string;
        readonly workflow: string;
        readonly role: string;
        readonly pending_approvals: readonly string[];
        readonly error: string | null;
        readonly how_to_go_on: readonly string[];
      } | null;
      readonly nothing_because: string | null;
    };

export type Watch = (event: GhostEvent) => void;

/** Questions the investigation puts to the person. Without one, every answer is the careful default. */
export interface Person {
  readonly present: boolean;
  /** One of the letters offered; `fallback` when nobody answers. */
  choose(question: string, letters: readonly string[], fallback: string): Promise<string>;
  /** A line of text, empty when nobody answers. */
  line(prompt: string): Promise<string>;
}

export const nobody: Person = {
  present: false,
  choose: async (_question, _letters, fallback) => fallback,
  line: async () => '',
};
