/** The fixtures that the conformance suite asks a server for, on the official SDK and loopback. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  CreateMessageResultSchema,
  ElicitResultSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
  SetLevelRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const text = (said: string) => ({ type: 'text' as const, text: said });
const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' };
const embedded = (uri: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType: 'text/plain', text: 'embedded' },
});
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const TOOLS = [
  'test_simple_text',
  'test_image_content',
  'test_audio_content',
  'test_embedded_resource',
  'test_multiple_content_types',
  'test_tool_with_logging',
  'test_error_handling',
  'test_tool_with_progress',
  'test_sampling',
  'test_elicitation',
  'test_elicitation_sep1034_defaults',
  'test_elicitation_sep1330_enums',
  'test_reconnection',
];
const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: {
    address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
  },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
};
const DEFAULTS = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
};
const ENUMS = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: {
      type: 'string',
      oneOf: [
        { const: 'value1', title: 'First Option' },
        { const: 'value2', title: 'Second Option' },
      ],
    },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: {
      type: 'array',
      items: {
        anyOf: [
          { const: 'value1', title: 'First Choice' },
          { const: 'value2', title: 'Second Choice' },
        ],
      },
    },
  },
};

function conformanceServer(): Server {
  const server = new Server(
    { name: 'conformance-fixtures', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: { listChanged: true },
        logging: {},
        completions: {},
      },
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, async () => ({
    tools: [
      ...TOOLS.map((name) => ({
        name,
        description: `fixture ${name}`,
        inputSchema: {
          type: 'object' as const,
          properties: { prompt: { type: 'string' }, message: { type: 'string' } },
        },
      })),
      { name: 'json_schema_2020_12_tool', description: 'a schema of 2020-12', inputSchema: SCHEMA },
    ],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const log = (data: string) =>
      extra.sendNotification({ method: 'notifications/message', params: { level: 'info', data } });
    const elicit = async (requestedSchema: object) => {
      const message = String(params.arguments?.message ?? 'please');
      const answer = await extra.sendRequest(
        { method: 'elicitation/create', params: { message, requestedSchema } } as never,
        ElicitResultSchema,
      );
      return {
        content: [
          text(`User response: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`),
        ],
      };
    };
    switch (params.name) {
      case 'test_simple_text':
        return { content: [text('This is a simple text response for testing.')] };
      case 'test_image_content':
        return { content: [image] };
      case 'test_audio_content':
        return { content: [{ type: 'audio' as const, data: WAV, mimeType: 'audio/wav' }] };
      case 'test_embedded_resource':
        return { content: [embedded('test://embedded-resource')] };
      case 'test_multiple_content_types':
        return {
          content: [text('Multiple content types test:'), image, embedded('test://mixed-content-resource')],
        };
      case 'test_tool_with_logging':
        for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
          await log(line);
          await pause(50);
        }
        return { content: [text('logged')] };
      case 'test_error_handling':
        return { isError: true, content: [text('This tool intentionally returns an error for testing')] };
      case 'test_tool_with_progress':
        for (const progress of [0, 50, 100]) {
          const progressToken = extra._meta?.progressToken ?? 0;
          await extra.sendNotification({
            method: 'notifications/progress',
            params: { progressToken, progress, total: 100 },
          });
          await pause(50);
        }
        return { content: [text('done')] };
      case 'test_sampling': {
        const messages = [{ role: 'user', content: text(String(params.arguments?.prompt ?? 'x')) }];
        const answer = await extra.sendRequest(
          { method: 'sampling/createMessage', params: { messages, maxTokens: 100 } } as never,
          CreateMessageResultSchema,
        );
        return { content: [text(`LLM response: ${JSON.stringify(answer.content)}`)] };
      }
      case 'test_elicitation':
        return elicit({
          type: 'object',
          properties: { username: { type: 'string' }, email: { type: 'string' } },
          required: ['username', 'email'],
        });
      case 'test_elicitation_sep1034_defaults':
        return elicit(DEFAULTS);
      case 'test_elicitation_sep1330_enums':
        return elicit(ENUMS);
      default:
        return { content: [text(JSON.stringify(params.arguments ?? {}))] };
    }
  });
  server.setRequestHandler(ListResourcesRequestSchema, async () => ({
    resources: ['test://static-text', 'test://static-binary', 'test://watched-resource'].map((uri) => ({
      uri,
      name: uri,
      mimeType: 'text/plain',
      description: uri,
    })),
  }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, async () => ({
    resourceTemplates: [
      { uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' },
    ],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
    if (id !== undefined)
      return {
        contents: [
          {
            uri,
            mimeType: 'application/json',
            text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
          },
        ],
      };
    if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: PNG }] };
    return {
      contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
    };
  });
  server.setRequestHandler(SubscribeRequestSchema, async () => ({}));
  server.setRequestHandler(UnsubscribeRequestSchema, async () => ({}));
  server.setRequestHandler(SetLevelRequestSchema, async () => ({}));
  server.setRequestHandler(CompleteRequestSchema, async () => ({
    completion: { values: ['paris', 'park'], total: 2, hasMore: false },
  }));
  server.setRequestHandler(ListPromptsRequestSchema, async () => ({
    prompts: [
      { name: 'test_simple_prompt', description: 'simple' },
      {
        name: 'test_prompt_with_arguments',
        description: 'args',
        arguments: [
          { name: 'arg1', required: true, description: 'first' },
          { name: 'arg2', required: true, description: 'second' },
        ],
      },
      {
        name: 'test_prompt_with_embedded_resource',
        description: 'resource',
        arguments: [{ name: 'resourceUri', required: true, description: 'uri' }],
      },
      { name: 'test_prompt_with_image', description: 'image' },
    ],
  }));
  server.setRequestHandler(GetPromptRequestSchema, async ({ params: { name, arguments: args } }) => {
    const user = (content: ReturnType<typeof text> | typeof image | ReturnType<typeof embedded>) => ({
      role: 'user' as const,
      content,
    });
    if (name === 'test_prompt_with_arguments')
      return { messages: [user(text(`Prompt with arguments: arg1='${args?.arg1}', arg2='${args?.arg2}'`))] };
    if (name === 'test_prompt_with_embedded_resource')
      return {
        messages: [
          user(embedded(String(args?.resourceUri))),
          user(text('Please process the embedded resource above.')),
        ],
      };
    if (name === 'test_prompt_with_image')
      return { messages: [user(image), user(text('Please analyze the image above.'))] };
    return { messages: [user(text('This is a simple prompt for testing.'))] };
  });
  return server;
}

/** Streamable HTTP on an ephemeral loopback port; foreign hosts are refused, as the suite wants. */
export async function startConformanceServer() {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const http = createServer(async (req, res) => {
    if (
      !/^(127\.0\.0\.1|localhost):\d+$/.test(req.headers.host ?? '') ||
      (req.headers.origin !== undefined &&
        !/^http:\/\/(127\.0\.0\.1|localhost)(:\d+)?$/.test(req.headers.origin))
    ) {
      res.writeHead(403).end();
      return;
    }
    const known = sessions.get(String(req.headers['mcp-session-id'] ?? ''));
    if (known) return known.handleRequest(req, res);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await conformanceServer().connect(transport as unknown as Transport);
    return transport.handleRequest(req, res);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
