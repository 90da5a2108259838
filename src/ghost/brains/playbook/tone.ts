/** Whether a stretch of text speaks of trouble or of things that are all right. */
export type Tone = 'bad' | 'fine' | 'neither';

const NEGATIVE =
  /\b(cannot|can't|can not|could not|couldn't|neither|nor|nobody|unable|fails?|failed|failing|down|dead|lost|hangs?|hanging|time[sd]? ?out|timeouts?|timing out|refus\w+|resets?|unreachable|no route|prohibited|broken|slow\w*|late|lags?|stall\w*|stuck|stands still|errors?|wrong|missing|stopped|intermittent\w*|sometimes|takes (several|many|ages|minutes|seconds|long|longer|ten|\d+)|retransmi\w*|nothing|no (answer|connection|frames|reply|response|packets?|data)|crawls?|trickle|corrupt\w*|garbled|jumpy|degraded|waits?|in fits|gaps?|blank|half-way|given up|40[13]|not (available|resolve|exist|reach\w*|arrive|start|answer|load|open|run|get|work|connect|respond|authori[sz]ed|possible)|no longer|any more|does not|do not|did not|is not|are not|have not|has not)\b/i;
const POSITIVE =
  /\b(works?|fine|can (write|read|reach|open|use|connect|log in)|healthy|still \w+|reachable|ok|okay|succeeds?|answers?|unaffected|not affected|no (trouble|problem|issue)s?|without (a|any)? ?\w+|normal(ly)?|green|as (fast|good|quick) as (ever|before|usual)|at full speed|immediately|at once|all day|every (few|five|ten|two|three)? ?(minutes?|hours?|seconds?)|all right|loads|runs?|quick(ly)?|plays|for example|uploads all day|opens|behaves?|swallows|delivers|submits|serves|resolves?)\b/i;
/** Trouble that is said not to be there. */
const DENIED_TROUBLE =
  /\b(without (a|any|one)? ?(single )?\w+|(has|have|had|is|are|with|sees?) ((no|not a single|zero)( such)? (trouble|problems?|errors?|issues?|loss|gaps?|delays?|complaints?)|none( of it)?)|no (trouble|problems?|errors?|issues?|loss|rule (has )?changed)|(nothing|none) (is|was|has been|were) (lost|dropped|down|refused|changed|wrong|missing)|not affected|(is|are) not (used|involved|concerned|meant|ours)|packet loss is zero|(nobody|no one) complains|(cannot|can't) be (down|dead|broken))\b/gi;

export function tone(clause: string): Tone {
  let denied = false;
  let rest = clause.replace(DENIED_TROUBLE, () => {
    denied = true;
    return ' ';
  });
  // "A has no trouble, and neither has B": the second half says the same of B.
  if (denied) rest = rest.replace(/\b(and )?(neither|nor) (has|have|does|do|is|are|can)\b/gi, ' ');
  if (NEGATIVE.test(rest)) return 'bad';
  return denied || POSITIVE.test(rest) ? 'fine' : 'neither';
}

export const BREAK =
  /[;:]\s|,?\s+\b(?:but|while|whereas|although|though|yet|however)\b|,\s+(?=\w+ing\b)|,\s+(?=(?:and )?(?:the \w+ )?[\w-]+\d+\b[^,;]{0,60}\b(?:is fine|works|does|has none)\b)/gi;

/** The part of a sentence around a place in it: "A cannot reach B, but C works" speaks of two things. */
export function clauseAt(text: string, at: { readonly start: number; readonly end: number }): string {
  let from = 0;
  let to = text.length;
  for (const match of text.matchAll(BREAK)) {
    if (match.index + match[0].length <= at.start) from = match.index + match[0].length;
    else if (match.index >= at.end) {
      to = match.index;
      break;
    }
  }
  return text.slice(from, to);
}

export function splitSentences(text: string): readonly string[] {
  return text.split(/(?<=[.!?])\s+(?=[A-Z"'(a-z0-9])/).filter((s) => s.trim() !== '');
}
