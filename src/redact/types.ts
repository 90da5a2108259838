import type { Redacted } from '../core/index.ts';

export const REDACTION_CATEGORIES = [
  'api_key',
  'password',
  'bearer_token',
  'connection_string',
  'private_key',
  'subscription_id',
  'storage_key',
  'sas_token',
  'jwt',
  'aws_key',
  'gcp_key',
  'github_token',
  'slack_token',
  'basic_auth_url',
  'generic_secret',
] as const;
export type RedactionCategory = (typeof REDACTION_CATEGORIES)[number];

export interface Redaction {
  readonly text: Redacted;
  readonly count: number;
  readonly categories: readonly RedactionCategory[];
}
