/**
 * Trains `models/injection.onnx`: does a passage speak to the model that reads it?
 * Run: node scripts/train-injection-model.ts
 */
import { INJECTION_RECIPE } from './injection-data.ts';
import { trainClassifier } from './train-classifier.ts';

trainClassifier(
  'injection',
  INJECTION_RECIPE,
  { reads: 'passages', buckets: 4096, ngrams: [4], words: [1, 2] },
  undefined,
);
