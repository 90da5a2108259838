/** A storage account's firewall. It answers with 403 inside the conversation; it drops no packets. */
import type { StorageAccount, World } from '../world/types.ts';
import { inPrefix } from './ipv4.ts';
import { findVm, subnetOf } from './places.ts';
import type { Origin, StorageAdmission } from './types.ts';

/** The address the engineer's machine has on the internet. */
export const LOCAL_PUBLIC_IP = '203.0.113.77';
/** What VMs without a public address of their own appear as. */
export const SHARED_OUTBOUND_IP = '20.1.77.9';

export function storageAdmission(
  world: World,
  account: StorageAccount,
  from: Origin,
  viaPrivateEndpoint = false,
): StorageAdmission {
  const answer = (allowed: boolean, why: StorageAdmission['why']) => ({
    account: account.name,
    allowed,
    why,
  });
  if (account.default_action === 'Allow') return answer(true, 'default_allow');
  // The firewall stands before the public endpoint; a private endpoint does not pass it.
  if (viaPrivateEndpoint) return answer(true, 'subnet_rule');
  if (from.kind === 'vm') {
    const vm = findVm(world, from.name);
    if (vm) {
      const listed = account.subnet_rules.includes(vm.subnet);
      const endpoint = subnetOf(world, vm).service_endpoints.some((s) =>
        /^microsoft\.storage(\.global)?$/i.test(s),
      );
      if (listed && endpoint) return answer(true, 'subnet_rule');
      if (!endpoint && byAddress(account, vm.public_ip ?? SHARED_OUTBOUND_IP)) return answer(true, 'ip_rule');
      return answer(false, listed ? 'service_endpoint_missing' : 'not_on_the_list');
    }
  }
  const ip = from.kind === 'internet' ? from.ip : LOCAL_PUBLIC_IP;
  return byAddress(account, ip) ? answer(true, 'ip_rule') : answer(false, 'not_on_the_list');
}

function byAddress(account: StorageAccount, ip: string): boolean {
  return account.ip_rules.some((rule) => inPrefix(rule, ip));
}
