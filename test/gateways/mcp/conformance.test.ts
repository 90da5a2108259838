import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMcpGateway } from '../../../src/gateways/mcp/index.ts';
import { gatewayState } from '../state.ts';
import { startConformanceServer } from './conformance-server.ts';

const suite = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/conformance/dist/index.js', import.meta.url),
);

/** The suite's own summary, one line a scenario: what passed and what did not. */
function conformance(url: string): Promise<readonly string[]> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [suite, 'server', '--url', url],
      { timeout: 100_000, maxBuffer: 64 * 1024 * 1024 },
      (_error, stdout) => {
        resolve(
          stdout
            .split('\n')
            .filter((line) => /^\s*[✓✗].*\d+ passed, \d+ failed/.test(line))
            .map((line) => line.trim()),
        );
      },
    );
  });
}

describe('the official conformance suite', () => {
  let state: Awaited<ReturnType<typeof gatewayState>>;
  let server: Awaited<ReturnType<typeof startConformanceServer>>;
  let close: () => Promise<void>;
  let through: string;
  beforeAll(async () => {
    state = await gatewayState();
    server = await startConformanceServer();
    const gateway = createMcpGateway(
      {
        default: 'allow',
        anonymous: 'suite',
        servers: [{ name: 'fixtures', url: server.url }],
      },
      { ...state.deps, database: state.database, env: {}, baseDir: state.dir },
    );
    through = await gateway.listen();
    close = gateway.close;
  });
  afterAll(async () => {
    await close();
    await server.close();
    await state.close();
  });

  it('[GW-M33] [GW-M37] gives the same results through the gateway as without it', async () => {
    const direct = await conformance(server.url);
    const governed = await conformance(through);
    expect(direct.length).toBeGreaterThanOrEqual(25);
    expect(direct.filter((line) => line.startsWith('✓')).length).toBeGreaterThanOrEqual(25);
    expect(governed).toEqual(direct);
  }, 180_000);
});
