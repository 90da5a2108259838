import { isJsonObject, type Json } from '../../core/index.ts';
import { type RedactionStream, redactionStream } from '../../redact/index.ts';
import { isLastPiece, list, mapDeltas } from './protocol.ts';
import { redactTexts } from './texts.ts';

/**
 * Redacts an answer that comes in pieces.
 *
 * R1 A text is shown only when what follows can no longer make a secret of it: each channel is some way
 *    behind what has arrived. Pieces keep their number and shape, their texts move to later ones.
 * R2 What is held back comes before the piece that ends the answer, in the shape of the channel's last piece.
 * R3 Texts outside of the channels are redacted as they are.
 */
export interface StreamRedactor {
  /** The pieces to show for this one, in order. */
  piece(piece: Json): readonly Json[];
  /** What is still held when the stream ends. */
  end(): readonly Json[];
  /** Whether anything was replaced. */
  changed(): boolean;
}

/** Keys longer than this are known by how they begin. */
const HELD = { tail: 2048, step: 256 };
const MAX_CHANNELS = 256;

const MARK = '[REDACTED';

interface Channel {
  readonly stream: RedactionStream;
  lastPiece: Json;
}

export function streamRedactor(): StreamRedactor {
  const channels = new Map<string, Channel>();
  let changed = false;
  const seen = (text: string): string => {
    changed ||= text.includes(MARK);
    return text;
  };
  const channelOf = (name: string, piece: Json): Channel => {
    const known = channels.get(name) ?? { stream: redactionStream(undefined, HELD), lastPiece: piece };
    if (channels.size >= MAX_CHANNELS) throw new RangeError('the answer has too many parts to redact');
    known.lastPiece = piece;
    channels.set(name, known);
    return known;
  };
  const end = (): readonly Json[] => {
    const rest = [...channels].flatMap(([name, { stream, lastPiece }]) => {
      const text = seen(stream.end());
      return text === '' ? [] : [mapDeltas(bare(lastPiece), (other) => (other === name ? text : ''))];
    });
    channels.clear();
    return rest;
  };
  return {
    piece: (piece) => {
      const shown = mapDeltas(piece, (name, text) => seen(channelOf(name, piece).stream.push(text)));
      const { value, redactions } = redactTexts(shown);
      changed ||= redactions > 0;
      return [...(isLastPiece(piece) ? end() : []), value];
    },
    end,
    changed: () => changed,
  };
}

/** A piece without what an answer says once: usage, why it ends, which tool is called. */
function bare(piece: Json): Json {
  if (!isJsonObject(piece)) return piece;
  const { usage: _usage, usageMetadata: _metadata, ...rest } = piece;
  return {
    ...rest,
    ...(rest.choices === undefined ? {} : { choices: list(rest.choices).map(bareChoice) }),
    ...(rest.candidates === undefined ? {} : { candidates: list(rest.candidates).map(bareCandidate) }),
  };
}

function bareCandidate(candidate: Json): Json {
  if (!isJsonObject(candidate)) return candidate;
  const { finishReason: _reason, ...rest } = candidate;
  return rest;
}

function bareChoice(choice: Json): Json {
  if (!isJsonObject(choice) || !isJsonObject(choice.delta)) return choice;
  const { tool_calls: calls, role: _role, ...delta } = choice.delta;
  const args = list(calls).map((call, i) => ({
    index: isJsonObject(call) ? (call.index ?? i) : i,
    function: {
      arguments: isJsonObject(call) && isJsonObject(call.function) ? (call.function.arguments ?? '') : '',
    },
  }));
  const kept = calls === undefined ? delta : { ...delta, tool_calls: args };
  return { ...choice, finish_reason: null, delta: kept };
}
