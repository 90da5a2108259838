/** One server-sent event, as far as a reconnecting reader needs it. */
export interface StreamEvent {
  readonly data: string;
  readonly id: string | undefined;
  readonly retryMs: number | undefined;
}

/** Cuts a stream into events. Bounded: one that does not end within `limit` characters is an error. */
export function eventReader(limit: number): (chunk: Uint8Array) => readonly StreamEvent[] {
  const decoder = new TextDecoder();
  let held = '';
  return (chunk) => {
    // Looked for from where the last search ended, less what could be half a blank line.
    let from = Math.max(0, held.length - 3);
    held += decoder.decode(chunk, { stream: true });
    const events: StreamEvent[] = [];
    let start = 0;
    for (;;) {
      BLANK.lastIndex = from;
      const blank = BLANK.exec(held);
      if (blank === null) break;
      events.push(eventOf(held.slice(start, blank.index)));
      start = from = blank.index + blank[0].length;
    }
    if (start > 0) held = held.slice(start);
    if (held.length > limit) throw new Error(`an event is larger than ${limit} characters`);
    return events;
  };
}

const BLANK = /\r\n\r\n|\n\n|\r\r/g;

function eventOf(text: string): StreamEvent {
  const data: string[] = [];
  let id: string | undefined;
  let retryMs: number | undefined;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const colon = line.indexOf(':');
    const value = line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    switch (colon === -1 ? line : line.slice(0, colon)) {
      case 'data':
        data.push(value);
        break;
      case 'id':
        id = value;
        break;
      case 'retry':
        if (/^\d{1,9}$/.test(value)) retryMs = Number(value);
        break;
    }
  }
  return { data: data.join('\n'), id, retryMs };
}
