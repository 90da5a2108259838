import { z } from 'zod';
import { globMistake } from './glob.ts';
import { domainMistake } from './urls.ts';

/** The policy file. Strict: what is not known is refused, and every list is empty until it is written. */
const checked = (mistake: (text: string) => string | undefined) =>
  z.string().superRefine((text, context) => {
    const message = mistake(text);
    if (message !== undefined)
      context.addIssue({ code: 'custom', message: `"${text.slice(0, 60)}": ${message}` });
  });
const glob = checked(globMistake);
const domain = checked(domainMistake);
const word = z.string().trim().min(1).max(200);
const list = <T extends z.ZodType>(item: T) => z.array(item).max(10_000);
const bytes = z
  .int()
  .min(0)
  .max(1024 ** 3);
const seconds = z.number().positive().max(86_400);
const calls = z.int().min(0).max(1_000_000);

export const DEFAULT_MAX_BYTES = 1024 * 1024;

/** Keys every tool's block has, third-party tools included. */
export const commonRules = {
  max_calls: calls.optional(),
};

const paths = {
  allow_paths: list(glob).default([]),
  deny_paths: list(glob).default([]),
  allow_hidden: z.boolean().default(false),
};

export const fsRules = z.strictObject({
  ...paths,
  /** 0 means nothing at all, not "no limit". */
  max_size_bytes: bytes.default(DEFAULT_MAX_BYTES),
  allow_hard_links: z.boolean().default(false),
  require_approval: z.union([z.boolean(), list(glob)]).default(false),
  ...commonRules,
});

export const httpRules = z.strictObject({
  allow_domains: list(domain).default([]),
  deny_domains: list(domain).default([]),
  deny_private_ips: z.boolean().default(true),
  max_response_bytes: bytes.default(DEFAULT_MAX_BYTES),
  max_redirects: z.int().min(0).max(20).default(5),
  timeout_seconds: seconds.default(30),
  require_approval: z.union([z.boolean(), list(domain)]).default(false),
  ...commonRules,
});

/** Keys by which a block says for itself which files a process sees. */
export const seenFiles = {
  deny_paths: list(glob).optional(),
  allow_hidden: z.boolean().optional(),
};

export const shellRules = z.strictObject({
  allow_executables: list(word).default([]),
  /** Programs trusted to run code that cannot be looked through. */
  allow_interpreters: list(word).default([]),
  deny_tokens: list(word).default([]),
  default_deny_tokens: z.boolean().default(true),
  allow_env: list(word).default([]),
  /** Files a command may be given; without these keys what fs.read and fs.write allow, or the working folder. */
  allow_paths: list(glob).optional(),
  ...seenFiles,
  sandbox: z.enum(['workspace', 'none']).default('workspace'),
  network: z.enum(['none', 'host']).default('none'),
  timeout_seconds: seconds.default(30),
  max_output_bytes: bytes.default(DEFAULT_MAX_BYTES),
  require_approval: z.union([z.boolean(), list(word)]).default(false),
  ...commonRules,
});

export const policyCase = z.strictObject({
  name: z.string().min(1).max(200).optional(),
  tool: word,
  args: z.record(z.string(), z.json()),
  expect: z.enum(['allow', 'deny', 'require_approval']),
  /** The rule that must decide, such as `deny_paths`. */
  rule: word.optional(),
});

export const builtinRules = {
  'fs.read': fsRules,
  'fs.write': fsRules,
  'http.get': httpRules,
  'shell.run': shellRules,
};

/** The schema of a whole policy, with the blocks of the tools that are known. */
export function policySchema(others: Readonly<Record<string, z.ZodType>> = {}) {
  const blocks: Record<string, z.ZodType> = { ...builtinRules, ...others };
  const optional = Object.fromEntries(
    Object.entries(blocks).map(([name, block]) => [name, block.optional()]),
  );
  return z.strictObject({
    version: z.literal('1.0').optional(),
    name: z.string().max(200).optional(),
    description: z.string().max(2000).optional(),
    boundary: z.literal('deny_by_default').default('deny_by_default'),
    tools: z.strictObject(optional).default({}),
    global_timeout_seconds: seconds.default(300),
    max_calls_per_tool: calls.optional(),
    cases: z.array(policyCase).max(10_000).default([]),
  });
}

export type FsRules = z.infer<typeof fsRules>;
export type HttpRules = z.infer<typeof httpRules>;
export type ShellRules = z.infer<typeof shellRules>;
export type PolicyCase = z.infer<typeof policyCase>;
export type Policy = z.infer<ReturnType<typeof policySchema>>;
