import type { ToolContext, ToolResult } from './context.ts';
import { curl } from './curl.ts';
import { dig, host, nslookup } from './dns-tools.ts';
import { nc } from './nc.ts';
import { ping } from './ping.ts';
import { mtr, traceroute } from './traceroute.ts';

/** The tools on the engineer's own machine. */
export const TOOL_NAMES = ['ping', 'dig', 'nslookup', 'host', 'traceroute', 'mtr', 'curl', 'nc'] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

export function runTool(tool: ToolName, argv: readonly string[], ctx: ToolContext): ToolResult {
  switch (tool) {
    case 'ping':
      return ping(argv, ctx);
    case 'dig':
      return dig(argv, ctx);
    case 'nslookup':
      return nslookup(argv, ctx);
    case 'host':
      return host(argv, ctx);
    case 'traceroute':
      return traceroute(argv, ctx);
    case 'mtr':
      return mtr(argv, ctx, 'engineer-laptop');
    case 'curl':
      return curl(argv, ctx);
    case 'nc':
      return nc(argv, ctx);
  }
}
