import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { ToolDefinition, ToolFactory } from './kit.ts';
import type { HostMessage, HostRequest } from './protocol.ts';

/**
 * The program that a third-party tool runs in: a process of its own, shut in, for one request. It reads the
 * request, loads the tool, and answers. What it says is checked by the other side; nothing here is trusted.
 */
async function main(file: string): Promise<void> {
  const { mark, request } = JSON.parse(await readAll()) as HostMessage;
  const answer = await respond(await load(file), request);
  // One request, one answer: a socket or timer the tool left open must not keep the process.
  process.stdout.write(`\n${mark} ${JSON.stringify(answer)}\n`, () => process.exit(0));
}

async function readAll(): Promise<string> {
  process.stdin.setEncoding('utf8');
  let text = '';
  for await (const chunk of process.stdin) text += chunk;
  return text;
}

async function load(file: string): Promise<ToolDefinition> {
  const module = (await import(pathToFileURL(file).href)) as { readonly tool?: ToolFactory };
  if (typeof module.tool !== 'function') throw new TypeError(`${file} exports no function named "tool"`);
  return module.tool({ z });
}

async function respond(tool: ToolDefinition, request: HostRequest): Promise<unknown> {
  if (request.do === 'describe')
    return {
      name: tool.name,
      description: tool.description,
      args: z.toJSONSchema(tool.args, { io: 'input' }),
      rules: z.toJSONSchema(tool.rules, { io: 'input' }),
    };
  const args = tool.args.safeParse(request.args);
  if (!args.success) {
    const reason = `the arguments do not fit ${tool.name}: ${z.prettifyError(args.error)}`.slice(0, 1000);
    return request.do === 'judge'
      ? { verdict: 'deny', rule: 'arguments', reason }
      : { ok: false, error: reason };
  }
  const call = {
    args: args.data as never,
    rules: tool.rules.parse(request.rules) as never,
    workingDir: request.working_dir,
  };
  if (request.do === 'judge') return tool.evaluate(call);
  try {
    return { ok: true, data: (await tool.execute(call)) ?? null };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? error.message : String(error) };
  }
}

await main(process.argv[2] ?? '');
