import { describe, expect, it } from 'vitest';
import { CODES, EXIT, invalid, messageOf, WritError } from '../../src/core/index.ts';

describe('errors', () => {
  it('[CORE-09] codes are unique and fall into the five families', () => {
    const codes = Object.values(CODES);
    expect(new Set(codes).size).toBe(codes.length);
    const families = ['PolicyDenied', 'ToolError', 'PlanValidation', 'Replay', 'Storage'];
    for (const code of codes) {
      expect(code).toBeGreaterThanOrEqual(1000);
      expect(code).toBeLessThan(6000);
      expect(new WritError(code, 'x').family).toBe(families[Math.floor(code / 1000) - 1]);
    }
  });

  it('[CORE-09] the exit code follows from the family unless it is given', () => {
    expect(new WritError(CODES.denied, 'x').exit).toBe(EXIT.denied);
    expect(new WritError(CODES.tool_failed, 'x').exit).toBe(EXIT.failed);
    expect(new WritError(CODES.invalid_plan, 'x').exit).toBe(EXIT.usage);
    expect(new WritError(CODES.storage_failed, 'x').exit).toBe(EXIT.failed);
    expect(new WritError(CODES.integrity_broken, 'x', { exit: EXIT.integrity }).exit).toBe(5);
    expect(EXIT).toEqual({ ok: 0, failed: 1, usage: 2, denied: 3, waiting: 4, integrity: 5 });
  });

  it('an invalid file is named with its place and what to write', () => {
    const error = invalid(
      CODES.invalid_policy,
      { file: 'p.yaml', line: 3, column: 7 },
      'unknown key',
      'write `allow`',
    );
    expect(error.message).toBe('p.yaml:3:7: unknown key');
    expect(error.suggestion).toBe('write `allow`');
    expect(error.exit).toBe(EXIT.usage);
    expect(invalid(CODES.invalid_policy, { file: 'p.yaml' }, 'empty', 's').message).toBe('p.yaml: empty');
  });

  it('prints itself as JSON and tells messages of anything thrown', () => {
    const error = new WritError(CODES.denied, 'no', { context: { path: '/x' }, cause: new Error('why') });
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      code: 1001,
      family: 'PolicyDenied',
      message: 'no',
      suggestion: null,
      context: { path: '/x' },
    });
    expect([new Error('a'), 'b', 3, undefined].map(messageOf)).toEqual(['a', 'b', '3', 'undefined']);
  });
});
