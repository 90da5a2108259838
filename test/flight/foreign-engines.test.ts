import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { endOrphans } from '../../src/sandbox/index.ts';
import { flightFile, fly, nodeEngine, tempFolders, workflow } from './kit.ts';

/** Engines by people who read the specification and the page on engines, nothing else. */
const place = tempFolders();

/** Python: stdin is the input, everything optional is left out, paths are given in full. */
const PYTHON = `#!/usr/bin/env python3
import hashlib, json, os, sys
request = json.load(sys.stdin)
mode = os.environ["CABINCREW_MODE"]
artifacts = os.environ["CABINCREW_ARTIFACTS_DIR"]
receipt = {
    "protocol_version": request["protocol_version"],
    "engine_id": "py-greeter",
    "mode": mode,
    "receipt_id": request["meta"]["workflow_id"] + "-" + request["meta"]["step_id"],
    "status": "success",
}
print("thinking about it", file=sys.stderr)
if mode == "flight-plan":
    folder = os.path.join(artifacts, "greeting")
    os.makedirs(folder)
    body = ("hello " + request["config"]["name"] + "\\n").encode()
    with open(os.path.join(folder, "body.data"), "wb") as f:
        f.write(body)
    with open(os.path.join(folder, "artifact.json"), "w") as f:
        json.dump({"artifact_type": "file", "action": "create", "target": "greeting.txt", "mime": "text/plain",
                   "body": None, "body_file": "body.data", "metadata": {"lines": 1}}, f, indent=2)
    receipt["artifacts"] = [{"name": "greeting", "role": "state", "path": folder,
                             "hash": "sha256:" + hashlib.sha256(body).hexdigest()}]
    receipt["metrics"] = [{"name": "bytes", "value": len(body), "tags": {"kind": "text"}}]
    receipt["warnings"] = []
    receipt["diagnostics"] = {"python": "3"}
else:
    with open(os.path.join(artifacts, "greeting", "body.data"), "rb") as f:
        body = f.read()
    with open(os.path.join(os.environ["CABINCREW_WORKSPACE"], "greeting.txt"), "wb") as f:
        f.write(body)
json.dump(receipt, sys.stdout)
sys.stdout.write("\\n")
`;

/** Shell: one inline artifact, evidence only, pretty-printed JSON, another idea of versions. */
const SHELL = `#!/bin/sh
set -eu
cat > "$CABINCREW_TEMP_DIR/input.json"
case "$CABINCREW_MODE" in
flight-plan)
  mkdir "$CABINCREW_ARTIFACTS_DIR/notice"
  cat > "$CABINCREW_ARTIFACTS_DIR/notice/artifact.json" <<END
{
  "artifact_type": "message",
  "action": "announce",
  "mime": "text/plain",
  "body": "the door will be painted"
}
END
  cd "$CABINCREW_ARTIFACTS_DIR/notice"
  cat <<END
{
  "protocol_version": "draft",
  "engine_id": "door-painter",
  "mode": "flight-plan",
  "receipt_id": "1",
  "status": "success",
  "artifacts": [
    { "name": "notice", "role": "evidence", "path": "notice/artifact.json",
      "hash": "$(sha256sum artifact.json | cut -d' ' -f1)", "size": $(wc -c < artifact.json) }
  ]
}
END
  ;;
take-off)
  echo painted > "$CABINCREW_WORKSPACE/door.txt"
  echo '{ "protocol_version": "draft", "engine_id": "door-painter", "mode": "take-off", "receipt_id": "2", "status": "success", "artifacts": [] }'
  ;;
*) exit 2 ;;
esac
`;

describe('an engine of somebody else', () => {
  it.skipIf(spawnSync('python3', ['--version']).status !== 0)(
    '[FLT-E14][FLT-E15][FLT-E16] in Python, with all that is optional left out or given, works',
    async () => {
      const dir = place({
        'workflow.yaml': workflow('  - id: greet\n    engine: ./greet.py\n    config: { name: world }\n'),
        'greet.py': PYTHON,
      });
      const { code, json } = await fly(dir);
      expect({ code, error: json.error }).toEqual({ code: 0, error: null });
      expect(readFileSync(join(dir, 'greeting.txt'), 'utf8')).toBe('hello world\n');
      const log = flightFile(dir, json.flight_id, 'steps/greet/flight-plan.log');
      expect(readFileSync(log, 'utf8')).toBe('thinking about it\n');
    },
  );

  it('[FLT-E14][FLT-E15][FLT-E16] in shell, with an inline body and a version of its own, works', async () => {
    const dir = place({
      'workflow.yaml': workflow('  - id: paint\n    engine: ./paint.sh\n'),
      'paint.sh': SHELL,
    });
    const { code, json } = await fly(dir);
    expect({ code, error: json.error }).toEqual({ code: 0, error: null });
    expect(readFileSync(join(dir, 'door.txt'), 'utf8')).toBe('painted\n');
  });

  it('may say in its receipt whatever the published schema allows', async () => {
    const more =
      "{ error: '', warnings: ['w'], diagnostics: [1, { a: null }], metrics: [{ name: 'm', value: -1.5 }], plan_token: 'x' }";
    const dir = place({
      'workflow.yaml': workflow('  - id: one\n    engine: ./engine.mjs\n'),
      'engine.mjs': nodeEngine(
        `ok([put('a', { body: ['x', { y: 1 }], target: '', metadata: {} })], ${more})`,
      ),
    });
    const { code, json } = await fly(dir);
    expect({ code, error: json.error }).toEqual({ code: 0, error: null });
  });
});

describe('what an interruption leaves running', () => {
  it('is found by its environment and ended, and nothing else is', async () => {
    const dir = place({});
    const start = (name: string) =>
      spawn('sleep', ['1000'], { env: { CABINCREW_ARTIFACTS_DIR: join(dir, name) }, stdio: 'ignore' });
    const [mine, other] = [start('one'), start('other')];
    const gone = new Promise<string | null>((done) => mine.on('exit', (_, signal) => done(signal)));
    try {
      expect(await endOrphans('CABINCREW_ARTIFACTS_DIR', join(dir, 'one'))).toBe(1);
      expect(await gone).toBe('SIGKILL');
      expect(other.exitCode === null && other.signalCode === null).toBe(true);
      expect(await endOrphans('CABINCREW_ARTIFACTS_DIR', join(dir, 'one'))).toBe(0);
      expect(await endOrphans('CABINCREW_ARTIFACTS_DIR', join(dir, 'oth'))).toBe(0);
      expect(await endOrphans('CABINCREW_ARTIFACTS_DIR', dir)).toBe(1);
    } finally {
      other.kill('SIGKILL');
    }
  });
});
