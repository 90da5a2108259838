/** Server-sent events, piece by piece. Bounded: an event that does not end is an error, not memory. */
export interface SseEvent {
  /** The event as it came, with the blank line that ends it. */
  readonly raw: string;
  /** Its data lines joined; empty for comments and keep-alives. */
  readonly data: string;
}

export interface SseReader {
  push(chunk: Uint8Array): readonly SseEvent[];
  /** What is left when the stream ends: an event without its blank line. */
  end(): readonly SseEvent[];
}

export class SseOverflow extends Error {
  override readonly name = 'SseOverflow';
}

export function sseReader(limit: number): SseReader {
  const decoder = new TextDecoder();
  let held = '';
  const cut = (): SseEvent[] => {
    const events: SseEvent[] = [];
    for (;;) {
      const end = /\r?\n\r?\n|\r\r/.exec(held);
      if (end === null) break;
      const stop = end.index + end[0].length;
      events.push(eventOf(held.slice(0, stop)));
      held = held.slice(stop);
    }
    if (held.length > limit) throw new SseOverflow(`an event is larger than ${limit} characters`);
    return events;
  };
  return {
    push: (chunk) => {
      held += decoder.decode(chunk, { stream: true });
      return cut();
    },
    end: () => {
      held += decoder.decode();
      const rest = held.trim() === '' ? [] : [eventOf(`${held}\n\n`)];
      held = '';
      return rest;
    },
  };
}

function eventOf(raw: string): SseEvent {
  const data = raw
    .split(/\r\n|\r|\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(line[5] === ' ' ? 6 : 5))
    .join('\n');
  return { raw, data };
}
