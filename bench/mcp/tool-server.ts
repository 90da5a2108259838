/** A server of one tool on the official SDK, for measuring: `tool-server.ts` on stdio, `tool-server.ts http` on loopback. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

function echoServer(): Server {
  const server = new Server({ name: 'echo', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: 'echo', description: 'says it again', inputSchema: { type: 'object' } }],
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
    content: [{ type: 'text', text: JSON.stringify(params.arguments ?? {}) }],
  }));
  return server;
}

if (process.argv[2] === 'http') {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const server = createServer(async (req, res) => {
    const known = sessions.get(String(req.headers['mcp-session-id'] ?? ''));
    if (known) return known.handleRequest(req, res);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await echoServer().connect(transport as unknown as Transport);
    return transport.handleRequest(req, res);
  });
  server.listen(0, '127.0.0.1', () =>
    console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`),
  );
  process.once('SIGTERM', () => process.exit(0));
} else await echoServer().connect(new StdioServerTransport() as Transport);
