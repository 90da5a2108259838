import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { commandNames } from '../../../src/lab/az/grammar.ts';
import { testLab } from '../lab-dir.ts';

/** Every command that only reads, once: what it prints is part of the contract. WRIT_UPDATE_GOLDEN=1 renews it. */
const FILE = fileURLToPath(new URL('./answers.golden.json', import.meta.url));
const ID = '/subscriptions/00000000-1ab0-4a2b-8c3d-000000000001/resourceGroups/shop-rg/providers';

const CALLS: readonly string[] = [
  'account show',
  'account list',
  'group list',
  'group show -n shop-rg',
  'group exists -n nope',
  'vm list -g shop-rg --show-details',
  'vm show -g shop-rg -n web-01',
  `vm show --ids ${ID}/Microsoft.Compute/virtualMachines/db-01 --query name`,
  'vm get-instance-view -g hub-rg -n old-01 --query instanceView',
  'vm list-ip-addresses -o table',
  'vm nic list -g shop-rg --vm-name web-01',
  'vm nic show -g shop-rg --vm-name web-01 --nic web-01-nic --query name',
  'vm extension list -g shop-rg --vm-name web-01',
  'vm extension show -g shop-rg --vm-name web-01 -n AzureNetworkWatcherExtension --query provisioningState',
  'network nsg list --query [].name -o tsv',
  'network nsg show -g shop-rg -n web-nsg',
  'network nsg rule list -g shop-rg --nsg-name web-nsg --include-default -o table',
  'network nsg rule show -g shop-rg --nsg-name web-nsg -n https',
  'network nic list --query [].[name,enableIPForwarding] -o tsv',
  'network nic show -g shop-rg -n db-01-nic',
  'network nic list-effective-nsg -g shop-rg -n web-01-nic',
  'network nic list-effective-nsg -g shop-rg -n web-01-nic -o table',
  'network nic show-effective-route-table -g shop-rg -n web-01-nic',
  'network nic show-effective-route-table -g hub-rg -n fw-01-nic -o table',
  'network nic ip-config list -g shop-rg --nic-name web-01-nic',
  'network nic ip-config show -g shop-rg --nic-name web-01-nic -n ipconfig1 --query privateIPAddress',
  'network public-ip list -o table',
  'network public-ip show -g shop-rg -n web-01-pip --query ipAddress',
  'network route-table list -g shop-rg',
  'network route-table show -g shop-rg -n shop-rt --query subnets[].id',
  'network route-table route list -g shop-rg --route-table-name shop-rt -o table',
  'network route-table route show -g shop-rg --route-table-name shop-rt -n to-data',
  'network vnet list -o table',
  'network vnet show -g hub-rg -n hub-vnet',
  'network vnet subnet list -g shop-rg --vnet-name shop-vnet --query [].name',
  'network vnet subnet show -g shop-rg --vnet-name shop-vnet -n web',
  'network vnet peering list -g shop-rg --vnet-name shop-vnet',
  'network vnet peering show -g shop-rg --vnet-name shop-vnet -n shop-to-hub --query peeringState',
  'network private-dns zone list',
  'network private-dns zone show -g shop-rg -n shop.internal --query numberOfRecordSets',
  'network private-dns link vnet list -g shop-rg -z shop.internal',
  'network private-dns link vnet show -g shop-rg -z shop.internal -n shop-vnet-link --query virtualNetworkLinkState',
  'network private-dns record-set list -g shop-rg -z shop.internal',
  'network private-dns record-set a list -g shop-rg -z shop.internal -o table',
  'network private-dns record-set a show -g shop-rg -z shop.internal -n db --query aRecords',
  'network private-dns record-set a update -g shop-rg -z shop.internal -n db --query name',
  'network private-dns record-set a create -g shop-rg -z shop.internal -n new --query name',
  'network private-dns record-set cname list -g shop-rg -z shop.internal --query [].cnameRecord.cname',
  'network private-dns record-set cname show -g shop-rg -z shop.internal -n www --query cnameRecord',
  'network dns zone list',
  'network dns zone show -g hub-rg -n shop.example --query nameServers',
  'network dns record-set list -g hub-rg -z shop.example',
  'network dns record-set a list -g hub-rg -z shop.example --query [].ARecords',
  'network dns record-set a show -g hub-rg -z shop.example -n @ --query TTL',
  'network watcher list',
  'network watcher show-next-hop -g shop-rg --vm web-01 --source-ip 10.1.1.4 --dest-ip 10.1.2.4',
  'network watcher show-next-hop -g shop-rg --vm web-01 --source-ip 10.1.1.4 --dest-ip 10.0.1.4',
  'network watcher test-ip-flow -g shop-rg --vm web-01 --direction Inbound --protocol TCP --local 10.1.1.4:443 --remote 8.8.4.4:51000',
  'network watcher test-ip-flow -g shop-rg --vm web-01 --direction Outbound --protocol TCP --local 10.1.1.4:* --remote 10.1.2.4:23',
  'network watcher test-connectivity -g shop-rg --source-resource web-01 --dest-resource db-01 --dest-port 5432',
  'network watcher test-connectivity -g shop-rg --source-resource web-01 --dest-address nobody.internal --dest-port 1 --query connectionStatus',
  'network watcher show-topology -g shop-rg --query resources[].name',
  'network watcher show-security-group-view -g shop-rg --vm web-01 --query networkInterfaces[].id',
  'network watcher packet-capture list -l westeurope',
  'network lb list',
  'network nat gateway list',
  'network vnet-gateway list -g shop-rg',
  'network private-endpoint list',
  'network application-gateway list',
  'network asg list',
  'aks list',
  'resource list -g shop-rg --query [].[type,name] -o tsv',
  'resource list --name db-01 --resource-type Microsoft.Compute/virtualMachines -o table',
  'resource show -g shop-rg -n web-01 --resource-type Microsoft.Compute/virtualMachines --query type -o tsv',
  `resource show --ids ${ID}/Microsoft.Network/networkInterfaces/web-01-nic --query location -o tsv`,
  'storage account list --query [].name',
  'storage account show -n shoplocked',
  'storage account keys list -n shopcaps --query [].keyName',
  'storage account network-rule list -n shoplocked -g hub-rg',
  'storage container exists --account-name shopcaps -n captures --auth-mode login',
  'storage container exists --account-name shopcaps -n nope --auth-mode login -o tsv',
  'storage container list --account-name shopcaps --auth-mode login --query [].name',
  'storage container show --account-name shopcaps -n captures --auth-mode login --query name',
  'storage blob list --account-name shopcaps -c captures --auth-mode login',
  'storage blob exists --account-name shopcaps -c captures -n x --auth-mode login',
  'monitor activity-log list --offset 7d --query [].[eventTimestamp,caller,operationName.value,resourceId] -o tsv',
  'monitor activity-log list -g shop-rg',
  'version',
];

describe('the az stand-in answers', () => {
  it('[LAB-16] every reading command as it always has', async () => {
    const lab = testLab();
    const found: Record<string, unknown> = {};
    for (const call of CALLS) {
      const { stdout, stderr, code } = await lab.az(...call.split(' '));
      expect([call, code, stderr]).toEqual([call, 0, '']);
      const json = stdout.startsWith('{') || stdout.startsWith('[');
      found[call] = json ? JSON.parse(stdout) : stdout.split('\n');
    }
    const text = `${JSON.stringify(found, null, 1)}\n`;
    if (process.env.WRIT_UPDATE_GOLDEN || !existsSync(FILE)) writeFileSync(FILE, text);
    expect(found).toEqual(JSON.parse(readFileSync(FILE, 'utf8')));
  });

  it('[LAB-16] and no command of the table is without an answer', async () => {
    const writing =
      /create|update|delete|add|remove|set|sync|start|stop|restart|deallocate|invoke|login|logout/;
    const called = new Set(CALLS.map((c) => c.split(/ -| \//)[0]));
    const forgotten = commandNames().filter(
      (name) => !called.has(name) && !writing.test(name.split(' ').at(-1)!),
    );
    expect(forgotten).toEqual([
      'aks show',
      'network watcher packet-capture show',
      'network watcher packet-capture show-status',
      'storage blob download',
      'storage blob show',
    ]);
  });
});
