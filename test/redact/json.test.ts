import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/index.ts';
import { redactJson } from '../../src/redact/index.ts';

describe('redactJson', () => {
  it('[RED-09] replaces what secret names own and keeps the rest', () => {
    const { value, count, categories } = redactJson({
      user: 'app',
      password: 'Winter!Sun1',
      port: 5432,
      pin: { apiKey: 'kkkkk1Zx9', enabled: true },
      list: ['plain', 'Authorization: Bearer abcdefghij0123456789'],
      settings: [
        { name: 'DB_PASSWORD', slotSetting: false, value: 'Blue#Horse9' },
        { name: 'MODE', value: 'prod' },
      ],
      none: null,
    });
    expect(value).toEqual({
      user: 'app',
      password: '[REDACTED:password]',
      port: 5432,
      pin: { apiKey: '[REDACTED:api_key]', enabled: true },
      list: ['plain', 'Authorization: Bearer [REDACTED:bearer_token]'],
      settings: [
        { name: 'DB_PASSWORD', slotSetting: false, value: '[REDACTED:password]' },
        { name: 'MODE', value: 'prod' },
      ],
      none: null,
    });
    expect(count).toBe(4);
    expect(categories).toEqual(['api_key', 'bearer_token', 'password']);
  });

  it('[RED-09] keeps the shape of any value and is idempotent', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        const once = redactJson(value as Json).value;
        expect(redactJson(once).value).toEqual(once);
        expect(shape(once)).toEqual(shape(value as Json));
      }),
    );
  });

  it('[RED-09] replaces what is nested too deep to look into', () => {
    let deep: Json = 'password=Winter!Sun1';
    for (let i = 0; i < 10_000; i++) deep = [deep];
    const out = redactJson(deep).value;
    expect(JSON.stringify(out)).not.toContain('Winter');
  });

  it('[RED-09] keeps a key named __proto__ as data', () => {
    const out = redactJson(JSON.parse('{"__proto__": {"password": "Winter!Sun1"}}') as Json).value;
    expect(JSON.stringify(out)).toBe('{"__proto__":{"password":"[REDACTED:password]"}}');
  });
});

/** Kinds of values and number of members, without the values. */
function shape(value: Json): unknown {
  if (Array.isArray(value)) return value.map(shape);
  if (typeof value === 'object' && value !== null) return Object.values(value).map(shape);
  return value === null ? 'null' : typeof value === 'boolean' ? 'boolean' : 'scalar';
}
