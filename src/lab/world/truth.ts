/** The answer sheet of a world. Kept apart from the world so that nothing but a scorer ever reads it. */
import { z } from 'zod';
import { readDocument } from '../../core/document.ts';
import { CAUSE_KINDS, type CauseKind, CODES } from '../../core/index.ts';
import { readWorldText } from './load.ts';

export interface TruthCause {
  readonly kind: CauseKind;
  readonly resource: string;
  readonly detail: string | null;
}

export interface Truth {
  readonly causes: readonly TruthCause[];
  readonly red_herrings: readonly string[];
}

const detail = z.union([z.string(), z.number()], 'write the detail as text').nullish();

const truthSchema = z.looseObject({
  truth: z
    .strictObject({
      causes: z.array(
        z.strictObject({
          kind: z.enum(CAUSE_KINDS, `write one of ${CAUSE_KINDS.join(', ')}`),
          resource: z.string('write the name of the resource'),
          detail,
        }),
        'write a list of causes',
      ),
      red_herrings: z.array(z.string()).nullish(),
    })
    .nullish(),
});

/** The truth of a world file, or null when it has none. */
export function loadTruth(file: string): Truth | null {
  const { value } = readDocument(readWorldText(file), truthSchema, { file, code: CODES.invalid_input });
  if (!value.truth) return null;
  return {
    causes: value.truth.causes.map((c) => ({
      kind: c.kind,
      resource: c.resource,
      detail: c.detail === undefined || c.detail === null ? null : String(c.detail),
    })),
    red_herrings: value.truth.red_herrings ?? [],
  };
}
