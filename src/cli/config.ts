import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readDocument } from '../core/document.ts';
import { CODES } from '../core/index.ts';

/** `writ.yaml`: flags win over the environment, the environment over this file, this file over defaults. */
const duration = z.string().regex(/^\d+(s|m|h|d)$/, 'write a duration such as 30s, 10m, 4h or 2d');
const name = z.string().min(1).max(200);

export const configSchema = z.strictObject({
  state_dir: name.optional().describe('where runs, approvals, flights and keys live; default .writ'),
  audit_dir: name.optional().describe('where investigations leave their records; default audit'),
  users: z
    .record(name, z.strictObject({ roles: z.array(name).min(1) }))
    .optional()
    .describe('who may approve, and in which roles; without it names are recorded as asserted'),
  approvals: z
    .strictObject({ expires: duration.optional(), allow_self_approval: z.boolean().optional() })
    .optional(),
  default_decision: z
    .enum(['warn', 'require_approval', 'deny'])
    .optional()
    .describe('verdict for a flight step that no rule and no policy speaks to; default warn'),
  aggregation: z.enum(['most_restrictive', 'unanimous', 'majority', 'any_deny', 'all_allow']).optional(),
  shell: z
    .strictObject({
      anonymize: z.boolean().optional().describe('replace private addresses and resource ids in outputs'),
      timeout_seconds: z.number().int().min(1).max(3600).optional(),
      az_timeout_seconds: z.number().int().min(1).max(3600).optional(),
      program_path: z
        .array(name)
        .max(16)
        .optional()
        .describe("folders whose programs may be run by name, before the system's own, e.g. that of az"),
    })
    .optional(),
  capture: z
    .strictObject({
      storage_account: name.optional(),
      resource_group: name.optional(),
      location: name.optional(),
      storage_auth_mode: z.enum(['login', 'key']).optional(),
      storage_container: name.optional(),
    })
    .optional()
    .describe("the investigator's own infrastructure for packet captures; never taken from a symptom's text"),
  brain: z
    .strictObject({
      name: z.enum(['gemini', 'openai', 'playbook']).optional(),
      model: name.optional(),
      base_url: z.url().optional(),
    })
    .optional(),
  tools: z.array(name).optional().describe('third-party tools, by the path of their file'),
});

export type Config = z.infer<typeof configSchema>;

/** The configuration of a folder; an absent file is an empty one, an invalid one stops the program. */
export function loadConfig(folder: string): Config {
  const file = join(folder, 'writ.yaml');
  if (!existsSync(file)) return {};
  return readDocument(readFileSync(file, 'utf8') || '{}', configSchema, { file, code: CODES.invalid_config })
    .value;
}

const unit = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export function durationMs(text: string): number {
  return Number(text.slice(0, -1)) * unit[text.at(-1) as keyof typeof unit];
}
