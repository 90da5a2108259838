import { z } from 'zod';

/** One request on stdin, one answer on the last line of stdout, marked so that prints of the tool do not count. */
export type HostRequest =
  | { readonly do: 'describe' }
  | {
      readonly do: 'judge' | 'execute';
      readonly args: unknown;
      readonly rules: unknown;
      readonly working_dir: string;
    };

export interface HostMessage {
  readonly mark: string;
  readonly request: HostRequest;
}

export const TOOL_NAME = /^[a-z][a-z0-9_-]{0,30}(\.[a-z][a-z0-9_-]{0,30}){1,3}$/;

const jsonObject = z.record(z.string(), z.json());

export const description = z.strictObject({
  name: z.string().regex(TOOL_NAME, 'a tool is named like my.tool, in lower case'),
  description: z.string().max(500),
  args: jsonObject,
  rules: jsonObject,
});

export const verdict = z.union([
  z.strictObject({ verdict: z.literal('allow') }),
  z.strictObject({
    verdict: z.enum(['deny', 'require_approval']),
    rule: z.string().max(100),
    reason: z.string().max(2000),
  }),
]);

export const outcome = z.union([
  z.strictObject({ ok: z.literal(true), data: z.json() }),
  z.strictObject({ ok: z.literal(false), error: z.string().max(10_000) }),
]);

export type Description = z.infer<typeof description>;
