import type { Evaluation, Json } from '../../core/index.ts';
import { mapDeltas, toolsCalled } from './protocol.ts';
import { needlesFit, readsText, type ScopedRule, sizeFits, strictestOf, toolsFit } from './rules.ts';
import { textOf } from './texts.ts';

/**
 * Rules on an answer that comes in pieces.
 *
 * J1 Words cut in two by the stream are still words: on each channel the end of what came before is read
 *    together with what comes, as far back as the longest words that are looked for.
 * J2 A condition that held once holds for the rest of the answer: a tool named in one piece and words of its
 *    arguments in another are one call.
 * J3 Each piece is read once; the work does not grow with the length of the answer.
 */
export interface StreamJudge {
  /** What is to be said of the answer now that this piece is part of it. */
  see(piece: Json): Evaluation;
  last(): Evaluation;
}

/** More than any answer has. What has more cannot be followed and is denied. */
const MAX_CHANNELS = 4096;

export function streamJudge(rules: readonly ScopedRule[]): StreamJudge {
  const open = new Set(rules);
  const said = new Set<ScopedRule>();
  const names = new Map<string, string>();
  const called = new Set<string>();
  const fitting: ScopedRule[] = [];
  const keep = Math.max(0, ...rules.flatMap(({ needles }) => needles ?? []).map((n) => n.length)) - 1;
  const tails = new Map<string, string>();
  const looksAtText = rules.some(readsText);
  const looksAtTools = rules.some(({ rule }) => rule.tools !== undefined);
  let chars = 0;
  let last = strictestOf([], 'allow');

  /** Names as they are and as their pieces add up. */
  const note = (piece: Json) => {
    for (const [channel, name] of toolsCalled(piece)) {
      const joined = channel === '' ? name : (names.get(channel) ?? '') + name;
      if (channel !== '') names.set(channel, joined.slice(0, 1000));
      called.add(name).add(joined);
    }
  };

  /** The piece with the ends of its channels before it, in lower case. */
  const read = (piece: Json): string => {
    let window = textOf(piece).toLowerCase();
    mapDeltas(piece, (channel, text) => {
      chars += text.length;
      const joined = (tails.get(channel) ?? '') + text.toLowerCase();
      tails.set(channel, keep <= 0 ? '' : joined.slice(-keep));
      window += `\n${joined}`;
      return text;
    });
    return window;
  };

  return {
    see: (piece) => {
      if (open.size === 0) return last;
      const window = looksAtText ? read(piece) : '';
      if (looksAtTools) note(piece);
      if (tails.size > MAX_CHANNELS || called.size > MAX_CHANNELS) {
        last = {
          ...last,
          verdict: 'deny',
          rule: 'too_many_parts',
          reason: 'it has more parts than can be read',
        };
        return last;
      }
      const tools = [...called];
      const before = fitting.length;
      for (const rule of open) {
        if (!said.has(rule) && needlesFit(rule, window)) said.add(rule);
        if (!said.has(rule) || !toolsFit(rule, tools) || !sizeFits(rule, chars)) continue;
        open.delete(rule);
        fitting.push(rule);
      }
      if (fitting.length > before) last = strictestOf(fitting, 'allow');
      return last;
    },
    last: () => last,
  };
}
