import type { Inventory, Subnet, Vm } from '../../../src/ghost/brains/playbook/inventory.ts';

/** Machines written as `name subnet address`, all in one network; `!` at the end makes an appliance. */
export function inventoryOf(...lines: readonly string[]): Inventory {
  const subnets = new Map<string, Subnet>();
  const vms = lines.map((line): Vm => {
    const [name = '', place = '', ip = '', mark = ''] = line.split(' ');
    const subnet = subnets.get(place) ?? {
      name: place,
      vnet: { name: 'vnet', group: 'rg' },
      prefix: `${ip.split('.').slice(0, 3).join('.')}.0/24`,
      nsg: null,
      routeTable: null,
      endpoints: [],
    };
    subnets.set(place, subnet);
    return {
      name,
      group: 'rg',
      location: 'westeurope',
      running: true,
      power: 'running',
      ip,
      publicIp: null,
      nic: `${name}-nic`,
      nicGroup: 'rg',
      nicNsg: null,
      forwarding: mark === '!',
      linux: true,
      subnet,
    };
  });
  return { vms, subnets: [...subnets.values()], evidence: { vms: 'a', nics: 'b', subnets: 'c' } };
}
