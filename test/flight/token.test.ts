import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type TokenParts, tokenDifferences, tokenOf } from '../../src/flight/token.ts';

const hex = fc.stringMatching(/^[0-9a-f]{64}$/);
const descriptor = fc.record({
  name: fc.stringMatching(/^[a-z]{1,8}$/),
  role: fc.constantFrom('evidence', 'state', 'log'),
  metadata_hash: hex,
  body_hash: fc.option(hex),
  size: fc.nat(),
});
const parts: fc.Arbitrary<TokenParts> = fc.record({
  artifacts: fc.uniqueArray(descriptor, { selector: (d) => d.name, minLength: 2, maxLength: 5 }),
  workspace_hash: hex,
  engine_id: fc.string(),
  engine_hash: hex,
  protocol_version: fc.constant('1.0'),
  config_digest: hex,
  policy_digest: hex,
  model: fc.string(),
  preconditions_digest: hex,
});

describe('the plan-token', () => {
  it('[FLT-T5] a change of any part, of an artifact or of their order changes it and is named', () => {
    fc.assert(
      fc.property(parts, fc.nat(), (then, pick) => {
        const changed: TokenParts[] = [
          ...Object.keys(then)
            .filter((key) => key !== 'artifacts')
            .map((key) => ({ ...then, [key]: `${then[key as 'model']}x` })),
          ...['name', 'role', 'metadata_hash', 'body_hash', 'size'].map((key) => {
            const at = pick % then.artifacts.length;
            const artifacts = then.artifacts.map((a, i) =>
              i === at ? { ...a, [key]: key === 'size' ? a.size + 1 : `${a[key as 'name']}x` } : a,
            );
            return { ...then, artifacts };
          }),
          { ...then, artifacts: then.artifacts.slice(1) },
          { ...then, artifacts: [...then.artifacts].reverse() },
        ];
        for (const now of changed) {
          expect(tokenOf(now)).not.toBe(tokenOf(then));
          expect(tokenDifferences(then, now)).not.toEqual([]);
        }
        expect(tokenDifferences(then, structuredClone(then))).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});
