import { redact } from '../redact/index.ts';

/**
 * Texts that callers chose (names of models and tools, reasons), as logs, spans and headers may show them:
 * redacted, well-formed, on one line and short. Redacted before it is cut: half a secret is not recognised.
 */
export function shown(text: string, length = 200): string {
  const clean = redact(text.slice(0, 10 * length).toWellFormed()).text;
  return clean
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, length)
    .toWellFormed();
}
