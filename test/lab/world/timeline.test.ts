import { describe, expect, it } from 'vitest';
import { applyJsonPatch } from '../../../src/lab/world/patch.ts';
import { makeTimeline } from '../../../src/lab/world/timeline.ts';
import { pair } from '../small.ts';

const START = Date.parse('2026-01-15T14:30:00Z');

describe('a world over time', () => {
  const base = pair(`
faults_over_time:
  - { at_s: 60, patch: [{ op: replace, path: /vms/1/power, value: stopped }] }
  - { at_s: 30, patch: [{ op: add, path: /vms/1/os_firewall/-, value: { chain: INPUT, port: 8080, action: DROP } }] }`);

  it('[LAB-05] changes at the moments the file says, in order of time', () => {
    const timeline = makeTimeline(base, [], applyJsonPatch);
    expect(timeline.changes).toEqual([START + 30_000, START + 60_000]);
    expect(timeline.at(START).vms[1]).toMatchObject({ power: 'running', os_firewall: [] });
    expect(timeline.at(START + 30_000).vms[1]!.os_firewall).toMatchObject([
      { port: ['8080'], action: 'DROP' },
    ]);
    expect(timeline.at(START + 59_999).vms[1]!.power).toBe('running');
    expect(timeline.at(START + 60_000).vms[1]!.power).toBe('stopped');
    // Looking back still shows the past.
    expect(timeline.at(START + 1).vms[1]!.os_firewall).toEqual([]);
  });

  it('[LAB-05] folds writes in between, and skips what no longer fits', () => {
    const writes = [
      { at_ms: START + 45_000, patch: [{ op: 'replace' as const, path: '/vms/1/os_firewall', value: [] }] },
      { at_ms: START + 50_000, patch: [{ op: 'remove' as const, path: '/vms/9' }] },
    ];
    const timeline = makeTimeline(base, writes, applyJsonPatch);
    expect(timeline.at(START + 40_000).vms[1]!.os_firewall).toHaveLength(1);
    expect(timeline.at(START + 55_000).vms[1]!.os_firewall).toHaveLength(0);
    expect(timeline.at(START + 90_000).vms[1]!.power).toBe('stopped');
  });
});
