import { closeSync } from 'node:fs';
import { z } from 'zod';
import { CODES, type JsonObject, messageOf } from '../core/index.ts';
import { fsRules } from '../policy/index.ts';
import { callOf } from './action.ts';
import { judgeFile, pathFacts, subjectOf } from './fs-rules.ts';
import { openJudged, readAtMost } from './opened-file.ts';
import { defineTool, failed, refused } from './tool.ts';

const args = z.strictObject({
  path: z.string(),
  /** Without it: text when the file is valid UTF-8, base64 when it is not. */
  encoding: z.enum(['utf-8', 'latin1', 'base64']).optional(),
});

/** What was read is redacted, hashed and stored as one text, which needs a few times its size. */
const MAX_RECORDED = 128 * 1024 * 1024;

export const fsRead = defineTool({
  name: 'fs.read',
  description: 'reads a file',
  effect: 'none',
  args,
  rules: fsRules,
  prepare: ({ path }, ground) => pathFacts(path, ground.workingDir),
  evaluator: (rules, _policy, ground) => {
    const judge = judgeFile(rules, ground);
    return ({ facts }) => judge(facts, typeof facts.size === 'number' ? facts.size : 0);
  },
  execute: async (writ, { rules }) => {
    const { args: wanted, facts } = callOf(writ, { name: 'fs.read', args });
    writ.use(writ.action);
    const { real } = subjectOf(facts);
    try {
      const opened = openJudged(real, 'file');
      if ('problem' in opened) return refused('path', `${real}: ${opened.problem}`);
      try {
        if (opened.stat.nlink > 1 && !rules.allow_hard_links)
          return refused(
            'allow_hard_links',
            `${real} has ${opened.stat.nlink} names, and one could lie outside`,
          );
        const most = Math.min(rules.max_size_bytes, MAX_RECORDED);
        if (opened.stat.size > most && most === MAX_RECORDED)
          return failed(
            CODES.tool_failed,
            `${real} has ${opened.stat.size} bytes; a record holds ${MAX_RECORDED} at most`,
            'read a part of it: shell.run with head, tail or grep',
          );
        const bytes = readAtMost(opened.fd, most);
        if (bytes.length > most) return refused('max_size_bytes', `${real} has more than ${most} bytes`);
        return { status: 'success', data: readResult(real, bytes, wanted.encoding) };
      } finally {
        closeSync(opened.fd);
      }
    } catch (error) {
      return failed(
        CODES.tool_failed,
        `${real} cannot be read: ${messageOf(error)}`,
        'check that the file exists',
      );
    }
  },
});

function readResult(path: string, bytes: Buffer, encoding: z.infer<typeof args>['encoding']): JsonObject {
  const shared = { path, size_bytes: bytes.length };
  if (encoding === 'base64' || encoding === 'latin1')
    return { ...shared, content: bytes.toString(encoding), encoding };
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { ...shared, content: text, encoding: 'utf-8' };
  } catch (error) {
    if (encoding === 'utf-8') throw error;
    return { ...shared, content: bytes.toString('base64'), encoding: 'base64' };
  }
}
