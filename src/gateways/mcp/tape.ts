/**
 * What was said on one stream, for a client whose connection broke and who asks for the rest (`Last-Event-ID`).
 *
 * TP1 Bounded: the oldest goes when there is too much, and who missed something that is gone is told so.
 * TP2 An event's id names its stream and its place there, and nothing else.
 */
export interface Tape {
  /** Keeps an event and answers its id. */
  keep(text: string): string;
  /** What came after this place; undefined when some of it is gone, or the place never was. */
  after(place: number): readonly TapedEvent[] | undefined;
}

export interface TapedEvent {
  readonly id: string;
  readonly text: string;
}

const MAX_EVENTS = 500;
/** In characters, all events of a stream together. */
export const MAX_TAPED = 128 * 1024;

export function openTape(stream: number): Tape {
  const events: TapedEvent[] = [];
  let characters = 0;
  let last = 0;
  return {
    keep: (text) => {
      const event = { id: `${stream}-${++last}`, text };
      events.push(event);
      characters += text.length;
      while (events.length > MAX_EVENTS || characters > MAX_TAPED)
        characters -= events.shift()?.text.length ?? characters;
      return event.id;
    },
    after: (place) => {
      const missed = last - place;
      return missed < 0 || missed > events.length ? undefined : events.slice(events.length - missed);
    },
  };
}

/** The first event of a stream: nothing but its id, so that the client can come back. */
export const beginningOf = (stream: number) => `${stream}-0`;

export function placeOf(eventId: string): { readonly stream: number; readonly place: number } | undefined {
  const found = /^(\d{1,9})-(\d{1,15})$/.exec(eventId);
  return found === null ? undefined : { stream: Number(found[1]), place: Number(found[2]) };
}
