/** Policy firewalls between callers and the outside: models here, MCP servers in `mcp/`. */
export * from './llm/index.ts';
