/** Tools: what a plan's steps can do, each under a writ. */
export { toolAction } from './action.ts';
export { createRegistry, type ToolRegistry } from './registry.ts';
export type { ToolCall, ToolDefinition, ToolFactory, ToolKit, ToolVerdict } from './third-party/kit.ts';
export { loadThirdPartyTools } from './third-party/load.ts';
export { scaffoldTool } from './third-party/scaffold.ts';
export {
  defineTool,
  failed,
  type Ground,
  type Judge,
  refused,
  type Tool,
  type ToolContext,
  type ToolOutput,
} from './tool.ts';
