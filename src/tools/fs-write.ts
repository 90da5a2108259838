import { closeSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { type Action, CODES, digestOf, type JsonObject, messageOf, sha256 } from '../core/index.ts';
import { type FsRules, fsRules } from '../policy/index.ts';
import { callOf } from './action.ts';
import { judgeFile, pathFacts, subjectOf } from './fs-rules.ts';
import { isWritable, openFolder, openJudged, readAtMost, replaceFile } from './opened-file.ts';
import { defineTool, failed, refused, type ToolOutput } from './tool.ts';

const args = z.strictObject({
  path: z.string(),
  content: z.string(),
  encoding: z.enum(['utf-8', 'latin1', 'utf-16le', 'base64']).default('utf-8'),
  mode: z.enum(['write', 'append']).default('write'),
  /** Makes missing folders on the way. */
  create_dirs: z.boolean().default(true),
});
type Args = z.infer<typeof args>;

export const fsWrite = defineTool({
  name: 'fs.write',
  description: 'writes a file in one step, or adds to it',
  effect: 'external',
  args,
  rules: fsRules,
  prepare: (call, ground): JsonObject => {
    const facts = pathFacts(call.path, ground.workingDir);
    const bytes = encoded(call).length;
    const before = call.mode === 'append' && typeof facts.size === 'number' ? facts.size : 0;
    return { path: facts.path ?? null, bytes, total: before + bytes };
  },
  evaluator: (rules, _policy, ground) => {
    const judge = judgeFile(rules, ground);
    return ({ facts }) =>
      judge(facts, typeof facts.total === 'number' ? facts.total : Number.POSITIVE_INFINITY);
  },
  execute: async (writ, { rules }) => {
    const { args: wanted, facts } = callOf(writ, { name: 'fs.write', args });
    writ.use(writ.action);
    const { real } = subjectOf(facts);
    try {
      return write(real, wanted, rules, temporaryName(writ.action));
    } catch (error) {
      return failed(
        CODES.tool_failed,
        `${real} cannot be written: ${messageOf(error)}`,
        'check the folder and its rights',
      );
    }
  },
});

/** Of the step's own: a try that was killed leaves one behind, and the next try of that step takes it away. */
function temporaryName({ detail }: Action): string {
  return `.writ-${digestOf([detail.run ?? null, detail.step ?? null]).slice(-16)}.tmp`;
}

function write(path: string, wanted: Args, rules: FsRules, temporary: string): ToolOutput {
  const folder = openFolder(dirname(path), wanted.create_dirs);
  if ('problem' in folder) return refused('path', `${dirname(path)}: ${folder.problem}`);
  try {
    const before = existing(path, rules, wanted.mode === 'append');
    if ('status' in before) return before;
    const content = Buffer.concat([before.content, encoded(wanted)]);
    if (content.length > rules.max_size_bytes)
      return refused(
        'max_size_bytes',
        `${path} would have ${content.length} bytes, more than ${rules.max_size_bytes}`,
      );
    replaceFile(folder, basename(path), content, before.mode, temporary);
    return { status: 'success', data: { path, size_bytes: content.length, sha256: sha256(content) } };
  } finally {
    closeSync(folder.fd);
  }
}

/** What is at the path now: its mode, and for `append` its content. Nothing there is an empty file. */
function existing(
  path: string,
  rules: FsRules,
  keep: boolean,
): { readonly content: Buffer; readonly mode: number | undefined } | ToolOutput {
  let opened: ReturnType<typeof openJudged>;
  try {
    opened = openJudged(path, 'file');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      return { content: Buffer.alloc(0), mode: undefined };
    throw error;
  }
  if ('problem' in opened) return refused('path', `${path}: ${opened.problem}`);
  try {
    if (opened.stat.nlink > 1 && !rules.allow_hard_links)
      return refused('allow_hard_links', `${path} has ${opened.stat.nlink} names, and one could lie outside`);
    if (!isWritable(opened, path))
      return failed(CODES.tool_failed, `${path} is read-only`, `make it writable first: chmod u+w ${path}`);
    const content = keep ? readAtMost(opened.fd, rules.max_size_bytes) : Buffer.alloc(0);
    return { content, mode: opened.stat.mode & 0o777 };
  } finally {
    closeSync(opened.fd);
  }
}

function encoded(call: Pick<Args, 'content' | 'encoding'>): Buffer {
  return Buffer.from(call.content, call.encoding);
}
