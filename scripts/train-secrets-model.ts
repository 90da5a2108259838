/**
 * Trains `models/secrets.onnx`: does a line hold a secret, does it hold a dangerous command?
 * Run: node scripts/train-secrets-model.ts
 */
import { SECRETS_RECIPE } from './secrets-data.ts';
import { trainClassifier } from './train-classifier.ts';

trainClassifier('secrets', SECRETS_RECIPE, { buckets: 4096, ngrams: [3, 4, 5], words: [1, 2] }, 0.97);
