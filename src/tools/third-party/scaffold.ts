import * as fs from 'node:fs';
import { join } from 'node:path';
import { CODES, EXIT, WritError } from '../../core/index.ts';
import { TOOL_NAME } from './protocol.ts';

/** Writes a new tool with cases that pass. Nothing that exists is touched. */
export function scaffoldTool(
  name: string,
  folder: string,
): { readonly tool: string; readonly cases: string } {
  if (!TOOL_NAME.test(name))
    throw new WritError(CODES.invalid_input, `"${name}" is not a name for a tool`, {
      suggestion: 'write it like my.tool: lower case, with a dot',
      exit: EXIT.usage,
    });
  fs.mkdirSync(folder, { recursive: true });
  const base = join(folder, name.replaceAll('.', '-'));
  const files = { tool: `${base}.ts`, cases: `${base}.cases.yaml` };
  for (const [file, text] of [
    [files.tool, toolText(name)],
    [files.cases, casesText(name)],
  ] as const)
    try {
      fs.writeFileSync(file, text, { flag: 'wx' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      throw new WritError(CODES.invalid_input, `${file} exists already`, {
        suggestion: 'choose another name or folder',
        exit: EXIT.usage,
      });
    }
  return files;
}

const toolText = (name: string) => `import type { ToolCall, ToolKit } from 'writ/tools';

// A tool of your own. It runs in a process of its own, shut in: no network and nothing writable
// unless the policy gives it. Only types are imported, so it works from any folder.

interface Args {
  readonly text: string;
}
interface Rules {
  readonly max_chars: number;
}

export const tool = ({ z }: ToolKit) => ({
  name: '${name}',
  description: 'counts the words of a text',

  // What a step of a plan may say.
  args: z.strictObject({ text: z.string() }),

  // What a policy may say about it, besides network, writable, timeout_seconds and require_approval.
  rules: z.strictObject({ max_chars: z.int().min(1).default(10_000) }),

  // May this call happen? Look, decide, give the rule's name and a reason.
  evaluate: ({ args, rules }: ToolCall<Args, Rules>) =>
    args.text.length > rules.max_chars
      ? { verdict: 'deny', rule: 'max_chars', reason: \`\${args.text.length} characters are more than \${rules.max_chars}\` }
      : { verdict: 'allow' },

  // Do it. What you return is the step's output; a throw is its error.
  execute: ({ args }: ToolCall<Args, Rules>) => ({ words: args.text.split(/\\s+/).filter(Boolean).length }),
});
`;

const casesText = (
  name: string,
) => `# Cases of ${name}: writ tool test runs each of them through policy, writ and sandbox.
cases:
  - name: counts words
    args: { text: one two three }
    expect: { status: success, data: { words: 3 } }
  - name: a long text is denied
    args: { text: far too long }
    rules: { max_chars: 5 }
    expect: { status: denied, rule: max_chars }
  - name: wrong arguments are denied
    args: { text: 5 }
    expect: { status: denied, rule: arguments }
`;
