import type { Json } from '../../core/json.ts';
import type { Call } from '../az/call.ts';
import type { Vm } from '../world/types.ts';

export async function runCommand(_call: Call, vm: Vm): Promise<Json> {
  return {
    value: [
      {
        code: 'ProvisioningState/succeeded',
        displayStatus: 'Provisioning succeeded',
        level: 'Info',
        message: `Enable succeeded: \n[stdout]\n${vm.name}\n[stderr]\n`,
        time: null,
      },
    ],
  };
}
