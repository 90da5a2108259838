export { type JsonRedaction, redactJson } from './json.ts';
export { redact } from './redact.ts';
export { REDACTION_CATEGORIES, type Redaction, type RedactionCategory } from './types.ts';
