import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { CAUSE_KINDS } from '../../../src/core/index.ts';
import { synthesizeCapture } from '../../../src/lab/packets/index.ts';
import { parseWorld } from '../../../src/lab/world/load.ts';
import { type Cause, suffers } from './evidence.ts';

const page = readFileSync(new URL('../../../docs/worlds.md', import.meta.url), 'utf8');

describe('docs/worlds.md', () => {
  it('[LABP-56] has an example that loads, fails for its stated reason, and can be captured', () => {
    const text = /```yaml\n([\s\S]*?)```/u.exec(page)![1]!;
    const world = parseWorld(text, 'till.yaml');
    const { truth } = parse(text) as { truth: { causes: Cause[] } };
    expect(suffers(world, world.flows[0]!, truth.causes[0]!)).toBe(true);
    const options = { vm: 'till-01', startMs: Date.parse(world.now), durationMs: 10_000 };
    expect(synthesizeCapture(world, options).length).toBeGreaterThan(1000);
  });

  it('[LABP-56] says how to write every kind of cause, and how many worlds there are', () => {
    expect(CAUSE_KINDS.filter((kind) => !page.includes(`\`${kind}\``))).toEqual([]);
    const worlds = globSync(new URL('../../../worlds/*.yaml', import.meta.url).pathname).length;
    expect(page).toContain(`${worlds} worlds come with Writ`);
  });
});
