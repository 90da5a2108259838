import type { Mention } from './mentions.ts';

/**
 * Who reaches whom, read from the words around two names. A positive score means "is reached", a negative one
 * "reaches". What stands between two machines weighs most; what stands before or after one of them alone is a
 * hint. No hint looks past the next name, or it would be about somebody else.
 */
const BEFORE_SERVER =
  /\b(reach(es|ed|ing)?|to|into|towards?|access(es|ing)?|contact(s|ing)?|against|needs?|query(ing)?|queries|pings?|pinging|calls?|asks?|opens?|open|nor|neither|finds?|see|with|lost|by)\s+(the |our |its |their |a )?([\w-]+ ){0,3}$/i;
const OBTAINS_FROM =
  /\b(pull|read|load|fetch|mount|download|tak|copy|copi|import|sync|get|obtain)\w*\b[^.,;]{0,40}\bfrom\s+(the |our )?([\w-]+ ){0,2}$/i;
const BEFORE_CLIENT = /\b(from)\s+(the |our |its )?([\w-]+ ){0,2}$/i;
const FOR_CLIENT =
  /\b(unreachable|reachable|down|gone|dead|available|lost|closed|quick|fine|works?) for (the |our )?([\w-]+ ){0,1}$/i;
const STANDING_ON = /\b(on|at)\s+(the |our )?(\w+ ){0,2}$/i;
const AFTER_CLIENT =
  /^[^.;]{0,70}?\b(can|cannot|can't|can not|could not|couldn't|fails? to|failed to|unable to|no longer|reaches?|do(es)? not (reach|get|connect|resolve|find)|hangs?|gets?|sees?|loses?|has lost|waits?|connects?|sends?|streams?|posts?|delivers?|submits?|uploads?|downloads?|copies|pulls?|pushes?|queries|reads?|writes?|opens?|asks?|talks?|fetches|calls?|needs?|shows?|should (push|pull)|logs|resolves|has the same|reports|times? out (on|to|at)|is told|complains?)\b/i;
const AFTER_SERVER =
  /^[^.;]{0,40}?\b((is|are|as) (down|dead|gone|unreachable|not (reachable|answering|responding))|must be down|(does|do) not answer|stopped answering|refuses|receives (nothing|no\w*)|times out|delivers (the same|everything)|swallows|serves|takes mail)\b|^\s*(and \w+ )?refused\b/i;
/** Two names side by side. */
const JOINED = /^\s*(,|and|or|nor|, and|&|\/|as well as|and also)\s*(from |to |on |of )?$/i;
const NO_TARGET = /\b(next|close|similar|identical|compared|according|moved|due|thanks|beside|like) to\s+$/i;
const DETERMINER = String.raw`(the |our |its |their |a |an )?([\w-]+ ){0,3}$`;
const FORWARD = new RegExp(
  String.raw`\b(to|into|towards?|against|with|on|at|from|by|reach(es|ed|ing)?|open(s|ing)?|ping(s|ing)?|calls?|asks?|quer(y|ies)|contacts?|access(es)?|uses?|use|mounts?|needs?|sees|finds?|los(t|es)|miss(es)?)\s+${DETERMINER}`,
  'i',
);
const ASKED_AND_TOLD =
  /\b(gets?|got|is told|are told|sees?|reports?|complains?|has|have|shows?|pulls?|reads?|takes?|loads?)\b/i;
const BACKWARD = new RegExp(
  String.raw`\b(reachable|unreachable|available|accessible|answers?|pings|pingable|responds?|works?|opens?|loads?|refus\w+|rejects?|drops?|accepts?|resets?|receiv\w+|down|gone|lost|closed|dead|quick|fine|slow|ok|connects? at once)\b[^.;]*\b(from|for|to requests of)\s+${DETERMINER}`,
  'i',
);

/** What the words between two names make of them: the first reaches the second, or the other way round. */
function between(words: string): 'forward' | 'backward' | undefined {
  if (words.length > 110 || /[;]|\.\s/.test(words) || NO_TARGET.test(words)) return undefined;
  if (JOINED.test(words)) return undefined;
  if (/,\s*(and|but|while|from)\b|\bbut\b|\bwhile\b/i.test(words)) return undefined;
  if (BACKWARD.test(words) && !ASKED_AND_TOLD.test(words)) return 'backward';
  return FORWARD.test(words) ? 'forward' : undefined;
}

const MOVED =
  /\b(mov(ed|es|ing)|migrat\w+|relocat\w+|transferred|switched|cut over|took over|takes over|replac\w+)\b/i;

/** "The historian moved from A to B", "B replaces A", "the old server A": the service is no longer at A. */
export function isFormerPlace(text: string, mention: Mention): boolean {
  const before = text.slice(0, mention.start);
  const after = text.slice(mention.end);
  if (/\b(old|former|previous|retired|legacy|decommissioned)\s+([\w-]+\s+){0,2}$/i.test(before)) return true;
  if (!MOVED.test(text)) return false;
  return (
    /\bfrom\s+(the |our )?([\w-]+\s+){0,2}$/i.test(before) ||
    /\b(replac(es|ed|ing)|took over|takes over)\s+(from\s+)?(the |our )?([\w-]+\s+){0,1}$/i.test(before) ||
    /^[^.;]{0,20}\b(was|were|has been|is) replaced\b/i.test(after)
  );
}

export type Scored<M extends Mention> = M & { readonly score: number };

/** Every mention of a sentence with its score. */
export function scoreRoles<M extends Mention>(text: string, mentions: readonly M[]): readonly Scored<M>[] {
  const scores = mentions.map((m, i) => hint(text, m, mentions[i - 1], mentions[i + 1]));
  for (let i = 0; i + 1 < mentions.length; i++) {
    const [a, b] = [mentions[i]!, mentions[i + 1]!];
    const relation = between(text.slice(a.end, b.start));
    if (relation === undefined || a.vm === b.vm) continue;
    // A machine that is both the end of one relation and the start of the next keeps its first part.
    const sign = relation === 'forward' ? 1 : -1;
    if (Math.abs(scores[i]!) < 5) scores[i] = scores[i]! - 3 * sign;
    scores[i + 1] = scores[i + 1]! + 3 * sign;
  }
  return shareRoles(
    text,
    mentions.map((m, i) => ({ ...m, score: scores[i]! })),
  );
}

function hint(text: string, mention: Mention, last: Mention | undefined, next: Mention | undefined): number {
  const before = text.slice(Math.max(last?.end ?? 0, mention.start - 60), mention.start);
  const after = text.slice(mention.end, Math.min(next?.start ?? text.length, mention.end + 100));
  let score = mention.port === null ? 0 : 4;
  // An address in brackets behind a host name is that host.
  if (/[\w-]\.[a-z]+\s*\($/i.test(text.slice(Math.max(0, mention.start - 60), mention.start))) score += 4;
  if (/https?:\/\/$/i.test(before)) score += 4;
  else if (OBTAINS_FROM.test(before)) score += 3;
  else if (BEFORE_CLIENT.test(before)) score -= 2;
  else if (FOR_CLIENT.test(before)) score -= 3;
  else if (/\bport\s+\d{2,5}\s+(on|of|at)\s+(the |our )?(\w+ ){0,2}$/i.test(before)) score += 3;
  else if (BEFORE_SERVER.test(before) && !NO_TARGET.test(before)) score += 2;
  else if (STANDING_ON.test(before)) score += 0.5;
  if (
    /^\s*(,\s*)?(on |at )?(tcp |udp )?port\s+\d|^\s*on \d{2,5}\b|^\s+\d{3,5}\b(?!\s*(ms|%|mb|kb))/i.test(
      after,
    )
  )
    score += 3;
  // What was said before a name decides; what follows it only fills a gap.
  if (Math.abs(score) >= 2) return score;
  if (/^\s*(to|->|→|towards)\s/i.test(after)) return score - 3;
  if (AFTER_CLIENT.test(after) && /\btimes? out (on|to|at)\b/i.test(after)) return score - 2;
  if (AFTER_SERVER.test(after)) return score + 2;
  return AFTER_CLIENT.test(after) ? score - 2 : score;
}

/** Machines joined by "and" or a comma have one role between them: the clearest. */
function shareRoles<M extends Mention>(text: string, mentions: readonly Scored<M>[]): readonly Scored<M>[] {
  const shared = [...mentions];
  for (let pass = 0; pass < 2; pass++) {
    for (let i = 0; i + 1 < shared.length; i++) {
      const [a, b] = [shared[i]!, shared[i + 1]!];
      if (!a.vm || !b.vm || !JOINED.test(text.slice(a.end, b.start))) continue;
      const score = Math.abs(a.score) >= Math.abs(b.score) ? a.score : b.score;
      shared[i] = { ...a, score };
      shared[i + 1] = { ...b, score };
    }
  }
  return shared;
}

/** Ports that stand for themselves belong to the last machine or host before them that is no client. */
export function portsOf<M extends Mention>(
  text: string,
  mentions: readonly Scored<M>[],
): ReadonlyMap<Mention, number> {
  const ports = new Map<Mention, number>();
  const pattern =
    /(?:\b(?:ports?|tcp|udp|on|over)\s+(?:port\s+)?|\)\s+)(\d{2,5})\b(?!\s*(?:ms|%|mb|gb|kb|mbit|seconds|minutes|hours|days|of|\.\d))/gi;
  for (const match of text.matchAll(pattern)) {
    if (mentions.some((m) => match.index >= m.start && match.index < m.end - 1)) continue;
    const before = mentions.filter((m) => m.end <= match.index + 1 && m.port === null);
    const owner =
      before.findLast((m) => m.kind === 'host' || m.score > 0) ??
      mentions.find((m) => m.start > match.index && m.port === null && m.score > 0) ??
      before.at(-1) ??
      mentions.find((m) => m.start > match.index && m.port === null);
    // "reaches it on 443, but not on 8554": the second is what the complaint is about.
    const denied = /\bnot\s+(on|over|at)\s+(port\s+)?\d+$/i.test(
      text.slice(0, match.index + match[0].length),
    );
    if (owner && (denied || !ports.has(owner))) ports.set(owner, Number(match[1]));
  }
  return ports;
}
