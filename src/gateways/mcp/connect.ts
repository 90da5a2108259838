import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Authority } from '../../authority/index.ts';
import { CODES, digestOf, quoteArgv, WritError } from '../../core/index.ts';
import { baseEnvironment, start } from '../../sandbox/index.ts';
import type { ServerEntry } from './config.ts';
import { httpTransport } from './http-downstream.ts';
import { lineTransport } from './json-lines.ts';

export interface ConnectDeps {
  readonly authority: Authority;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly baseDir: string;
  readonly maxBytes: number;
}

/** A connection to one configured server. Starting its program takes a writ like everything else. */
export async function connectServer(
  server: ServerEntry,
  requester: string,
  deps: ConnectDeps,
): Promise<Transport> {
  const { env, maxBytes } = deps;
  if (server.url !== undefined) {
    const headers = Object.entries(server.header_env).flatMap(([header, variable]) => {
      const value = env[variable];
      return value === undefined ? [] : [[header.toLowerCase(), value] as const];
    });
    return httpTransport({ url: server.url, headers: Object.fromEntries(headers), maxBytes });
  }
  const argv = server.command ?? [];
  const cwd = server.cwd ?? deps.baseDir;
  const granted = await deps.authority.authorize({
    action: { kind: 'process.start', subject: quoteArgv(argv), detail: { argv, cwd, server: server.name } },
    evaluators: [
      {
        name: 'mcp.servers',
        evaluate: () => ({
          evaluator: 'mcp.servers',
          verdict: 'allow',
          rule: server.name,
          reason: 'this server is configured',
        }),
      },
    ],
    reasoning: `the MCP server ${server.name}`,
    requester,
    policyDigest: digestOf(server),
    whenApprovalNeeded: 'never',
  });
  if (granted.outcome !== 'granted') throw new WritError(CODES.denied, `${server.name} may not be started`);
  const passed = server.pass_env.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  const child = await start(granted.writ, {
    argv,
    cwd,
    env: baseEnvironment({ ...Object.fromEntries(passed), ...server.env }, env),
  });
  child.stderr.resume();
  return lineTransport({
    input: child.stdout,
    output: child.stdin,
    gone: child.exited,
    stop: child.stop,
    maxBytes,
  });
}
