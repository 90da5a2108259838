import type { Content, FunctionCall, Part } from '@google/genai';
import {
  type Brain,
  type Clock,
  isJsonObject,
  type Json,
  type ToolDeclaration,
  type ToolRequest,
  type Turn,
} from '../../core/index.ts';
import type { LlmEndpoint } from './endpoint.ts';
import { BrainError, withRetries } from './retry.ts';

export interface ModelOptions {
  readonly endpoint: LlmEndpoint;
  readonly model: string;
  readonly systemPrompt: string;
  readonly clock: Clock;
}

/** Gemini by its own SDK, not streaming: a whole answer before any of its calls is dispatched. */
export async function geminiBrain(options: ModelOptions): Promise<Brain> {
  const { GoogleGenAI } = await import('@google/genai');
  const client = new GoogleGenAI({
    apiKey: options.endpoint.token,
    httpOptions: { baseUrl: options.endpoint.baseUrl },
  });
  let calls = 0;
  return {
    name: 'gemini',
    next: async (history, tools, signal) => {
      const response = await withRetries(options.clock, signal, () =>
        client.models.generateContent({
          model: options.model,
          contents: history.map(contentOf),
          config: {
            systemInstruction: options.systemPrompt,
            // Providers refuse an empty list.
            ...(tools.length === 0 ? {} : { tools: [{ functionDeclarations: tools.map(declarationOf) }] }),
            abortSignal: signal,
          },
        }),
      );
      const candidate = response.candidates?.[0];
      const parts = candidate?.content?.parts ?? [];
      if (parts.length === 0)
        throw new BrainError(
          `the model gave no answer (${candidate?.finishReason ?? response.promptFeedback?.blockReason ?? 'empty'})`,
        );
      return {
        text: parts
          .filter((p) => !p.thought)
          .map((p) => p.text ?? '')
          .join(''),
        calls: parts.flatMap((p): ToolRequest[] =>
          p.functionCall ? [requestOf(p.functionCall, p.thoughtSignature, ++calls)] : [],
        ),
      };
    },
  };
}

function declarationOf(tool: ToolDeclaration) {
  return { name: tool.name, description: tool.description, parametersJsonSchema: tool.parameters };
}

function requestOf(call: FunctionCall, signature: string | undefined, number: number): ToolRequest {
  return {
    id: call.id ?? `call_${number}`,
    name: call.name ?? '',
    args: (call.args ?? {}) as Json,
    // Some models refuse the next turn unless their signature comes back unchanged.
    ...(signature === undefined ? {} : { opaque: { thoughtSignature: signature } }),
  };
}

function contentOf(turn: Turn): Content {
  switch (turn.role) {
    case 'user':
      return { role: 'user', parts: [{ text: turn.text }] };
    case 'model':
      return {
        role: 'model',
        parts: [...(turn.text === '' ? [] : [{ text: turn.text }]), ...turn.calls.map(callPart)],
      };
    case 'tools':
      return {
        role: 'user',
        parts: turn.results.map((r) => ({
          functionResponse: {
            id: r.id,
            name: r.name,
            response: isJsonObject(r.result) ? { ...r.result } : { result: r.result },
          },
        })),
      };
  }
}

function callPart(call: ToolRequest): Part {
  const signature = isJsonObject(call.opaque) ? call.opaque.thoughtSignature : undefined;
  return {
    functionCall: { id: call.id, name: call.name, args: isJsonObject(call.args) ? { ...call.args } : {} },
    ...(typeof signature === 'string' ? { thoughtSignature: signature } : {}),
  };
}
