import type { ToolCall, ToolKit } from '../../src/tools/index.ts';

// A third-party tool in one file. Only types are imported, so at run time it needs nothing but the kit.
// It runs in a process of its own, without network, on a read-only disk.

interface Args {
  readonly path: string;
}
interface Rules {
  readonly max_bytes: number;
}

export const tool = ({ z }: ToolKit) => ({
  name: 'text.count',
  description: 'counts lines, words and bytes of a file below the working folder',
  args: z.strictObject({ path: z.string().min(1) }),
  rules: z.strictObject({ max_bytes: z.int().min(1).default(1_000_000) }),

  evaluate: async ({ args, rules, workingDir }: ToolCall<Args, Rules>) => {
    const { stat, realpath } = await import('node:fs/promises');
    const { resolve } = await import('node:path');
    const file = await realpath(resolve(workingDir, args.path)).catch(() => undefined);
    if (file === undefined || !file.startsWith(`${workingDir}/`))
      return { verdict: 'deny', rule: 'path', reason: `${args.path} is not a file below the working folder` };
    const { size } = await stat(file);
    return size > rules.max_bytes
      ? { verdict: 'deny', rule: 'max_bytes', reason: `${size} bytes are more than ${rules.max_bytes}` }
      : { verdict: 'allow' };
  },

  execute: async ({ args, workingDir }: ToolCall<Args, Rules>) => {
    const { readFile } = await import('node:fs/promises');
    const { resolve } = await import('node:path');
    const text = await readFile(resolve(workingDir, args.path), 'utf8');
    return {
      lines: text.split('\n').length - 1,
      words: text.split(/\s+/).filter(Boolean).length,
      bytes: Buffer.byteLength(text),
    };
  },
});
