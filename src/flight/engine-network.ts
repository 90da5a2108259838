import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Network, RELAY_ADDRESS } from '../sandbox/index.ts';
import { type Connection, openHostProxy } from './host-proxy.ts';

/** The network of one launch: none, or a proxy to the hosts that the step names for this mode. */
export interface EngineNetwork {
  readonly profile: Network;
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const NONE: EngineNetwork = { profile: 'none', env: {}, close: async () => {} };

export async function openEngineNetwork(
  hosts: readonly string[],
  onConnection: (made: Connection) => void,
): Promise<EngineNetwork> {
  if (hosts.length === 0) return NONE;
  // A short path of its own: the system allows about a hundred characters.
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'writ-net-'));
  const socket = join(folder, 'proxy');
  const proxy = await openHostProxy({ socket, hosts, onConnection });
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];
  return {
    profile: { relay: socket },
    env: {
      ...Object.fromEntries(
        names.flatMap((name) => [
          [name, RELAY_ADDRESS],
          [name.toLowerCase(), RELAY_ADDRESS],
        ]),
      ),
      // Node's own fetch and http look at these only when told to.
      NODE_USE_ENV_PROXY: '1',
    },
    close: async () => {
      await proxy.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
