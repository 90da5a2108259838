import { z } from 'zod';
import { CODES, type JsonObject, messageOf } from '../core/index.ts';
import {
  compileDomains,
  type Finding,
  type HttpRules,
  httpRules,
  type JudgeUrl,
  matchesDomain,
  PASSED,
} from '../policy/index.ts';
import { callOf } from './action.ts';
import { withoutCredentials } from './http-url.ts';
import { defineTool, failed } from './tool.ts';

const seconds = z.number().positive().max(86_400).optional();
const args = z.strictObject({
  url: z.string().max(8192),
  headers: z.record(z.string().max(200), z.string().max(8192)).default({}),
  /** Can only shorten the policy's. */
  timeout_seconds: seconds,
  timeout: seconds,
});
export type HttpArgs = z.infer<typeof args>;

/** Headers that say how the message is carried or to whom: the client's own, not a plan's. */
const CARRIER =
  /^(host|connection|keep-alive|transfer-encoding|content-length|te|trailer|upgrade|expect|accept-encoding|proxy-.*)$/i;

export const httpGet = defineTool({
  name: 'http.get',
  description: 'gets a URL over http or https',
  effect: 'external',
  args,
  rules: httpRules,
  prepare: ({ url }): JsonObject => ({ url: URL.canParse(url) ? withoutCredentials(new URL(url)) : null }),
  evaluator: (rules) => {
    const judge = compileDomains(rules);
    return ({ args: call }) => judgeCall(call, rules, judge);
  },
  execute: async (writ, context) => {
    const { args: wanted } = callOf(writ, { name: 'http.get', args });
    writ.use(writ.action);
    const own = Math.min(
      ...[wanted.timeout_seconds, wanted.timeout].map((s) => s ?? Number.POSITIVE_INFINITY),
    );
    const limit = Math.min(context.timeoutMs, context.rules.timeout_seconds * 1000, own * 1000);
    const signal = AbortSignal.any([context.signal, AbortSignal.timeout(Math.ceil(limit))]);
    try {
      // The HTTP client is loaded when it is first needed: most plans never do.
      const { follow } = await import('./http-request.ts');
      return await follow(wanted, context, signal);
    } catch (error) {
      if (signal.aborted)
        return failed(
          CODES.tool_timeout,
          `no answer within ${limit / 1000} s`,
          'raise timeout_seconds in the policy',
        );
      return failed(
        CODES.tool_failed,
        `the request failed: ${messageOf(error)}`,
        'check the address and the server',
      );
    }
  },
});

function judgeCall(call: HttpArgs, rules: HttpRules, judge: JudgeUrl): Finding {
  const deny = (rule: string, reason: string): Finding => ({ verdict: 'deny', rule, at: [], reason });
  if (!URL.canParse(call.url)) return deny('scheme', 'this is not a whole URL: write https://host/path');
  const url = new URL(call.url);
  const finding = judge.url(url);
  if (finding) return finding;
  if (rules.max_response_bytes === 0)
    return deny('max_response_bytes', 'max_response_bytes is 0, so nothing is allowed');
  for (const [name, value] of Object.entries(call.headers))
    if (CARRIER.test(name) || !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[\r\n\0]/.test(value))
      return deny('headers', `a plan may not set the header ${JSON.stringify(name)}`);
  if (needsYes(rules, url))
    return {
      verdict: 'require_approval',
      rule: 'require_approval',
      at: ['require_approval'],
      reason: `${url.host} needs a person's yes`,
      mend: { op: 'set', at: ['require_approval'], value: false },
    };
  return PASSED;
}

/** Does this address need a person's yes? */
export function needsYes(rules: HttpRules, url: URL): boolean {
  const ask = rules.require_approval;
  return typeof ask === 'boolean' ? ask : matchesDomain(ask, url);
}
