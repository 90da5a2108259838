import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { z } from 'zod';
import { type Digest, digestOf, isJsonObject, type Json, messageOf, sha256 } from '../../core/index.ts';
import { type DocumentDecision, type DocumentJudge, denial } from '../opa/decision-document.ts';
import { features, featureWidth, textsToJudge } from './features.ts';

/**
 * A classifier in ONNX form with a card beside it (`NAME.onnx.json`) that says how text becomes numbers and
 * what its outputs mean. Judges every line of the artifacts' text (`context.artifacts[].text`).
 *
 * OX1 A model or card that cannot be loaded, an output of another shape or a number that is none denies.
 * OX2 More text than is judged needs a person: what was not read is not called harmless.
 */
const MAX_LINES = 5000;
/** Lines that are judged at once: a large artifact needs time, not memory. */
const WINDOW = 256;
const MAX_MODEL_BYTES = 64 * 1024 * 1024;
const probability = z.number().min(0).max(1);

export const modelCard = z.strictObject({
  name: z.string().min(1),
  input: z.string().min(1),
  output: z.string().min(1),
  features: z.strictObject({
    reads: z.enum(['lines', 'passages']).optional(),
    buckets: z.number().int().min(16).max(65_536),
    ngrams: z.array(z.number().int().min(1).max(8)).min(1),
    words: z.array(z.number().int().min(1).max(4)).optional(),
  }),
  labels: z
    .array(
      z.strictObject({
        label: z.string().min(1),
        ask: probability,
        deny: probability.optional(),
        role: z.string().min(1).optional(),
      }),
    )
    .min(1),
  measured: z.json().optional(),
  trained_with: z.json().optional(),
});
export type ModelCard = z.infer<typeof modelCard>;

/** Scores of each line for each label. */
type Score = (lines: readonly string[]) => Promise<readonly (readonly number[])[]>;

export function onnxModel(path: string): DocumentJudge {
  const name = `onnx:${basename(path)}`;
  let loading: Promise<{ readonly card: ModelCard; readonly score: Score }> | undefined;
  return {
    name,
    source: 'onnx',
    digest: digestNow(path),
    fingerprint: async () => digestNow(path),
    evaluate: async (input: Json) => {
      try {
        loading ??= load(path);
        const { card, score } = await loading;
        return await judge(name, card, score, input);
      } catch (error) {
        return denial(`${name}: failed: ${messageOf(error)}`);
      }
    },
  };
}

async function load(path: string) {
  const bytes = readFileSync(path);
  if (bytes.length > MAX_MODEL_BYTES) throw new Error(`larger than ${MAX_MODEL_BYTES} bytes`);
  const card = modelCard.parse(JSON.parse(readFileSync(`${path}.json`, 'utf8')));
  const ort = await import('onnxruntime-web');
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = 'error';
  const session = await ort.InferenceSession.create(bytes, { executionProviders: ['wasm'] });
  const width = featureWidth(card.features);
  const score: Score = async (lines) => {
    const data = new Float32Array(lines.length * width);
    for (const [i, line] of lines.entries()) data.set(features(line, card.features), i * width);
    const tensor = new ort.Tensor('float32', data, [lines.length, width]);
    const out = (await session.run({ [card.input]: tensor }))[card.output];
    const values = out?.data;
    if (!(values instanceof Float32Array) || values.length !== lines.length * card.labels.length)
      throw new Error(`its output ${card.output} is not ${card.labels.length} numbers a line`);
    return lines.map((_, i) => [...values.subarray(i * card.labels.length, (i + 1) * card.labels.length)]);
  };
  return { card, score };
}

async function judge(name: string, card: ModelCard, score: Score, input: Json): Promise<DocumentDecision> {
  const found: { readonly text: string; readonly deny: boolean; readonly role: string | undefined }[] = [];
  let unread = false;
  for (const artifact of textsOf(input)) {
    const lines = textsToJudge(artifact.text, card.features, MAX_LINES + 1);
    unread ||= artifact.truncated || lines.length > MAX_LINES;
    const read = lines.slice(0, MAX_LINES);
    const scores: (readonly number[])[] = [];
    for (let at = 0; at < read.length; at += WINDOW)
      scores.push(...(await score(read.slice(at, at + WINDOW))));
    for (const [j, { label, ask, deny, role }] of card.labels.entries()) {
      const top = scores.reduce((best, row) => Math.max(best, row[j] ?? Number.NaN), 0);
      if (Number.isNaN(top)) return denial(`${name}: a score is not a number`);
      if (top < ask) continue;
      const text = `${artifact.name}: ${label} (score ${top.toFixed(3)})`;
      found.push({ text, deny: deny !== undefined && top >= deny, role });
    }
  }
  const violations = found.map((f) => f.text);
  if (found.some((f) => f.deny)) return { decision: 'deny', violations, warnings: [] };
  if (unread) violations.push('there is more text than the model reads');
  if (violations.length === 0) return { decision: 'allow', violations: [], warnings: [] };
  const role = found.find((f) => f.role !== undefined)?.role;
  const reason = violations[0] ?? name;
  return {
    decision: 'require_approval',
    violations,
    warnings: [],
    requires: role === undefined ? { reason } : { role, reason },
  };
}

/** Texts to judge: the artifacts of a preflight input, or the strings of any other document. */
function textsOf(
  input: Json,
): readonly { readonly name: string; readonly text: string; readonly truncated: boolean }[] {
  const context = isJsonObject(input) ? input.context : undefined;
  const artifacts = isJsonObject(context) ? context.artifacts : undefined;
  if (Array.isArray(artifacts))
    return artifacts.flatMap((a: Json) =>
      isJsonObject(a)
        ? [{ name: String(a.name), text: String(a.text ?? ''), truncated: a.truncated === true }]
        : [],
    );
  const strings: string[] = [];
  const walk = (value: Json | undefined) => {
    if (typeof value === 'string') strings.push(value);
    else if (Array.isArray(value)) for (const v of value as readonly Json[]) walk(v);
    else if (isJsonObject(value)) for (const v of Object.values(value)) walk(v);
  };
  walk(input);
  return [{ name: 'the document', text: strings.join('\n'), truncated: false }];
}

function digestNow(path: string): Digest {
  try {
    return digestOf({ model: sha256(readFileSync(path)), card: sha256(readFileSync(`${path}.json`)) });
  } catch (error) {
    return sha256(`unreadable: ${messageOf(error)}`);
  }
}
