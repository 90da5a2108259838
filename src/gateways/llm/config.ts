import { z } from 'zod';
import { listenMistake, listenSchema } from '../http-server.ts';
import { policySchema } from '../policies.ts';
import { telemetrySchema } from '../telemetry.ts';

/** What `writ gateway llm --config` reads. Unknown keys are refused by the reader. */
const name = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,99}$/, 'must be a short name of letters, digits, dots and dashes');
const pattern = z.string().min(1).max(200);
const literal = z.string().min(1).max(500);
const count = z.number().int().positive();

const budget = z.strictObject({
  per: z.enum(['hour', 'day', 'month', 'ever']).default('day'),
  tokens: count.optional(),
  requests: count.optional(),
  usd: z.number().positive().optional(),
});

const caller = z.strictObject({
  name,
  /** SHA-256 of the token, in hexadecimal: `printf %s "$TOKEN" | sha256sum`. */
  token_sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hexadecimal'),
  models: z.array(pattern).min(1, 'name the models this caller may use; "*" for all'),
  budget: budget.optional(),
  requests_per_minute: count.optional(),
});

const provider = z.strictObject({
  name,
  protocol: z.enum(['openai', 'gemini']),
  base_url: z.url({ protocol: /^https?$/ }),
  /** Environment variable that holds the key; without it requests go out without one. */
  key_env: z
    .string()
    .regex(/^[A-Za-z_]\w*$/)
    .optional(),
});

const target = z.strictObject({
  provider: name,
  model: z.string().min(1).max(200).optional(),
  weight: z.number().positive().default(1),
  tier: z.number().int().min(0).default(0),
  usd_per_million: z.strictObject({ input: z.number().min(0), output: z.number().min(0) }).optional(),
});

/** Which requests are spoken of, beside the model. */
const selector = {
  callers: z.array(pattern).min(1).optional(),
  operations: z.array(pattern).min(1).optional(),
  /** Tools offered in the request, or called in the response. */
  tools: z.array(pattern).min(1).optional(),
  /** Any of these texts, whatever the letter case. */
  contains: z.array(literal).min(1).optional(),
  larger_than_chars: z.number().int().min(0).optional(),
};

/** The first route that fits a request serves it. */
const route = z.strictObject({
  models: z.array(pattern).min(1),
  ...selector,
  strategy: z.enum(['fallback', 'round_robin', 'weighted', 'cost', 'safety_tier']).default('fallback'),
  targets: z.array(target).min(1).max(32),
  /** Further attempts after an error and before the first byte, on the next target in order. */
  retries: z.number().int().min(0).max(10).default(0),
});

const rule = z.strictObject({
  name,
  on: z.enum(['request', 'response']).default('request'),
  verdict: z.enum(['allow', 'warn', 'require_approval', 'deny']),
  reason: z.string().max(500).optional(),
  role: z.string().min(1).max(100).optional(),
  models: z.array(pattern).min(1).optional(),
  ...selector,
});

const rewrite = z.strictObject({ name, replace: literal, with: z.string().max(2000) });

export const llmConfigSchema = z.strictObject({
  listen: listenSchema.prefault({}),
  callers: z.array(caller).default([]),
  providers: z.array(provider).min(1),
  routes: z.array(route).min(1),
  /** What happens to a request or response that no rule speaks of. */
  default: z.enum(['allow', 'deny']).default('deny'),
  rules: z.array(rule).default([]),
  /** OPA, beside the rules, on requests; `response_policies` on answers. */
  policies: z.array(policySchema).default([]),
  response_policies: z.array(policySchema).default([]),
  rewrites: z.array(rewrite).default([]),
  limits: z
    .strictObject({
      body_bytes: count.default(8 * 1024 * 1024),
      response_bytes: count.default(32 * 1024 * 1024),
      concurrency: count.default(1000),
      /** Without a byte from the provider. */
      upstream_timeout_seconds: z.number().positive().default(300),
      /** From the first byte of the request to the last of the answer. */
      call_timeout_seconds: z.number().positive().max(86_400).default(1800),
      /** How long this very call waits for a person, and how long a person may take in all. */
      approval_wait_seconds: z.number().min(0).default(60),
      approval_life_seconds: z
        .number()
        .positive()
        .default(4 * 60 * 60),
      default_output_tokens: count.default(4096),
    })
    .prefault({}),
  record: z.strictObject({ prompts: z.enum(['digest', 'redacted']).default('digest') }).prefault({}),
  /** Redacts answers too; every answer changed so says it on the record, whole ones in a header as well. */
  redact_responses: z.boolean().default(false),
  seed: z.number().int().default(1),
  /** Lines on stderr: one a request, only for those that failed, or none. */
  log: z.enum(['requests', 'failures', 'none']).default('requests'),
  telemetry: telemetrySchema.optional(),
});

export type LlmConfig = z.output<typeof llmConfigSchema>;
export type LlmConfigInput = z.input<typeof llmConfigSchema>;
export type Caller = LlmConfig['callers'][number];
export type LlmRule = LlmConfig['rules'][number];
export type Route = LlmConfig['routes'][number];
export type Target = Route['targets'][number];
export type Provider = LlmConfig['providers'][number];

/** Mistakes that one entry alone cannot show. */
export function configMistake(config: LlmConfig): string | undefined {
  const providers = new Set(config.providers.map((p) => p.name));
  for (const list of [config.providers, config.callers, config.rules] as const) {
    const names = list.map((entry) => entry.name);
    const twice = names.find((entry, i) => names.indexOf(entry) !== i);
    if (twice !== undefined) return `the name ${twice} stands twice`;
  }
  const unknown = config.routes.flatMap((r) => r.targets).find((t) => !providers.has(t.provider));
  if (unknown) return `a route names the provider ${unknown.provider}, which is not configured`;
  return listenMistake(config.listen);
}

/** Where the providers are when nobody says otherwise. */
export const PROVIDER_URLS = {
  gemini: 'https://generativelanguage.googleapis.com',
  openai: 'https://api.openai.com/v1',
} as const;
