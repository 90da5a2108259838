/**
 * Data recipe of `models/secrets.onnx`: lines made by families, each one way of writing, with values from a seeded
 * generator. A family belongs to one of five folds by the digest of its name, so nobody chooses where it goes.
 * Fold 4 is never trained on and never used to choose anything.
 */
import { createHash } from 'node:crypto';
import { DANGEROUS } from './dangerous-families.ts';
import { HARMLESS } from './harmless-families.ts';
import { LOOKALIKES } from './lookalike-families.ts';
import { SECRETS } from './secrets-families.ts';
import { type Families, generator, type Random } from './secrets-random.ts';

export interface Line {
  readonly text: string;
  readonly labels: readonly [number, number];
}

export const LABELS = ['secret', 'dangerous command'] as const;
const FOLDS = 5;

export function lines(seed: number, folds: readonly number[], each: number): readonly Line[] {
  const r = generator(seed);
  const make = (families: Families, labels: readonly [number, number]) =>
    Object.entries(families)
      .filter(([name]) => folds.includes(foldOf(name)))
      .flatMap(([, family]) => Array.from({ length: each }, () => ({ text: around(r, family(r)), labels })));
  return [
    ...make(SECRETS, [1, 0]),
    ...make(DANGEROUS, [0, 1]),
    ...make({ ...HARMLESS, ...LOOKALIKES }, [0, 0]),
  ];
}

function foldOf(name: string): number {
  return (createHash('sha256').update(name).digest()[0] ?? 0) % FOLDS;
}

/** What training never sees: other families. */
export function heldOut(): readonly Line[] {
  return lines(4242, [4], 40);
}

/** The families of training with values that training never sees. */
export function otherValues(): readonly Line[] {
  return lines(99, [0, 1, 2, 3], 8);
}

/** Lines seldom stand bare: indentation, diff signs, prompts. */
function around(r: Random, text: string): string {
  return `${r.pick(['', '', '', '+ ', '  - ', '$ ', 'run: ', '> '])}${text}`;
}
