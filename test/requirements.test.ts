import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { requirements } from './requirements.ts';

const citation = /(['"`])((?:\[[A-Z]+(?:-[A-Z0-9]+)+\]\s*)+)/g;

/** Ids at the beginning of a test's title, as `[ID]`; a mention in a comment or inside a sentence does not count. */
function citedIds(): Set<string> {
  const cited = new Set<string>();
  for (const file of globSync('test/**/*.test.ts')) {
    for (const match of readFileSync(file, 'utf8').matchAll(citation)) {
      for (const id of match[2]!.matchAll(/\[([A-Z]+(?:-[A-Z0-9]+)+)\]/g)) cited.add(id[1]!);
    }
  }
  return cited;
}

describe('requirements', () => {
  const cited = citedIds();

  it('there are some, and every id stands once', () => {
    const ids = requirements.map((r) => r.id);
    expect(ids.length).toBeGreaterThan(100);
    expect(ids.filter((id, i) => ids.indexOf(id) !== i)).toEqual([]);
  });

  it('every met requirement is cited by a test', () => {
    expect(requirements.filter((r) => r.state === 'met' && !cited.has(r.id)).map((r) => r.id)).toEqual([]);
  });

  it('every cited id exists', () => {
    const known = new Set(requirements.map((r) => r.id));
    const room = new Set(requirements.map((r) => r.id.split('-')[0]));
    expect([...cited].filter((id) => room.has(id.split('-')[0]) && !known.has(id))).toEqual([]);
  });

  it('each says where it comes from, in a sentence', () => {
    expect(requirements.filter((r) => r.source.length < 4 || r.text.length < 15).map((r) => r.id)).toEqual(
      [],
    );
  });
});
