import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writ } from './kit.ts';

const made: string[] = [];
afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true });
});

describe('the examples of engines', () => {
  it.each([
    ['note', 'note.txt'],
    ['files', 'VERSION'],
  ])('[FLT-E2][FLT-E12] examples/flights/%s runs as its page says', async (name, result) => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'writ-example-')));
    made.push(dir);
    cpSync(new URL(`../../examples/flights/${name}`, import.meta.url), dir, { recursive: true });
    const { code, json } = await writ(dir, ['flight', 'run', 'workflow.yaml', '--json']);
    expect({ code, error: json.error }).toEqual({ code: 0, error: null });
    expect(readFileSync(join(dir, result), 'utf8')).not.toBe('');
  });
});
