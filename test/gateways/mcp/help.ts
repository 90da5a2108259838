import { fileURLToPath } from 'node:url';
import { Client, type ClientOptions } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterEach, beforeEach } from 'vitest';
import type { JsonObject } from '../../../src/core/index.ts';
import { createMcpGateway, type McpConfigInput } from '../../../src/gateways/mcp/index.ts';
import { gatewayState } from '../state.ts';

export const NODE = process.execPath;
export const odd = fileURLToPath(new URL('./odd-server.ts', import.meta.url));
export const oddServer = (flavour = 'plain', name = 'odd') => ({
  name,
  command: [NODE, odd],
  env: { ODD_TOOLS: flavour },
});
export const serverFrom = (name: string) =>
  fileURLToPath(
    new URL(`../../../node_modules/@modelcontextprotocol/${name}/dist/index.js`, import.meta.url),
  );
export const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]!.text;
export const call = (client: Client, name: string, args: Record<string, unknown> = {}, options = {}) =>
  client.callTool({ name, arguments: args }, undefined, options);

const CAPABILITIES: ClientOptions = { capabilities: { sampling: {}, elicitation: {}, roots: {} } };

/** A state folder for each test, gateways and clients on it, all gone at its end. */
export function gateways() {
  let state: Awaited<ReturnType<typeof gatewayState>>;
  const ends: (() => Promise<unknown>)[] = [];
  const lines: JsonObject[] = [];
  beforeEach(async () => {
    state = await gatewayState();
    lines.length = 0;
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    await state.close();
  });

  const gatewayOf = (config: McpConfigInput) => {
    const gateway = createMcpGateway(config, {
      ...state.deps,
      database: state.database,
      env: process.env,
      baseDir: state.dir,
      log: (line) => void lines.push(line),
    });
    ends.push(gateway.close);
    return gateway;
  };

  const connected = async (transport: Transport, prepare: (client: Client) => void) => {
    const client = new Client({ name: 'test', version: '1' }, CAPABILITIES);
    prepare(client);
    await client.connect(transport);
    ends.push(() => client.close());
    return client;
  };

  return {
    get state() {
      return state;
    },
    /** What the gateways logged. */
    lines,
    gatewayOf,
    later: (end: () => Promise<unknown>) => void ends.push(end),
    /** A client of a gateway of its own, which allows unless the configuration says otherwise. */
    clientOf: async (config: McpConfigInput, prepare: (client: Client) => void = () => undefined) => {
      const gateway = gatewayOf({ default: 'allow', ...config });
      const [mine, theirs] = InMemoryTransport.createLinkedPair();
      await gateway.attach(theirs as Transport);
      return connected(mine as Transport, prepare);
    },
    httpClient: async (
      url: string,
      token?: string,
      prepare: (client: Client) => void = () => undefined,
      fetching: typeof fetch = fetch,
    ) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const options = { requestInit: { headers }, fetch: fetching };
      const transport = new StreamableHTTPClientTransport(new URL(url), options);
      return { client: await connected(transport as Transport, prepare), transport };
    },
  };
}
