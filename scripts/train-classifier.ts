/**
 * Trains a small classifier from a recipe and writes it as ONNX with its card: the same data and the same weights
 * every time.
 *
 * Thresholds are chosen on folds 0–3, each judged by a network trained on the other three (best F1 at a precision
 * of 0.95 or more); precision and recall in the card are those of fold 4, families that neither has seen.
 */
import { writeFileSync } from 'node:fs';
import { type FeatureSpec, features, featureWidth, textsToJudge } from '../src/policy/onnx/features.ts';
import { heldOut, type Line, lines, otherValues, type Recipe, TRAINED } from './recipe.ts';
import { type Example, type Network, score, toOnnx, train } from './small-network.ts';

const EACH = 40;

interface Judged {
  readonly scores: readonly (readonly number[])[];
  readonly labels: readonly (readonly number[])[];
}

export function trainClassifier(
  name: string,
  recipe: Recipe,
  spec: FeatureSpec,
  deny: number | undefined,
): void {
  const dense = { from: spec.buckets, width: featureWidth(spec) };
  const outputs = recipe.labels.length;

  /** Read the way the run time reads texts, so that both see the same numbers. */
  const examples = (data: readonly Line[]): readonly Example[] =>
    data.map(({ text, labels }) => ({
      vector: features(spec.reads === 'passages' ? text : (textsToJudge(text, spec, 1)[0] ?? ''), spec),
      labels,
    }));

  const judged = (data: readonly Example[], network: Network): Judged => ({
    scores: data.map(({ vector }) => score(network, vector)),
    labels: data.map(({ labels }) => labels),
  });

  const measure = ({ scores, labels }: Judged, thresholds: readonly number[]) =>
    recipe.labels.map((label, j) => {
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

  /** Each of these folds judged by a network that has seen the others. */
  const unseen = (folds: readonly number[]): Judged => {
    const parts = folds.map((fold) => {
      const others = folds.filter((f) => f !== fold);
      const network = train(examples(lines(recipe, 1, others, EACH / 2)), dense, outputs);
      return judged(examples(lines(recipe, 77, [fold], EACH / 2)), network);
    });
    return { scores: parts.flatMap((p) => p.scores), labels: parts.flatMap((p) => p.labels) };
  };

  /** Of equally good thresholds the middlemost. */
  const chooseThresholds = (): readonly number[] => {
    const all = unseen(TRAINED);
    return recipe.labels.map((_, j) => {
      const tried = Array.from({ length: 19 }, (_, i) => (i + 1) / 20).map(
        (t) => measure(all, new Array(outputs).fill(t))[j]!,
      );
      const sound = tried.filter((m) => m.precision >= 0.95);
      const f1 = (m: (typeof tried)[number]) =>
        (2 * m.precision * m.recall) / Math.max(1e-9, m.precision + m.recall);
      const candidates = sound.length > 0 ? sound : tried;
      const top = Math.max(...candidates.map(f1));
      const good = candidates.filter((m) => f1(m) >= top - 0.01);
      return good.reduce((a, b) => (Math.abs(b.threshold - 0.5) < Math.abs(a.threshold - 0.5) ? b : a))
        .threshold;
    });
  };

  const thresholds = chooseThresholds();
  const data = examples(lines(recipe, 1, TRAINED, EACH));
  const network = train(data, dense, outputs);
  const measured = {
    split: 'fold 4: families that neither training nor the choice of thresholds has seen',
    held_out: measure(judged(examples(heldOut(recipe)), network), thresholds),
    every_family_unseen: measure(unseen([...TRAINED, 4]), thresholds),
    same_families_other_values: measure(judged(examples(otherValues(recipe)), network), thresholds),
  };
  const card = {
    name,
    input: 'features',
    output: 'scores',
    features: spec,
    labels: recipe.labels.map((label, j) => ({
      label,
      ask: thresholds[j],
      ...(deny === undefined ? {} : { deny }),
    })),
    measured,
    trained_with: { script: `scripts/train-${name}-model.ts`, lines: data.length },
  };
  const out = new URL(`../models/${name}.onnx`, import.meta.url);
  writeFileSync(out, toOnnx(name, network));
  writeFileSync(`${out.pathname}.json`, `${JSON.stringify(card, null, 2)}\n`);
  process.stdout.write(`${JSON.stringify(measured, null, 2)}\n`);
}
