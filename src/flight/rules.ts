import { closeSync, openSync, readSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, resolve, sep } from 'node:path';
import { z } from 'zod';
import { readDocument } from '../core/document.ts';
import { CODES, type Evaluation, VERDICTS, type Verdict } from '../core/index.ts';
import { redact } from '../redact/index.ts';
import type { Artifact } from './artifacts.ts';
import type { RuleText } from './judges.ts';

/**
 * Rules that judge every step. They speak only when they find something; silence is not consent.
 *
 * RU1 Text is judged as it is written and with quotes, escapes and continued lines taken out.
 * RU2 What is too large to be read in full needs a person.
 */
const MAX_TEXT_BYTES = 8 * 1024 * 1024;

export interface Described {
  readonly artifact: Artifact;
  /** artifact.json's meaning and the body's text, as far as they are text. */
  readonly text: string;
  readonly truncated: boolean;
}

export function describe(artifact: Artifact): Described {
  const { document } = artifact;
  const parts = [document.target ?? '', inlineText(document.body), JSON.stringify(document.metadata ?? {})];
  if (artifact.bodyPath === null) return { artifact, text: parts.join('\n'), truncated: false };
  const buffer = Buffer.alloc(Math.min(artifact.size, MAX_TEXT_BYTES));
  const fd = openSync(artifact.bodyPath, 'r');
  try {
    for (let done = 0; done < buffer.length; ) {
      const n = readSync(fd, buffer, done, buffer.length - done, done);
      if (n === 0) break;
      done += n;
    }
  } finally {
    closeSync(fd);
  }
  return {
    artifact,
    text: [...parts, buffer.toString('utf8')].join('\n'),
    truncated: artifact.size > MAX_TEXT_BYTES,
  };
}

function inlineText(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body === undefined || body === null) return '';
  // A list of words is also judged as the line it makes.
  const lines: string[] = [];
  const walk = (value: unknown) => {
    if (Array.isArray(value) && value.length > 0 && value.every((v) => typeof v === 'string'))
      lines.push(value.join(' '));
    else if (Array.isArray(value)) for (const v of value) walk(v);
    else if (typeof value === 'object' && value !== null) for (const v of Object.values(value)) walk(v);
    else if (typeof value === 'string') lines.push(value);
  };
  walk(body);
  return `${lines.join('\n')}\n${JSON.stringify(body)}`;
}

/** [what it is, verdict, pattern]. Patterns are linear: no nested repetition. */
const DESTRUCTIVE: readonly (readonly [string, Verdict, RegExp])[] = [
  [
    'removes everything under a root',
    'deny',
    /\brm\s+(?:-[a-z-]+\s+)*(?:-[a-z]*[rf][a-z]*\s+)(?:-[a-z-]+\s+)*(?:\/|~|\$HOME|\/\*|\*|\/(?:etc|usr|var|home|root|boot|lib|bin|sbin|opt)\/?)(?:\s|;|&|$)/i,
  ],
  ['removes without protecting the root', 'deny', /--no-preserve-root/],
  ['formats a file system', 'deny', /\bmkfs(?:\.[a-z0-9]+)?\s/i],
  ['writes over a device', 'deny', /\bdd\s[^\n]*\bof=\/dev\/|>\s*\/dev\/(?:sd|nvme|vd|xvd|mmcblk)/i],
  ['forks without end', 'deny', /:\s*\(\s*\)\s*\{\s*:\s*\|\s*:/],
  ['wipes a disk', 'deny', /\b(?:wipefs|shred)\s+[^\n]*\/dev\//i],
  ['opens everything to everyone', 'deny', /\bchmod\s+(?:-[a-z]+\s+)*(?:0?777|a\+rwx)\s+\/(?:\s|$)/i],
  ['runs what the network sends', 'deny', /\b(?:curl|wget)\b[^\n|]*\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b/i],
  ['removes files recursively', 'require_approval', /\brm\s+(?:-[a-z-]+\s+)*-[a-z]*r/i],
  ['stops the machine', 'require_approval', /(?:^|[\s;&|])(?:shutdown|reboot|halt|poweroff)(?:\s|$)/im],
  ['drops a database or table', 'require_approval', /\b(?:drop|truncate)\s+(?:table|database|schema)\b/i],
  ['destroys infrastructure', 'require_approval', /\bterraform\s+(?:[^\n]*\s)?(?:destroy|-destroy)\b/i],
  ['destroys infrastructure', 'require_approval', /"actions":\[[^\]]*"delete"/],
  ['deletes cloud resources', 'require_approval', /\baz\s[^\n]*\b(?:delete|purge)\b/i],
  ['deletes from a cluster', 'require_approval', /\bkubectl\s[^\n]*\bdelete\b/i],
  [
    'rewrites shared history',
    'require_approval',
    /\bgit\s[^\n]*\bpush\b[^\n]*(?:--force\b|\s-f\b|--mirror\b)/i,
  ],
];

export function destructiveRule(all: readonly Described[]): readonly Evaluation[] {
  const found: Evaluation[] = [];
  for (const { artifact, text, truncated } of all) {
    const plain = text.replace(/\\\n/g, ' ').replace(/["'`\\]/g, '');
    for (const [what, verdict, pattern] of DESTRUCTIVE) {
      const hit = pattern.exec(text) ?? pattern.exec(plain);
      if (hit === null) continue;
      found.push({
        evaluator: 'rule:destructive-commands',
        verdict,
        rule: 'destructive-commands',
        reason: `artifact ${artifact.name} ${what}`,
        evidence: [redact(hit[0].trim().slice(0, 200)).text],
      });
    }
    if (truncated)
      found.push({
        evaluator: 'rule:destructive-commands',
        verdict: 'require_approval',
        rule: 'too-large-to-judge',
        reason: `artifact ${artifact.name} is too large to be read in full`,
      });
  }
  return found;
}

/** Secrets in artifact text, found by shape, or because they are the very values this step was given. */
export function secretsRule(
  all: readonly Described[],
  given: Readonly<Record<string, string>>,
): readonly Evaluation[] {
  const found: Evaluation[] = [];
  for (const { artifact, text } of all) {
    const { artifact_type, action, mime } = artifact.document;
    const what = secretsIn([artifact.name, artifact_type, action, mime, text].join('\n'), given);
    if (what.length > 0)
      found.push({
        evaluator: 'rule:secrets',
        verdict: 'deny',
        rule: 'secrets-in-artifacts',
        reason: `artifact ${artifact.name} holds what looks like a secret: ${what.join(', ')}`,
      });
  }
  return found;
}

/** What is secret in a text: the values that were given, and what looks like one. */
export function secretsIn(text: string, given: Readonly<Record<string, string>>): readonly string[] {
  // An id of a subscription is confidential, not a key: it opens nothing.
  const kinds = redact(text).categories.filter((category) => category !== 'subscription_id');
  return [...givenIn(text, given), ...kinds];
}

/** Which of the given values a text repeats, in whatever common form. */
export function givenIn(text: string, given: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(given)
    .filter(([, value]) => value.length >= 6 && forms(value).some((form) => text.includes(form)))
    .map(([name]) => `the value of ${name}`);
}

function forms(value: string): readonly string[] {
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    Buffer.from(value).toString('base64').replace(/=+$/, ''),
    Buffer.from(value).toString('hex'),
    encodeURIComponent(value),
  ];
}

const FILE_TYPES = /^(?:file|files|diff|patch|dir|directory|folder|symlink|script|text)\b/i;
const SYSTEM_ROOTS =
  /^\/(?:etc|usr|var|home|root|boot|lib\w*|bin|sbin|opt|dev|proc|sys|run|srv|tmp|mnt|media)(?:\/|$)/;

/** Targets of file artifacts stay inside the workspace, and out of `.git` and `.writ`. */
export function pathsRule(all: readonly Described[], workspace: string): readonly Evaluation[] {
  return all.flatMap(({ artifact }) => {
    const { target, artifact_type } = artifact.document;
    if (target === undefined || target === '') return [];
    const mistake = targetMistake(target, FILE_TYPES.test(artifact_type), workspace);
    if (mistake === null) return [];
    return [
      {
        evaluator: 'rule:workspace-paths',
        verdict: 'deny' as const,
        rule: 'paths-outside-workspace',
        reason: `artifact ${artifact.name}: target ${JSON.stringify(target.slice(0, 200))} ${mistake}`,
      },
    ];
  });
}

export function targetMistake(target: string, isFile: boolean, workspace: string): string | null {
  if (target.includes('\0')) return 'holds a NUL byte';
  if (/^~/.test(target)) return 'is in a home folder';
  if (!isFile && !/(?:^|\/)\.\.(?:\/|$)/.test(target) && !SYSTEM_ROOTS.test(target)) return null;
  const path = resolve(workspace, target);
  if (!within(path, workspace)) return 'is outside the workspace';
  if (!within(realOf(path), workspace)) return 'leads out of the workspace through a symlink';
  const first = path.slice(workspace.length + 1).split(sep)[0];
  if (first === '.git' || first === '.writ') return `is inside ${first}`;
  return isAbsolute(target) && path === workspace ? 'is the workspace itself' : null;
}

/** Where a path that may not exist yet would really be. */
function realOf(path: string): string {
  for (let at = path, rest = ''; ; ) {
    try {
      return realpathSync(at) + rest;
    } catch {
      rest = `${sep}${at.slice(dirname(at).length).replace(/^\//, '')}${rest}`;
      if (dirname(at) === at) return path;
      at = dirname(at);
    }
  }
}

function within(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`);
}

/** Rule files of a step: patterns over artifacts, each with a verdict. */
const ruleFile = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        id: z.string().min(1).max(200),
        when: z.strictObject({
          artifact_type: z.string().optional(),
          action: z.string().optional(),
          target_contains: z.string().min(1).optional(),
          text_contains: z.string().min(1).optional(),
        }),
        decision: z.enum(VERDICTS),
        reason: z.string().min(1).max(2000),
        role: z.string().min(1).max(200).optional(),
      }),
    )
    .min(1)
    .max(500),
});

export function fileRules({ file, text: rules }: RuleText, all: readonly Described[]): readonly Evaluation[] {
  if (typeof rules !== 'string') throw new Error(`${file}: ${rules.unreadable}`);
  const { value, place } = readDocument(rules, ruleFile, { file, code: CODES.invalid_policy });
  return value.rules.flatMap((rule, i) => {
    const hits = all.filter(({ artifact: { document }, text }) => {
      const { when } = rule;
      return (
        (when.artifact_type === undefined || when.artifact_type === document.artifact_type) &&
        (when.action === undefined || when.action === document.action) &&
        (when.target_contains === undefined || (document.target ?? '').includes(when.target_contains)) &&
        (when.text_contains === undefined || text.includes(when.text_contains))
      );
    });
    if (hits.length === 0) return [];
    return [
      {
        evaluator: `rule:${file.split(sep).at(-1)}`,
        verdict: rule.decision,
        rule: rule.id,
        reason: rule.reason,
        file,
        line: place(['rules', i]).line,
        ...(rule.role === undefined ? {} : { requiredRole: rule.role }),
        evidence: hits.map(({ artifact }) => artifact.name),
      },
    ];
  });
}
