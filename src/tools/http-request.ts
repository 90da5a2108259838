import { Client } from 'undici';
import { CODES, type JsonObject } from '../core/index.ts';
import { compileDomains, type Finding, type HttpRules } from '../policy/index.ts';
import { connectTo, judgedAddress } from './http-address.ts';
import { type Body, readBody } from './http-body.ts';
import { type HttpArgs, needsYes } from './http-get.ts';
import { credentials, hostOf, withoutCredentials } from './http-url.ts';
import { failed, type ToolContext, type ToolOutput } from './tool.ts';

/** Headers that say what form of answer is wanted; all others may be meant for the first server only. */
const SHAREABLE = /^(accept|accept-language|cache-control|pragma|range|if-.*|user-agent)$/i;

/**
 * Follows redirects by hand: each hop is judged as if the plan had asked for it. A yes was given for the host
 * the plan named, so a hop to another that needs one is denied: nobody can be asked any more.
 */
export async function follow(
  wanted: HttpArgs,
  context: ToolContext<HttpRules>,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const { rules, ground } = context;
  const judge = compileDomains(rules);
  let url = new URL(wanted.url);
  let headers: Record<string, string> = { ...wanted.headers };
  const redirects: string[] = [];
  for (;;) {
    const finding = judge.url(url) ?? unasked(url, new URL(wanted.url), rules);
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
    if (next.origin !== url.origin)
      headers = Object.fromEntries(Object.entries(headers).filter(([name]) => SHAREABLE.test(name)));
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

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}

function unasked(url: URL, asked: URL, rules: HttpRules): Finding | undefined {
  if (url.host === asked.host || !needsYes(rules, url)) return undefined;
  const reason = `${url.host} needs a person's yes: ask for that address itself`;
  return { verdict: 'deny', rule: 'require_approval', at: ['require_approval'], reason };
}

function afterRedirect(finding: Finding, redirects: readonly string[]): Finding {
  return redirects.length === 0
    ? finding
    : { ...finding, reason: `redirected to ${redirects.at(-1)}: ${finding.reason}` };
}
