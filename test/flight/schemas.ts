import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect } from 'vitest';

/** The published CabinCrew schema, our own copy as data. */
const schema = JSON.parse(readFileSync(new URL('./schemas/cabincrew.schema.json', import.meta.url), 'utf8'));
const ajv = new Ajv({ strict: false });
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/);
ajv.addSchema(schema, 'cc');

export function valid(type: string, value: unknown): void {
  const check = ajv.getSchema(`cc#/definitions/${type}`);
  if (check === undefined) throw new Error(`no schema ${type}`);
  expect(check(value) ? null : { type, value, errors: check.errors }).toBeNull();
}
