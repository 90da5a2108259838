import { parseJson, type Redacted } from '../../core/index.ts';
import { type Redaction, redact, redactJson } from '../../redact/index.ts';
import type { OutputMetadata } from '../types.ts';
import type { Anonymizer } from './anonymize.ts';
import { countLines } from './limits.ts';
import { truncate } from './truncate.ts';

/**
 * Output → what may be seen.
 *
 * P1 The redactor sees the whole bounded output first: truncating first would print a private key whose last
 *    line was cut away. What remains is scanned once more.
 * P2 JSON that was valid stays valid, also through redaction, truncation and anonymisation.
 * P3 Any error in here means no output at all; the caller reports `redaction_failure`.
 */
export interface Processed {
  readonly text: Redacted;
  readonly metadata: OutputMetadata;
}

export function processOutput(bytes: Uint8Array, totalBytes: number, anonymizer?: Anonymizer): Processed {
  if (isBinary(bytes)) return binary(totalBytes);
  const decoded = new TextDecoder('utf-8').decode(bytes);
  const whole = redactWhole(decoded);
  const short = truncate(whole.text);
  const again = redact(short.text);
  const anonymous = anonymizer?.apply(again.text);
  // A placeholder is not a secret, so this only puts the stamp back on.
  const seen = anonymous === undefined ? again : redact(anonymous);
  return {
    text: seen.text,
    metadata: {
      truncation_applied: short.applied || totalBytes > bytes.length,
      total_lines: countLines(decoded),
      lines_shown: short.linesShown,
      total_bytes: totalBytes,
      output_type: short.type,
      items_total: short.itemsTotal,
      items_shown: short.itemsShown,
      redactions_applied: whole.count + again.count > 0,
      redaction_count: whole.count + again.count,
      redaction_categories: [...new Set([...whole.categories, ...again.categories])].sort(),
      ...(anonymizer === undefined
        ? {}
        : {
            anonymization_applied: anonymous !== again.text,
            anonymization_mappings_count: anonymizer.mappings,
          }),
    },
  };
}

/** Redacts as text; should that ever break JSON that was valid, redacts the data instead. */
function redactWhole(text: string): Pick<Redaction, 'count' | 'categories'> & { readonly text: string } {
  const redacted = redact(text);
  const first = text.trimStart()[0];
  if (redacted.count === 0 || (first !== '{' && first !== '[') || parseJson(redacted.text).ok)
    return redacted;
  const before = parseJson(text);
  if (!before.ok) return redacted;
  const data = redactJson(before.value);
  return { ...data, text: JSON.stringify(data.value, null, 2) };
}

/** stderr is redacted and never truncated; its size was bounded while it streamed. */
export function processStderr(
  bytes: Uint8Array,
  anonymizer?: Anonymizer,
): Redaction & { readonly anonymized: boolean } {
  const text = isBinary(bytes)
    ? `[binary output: ${bytes.length} bytes]`
    : new TextDecoder('utf-8').decode(bytes);
  const redacted = redact(text);
  if (anonymizer === undefined) return { ...redacted, anonymized: false };
  const anonymous = anonymizer.apply(redacted.text);
  return { ...redacted, text: redact(anonymous).text, anonymized: anonymous !== redacted.text };
}

const SAMPLE = 8_192;
/** A bell or an old encoding in a short text does not make it binary. */
const FEW = 8;

/** A NUL, or too much that is no text, near the beginning. */
function isBinary(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return true;
  const sample = bytes.subarray(0, SAMPLE);
  let odd = 0;
  for (const byte of sample) if (byte < 8 || (byte > 13 && byte < 32 && byte !== 27)) odd++;
  const broken = new TextDecoder('utf-8').decode(sample).split('\ufffd').length - 1;
  return (odd > FEW && odd * 20 > sample.length) || (broken > FEW && broken * 10 > sample.length);
}

function binary(totalBytes: number): Processed {
  return {
    text: redact(`[binary output: ${totalBytes} bytes]`).text,
    metadata: {
      ...emptyMetadata,
      truncation_applied: true,
      total_bytes: totalBytes,
      output_type: 'binary',
    },
  };
}

export const emptyMetadata: OutputMetadata = {
  truncation_applied: false,
  total_lines: 0,
  lines_shown: 0,
  total_bytes: 0,
  output_type: 'empty',
  items_total: null,
  items_shown: null,
  redactions_applied: false,
  redaction_count: 0,
  redaction_categories: [],
};
