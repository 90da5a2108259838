import type {
  ChatCompletionMessageParam,
  ChatCompletionMessageToolCall,
} from 'openai/resources/chat/completions';
import { type Brain, type Json, parseJson, type ToolDeclaration, type Turn } from '../../core/index.ts';
import type { ModelOptions } from './gemini.ts';
import { BrainError, withRetries } from './retry.ts';

/** Any OpenAI-compatible endpoint, local models included, by the official SDK. */
export async function openaiBrain(options: ModelOptions): Promise<Brain> {
  const { default: OpenAI } = await import('openai');
  // Retries are ours, so that they follow our clock and our signal.
  const client = new OpenAI({
    apiKey: options.endpoint.token,
    baseURL: `${options.endpoint.baseUrl}/v1`,
    maxRetries: 0,
  });
  return {
    name: 'openai',
    next: async (history, tools, signal) => {
      const response = await withRetries(options.clock, signal, () =>
        client.chat.completions.create(
          {
            model: options.model,
            messages: [{ role: 'system', content: options.systemPrompt }, ...history.flatMap(messagesOf)],
            // Providers refuse an empty list.
            ...(tools.length === 0 ? {} : { tools: tools.map(declarationOf) }),
          },
          { signal },
        ),
      );
      const message = response.choices?.[0]?.message;
      if (message === undefined) throw new BrainError('the model gave no answer');
      return {
        text: message.content ?? '',
        calls: (message.tool_calls ?? []).map((call) => ({
          id: call.id,
          name: nameOf(call),
          args: argumentsOf(call),
        })),
      };
    },
  };
}

function declarationOf(tool: ToolDeclaration) {
  return {
    type: 'function' as const,
    function: {
      name: tool.name,
      description: tool.description,
      parameters: tool.parameters as Record<string, unknown>,
    },
  };
}

const nameOf = (call: ChatCompletionMessageToolCall) =>
  call.type === 'function' ? call.function.name : 'unsupported';

/** Arguments arrive as text; what is no JSON object becomes one that no tool accepts, and says so. */
function argumentsOf(call: ChatCompletionMessageToolCall): Json {
  if (call.type !== 'function') return {};
  const parsed = parseJson(call.function.arguments === '' ? '{}' : call.function.arguments);
  return parsed.ok ? parsed.value : { malformed_arguments: call.function.arguments.slice(0, 200) };
}

function messagesOf(turn: Turn): ChatCompletionMessageParam[] {
  switch (turn.role) {
    case 'user':
      return [{ role: 'user', content: turn.text }];
    case 'model':
      return [
        {
          role: 'assistant',
          content: turn.text,
          ...(turn.calls.length === 0
            ? {}
            : {
                tool_calls: turn.calls.map((c) => ({
                  id: c.id,
                  type: 'function' as const,
                  function: { name: c.name, arguments: JSON.stringify(c.args) },
                })),
              }),
        },
      ];
    case 'tools':
      return turn.results.map((r) => ({
        role: 'tool' as const,
        tool_call_id: r.id,
        content: JSON.stringify(r.result),
      }));
  }
}
