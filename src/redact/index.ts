export { decodeBytes, encodeBytes, unfinished } from './bytes.ts';
export { type JsonRedaction, redactJson } from './json.ts';
export { redact } from './redact.ts';
export { type RedactionStream, redactionStream } from './stream.ts';
export { REDACTION_CATEGORIES, type Redaction, type RedactionCategory } from './types.ts';
