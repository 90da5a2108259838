import { Client } from 'undici';
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
import { connectTo, judgedAddress } from './http-address.ts';
import { type Body, readBody } from './http-body.ts';
import { defineTool, failed, type ToolContext, type ToolOutput } from './tool.ts';

const seconds = z.number().positive().max(86_400).optional();
const args = z.strictObject({
  url: z.string().max(8192),
  headers: z.record(z.string().max(200), z.string().max(8192)).default({}),
  /** Can only shorten the policy's. */
  timeout_seconds: seconds,
  timeout: seconds,
});
type Args = z.infer<typeof args>;

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

function judgeCall(call: Args, rules: HttpRules, judge: JudgeUrl): Finding {
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
  const ask = rules.require_approval;
  if (ask === true || (ask !== false && matchesDomain(ask, url)))
    return {
      verdict: 'require_approval',
      rule: 'require_approval',
      at: ['require_approval'],
      reason: `${url.host} needs a person's yes`,
      mend: { op: 'set', at: ['require_approval'], value: false },
    };
  return PASSED;
}

/** Follows redirects by hand: each hop is judged as if the plan had asked for it. */
async function follow(
  wanted: Args,
  context: ToolContext<HttpRules>,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const { rules, ground } = context;
  const judge = compileDomains(rules);
  let url = new URL(wanted.url);
  let headers: Record<string, string> = { ...wanted.headers };
  const redirects: string[] = [];
  for (;;) {
    const finding = judge.url(url);
    if (finding) return { status: 'denied', finding: afterRedirect(finding, redirects) };
    const judged = await judgedAddress(hostOf(url), judge, ground.dnsServers, signal);
    if ('finding' in judged) return { status: 'denied', finding: afterRedirect(judged.finding, redirects) };
    if ('error' in judged) return failed(CODES.tool_failed, judged.error, 'check the name');
    const answer = await request(url, headers, judged.address, rules, signal);
    if ('finding' in answer) return { status: 'denied', finding: answer.finding };
    if (answer.location === undefined) return { status: 'success', data: resultOf(url, answer, redirects) };
    if (redirects.length >= rules.max_redirects)
      return failed(
        CODES.tool_failed,
        `more than ${rules.max_redirects} redirects`,
        'ask for the final address, or raise max_redirects',
      );
    const next = new URL(answer.location, url);
    // Credentials were meant for the first server only.
    if (next.origin !== url.origin)
      headers = Object.fromEntries(
        Object.entries(headers).filter(([name]) => !/^(authorization|cookie)$/i.test(name)),
      );
    redirects.push(withoutCredentials(next));
    url = next;
  }
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly location: string | undefined;
}

async function request(
  url: URL,
  headers: Readonly<Record<string, string>>,
  address: string,
  rules: HttpRules,
  signal: AbortSignal,
): Promise<Answer | { readonly finding: Finding }> {
  // A client of its own for this one address: no pool, no proxy from the environment, no shared cookies.
  const client = new Client(url.origin, { connect: connectTo(address), maxHeaderSize: 32 * 1024 });
  try {
    const response = await client.request({
      method: 'GET',
      path: `${url.pathname}${url.search}`,
      headers: {
        'user-agent': 'writ',
        accept: '*/*',
        'accept-encoding': 'identity',
        ...credentials(url),
        ...headers,
      },
      signal,
    });
    const found = flat(response.headers);
    const location = [301, 302, 303, 307, 308].includes(response.statusCode) ? found.location : undefined;
    const declared = Number(found['content-length'] ?? 0);
    if (location === undefined && declared > rules.max_response_bytes)
      return {
        finding: {
          verdict: 'deny',
          rule: 'max_response_bytes',
          at: ['max_response_bytes'],
          reason: `the answer has ${declared} bytes, more than ${rules.max_response_bytes}`,
        },
      };
    const body =
      location === undefined
        ? await readBody(response.body, found['content-encoding'], rules.max_response_bytes)
        : { bytes: Buffer.alloc(0), truncated: false };
    return { status: response.statusCode, headers: found, body, location };
  } finally {
    await client.destroy();
  }
}

function resultOf(url: URL, answer: Answer, redirects: readonly string[]): JsonObject {
  const { bytes, truncated } = answer.body;
  return {
    url: withoutCredentials(url),
    status: answer.status,
    headers: answer.headers,
    ...text(bytes, truncated),
    size_bytes: bytes.length,
    truncated,
    redirects,
  };
}

/** Text when it is UTF-8 (a cut may split the last character), base64 otherwise. */
function text(bytes: Buffer, truncated: boolean): { readonly body: string; readonly encoding: string } {
  try {
    return {
      body: new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: truncated }),
      encoding: 'utf-8',
    };
  } catch {
    return { body: bytes.toString('base64'), encoding: 'base64' };
  }
}

function credentials(url: URL): Record<string, string> {
  if (url.username === '' && url.password === '') return {};
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

function withoutCredentials(url: URL): string {
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return bare.href;
}

function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}

function afterRedirect(finding: Finding, redirects: readonly string[]): Finding {
  return redirects.length === 0
    ? finding
    : { ...finding, reason: `redirected to ${redirects.at(-1)}: ${finding.reason}` };
}
