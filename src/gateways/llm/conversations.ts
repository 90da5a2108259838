import { isJsonObject, type Json, type JsonObject } from '../../core/index.ts';

/**
 * Answers that providers keep, by id: all callers share the provider's account, so an id alone would open
 * the conversation of another.
 *
 * C1 An answer is continued only by the caller it was given to. An id this process has not given out is unknown.
 * C2 Bounded: the oldest ids are forgotten.
 */
export interface Conversations {
  /** The id in this request that is not the caller's, if there is one. */
  foreign(caller: string, body: JsonObject): string | undefined;
  note(caller: string, answer: Json): void;
}

const MAX_IDS = 100_000;

export function conversations(): Conversations {
  const owners = new Map<string, string>();
  return {
    foreign: (caller, body) => {
      const { conversation } = body;
      const named = [
        body.previous_response_id,
        isJsonObject(conversation) ? conversation.id : conversation,
      ].filter((id) => id !== undefined && id !== null);
      const other = named.find((id) => typeof id !== 'string' || owners.get(id) !== caller);
      return other === undefined ? undefined : String(other).slice(0, 200);
    },
    note: (caller, answer) => {
      if (!isJsonObject(answer)) return;
      const response = isJsonObject(answer.response) ? answer.response : answer;
      const { id, conversation } = response;
      for (const known of [id, isJsonObject(conversation) ? conversation.id : undefined]) {
        if (typeof known !== 'string' || known.length > 200 || owners.has(known)) continue;
        owners.set(known, caller);
        const oldest = owners.keys().next();
        if (owners.size > MAX_IDS && !oldest.done) owners.delete(oldest.value);
      }
    },
  };
}
