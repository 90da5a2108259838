import { z } from 'zod';
import { listenMistake, listenSchema } from '../http-server.ts';
import { policySchema } from '../policies.ts';
import { telemetrySchema } from '../telemetry.ts';

/** What `writ gateway mcp --config` reads. Unknown keys are refused by the reader. */
const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,49}$/, 'must be a short name of letters, digits and dashes');
const pattern = z.string().min(1).max(200);
const patterns = z.array(pattern).min(1);
const count = z.number().int().positive();
const seconds = z.number().positive();

const server = z
  .strictObject({
    name,
    /** A program on this machine, spoken to on its stdin and stdout. */
    command: z.array(z.string().min(1)).min(1).optional(),
    cwd: z.string().optional(),
    env: z.record(z.string(), z.string()).default({}),
    /** Variables of our own environment that the server may see. */
    pass_env: z.array(z.string()).default([]),
    /** Or a server reached by streamable HTTP. */
    url: z.url({ protocol: /^https?$/ }).optional(),
    /** Headers whose values are in environment variables. */
    header_env: z.record(z.string(), z.string()).default({}),
    pinning: z.boolean().default(true),
  })
  .refine((s) => (s.command === undefined) !== (s.url === undefined), 'needs either "command" or "url"');

/** One value of the arguments; every condition given must hold. */
const condition = z
  .strictObject({
    equals: z.union([z.string(), z.number(), z.boolean(), z.null()]).optional(),
    one_of: z
      .array(z.union([z.string(), z.number(), z.boolean()]))
      .min(1)
      .optional(),
    matches: patterns.optional(),
    contains: z.array(z.string().min(1)).min(1).optional(),
    above: z.number().optional(),
    below: z.number().optional(),
    longer_than: z.number().int().min(0).optional(),
    not: z.boolean().default(false),
  })
  .refine((c) => Object.keys(c).length > 1, 'says nothing');
const conditions = z.record(z.string(), condition);

const selector = {
  callers: patterns.optional(),
  servers: patterns.optional(),
  methods: patterns.optional(),
  /** Names of tools and prompts, or the URI of a resource. */
  names: patterns.optional(),
  /** By dotted path into the arguments; `*` stands for any member or element. */
  arguments: conditions.optional(),
  larger_than_bytes: z.number().int().min(0).optional(),
  /** Holds for what a caller does beyond so many such requests a minute, in all its sessions together. */
  above_per_minute: count.optional(),
};

const rule = z.strictObject({
  name: z.string().min(1).max(100),
  verdict: z.enum(['allow', 'warn', 'require_approval', 'deny']),
  reason: z.string().max(500).optional(),
  role: z.string().min(1).max(100).optional(),
  /** What is judged: the request, or the answer to it. */
  on: z.enum(['request', 'response']).default('request'),
  ...selector,
  /** On responses: any of these texts in the answer, whatever the letter case. */
  contains: z.array(z.string().min(1).max(500)).min(1).optional(),
  /** Holds only once a call like this went through earlier in the session. */
  after: z
    .strictObject({
      servers: patterns.optional(),
      names: patterns.optional(),
      arguments: conditions.optional(),
    })
    .optional(),
});

const caller = z.strictObject({
  name,
  token_sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hexadecimal'),
  servers: patterns,
  names: patterns,
  requests_per_minute: count.optional(),
});

const workspace = z.strictObject({
  servers: patterns,
  /** Folders that paths must lie in. */
  roots: z.array(z.string().startsWith('/', 'must be an absolute path')).min(1),
  /** Arguments that are paths, by dotted path. */
  arguments: z.array(z.string().min(1)).min(1),
});

export const mcpConfigSchema = z.strictObject({
  listen: listenSchema.prefault({}),
  callers: z.array(caller).default([]),
  /** Name given to callers without a token: on stdio always, on HTTP only when this is set. */
  anonymous: name.optional(),
  servers: z.array(server).min(1).max(64),
  /** Put the server's name before the names of its tools and prompts. Default: with several servers. */
  prefix: z.boolean().optional(),
  default: z.enum(['allow', 'deny']).default('deny'),
  rules: z.array(rule).default([]),
  policies: z.array(policySchema).default([]),
  response_policies: z.array(policySchema).default([]),
  workspaces: z.array(workspace).default([]),
  responses: z
    .strictObject({
      max_bytes: count.default(4 * 1024 * 1024),
      redact: z.boolean().default(false),
      /** Texts that hold an answer back, whatever the letter case. */
      deny_contains: z.array(z.string().min(1).max(500)).default([]),
    })
    .prefault({}),
  limits: z
    .strictObject({
      message_bytes: count.default(4 * 1024 * 1024),
      sessions: count.default(200),
      calls_at_once: count.default(100),
      call_timeout_seconds: seconds.default(300),
      /** For a server's start: until it has answered `initialize`. */
      start_timeout_seconds: seconds.default(60),
      /** How often a server that ended is started again within five minutes. */
      server_restarts: z.number().int().min(0).default(5),
      approval_wait_seconds: z.number().min(0).default(45),
      approval_life_seconds: seconds.default(4 * 3600),
      session_idle_seconds: seconds.default(3600),
    })
    .prefault({}),
  /** Which requests leave a line in the log. */
  log: z.enum(['requests', 'failures', 'none']).default('requests'),
  telemetry: telemetrySchema.optional(),
});

export type McpConfig = z.output<typeof mcpConfigSchema>;
export type McpConfigInput = z.input<typeof mcpConfigSchema>;
export type McpRule = McpConfig['rules'][number];
export type ServerEntry = McpConfig['servers'][number];
export type Conditions = NonNullable<McpRule['arguments']>;
export type Condition = Conditions[string];

export function mcpConfigMistake(config: McpConfig): string | undefined {
  for (const list of [config.servers, config.callers, config.rules] as const) {
    const names = list.map((entry) => entry.name);
    const twice = names.find((entry, i) => names.indexOf(entry) !== i);
    if (twice !== undefined) return `the name ${twice} stands twice`;
  }
  if (config.servers.length > 1 && config.prefix === false)
    return 'several servers need prefix: true; their tools could not be told apart';
  const misplaced = config.rules.find((r) => r.on === 'request' && r.contains !== undefined);
  if (misplaced !== undefined)
    return `the rule ${misplaced.name}: "contains" is for rules with on: response; requests have "arguments"`;
  const counted = config.rules.find((r) => r.on === 'response' && r.above_per_minute !== undefined);
  if (counted !== undefined)
    return `the rule ${counted.name}: "above_per_minute" counts requests; leave on: response out`;
  return listenMistake(config.listen);
}
