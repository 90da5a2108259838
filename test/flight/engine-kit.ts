import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';

/** One launch of a built-in engine, without the orchestrator around it: its own side of the contract. */
export interface Launch {
  readonly code: number | null;
  readonly receipt: {
    readonly status?: string;
    readonly error?: string;
    readonly artifacts?: readonly { readonly name: string; readonly role: string }[];
  };
}

export interface Bench {
  readonly workspace: string;
  readonly artifacts: string;
  readonly temp: string;
  run(engine: string, config: unknown, mode?: 'flight-plan' | 'take-off'): Launch;
}

const made: string[] = [];
afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true });
});

export function bench(files: Readonly<Record<string, string | Uint8Array>> = {}): Bench {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-engine-')));
  made.push(root);
  const [workspace, artifacts, temp] = ['w', 'a', 't'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  for (const dir of [workspace, artifacts, temp]) mkdirSync(dir);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), content);
  }
  return {
    workspace,
    artifacts,
    temp,
    run: (engine, config, mode = 'flight-plan') => {
      const file = fileURLToPath(new URL(`../../src/flight/engines/${engine}.ts`, import.meta.url));
      const { status, stdout } = spawnSync(process.execPath, [file], {
        input: JSON.stringify({ mode, meta: { workflow_id: 'w', step_id: 's' }, config }),
        env: {
          CABINCREW_WORKSPACE: workspace,
          CABINCREW_ARTIFACTS_DIR: artifacts,
          CABINCREW_TEMP_DIR: temp,
          CABINCREW_MODE: mode,
        },
        encoding: 'utf8',
        timeout: 30_000,
      });
      return { code: status, receipt: JSON.parse(stdout || '{}') };
    },
  };
}
