/** Data recipe of `models/secrets.onnx`. */
import { DANGEROUS } from './dangerous-families.ts';
import { HARMLESS } from './harmless-families.ts';
import { LOOKALIKES } from './lookalike-families.ts';
import type { Recipe } from './recipe.ts';
import { SECRETS } from './secrets-families.ts';

export const SECRETS_RECIPE: Recipe = {
  labels: ['secret', 'dangerous command'],
  classes: [
    { families: SECRETS, labels: [1, 0] },
    { families: DANGEROUS, labels: [0, 1] },
    { families: { ...HARMLESS, ...LOOKALIKES }, labels: [0, 0] },
  ],
  // Indentation, diff signs, prompts.
  around: (r, text) => `${r.pick(['', '', '', '+ ', '  - ', '$ ', 'run: ', '> '])}${text}`,
};
