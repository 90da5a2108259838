/** Data recipe of `models/injection.onnx`: texts for the model that reads them, among texts for people. */
import { DANGEROUS } from './dangerous-families.ts';
import { HARMLESS } from './harmless-families.ts';
import { INJECTIONS } from './injection-families.ts';
import { PLAIN } from './plain-families.ts';
import { inFolds, type Recipe } from './recipe.ts';

export const INJECTION_RECIPE: Recipe = {
  labels: ['instructions to the model'],
  classes: [
    { families: INJECTIONS, labels: [1] },
    { families: PLAIN, labels: [0] },
    { families: HARMLESS, labels: [0] },
    { families: DANGEROUS, labels: [0] },
  ],
  // In a document they have neighbours; of the same folds, so that nothing of the others is seen.
  around: (r, text, folds) => {
    const plain = inFolds(PLAIN, folds);
    const neighbour = () => r.pick(plain)(r);
    const joint = r.pick(['\n', ' ']);
    return r.pick([
      () => text,
      () => text,
      () => `${neighbour()}${joint}${text}`,
      () => `${text}${joint}${neighbour()}`,
    ])();
  },
};
