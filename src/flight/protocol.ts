import { z } from 'zod';
import { readStrictJson } from './strict-json.ts';

/** The documents engines and orchestrator exchange, read strictly: an unknown field is a mistake. */
export const PROTOCOL_VERSION = '1.0';
export const MODES = ['flight-plan', 'take-off'] as const;
export type Mode = (typeof MODES)[number];
export const ROLES = ['evidence', 'state', 'log'] as const;
export type Role = (typeof ROLES)[number];

const text = z.string().max(100_000);
const word = z.string().min(1).max(500);
const anyMap = z.record(z.string(), z.unknown());

const receiptArtifact = z.strictObject({
  name: word,
  role: z.enum(ROLES),
  path: word,
  hash: z.string().regex(/^(sha256:)?[0-9a-f]{64}$/, 'is not a SHA-256 in lower-case hexadecimal'),
  size: z.number().int().min(0).optional(),
});
export type ReceiptArtifact = z.infer<typeof receiptArtifact>;

export const receiptSchema = z.strictObject({
  protocol_version: word,
  engine_id: word,
  mode: z.enum(MODES),
  receipt_id: word,
  status: z.enum(['success', 'failure']),
  error: text.optional(),
  warnings: z.array(text).max(1000).optional(),
  diagnostics: z.unknown().optional(),
  artifacts: z.array(receiptArtifact).max(1000).optional(),
  metrics: z
    .array(z.strictObject({ name: word, value: z.number(), tags: anyMap.optional() }))
    .max(1000)
    .optional(),
  plan_token: text.optional(),
});
export type Receipt = z.infer<typeof receiptSchema>;

export const artifactSchema = z.strictObject({
  artifact_type: word,
  action: word,
  target: z.string().max(10_000).optional(),
  mime: word,
  body: z.union([z.string(), z.null(), z.array(z.unknown()), anyMap]).optional(),
  body_file: word.optional(),
  metadata: anyMap.optional(),
});
export type ArtifactDocument = z.infer<typeof artifactSchema>;

export type Read<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

/** One JSON document and nothing else, for the mode that was asked for and in a version we know how to read. */
export function readReceipt(stdout: Uint8Array, mode: Mode): Read<Receipt> {
  if (Buffer.from(stdout).toString('latin1').trim() === '') return bad('the engine wrote no receipt');
  const document = readStrictJson(stdout);
  if (!document.ok) return bad(`standard output ${document.reason}`);
  const read = receiptSchema.safeParse(document.value);
  if (!read.success) return bad(firstIssue(read.error));
  const receipt = read.data;
  if (receipt.mode !== mode) return bad(`mode is ${receipt.mode}, the engine was launched for ${mode}`);
  // The published schema wants any text here; only a version that says it is newer is one we cannot know.
  if (majorOf(receipt.protocol_version) > majorOf(PROTOCOL_VERSION))
    return bad(`protocol_version is ${receipt.protocol_version}, this is ${PROTOCOL_VERSION}`);
  return { ok: true, value: receipt };
}

function majorOf(version: string): number {
  return Number(/^v?(\d{1,9})(?:\.|$)/.exec(version)?.[1] ?? 0);
}

export function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  const keys = issue?.code === 'unrecognized_keys' ? ` ${issue.keys.join(', ')}` : '';
  const where = issue?.path.join('.') || 'the document';
  return `${where}: ${issue?.message ?? 'invalid'}${issue?.message.includes(keys.trim()) ? '' : keys}`;
}

function bad(reason: string): Read<never> {
  return { ok: false, reason };
}
