import type { z } from 'zod';
import { fsRead } from './fs-read.ts';
import { fsWrite } from './fs-write.ts';
import { httpGet } from './http-get.ts';
import { shellRun } from './shell-run.ts';
import type { Tool } from './tool.ts';

/** The tools a run knows, by name. */
export interface ToolRegistry {
  get(name: string): Tool | undefined;
  readonly names: readonly string[];
  /** Policy blocks of tools that are not built in. */
  readonly otherRules: Readonly<Record<string, z.ZodType>>;
}

const BUILT_IN: readonly Tool[] = [fsRead, fsWrite, httpGet, shellRun];

export function createRegistry(others: readonly Tool[] = []): ToolRegistry {
  const tools = new Map<string, Tool>(BUILT_IN.map((tool) => [tool.name, tool]));
  for (const tool of others) {
    if (tools.has(tool.name)) throw new Error(`there are two tools named ${tool.name}`);
    tools.set(tool.name, tool);
  }
  return {
    get: (name) => tools.get(name),
    names: [...tools.keys()].sort(),
    otherRules: Object.fromEntries(others.map((tool) => [tool.name, tool.rules])),
  };
}
