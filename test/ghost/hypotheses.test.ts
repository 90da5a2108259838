import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testClock } from '../../src/core/testing.ts';
import {
  applyDenial,
  applyStatements,
  applySuccess,
  isTerminal,
  MAX_ACTIVE,
  readStatements,
} from '../../src/ghost/hypotheses.ts';
import { newSession, type SessionV1 } from '../../src/ghost/session-v1.ts';

const clock = testClock();
const blank = () =>
  newSession({
    sessionId: 'ghost_1',
    createdAt: clock.now().toISOString(),
    brain: 'script',
    model: '',
    auditDir: 'audit',
  });
const said = (session: SessionV1, text: string) => applyStatements(session, readStatements(text), clock);
const denial = (hypothesisId?: string) => ({
  command: 'az vm stop',
  reason: 'no',
  auditId: 'ghost_1_003',
  hypothesisId,
});
const state = (session: SessionV1, id: string) => session.hypothesis_log.find((h) => h.id === id)!.state;

describe('what a model says of its hypotheses', () => {
  it.each([
    ['H1: NSG web-nsg denies 443', [{ kind: 'formed', id: 'h1', description: 'NSG web-nsg denies 443' }]],
    ['- **H2**: route points nowhere', [{ kind: 'formed', id: 'h2' }]],
    ['Hypothesis H3: DNS', [{ kind: 'formed', id: 'h3' }]],
    [
      'H1 CONFIRMED by ghost_20260115_143000_007',
      [{ kind: 'settled', id: 'h1', state: 'CONFIRMED', auditIds: ['ghost_20260115_143000_007'] }],
    ],
    [
      'H2 CONTRADICTED by ghost_1_003, ghost_1_008: ping against capture',
      [{ kind: 'settled', state: 'CONTRADICTED', auditIds: ['ghost_1_003', 'ghost_1_008'] }],
    ],
    ['H1 appears refuted, I think', []],
    ['The HTTP: header', []],
  ])('[GHOST-10] %s', (text, expected) => {
    expect(readStatements(text)).toMatchObject(expected);
    expect(readStatements(text)).toHaveLength(expected.length);
  });

  it('[GHOST-11] at most three are active; the fourth moves up when one is settled', () => {
    let session = said(blank(), 'H1: a\nH2: b\nH3: c\nH4: d');
    expect(session.active_hypothesis_ids).toEqual(['h1', 'h2', 'h3']);
    session = said(session, 'H2 REFUTED by ghost_1_001');
    expect(session.active_hypothesis_ids).toEqual(['h1', 'h3', 'h4']);
    expect(session.hypothesis_log[1]).toMatchObject({ state: 'REFUTED', resolving_audit_id: 'ghost_1_001' });
  });

  it('[GHOST-12] a contradiction is noted, stays active, and is closed by better evidence', () => {
    let session = said(blank(), 'H1: a\nH1 CONTRADICTED by ghost_1_003, ghost_1_008');
    expect(session.active_hypothesis_ids).toEqual(['h1']);
    expect(session.evidence_conflicts).toMatchObject([
      { hypothesis_id: 'h1', conflicting_audit_ids: ['ghost_1_003', 'ghost_1_008'], resolution: 'pending' },
    ]);
    session = said(session, 'H1 REFUTED by ghost_1_009');
    expect(session.evidence_conflicts).toMatchObject([
      { resolution: 'REFUTED', higher_fidelity_source: 'ghost_1_009' },
    ]);
  });
});

describe('denials', () => {
  it('[GHOST-13] one, two, three: pivot, warning, UNVERIFIABLE with the instruction to go on', () => {
    let session = said(blank(), 'H1: a\nH2: b');
    const metas = [1, 2, 3].map(() => {
      const done = applyDenial(session, denial('h1'), clock);
      session = done.session;
      return [done.meta, state(session, 'h1')];
    });
    expect(metas).toMatchObject([
      [{ denial_count: 1, pivot_instruction: expect.any(String) }, 'DENIED_ONCE'],
      [
        { denial_count: 2, approaching_threshold: true, warning: expect.stringContaining('h1') },
        'DENIED_TWICE',
      ],
      [
        {
          denial_count: 3,
          denial_threshold_reached: true,
          instruction: expect.stringContaining('next active'),
        },
        'UNVERIFIABLE',
      ],
    ]);
    expect([session.active_hypothesis_ids, session.denial_tracker, state(session, 'h2')]).toEqual([
      ['h2'],
      { h1: 3, h2: 0 },
      'ACTIVE',
    ]);
    expect(session.hypothesis_log[0]!.denial_events).toHaveLength(3);
  });

  it('[GHOST-13] without a named hypothesis every active one counts; the last one closed says to conclude', () => {
    let session = said(blank(), 'H1: a\nH2: b');
    let last: unknown;
    for (let i = 0; i < 3; i++) ({ session, meta: last } = applyDenial(session, denial(), clock));
    expect(session.active_hypothesis_ids).toEqual([]);
    expect(last).toMatchObject({
      denial_threshold_reached: true,
      instruction: expect.stringContaining('complete_investigation'),
    });
  });

  it('[GHOST-14] a success resets the consecutive count, not the total, and brings it back to ACTIVE', () => {
    let session = said(blank(), 'H1: a');
    for (let i = 0; i < 2; i++) session = applyDenial(session, denial('h1'), clock).session;
    session = applySuccess(session, 'h1');
    expect([state(session, 'h1'), session.denial_tracker.h1, session.consecutive_denial_counter.h1]).toEqual([
      'ACTIVE',
      2,
      0,
    ]);
    session = applyDenial(session, denial('h1'), clock).session;
    expect(state(session, 'h1')).toBe('UNVERIFIABLE');
  });

  it('[GHOST-11] [GHOST-13] whatever happens, in any order: at most three active, none of them terminal, counts never fall', () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('say' as const),
        id: fc.integer({ min: 1, max: 6 }),
        verb: fc.constantFrom(': x', ' CONFIRMED', ' REFUTED', ' CONTRADICTED by ghost_1_001'),
      }),
      fc.record({
        kind: fc.constant('deny' as const),
        id: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
      }),
      fc.record({
        kind: fc.constant('succeed' as const),
        id: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
      }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let session = blank();
        for (const s of steps) {
          const before = session.denial_tracker;
          if (s.kind === 'say') session = said(session, `H${s.id}${s.verb}`);
          else if (s.kind === 'deny')
            session = applyDenial(
              session,
              denial(s.id === undefined ? undefined : `h${s.id}`),
              clock,
            ).session;
          else session = applySuccess(session, s.id === undefined ? undefined : `h${s.id}`);
          expect(session.active_hypothesis_ids.length).toBeLessThanOrEqual(MAX_ACTIVE);
          for (const id of session.active_hypothesis_ids) expect(isTerminal(state(session, id))).toBe(false);
          for (const [id, count] of Object.entries(before))
            expect(session.denial_tracker[id]).toBeGreaterThanOrEqual(count);
          for (const h of session.hypothesis_log)
            if (h.denial_count >= 3)
              expect(['UNVERIFIABLE', 'CONFIRMED', 'REFUTED', 'CONTRADICTED']).toContain(h.state);
        }
      }),
      { numRuns: 200 },
    );
  });
});
