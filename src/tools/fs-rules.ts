import { isJsonObject, type JsonObject } from '../core/index.ts';
import {
  compilePaths,
  type Finding,
  type FsRules,
  type JudgePath,
  PASSED,
  type PathSubject,
} from '../policy/index.ts';
import { protectedFrom, resolvePath } from './real-path.ts';
import type { Ground } from './tool.ts';

/** What the disk says about a path, as part of an action. */
export function pathFacts(asked: string, workingDir: string): JsonObject {
  const { lexical, real, state, size } = resolvePath(asked, workingDir);
  return { path: { asked, lexical, real, state }, size: state === 'file' ? size : 0 };
}

export function subjectOf(facts: JsonObject): PathSubject & { readonly state: string } {
  const path = facts.path;
  if (!isJsonObject(path)) throw new TypeError('the call has no path');
  const { asked, lexical, real, state } = path;
  if (
    typeof asked !== 'string' ||
    typeof lexical !== 'string' ||
    typeof real !== 'string' ||
    typeof state !== 'string'
  )
    throw new TypeError('the call has no path');
  return { asked, lexical, real, state };
}

/** Allow list, deny list, kind, size, approval: what fs.read and fs.write have in common. Pure. */
export function judgeFile(
  rules: FsRules,
  { workingDir, masked }: Ground,
): (facts: JsonObject, bytes: number) => Finding {
  const judgePath = compilePaths(rules, workingDir);
  const approval = approvalPaths(rules, workingDir);
  // What the kernel tells about this process holds its variables and its memory.
  const ours = protectedFrom([...masked, `/proc/${process.pid}`]);
  return (facts, bytes) => {
    const subject = subjectOf(facts);
    const finding = judgePath(subject);
    if (finding) return finding;
    const touches = ours(subject.lexical) ?? ours(subject.real);
    if (touches !== undefined) return deny('path', touches);
    if (subject.state === 'loop') return deny('path', `${subject.lexical} is a loop of links`);
    if (subject.state === 'other') return deny('path', `${subject.real} is a device, pipe or socket`);
    if (rules.max_size_bytes === 0)
      return deny('max_size_bytes', 'max_size_bytes is 0, so nothing is allowed', bytes);
    if (bytes > rules.max_size_bytes)
      return deny(
        'max_size_bytes',
        `${bytes} bytes are more than max_size_bytes (${rules.max_size_bytes})`,
        bytes,
      );
    return approval(subject) ?? PASSED;
  };
}

function approvalPaths(rules: FsRules, base: string): JudgePath {
  const wanted = rules.require_approval;
  if (wanted === false) return () => undefined;
  const ask = (at: readonly (string | number)[], reason: string): Finding => ({
    verdict: 'require_approval',
    rule: 'require_approval',
    at,
    reason,
    mend: at.length === 1 ? { op: 'set', at, value: false } : { op: 'remove', at },
  });
  if (wanted === true) return () => ask(['require_approval'], 'every call needs a yes');
  // The deny matcher is the wide one: any case, any root, folders with all they hold.
  const lists = wanted.map((glob) =>
    compilePaths({ allow_paths: ['/**'], deny_paths: [glob], allow_hidden: true }, base),
  );
  return (subject) => {
    const i = lists.findIndex((judge) => judge(subject) !== undefined);
    return i === -1 ? undefined : ask(['require_approval', i], `"${wanted[i]}" needs a person's yes`);
  };
}

function deny(rule: string, reason: string, needed?: number): Finding {
  return {
    verdict: 'deny',
    rule,
    at: [rule],
    reason,
    ...(needed === undefined ? {} : { mend: { op: 'set', at: [rule], value: Math.max(1, needed) } }),
  };
}
