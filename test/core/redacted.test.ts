import { describe, expect, it } from 'vitest';
import { claimRedactedStamp } from '../../src/core/redacted.ts';

describe('Redacted', () => {
  it('[CORE-12] its stamp is handed out once a process', () => {
    // This file never loads the redact room, so the stamp is still there.
    expect(claimRedactedStamp()('text')).toBe('text');
    expect(() => claimRedactedStamp()).toThrow(/one place only/);
  });
});
