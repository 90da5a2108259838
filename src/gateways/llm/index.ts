/** The LLM gateway: the only way from this program to a model. */
export {
  configMistake,
  type LlmConfig,
  type LlmConfigInput,
  llmConfigSchema,
  PROVIDER_URLS,
} from './config.ts';
export type { LlmGatewayDeps } from './context.ts';
export type { LlmEndpoint } from './endpoint.ts';
export { type LlmGateway, startLlmGateway } from './gateway.ts';
