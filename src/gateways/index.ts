/** Policy firewalls between callers and the outside: models and MCP servers. */
export * from './llm/index.ts';
export * from './mcp/index.ts';
