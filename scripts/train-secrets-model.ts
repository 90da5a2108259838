/**
 * Trains `models/secrets.onnx`: does a line hold a secret, does it hold a dangerous command?
 * Run: node scripts/train-secrets-model.ts — the same data and the same weights every time.
 *
 * Thresholds are chosen on folds 0–3, each judged by a network trained on the other three (best F1 at a precision
 * of 0.95 or more); precision and recall in the card are those of fold 4, families that neither has seen.
 */
import { writeFileSync } from 'node:fs';
import { type FeatureSpec, features, featureWidth, linesOf } from '../src/policy/onnx/features.ts';
import { heldOut, LABELS, type Line, lines, otherValues } from './secrets-data.ts';
import { type Example, type Network, score, toOnnx, train } from './small-network.ts';

const SPEC: FeatureSpec = { buckets: 4096, ngrams: [3, 4, 5], words: [1, 2] };
const DENSE = { from: SPEC.buckets, width: featureWidth(SPEC) };
const EACH = 40;
const TRAINED = [0, 1, 2, 3];

/** Read the way the run time reads lines, so that both see the same numbers. */
const examples = (data: readonly Line[]): readonly Example[] =>
  data.map(({ text, labels }) => ({ vector: features(linesOf(text, 1)[0] ?? '', SPEC), labels }));

interface Judged {
  readonly scores: readonly (readonly number[])[];
  readonly labels: readonly (readonly number[])[];
}

const judged = (data: readonly Example[], network: Network): Judged => ({
  scores: data.map(({ vector }) => score(network, vector)),
  labels: data.map(({ labels }) => labels),
});

function measure({ scores, labels }: Judged, thresholds: readonly number[]) {
  return LABELS.map((label, j) => {
    const threshold = thresholds[j] ?? 1;
    const said = scores.map((row) => (row[j] ?? 0) >= threshold);
    const real = labels.map((row) => row[j] === 1);
    const right = said.filter((s, i) => s && real[i]).length;
    const round = (n: number) => Math.round(n * 1000) / 1000;
    return {
      label,
      threshold,
      precision: round(right / Math.max(1, said.filter(Boolean).length)),
      recall: round(right / Math.max(1, real.filter(Boolean).length)),
      lines: labels.length,
    };
  });
}

/** Each of these folds judged by a network that has seen the others. */
function unseen(folds: readonly number[]): Judged {
  const parts = folds.map((fold) => {
    const others = folds.filter((f) => f !== fold);
    const network = train(examples(lines(1, others, EACH / 2)), DENSE, LABELS.length);
    return judged(examples(lines(77, [fold], EACH / 2)), network);
  });
  return { scores: parts.flatMap((p) => p.scores), labels: parts.flatMap((p) => p.labels) };
}

/** Of equally good thresholds the middlemost. */
function chooseThresholds(): readonly number[] {
  const all = unseen(TRAINED);
  return LABELS.map((_, j) => {
    const tried = Array.from({ length: 19 }, (_, i) => (i + 1) / 20).map((t) => measure(all, [t, t])[j]!);
    const sound = tried.filter((m) => m.precision >= 0.95);
    const f1 = (m: (typeof tried)[number]) =>
      (2 * m.precision * m.recall) / Math.max(1e-9, m.precision + m.recall);
    const candidates = sound.length > 0 ? sound : tried;
    const top = Math.max(...candidates.map(f1));
    const good = candidates.filter((m) => f1(m) >= top - 0.01);
    return good.reduce((a, b) => (Math.abs(b.threshold - 0.5) < Math.abs(a.threshold - 0.5) ? b : a))
      .threshold;
  });
}

const thresholds = chooseThresholds();
const data = examples(lines(1, TRAINED, EACH));
const network = train(data, DENSE, LABELS.length);
const measured = {
  split: 'fold 4: families that neither training nor the choice of thresholds has seen',
  held_out: measure(judged(examples(heldOut()), network), thresholds),
  every_family_unseen: measure(unseen([...TRAINED, 4]), thresholds),
  same_families_other_values: measure(judged(examples(otherValues()), network), thresholds),
};
const card = {
  name: 'secrets',
  input: 'features',
  output: 'scores',
  features: SPEC,
  labels: LABELS.map((label, j) => ({ label, ask: thresholds[j], deny: 0.97 })),
  measured,
  trained_with: { script: 'scripts/train-secrets-model.ts', lines: data.length },
};
const out = new URL('../models/secrets.onnx', import.meta.url);
writeFileSync(out, toOnnx(network));
writeFileSync(`${out.pathname}.json`, `${JSON.stringify(card, null, 2)}\n`);
process.stdout.write(`${JSON.stringify(measured, null, 2)}\n`);
