/**
 * A narrative by a model: prose beside the report, never part of it.
 *
 * 1. The model gets the semantic JSON and nothing else: no payload, no frame, no file.
 * 2. What it says is hostile text like any other: bounded, one line a paragraph, escaped where it is shown.
 * 3. A number that the facts do not hold (nor round to) is marked where it stands.
 * 4. Whatever goes wrong, the report is complete without it and says why it is absent.
 */
import { messageOf } from '../../core/index.ts';
import type { SemanticReport } from '../semantic/types.ts';

/** Whoever can turn facts into prose. */
export interface Narrator {
  readonly model: string;
  tell(semanticJson: string): Promise<string>;
}

export type Narrative =
  | {
      readonly written: true;
      readonly model: string;
      readonly paragraphs: readonly string[];
      /** Numbers the model came up with. */
      readonly unsupported: readonly string[];
    }
  | { readonly written: false; readonly reason: string };

const MAX_TEXT = 6000;
const MAX_PARAGRAPHS = 12;
const MAX_REASON = 300;
export const UNSUPPORTED = '(not in the facts)';

/** Stands above the prose wherever it is shown. */
export const NARRATIVE_NOTE = (model: string) =>
  `Written by the model ${model} from the semantic JSON alone. It proves nothing: findings and figures are above, and only they can be verified. Numbers the facts do not hold are marked.`;

/** What the report shows when a narrative was asked for. */
export async function narrativeOf(
  report: SemanticReport,
  narrator: Narrator | { readonly absent: string },
): Promise<Narrative> {
  if ('absent' in narrator) return { written: false, reason: narrator.absent };
  const facts = JSON.stringify(report);
  try {
    return checked(await narrator.tell(facts), facts, narrator.model);
  } catch (error) {
    return { written: false, reason: messageOf(error).slice(0, MAX_REASON) };
  }
}

function checked(said: string, facts: string, model: string): Narrative {
  const paragraphs = said
    .slice(0, MAX_TEXT)
    .split(/\n+/u)
    // Headings and list marks are markup the report has no use for; "1." of a list is no claim.
    .map((line) => line.replace(/^\s*(?:#{1,6}|[-*•>]|\d{1,2}[.)])\s+/u, '').trim())
    .filter((line) => line !== '')
    .slice(0, MAX_PARAGRAPHS);
  if (paragraphs.length === 0) return { written: false, reason: 'the model gave no text' };
  const known = new KnownNumbers(facts);
  const unsupported = new Set<string>();
  const marked = paragraphs.map((line) =>
    line.replace(NUMBER, (number) => {
      if (known.holds(number)) return number;
      unsupported.add(number);
      return `${number} ${UNSUPPORTED}`;
    }),
  );
  return { written: true, model, paragraphs: marked, unsupported: [...unsupported] };
}

/** Addresses are numbers too: `10.0.0.4` is one word here and there. */
const NUMBER = /\d+(?:[.,]\d+)*/gu;
const MAX_DECIMALS = 3;

class KnownNumbers {
  readonly #words: ReadonlySet<string>;
  readonly #rounded = new Set<string>();

  constructor(facts: string) {
    this.#words = new Set(facts.match(NUMBER) ?? []);
    for (const word of this.#words) {
      const value = Number(word);
      if (!Number.isFinite(value)) continue;
      for (let decimals = 0; decimals <= MAX_DECIMALS; decimals++) this.#rounded.add(value.toFixed(decimals));
    }
  }

  holds(said: string): boolean {
    if (this.#words.has(said) || this.#rounded.has(said)) return true;
    // 1,234,567: people group digits, JSON does not.
    const plain = /^\d{1,3}(?:,\d{3})+(?:\.\d+)?$/u.test(said) ? said.replaceAll(',', '') : said;
    return this.#words.has(plain) || this.#rounded.has(plain);
  }
}
