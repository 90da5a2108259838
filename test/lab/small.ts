import { parseWorld } from '../../src/lab/world/load.ts';
import type { World } from '../../src/lab/world/types.ts';

/** A world from a few lines of YAML: one group is always there. */
export function world(yaml: string, now = '2026-01-15T14:30:00Z'): World {
  return parseWorld(
    `id: small\nnow: ${now}\ngroups: [{ name: rg, location: westeurope }]\n${yaml}`,
    'small.yaml',
  );
}

/** Two subnets, a client, a server on 8080, whatever else is given. */
export function pair(
  extra = '',
  parts: { client?: string; server?: string; web?: string; data?: string } = {},
): World {
  return world(`
vnets:
  - name: net
    group: rg
    prefixes: [10.0.0.0/16]
    subnets:
      - { name: web, prefix: 10.0.1.0/24${parts.web ? `, ${parts.web}` : ''} }
      - { name: data, prefix: 10.0.2.0/24${parts.data ? `, ${parts.data}` : ''} }
vms:
  - { name: client, group: rg, subnet: net/web, ip: 10.0.1.4${parts.client ? `, ${parts.client}` : ''} }
  - { name: server, group: rg, subnet: net/data, ip: 10.0.2.4, listens: [{ port: 8080 }]${parts.server ? `, ${parts.server}` : ''} }
watchers: [westeurope]
flows: [{ from: client, to: server, port: 8080, every_ms: 1000, bytes: 3000 }]
${extra}`);
}
