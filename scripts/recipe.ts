/**
 * Data for a small classifier: lines made by families, each one way of writing, with values from a seeded generator.
 * A family belongs to one of five folds by the digest of its name, so nobody chooses where it goes. Fold 4 is never
 * trained on and never used to choose anything.
 */
import { createHash } from 'node:crypto';
import { type Families, generator, type Random } from './secrets-random.ts';

export interface Line {
  readonly text: string;
  readonly labels: readonly number[];
}

export interface Recipe {
  readonly labels: readonly string[];
  readonly classes: readonly { readonly families: Families; readonly labels: readonly number[] }[];
  /** Texts seldom stand bare: what is around one. */
  readonly around: (r: Random, text: string, folds: readonly number[]) => string;
}

const FOLDS = 5;
export const TRAINED = [0, 1, 2, 3] as const;

export function lines(recipe: Recipe, seed: number, folds: readonly number[], each: number): readonly Line[] {
  const r = generator(seed);
  return recipe.classes.flatMap(({ families, labels }) =>
    inFolds(families, folds).flatMap((family) =>
      Array.from({ length: each }, () => ({ text: recipe.around(r, family(r), folds), labels })),
    ),
  );
}

export function inFolds(families: Families, folds: readonly number[]): readonly Families[string][] {
  return Object.entries(families)
    .filter(([name]) => folds.includes(foldOf(name)))
    .map(([, family]) => family);
}

function foldOf(name: string): number {
  return (createHash('sha256').update(name).digest()[0] ?? 0) % FOLDS;
}

/** What training never sees: other families. */
export function heldOut(recipe: Recipe): readonly Line[] {
  return lines(recipe, 4242, [4], 40);
}

/** The families of training with values that training never sees. */
export function otherValues(recipe: Recipe): readonly Line[] {
  return lines(recipe, 99, TRAINED, 8);
}
