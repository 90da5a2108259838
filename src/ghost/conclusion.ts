import { z } from 'zod';
import { CAUSE_KINDS } from '../core/index.ts';

/** Arguments of complete_investigation. What does not fit is dropped, never trusted. */
const text = (max: number) => z.string().transform((s) => s.slice(0, max));
const ids = z.array(z.string().max(200)).max(50).catch([]);

const cause = z.object({
  kind: z.enum(CAUSE_KINDS),
  resource: text(300),
  detail: z
    .union([z.string(), z.number()])
    .transform((d) => String(d).slice(0, 300))
    .nullable()
    .default(null),
  explanation: text(2000).default(''),
  evidence: z.array(z.string().max(200)).max(50).catch([]),
});

/** A command that shows the fault now, and what it prints (a text or JSON) once the fault is gone. */
const failedCheck = z.object({ command: z.string().min(1).max(2000), expected: text(1000) });

/** Those of a list that are what they should be. */
function wellFormed<T extends z.ZodType>(schema: T) {
  return z
    .array(z.unknown())
    .max(50)
    .catch([])
    .default([])
    .transform((all) =>
      all.flatMap((one) => {
        const parsed = schema.safeParse(one);
        return parsed.success ? [parsed.data] : [];
      }),
    );
}

export const conclusionSchema = z.object({
  confidence: z.enum(['high', 'medium', 'low']).catch('low'),
  root_cause_summary: text(6000),
  confirmed_hypotheses: ids.default([]),
  refuted_hypotheses: ids.default([]),
  unverifiable_hypotheses: ids.default([]),
  contradicted_hypotheses: ids.default([]),
  recommended_actions: z.array(text(1000)).max(50).catch([]).default([]),
  causes: wellFormed(cause),
  failed_checks: wellFormed(failedCheck),
  observations: z.array(text(1000)).max(50).catch([]).default([]),
});

export type Conclusion = z.infer<typeof conclusionSchema>;
export type ClaimedCause = Conclusion['causes'][number];
