import { seedOf } from './sim/random.ts';
import { type Mac, parseMac } from './wire/ethernet.ts';

/** The hardware address of a VM's NIC as `az network nic show` prints it: always the same for the same world. */
export function macText(worldId: string, vm: string): string {
  const number = seedOf(`${worldId} ${vm}`) & 0xffffff;
  const bytes = [0x00, 0x0d, 0x3a, number >>> 16, (number >>> 8) & 255, number & 255];
  return bytes.map((byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join('-');
}

export function macOf(worldId: string, vm: string): Mac {
  return parseMac(macText(worldId, vm));
}
