import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const SHIPPED = fileURLToPath(new URL('../../../models/', import.meta.url));

/** The file of a model as people name it: `builtin:secrets`, `builtin:injection`, or a path from `folder` on. */
export function modelFile(given: string, folder: string): string {
  const builtin = /^builtin:([a-z]+)$/.exec(given)?.[1];
  return builtin === undefined ? resolve(folder, given) : resolve(SHIPPED, `${builtin}.onnx`);
}
