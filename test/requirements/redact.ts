import type { Requirement } from './requirement.ts';

export const requirements: readonly Requirement[] = [
  {
    id: 'RED-01',
    source: 'shell.md Numbers',
    state: 'met',
    text: 'The project holds its own corpus of at least 150 secrets with look-alikes.',
  },
  {
    id: 'RED-02',
    source: 'shell.md Process',
    state: 'met',
    text: 'No secret of a listed category survives, in whatever spelling it stands, and what surrounds it stays.',
  },
  {
    id: 'RED-03',
    source: 'shell.md Process',
    state: 'met',
    text: 'Text without secrets comes back byte for byte: digests, ids, public keys, placeholders, prose.',
  },
  {
    id: 'RED-04',
    source: 'shell.md Process',
    state: 'met',
    text: 'The categories are those of the design page and no others.',
  },
  { id: 'RED-05', source: 'shell.md Process', state: 'met', text: 'Redaction is idempotent.' },
  {
    id: 'RED-06',
    source: 'shell.md Process',
    state: 'met',
    text: 'JSON that could be read before redaction can be read after it.',
  },
  {
    id: 'RED-07',
    source: 'shell.md Numbers',
    state: 'met',
    text: 'Redaction is linear in the size of the text, also for texts made to hurt it.',
  },
  {
    id: 'RED-08',
    source: 'overview.md Command line',
    state: 'met',
    text: 'A stream is redacted as the whole would be, wherever it is cut; what is too long to hold is swallowed, not shown.',
  },
  {
    id: 'RED-09',
    source: 'overview.md Evidence',
    state: 'met',
    text: 'Data is redacted by name and by content and keeps its shape.',
  },
  {
    id: 'RED-10',
    source: 'overview.md Command line',
    state: 'met',
    text: 'writ redact reads stdin and writes stdout, as bytes, as JSON lines or as one document, and never shows what it could not read.',
  },
];
