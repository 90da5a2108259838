import type { Redacted } from '../../core/index.ts';
import { redact } from '../../redact/index.ts';
import type { OutputMetadata } from '../types.ts';
import type { Anonymizer } from './anonymize.ts';
import { countLines } from './limits.ts';
import { truncate } from './truncate.ts';

/**
 * Output → what may be seen.
 *
 * P1 The redactor sees the whole bounded output first: truncating first would print a private key whose last
 *    line was cut away. What remains is scanned once more.
 * P2 Any error in here means no output at all; the caller reports `redaction_failure`.
 */
export interface Processed {
  readonly text: Redacted;
  readonly metadata: OutputMetadata;
}

export function processOutput(bytes: Uint8Array, totalBytes: number, anonymizer?: Anonymizer): Processed {
  if (isBinary(bytes)) return binary(totalBytes);
  const decoded = new TextDecoder('utf-8').decode(bytes);
  const whole = redact(decoded);
  const short = truncate(whole.text);
  const anonymous = anonymizer ? anonymizer.apply(short.text) : short.text;
  const again = redact(anonymous);
  const lines = countLines(decoded);
  return {
    text: again.text,
    metadata: {
      truncation_applied: short.applied || totalBytes > bytes.length,
      total_lines: lines,
      lines_shown: short.applied ? countLines(again.text) : lines,
      total_bytes: totalBytes,
      output_type: short.type,
      items_total: short.itemsTotal,
      items_shown: short.itemsShown,
      redactions_applied: whole.count + again.count > 0,
      redaction_count: whole.count + again.count,
      redaction_categories: [...new Set([...whole.categories, ...again.categories])].sort(),
      ...(anonymizer
        ? {
            anonymization_applied: anonymous !== short.text,
            anonymization_mappings_count: anonymizer.mappings,
          }
        : {}),
    },
  };
}

/** stderr is redacted and never truncated; its size was bounded while it streamed. */
export function processStderr(bytes: Uint8Array): {
  readonly text: Redacted;
  readonly count: number;
  readonly categories: readonly string[];
} {
  return redact(
    isBinary(bytes) ? `[binary output: ${bytes.length} bytes]` : new TextDecoder('utf-8').decode(bytes),
  );
}

const SAMPLE = 8_192;

/** A NUL, or too much that is no text, near the beginning. */
function isBinary(bytes: Uint8Array): boolean {
  const sample = bytes.subarray(0, SAMPLE);
  if (bytes.includes(0)) return true;
  let odd = 0;
  for (const byte of sample) if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27)) odd++;
  const broken = new TextDecoder('utf-8').decode(sample).split('\ufffd').length - 1;
  return odd * 20 > sample.length || broken * 10 > sample.length;
}

function binary(totalBytes: number): Processed {
  return {
    text: redact(`[binary output: ${totalBytes} bytes]`).text,
    metadata: {
      ...emptyMetadata,
      truncation_applied: true,
      total_bytes: totalBytes,
      lines_shown: 1,
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
