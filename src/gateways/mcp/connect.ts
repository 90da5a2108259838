import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { Authority } from '../../authority/index.ts';
import { CODES, digestOf, parseJson, quoteArgv, WritError } from '../../core/index.ts';
import { baseEnvironment, type RunningProcess, start } from '../../sandbox/index.ts';
import type { ServerEntry } from './config.ts';

export interface ConnectDeps {
  readonly authority: Authority;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly baseDir: string;
  readonly maxBytes: number;
}

/** A line to one configured server. Starting its program takes a writ like everything else. */
export async function connectServer(
  server: ServerEntry,
  requester: string,
  deps: ConnectDeps,
): Promise<Transport> {
  if (server.url !== undefined) {
    const headers = Object.entries(server.header_env).flatMap(([header, variable]) => {
      const value = deps.env[variable];
      return value === undefined ? [] : [[header, value] as const];
    });
    return new StreamableHTTPClientTransport(new URL(server.url), {
      requestInit: { headers: Object.fromEntries(headers) },
    }) as Transport;
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
  const passed = server.pass_env.flatMap((name) =>
    deps.env[name] === undefined ? [] : [[name, deps.env[name]]],
  );
  const env = baseEnvironment({ ...Object.fromEntries(passed), ...server.env }, deps.env);
  return stdioTransport(await start(granted.writ, { argv, cwd, env }), deps.maxBytes);
}

/**
 * JSON-RPC lines over a process. Messages are handed over one by one and the next is read when the last was
 * taken: a server that floods waits for its reader. A line beyond the limit ends the server.
 */
function stdioTransport(child: RunningProcess, maxBytes: number): Transport {
  let closed = false;
  const transport: Transport & { take?: (message: JSONRPCMessage) => unknown } = {
    start: async () => {
      void read();
      child.stderr.resume();
    },
    send: async (message) => {
      if (closed) throw new Error('the server has ended');
      const line = `${JSON.stringify(message)}\n`;
      if (!child.stdin.write(line))
        await Promise.race([new Promise((resolve) => child.stdin.once('drain', resolve)), child.exited]);
    },
    close: async () => {
      await child.stop();
      end();
    },
  };
  const end = () => {
    if (closed) return;
    closed = true;
    transport.onclose?.();
  };
  const read = async () => {
    let held: Buffer[] = [];
    let size = 0;
    try {
      for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
        let from = 0;
        for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
          const line = Buffer.concat([...held, chunk.subarray(from, at)]).toString('utf8');
          held = [];
          size = 0;
          from = at + 1;
          const parsed = parseJson(line);
          // What is no JSON is the server's chatter: some print a banner.
          if (parsed.ok) await (transport.onmessage?.(parsed.value as unknown as JSONRPCMessage) as unknown);
        }
        held.push(chunk.subarray(from));
        size += chunk.length - from;
        if (size > maxBytes) throw new Error(`a message is larger than ${maxBytes} bytes`);
      }
    } catch (error) {
      transport.onerror?.(error as Error);
    }
    await child.stop();
    end();
  };
  return transport;
}
