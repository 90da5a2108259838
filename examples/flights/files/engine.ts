/** An engine in TypeScript: plans a file with a version in it, and writes it at take-off. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const { CABINCREW_WORKSPACE: workspace = '', CABINCREW_ARTIFACTS_DIR: artifacts = '' } = process.env;
const input = JSON.parse(readFileSync(0, 'utf8'));
const receipt = {
  protocol_version: '1.0',
  engine_id: 'stamp',
  mode: input.mode,
  receipt_id: `${input.meta.step_id}/${input.mode}`,
  status: 'success',
};
const folder = join(artifacts, 'version');

if (input.mode === 'flight-plan') {
  const body = `${input.config.version}\n`;
  mkdirSync(folder);
  writeFileSync(join(folder, 'body.data'), body);
  const artifact = {
    artifact_type: 'file',
    action: 'create',
    target: 'VERSION',
    mime: 'text/plain',
    body_file: 'body.data',
  };
  writeFileSync(join(folder, 'artifact.json'), JSON.stringify(artifact));
  const hash = createHash('sha256').update(body).digest('hex');
  const named = [{ name: 'version', role: 'state', path: 'version', hash, size: Buffer.byteLength(body) }];
  process.stdout.write(JSON.stringify({ ...receipt, artifacts: named }));
} else {
  writeFileSync(join(workspace, 'VERSION'), readFileSync(join(folder, 'body.data')));
  process.stdout.write(JSON.stringify(receipt));
}
