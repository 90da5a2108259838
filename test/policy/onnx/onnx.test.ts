import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { Recipe } from '../../../scripts/recipe.ts';
import { heldOut } from '../../../scripts/recipe.ts';
import { SECRETS_RECIPE } from '../../../scripts/secrets-data.ts';
import { onnxModel } from '../../../src/policy/index.ts';

const path = fileURLToPath(new URL('../../../models/secrets.onnx', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'writ-onnx-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const input = (text: string) => ({ context: { artifacts: [{ name: 'a', text, truncated: false }] } });

/** What the shipped file says at run time gives the figures that its card claims. */
async function holdsItsCard(file: string, recipe: Recipe, least: { precision: number; recall: number }) {
  const model = onnxModel(file);
  const card = JSON.parse(readFileSync(`${file}.json`, 'utf8'));
  const lines = heldOut(recipe);
  const said = [];
  for (const { text } of lines) said.push((await model.evaluate(input(text))).violations.join('\n'));
  expect(statSync(file).size).toBeLessThan(1024 * 1024);
  for (const [j, claim] of card.measured.held_out.entries()) {
    const hits = said.map((s) => s.includes(`: ${claim.label} (`));
    const right = hits.filter((hit, i) => hit && lines[i]?.labels[j] === 1).length;
    expect(right / hits.filter(Boolean).length).toBeCloseTo(claim.precision, 1);
    expect(right / lines.filter((l) => l.labels[j] === 1).length).toBeCloseTo(claim.recall, 1);
    expect(claim.precision).toBeGreaterThan(least.precision);
    expect(claim.recall).toBeGreaterThan(least.recall);
  }
}

describe('the model secrets.onnx', () => {
  const model = onnxModel(path);

  it('[FLT-P6] finds what it was trained to find, with other values; lets plain text pass', async () => {
    for (const text of [
      'aws_secret_access_key: hT9kLq2ZxV7bNm4RwP8sYd6GfJ3cQe1UaKo5XiBz',
      'sudo rm -rf /var',
    ])
      expect([text, (await model.evaluate(input(text))).decision]).not.toEqual([text, 'allow']);
    for (const text of ['the gateway route was updated', 'kubectl get pods -n web -o wide'])
      expect([text, (await model.evaluate(input(text))).decision]).toEqual([text, 'allow']);
  });

  it('[FLT-P6] precision and recall on forms it never saw are what its card says', async () => {
    await holdsItsCard(path, SECRETS_RECIPE, { precision: 0.85, recall: 0.9 });
  });

  it('[FLT-P2] answers the same for the same text', async () => {
    const text = input('password = Xk29sLqP0aZ!');
    expect(await model.evaluate(text)).toEqual(await model.evaluate(text));
  });

  it('text beyond what it reads needs a person', async () => {
    const said = await model.evaluate({
      context: { artifacts: [{ name: 'a', text: 'fine text', truncated: true }] },
    });
    expect(said.decision).toBe('require_approval');
  });

  it('[FLT-P12] a missing or broken model or card denies', async () => {
    expect((await onnxModel(join(folder, 'none.onnx')).evaluate({})).decision).toBe('deny');
    writeFileSync(join(folder, 'bad.onnx'), 'junk');
    writeFileSync(join(folder, 'bad.onnx.json'), readFileSync(`${path}.json`));
    expect((await onnxModel(join(folder, 'bad.onnx')).evaluate(input('x y z'))).decision).toBe('deny');
    writeFileSync(join(folder, 'nocard.onnx'), readFileSync(path));
    expect((await onnxModel(join(folder, 'nocard.onnx')).evaluate(input('x y z'))).decision).toBe('deny');
    const card = JSON.parse(readFileSync(`${path}.json`, 'utf8'));
    writeFileSync(join(folder, 'shape.onnx'), readFileSync(path));
    writeFileSync(
      join(folder, 'shape.onnx.json'),
      JSON.stringify({ ...card, labels: [...card.labels, card.labels[0]] }),
    );
    expect((await onnxModel(join(folder, 'shape.onnx')).evaluate(input('some text'))).decision).toBe('deny');
  });
});
