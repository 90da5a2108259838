/**
 * A server on bare JSON-RPC that uses everything the protocol has, with fields nobody knows strewn in.
 * Writes each message it receives to the file named by `RICH_LOG`, so that what arrives can be compared.
 */
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

type Message = { [key: string]: unknown };
const log = process.env.RICH_LOG ?? '/dev/null';
const send = (message: Message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const notify = (method: string, params?: Message) =>
  send(params === undefined ? { method } : { method, params });
const waiting = new Map<string, (answer: Message) => void>();
let asked = 0;
const ask = (method: string, params?: Message) =>
  new Promise<Message>((resolve) => {
    const id = `q${++asked}`;
    waiting.set(id, resolve);
    send({ id, method, ...(params === undefined ? {} : { params }) });
  });

const TOOLS = Array.from({ length: 120 }, (_, i) => ({
  name: `tool-${i}`,
  title: `Tool ${i}`,
  description: 'ünïcödé ✓ 漢字',
  inputSchema: { type: 'object', properties: { a: { type: 'integer' } }, $defs: { x: true } },
  outputSchema: { type: 'object', properties: { sum: { type: 'number' } } },
  annotations: { readOnlyHint: i % 2 === 0, openWorldHint: false, futureHint: 'kept' },
  icons: [{ src: 'data:image/png;base64,iVBORw0KGgo=', sizes: ['48x48'] }],
  execution: { taskSupport: 'optional' },
  _meta: { 'x.example/m': { deep: [1, null, { y: 1e-7 }] } },
  unknownField: { kept: true },
}));
const CONTENT = [
  {
    type: 'text',
    text: 'tab\there "quoted" \u0000 \u{1F600}',
    annotations: { audience: ['user'], priority: 0.5 },
  },
  { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png', _meta: { a: 1 } },
  { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
  {
    type: 'resource_link',
    uri: 'rich://link',
    name: 'link',
    size: 7,
    annotations: { lastModified: '2026-01-01T00:00:00Z' },
  },
  {
    type: 'resource',
    resource: { uri: 'rich://blob', mimeType: 'application/octet-stream', blob: 'AAEC/w==' },
  },
  { type: 'hologram', future: [1, 2, 3] },
];

const ANSWERS: { [method: string]: (params: Message) => Message | Promise<Message> } = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: { listChanged: true },
      completions: {},
      logging: {},
      tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } },
      experimental: { 'x.example/thing': { on: true } },
      futureCapability: { level: 3 },
    },
    serverInfo: { name: 'rich', version: '1', title: 'Rich', websiteUrl: 'https://rich.example', icons: [] },
    instructions: 'be kind\nand careful',
    _meta: { greeting: true },
  }),
  ping: () => ({}),
  'tools/list': ({ cursor }) => {
    const at = Number(cursor ?? 0);
    const next = at + 50 < TOOLS.length ? { nextCursor: String(at + 50) } : {};
    return { tools: TOOLS.slice(at, at + 50), ...next, _meta: { page: at } };
  },
  'resources/list': () => ({
    resources: [{ uri: 'rich://one', name: 'one', size: 3, annotations: { priority: 1 } }],
  }),
  'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'rich://t/{id}', name: 't' }] }),
  'resources/read': ({ uri }) => ({
    contents: [
      { uri, mimeType: 'text/plain', text: 'words' },
      { uri, mimeType: 'image/png', blob: 'iVBORw0KGgo=', _meta: { b: 2 } },
    ],
  }),
  'resources/subscribe': ({ uri }) => {
    setImmediate(() => notify('notifications/resources/updated', { uri, title: 'new' }));
    return {};
  },
  'resources/unsubscribe': () => ({}),
  'prompts/list': () => ({
    prompts: [{ name: 'p', arguments: [{ name: 'x', required: true }], _meta: { c: 3 } }],
  }),
  'prompts/get': () => ({ description: 'd', messages: [{ role: 'user', content: CONTENT[4] }] }),
  'completion/complete': () => ({ completion: { values: ['a', 'b'], total: 100, hasMore: true } }),
  'logging/setLevel': ({ level }) => {
    notify('notifications/message', { level, logger: 'rich', data: { any: ['thing', null] } });
    return {};
  },
  'tools/call': (params) => call(params),
  'tasks/get': ({ taskId }) => ({
    taskId,
    status: 'working',
    ttl: null,
    createdAt: '2026-01-01T00:00:00Z',
    pollInterval: 5,
  }),
  'tasks/list': () => ({ tasks: [{ taskId: 't1', status: 'working' }], nextCursor: 'more' }),
  'tasks/result': ({ taskId }) => ({
    content: CONTENT,
    _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
  }),
  'tasks/cancel': ({ taskId }) => ({ taskId, status: 'cancelled' }),
};

interface ToolCall {
  readonly name?: unknown;
  readonly arguments?: unknown;
  readonly _meta?: Message;
  readonly task?: Message;
}

async function call({ name, arguments: args, _meta, task }: ToolCall): Promise<Message> {
  if (task) {
    setImmediate(() => notify('notifications/tasks/status', { taskId: 't1', status: 'working' }));
    return { task: { taskId: 't1', status: 'working', ttl: task.ttl, createdAt: '2026-01-01T00:00:00Z' } };
  }
  switch (name) {
    case 'tool-1':
      for (const progress of [0, 0.5, 2])
        notify('notifications/progress', {
          progressToken: _meta?.progressToken,
          progress,
          total: 2,
          message: `at ${progress}`,
        });
      return { content: [] };
    case 'tool-2':
      return {
        content: [],
        got: await ask('sampling/createMessage', {
          messages: [
            {
              role: 'user',
              content: [
                { type: 'text', text: 'x' },
                { type: 'tool_result', toolUseId: 'u', content: [] },
              ],
            },
          ],
          tools: [{ name: 'inner', inputSchema: { type: 'object' } }],
          toolChoice: { mode: 'auto' },
          maxTokens: 5,
          modelPreferences: { hints: [{ name: 'm' }], costPriority: 0.1 },
          includeContext: 'none',
        }),
      };
    case 'tool-3': {
      const schema = {
        type: 'object',
        properties: { e: { type: 'string', oneOf: [{ const: 'a', title: 'A' }] } },
      };
      const form = await ask('elicitation/create', { message: 'form?', requestedSchema: schema });
      const url = await ask('elicitation/create', {
        mode: 'url',
        message: 'go',
        url: 'https://x.example/a?b=c',
        elicitationId: 'e1',
      });
      notify('notifications/elicitation/complete', { elicitationId: 'e1' });
      return { content: [], form, url, roots: await ask('roots/list'), pong: await ask('ping') };
    }
    case 'tool-4':
      throw {
        code: -32042,
        message: 'go there first',
        data: { elicitations: [{ mode: 'url', url: 'https://x.example' }] },
      };
    case 'tool-5':
      return new Promise(() => undefined);
    case 'tool-6':
      return { content: [{ type: 'text', text: 'no' }], isError: true };
    default:
      return {
        content: CONTENT,
        structuredContent: { sum: 3.5, args },
        _meta: { done: 1 },
        unknownField: 'kept',
      };
  }
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  const message = JSON.parse(line) as Message;
  appendFileSync(log, `${line}\n`);
  if (message.method === undefined) {
    waiting.get(String(message.id))?.((message.result as Message | undefined) ?? { error: message.error });
    return;
  }
  if (message.id === undefined) {
    if (message.method === 'notifications/roots/list_changed')
      notify('notifications/x.example/custom', { echoed: true });
    return;
  }
  const answer = ANSWERS[String(message.method)];
  try {
    if (!answer) throw { code: -32601, message: 'Method not found', data: { method: message.method } };
    send({ id: message.id, result: await answer((message.params as Message | undefined) ?? {}) });
  } catch (error) {
    send({ id: message.id, error });
  }
});
