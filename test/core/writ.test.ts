import { describe, expect, it } from 'vitest';
import { type Action, actionDigest, frozenAction, Writ, WritError } from '../../src/core/index.ts';
import { testClock, testIds } from '../../src/core/testing.ts';
import { claimMint, type WritTerms } from '../../src/core/writ.ts';

const clock = testClock();
// This file never loads authority, so the mint is still to be had: once.
const mint = claimMint();
const action: Action = { kind: 'shell.command', subject: 'true', detail: { argv: ['true'] } };

function writ(terms: Partial<WritTerms> = {}): Writ {
  return mint({
    action,
    grounds: { decision: 'allow', rules: ['r'] },
    expiresAt: clock.monotonic() + 1000,
    now: () => clock.monotonic(),
    ...terms,
  });
}

describe('writ', () => {
  it('[CORE-10] the mint is handed out once', () => {
    expect(() => claimMint()).toThrow(/claimed/);
  });

  it('[CORE-10] nobody makes one without the mint', () => {
    const terms: WritTerms = {
      action,
      grounds: { decision: 'allow', rules: [] },
      expiresAt: 9e15,
      now: () => 0,
    };
    expect(() => new Writ(Symbol('mint'), terms)).toThrow(WritError);
    class Forged extends Writ {
      constructor() {
        super(Symbol.for('mint'), terms);
      }
    }
    expect(() => new Forged()).toThrow(WritError);
  });

  it('[CORE-10] copies, clones, JSON and look-alikes are not writs', () => {
    const real = writ();
    expect(Writ.is(real)).toBe(true);
    const fakes: unknown[] = [
      JSON.parse(JSON.stringify(real)),
      structuredClone({ ...real }),
      { ...real },
      Object.create(Writ.prototype),
      Object.create(real),
      Object.assign(Object.create(Writ.prototype), real),
      new Proxy(real, {}),
      Writ.prototype,
      null,
      'writ',
    ];
    for (const fake of fakes) expect(Writ.is(fake)).toBe(false);
    expect(() => Writ.prototype.use.call(Object.create(Writ.prototype) as Writ, action)).toThrow(TypeError);
    expect(() => new Proxy(real, {}).use(action)).toThrow(TypeError);
  });

  it('[CORE-11] works once', () => {
    const once = writ();
    expect(once.use(action)).toEqual({ decision: 'allow', rules: ['r'] });
    expect(() => once.use(action)).toThrow(/used/);
  });

  it('[CORE-11] does not work after its expiry', () => {
    const late = writ();
    clock.advance(1001);
    expect(() => late.use(action)).toThrow(/expired/);
  });

  it('[CORE-11] does not work for another action, and is not used up by the attempt', () => {
    const bound = writ();
    for (const other of [
      { ...action, kind: 'tool.call' as const },
      { ...action, subject: 'false' },
      { ...action, detail: { argv: ['true', ''] } },
      { ...action, detail: { argv: ['true'], extra: null } },
    ])
      expect(() => bound.use(other)).toThrow(/another/);
    expect(bound.use({ detail: { argv: ['true'] }, subject: 'true', kind: 'shell.command' })).toBeDefined();
  });

  it('[CORE-11] an action changed behind its back is another action', () => {
    const changed = { ...action, detail: { argv: ['true'] } };
    const tricked = writ({ action: changed });
    changed.detail.argv[0] = 'rm';
    expect(() => tricked.use(changed)).toThrow(/another/);
    expect(tricked.action.detail).toEqual({ argv: ['true'] });
    expect(() => Object.assign(tricked.action.detail.argv as object, { 0: 'rm' })).toThrow(TypeError);
    expect(tricked.use(tricked.action)).toBeDefined();
  });

  it('a frozen action is a copy to the bottom, its own copy, and without a canonical form there is none', () => {
    const given = { ...action, extra: 1, detail: { list: [{ deep: 1 }], ['__proto__']: { x: 1 } } };
    const frozen = frozenAction(given);
    expect(frozenAction(frozen)).toBe(frozen);
    expect(actionDigest(frozen)).toBe(actionDigest(given));
    expect(frozen).toEqual({ kind: action.kind, subject: action.subject, detail: given.detail });
    expect(() => Object.assign((frozen.detail.list as object[])[0]!, { deep: 2 })).toThrow(TypeError);
    // What merely looks frozen is digested each time.
    const thawed = Object.freeze({ ...action, detail: { argv: ['true'] } });
    const before = actionDigest(thawed);
    thawed.detail.argv.push('x');
    expect(actionDigest(thawed)).not.toBe(before);
    expect(() => frozenAction({ ...action, subject: '\ud800' })).toThrow(/surrogate/);
  });

  it('cannot be altered, and knows the digest of its action', () => {
    const fixed = writ();
    expect(() => Object.assign(fixed, { action: { ...action, subject: 'x' } })).toThrow(TypeError);
    expect(() => Object.assign(fixed.action, { subject: 'x' })).toThrow(TypeError);
    expect(fixed.digest).toBe(actionDigest(action));
  });
});

describe('the ports for tests', () => {
  it('a clock that moves only when told, ids that count', async () => {
    const still = testClock('2026-01-01T00:00:00.000Z');
    await still.sleep(5000);
    expect(still.now().toISOString()).toBe('2026-01-01T00:00:05.000Z');
    expect(still.monotonic()).toBe(5000);
    const ids = testIds();
    expect([ids.next('a'), ids.next('b')]).toEqual(['a_0001', 'b_0002']);
  });
});
