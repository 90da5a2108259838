/** The MCP gateway: clients on one side, servers on the other, rules and a record between them. */
export { type McpConfig, type McpConfigInput, mcpConfigMistake, mcpConfigSchema } from './config.ts';
export type { McpGatewayDeps } from './context.ts';
export { createMcpGateway, type McpGateway } from './gateway.ts';
export { stdioClient } from './json-lines.ts';
export type { Session } from './session.ts';
