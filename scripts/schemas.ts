import { z } from 'zod';
import { configSchema } from '../src/cli/config.ts';

/** The JSON schemas we publish, made from the schemas the program itself uses. */
export function schemas(): ReadonlyMap<string, string> {
  const print = (title: string, schema: z.ZodType) =>
    `${JSON.stringify({ title, ...z.toJSONSchema(schema, { unrepresentable: 'any' }) }, null, 2)}\n`;
  return new Map([['schemas/writ.schema.json', print('writ.yaml', configSchema)]]);
}
