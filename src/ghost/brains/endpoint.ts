/**
 * Where a model is reached. Only the LLM gateway hands these out (a loopback address of its own and a token
 * for this caller), so a brain has no way to a provider that goes round it.
 */
export type { LlmEndpoint } from '../../gateways/llm/index.ts';
