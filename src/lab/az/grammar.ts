/**
 * The commands of the `az` stand-in and the arguments each takes: names, order, required or not, as the real
 * CLI has them (checked against azure-cli 2.91 by `test/lab/az/real-az.test.ts` where one is installed).
 *
 * One command a line: `name ; kind ; arguments`. Kinds differ in how the real CLI complains about missing
 * arguments. An argument is its spellings joined by `,`, then: `:0` a flag, `:?` `:*` `:+` how many values,
 * `!` required, `@g` `@n` `@c` part of a resource id (group, name, child) that `--ids` may give instead
 * (`~` for `@`: or that may be left out), `=a|b` allowed values.
 */
const TABLE = `
account list ; cli ; --all:0 --refresh:0
account set ; cli ; --subscription,-s,--name,-n!
account show ; cli ; --subscription,-s,--name,-n
aks list ; cli ; --resource-group,-g
aks show ; cli ; --resource-group,-g! --name,-n!
group exists ; cli ; --name,-n,--resource-group,-g!
group list ; cli ; --tag:?
group show ; cli ; --name,-n,--resource-group,-g!
login ; cli ; --username,-u --password,-p --tenant,-t --service-principal:0 --identity:0 --use-device-code:0
logout ; cli ; --username,-u
monitor activity-log list ; cli ; --correlation-id --resource-group,-g --resource-id --namespace --start-time:+ --end-time:+ --caller --status --max-events --select:+ --offset
network application-gateway list ; aaz ; --next-token --max-items --resource-group,-g
network asg list ; aaz ; --resource-group,-g
network dns record-set a list ; aaz ; --next-token --max-items --resource-group,-g! -z,--zone-name! --recordsetnamesuffix --top
network dns record-set a show ; aaz ; -n,--name@c --resource-group,-g@g -z,--zone-name@n --ids:+
network dns record-set list ; aaz ; --next-token --max-items --resource-group,-g! -z,--zone-name!
network dns zone list ; aaz ; --next-token --max-items --resource-group,-g --top
network dns zone show ; aaz ; --resource-group,-g@g -n,--name,--zone-name@n --ids:+
network lb list ; aaz ; --next-token --max-items --resource-group,-g
network nat gateway list ; aaz ; --next-token --max-items --resource-group,-g
network nic ip-config list ; aaz ; --nic-name! --resource-group,-g!
network nic ip-config show ; aaz ; --nic-name! --resource-group,-g! -n,--name!
network nic list ; aaz ; --next-token --max-items --resource-group,-g
network nic list-effective-nsg ; aaz ; --no-wait:?=bool -n,--name@n --resource-group,-g@g --ids:+
network nic show ; aaz ; -n,--name@n --resource-group,-g@g --expand --ids:+
network nic show-effective-route-table ; aaz ; --no-wait:?=bool -n,--name@n --resource-group,-g@g --ids:+
network nic update ; aaz ; --no-wait:?=bool --add:+ --set:+ --remove:+ --force-string:?=bool -n,--name@n --resource-group,-g@g --accelerated-networking:?=bool --ip-forwarding:?=bool --dns-servers:+ --internal-dns-name --auxiliary-mode=AcceleratedConnections|Floating|MaxConnections|None --auxiliary-sku=A1|A2|A4|A8|None --ip-configurations:+ --network-security-group --ids:+
network nsg list ; aaz ; --resource-group,-g
network nsg rule create ; aaz ; --no-wait:?=bool --nsg-name! --resource-group,-g! -n,--name! --access=Allow|Deny --description --direction=Inbound|Outbound --priority! --protocol=*|Ah|Esp|Icmp|Tcp|Udp --destination-address-prefixes:+ --destination-port-ranges:+ --source-address-prefixes:+ --source-port-ranges:+ --destination-asgs:+ --source-asgs:+
network nsg rule delete ; aaz ; --no-wait:?=bool --nsg-name@n --resource-group,-g@g -n,--name@c --ids:+
network nsg rule list ; cli ; --resource-group,-g! --nsg-name! --include-default:0
network nsg rule show ; aaz ; --nsg-name@n --resource-group,-g@g -n,--name@c --ids:+
network nsg rule update ; aaz ; --no-wait:?=bool --add:+ --set:+ --remove:+ --force-string:?=bool --nsg-name@n --resource-group,-g@g -n,--name@c --access=Allow|Deny --description --direction=Inbound|Outbound --priority --protocol=*|Ah|Esp|Icmp|Tcp|Udp --destination-address-prefixes:+ --destination-port-ranges:+ --source-address-prefixes:+ --source-port-ranges:+ --destination-asgs:+ --source-asgs:+ --ids:+
network nsg show ; aaz ; -n,--name@n --resource-group,-g@g --expand --ids:+
network private-dns link vnet create ; aaz ; --no-wait:?=bool -z,--zone-name! --resource-group,-g! -n,--name! -e,--registration-enabled:?!=bool -v,--virtual-network! --tags:+ --resolution-policy=Default|NxDomainRedirect
network private-dns link vnet delete ; aaz ; --no-wait:?=bool --if-match -z,--zone-name@n --resource-group,-g@g -n,--name@c --yes,-y:0 --ids:+
network private-dns link vnet list ; aaz ; --next-token --max-items -z,--zone-name! --resource-group,-g! --top
network private-dns link vnet show ; aaz ; -z,--zone-name@n --resource-group,-g@g -n,--name@c --ids:+
network private-dns record-set a add-record ; cli ; --resource-group,-g! --zone-name,-z! --record-set-name,-n! --ipv4-address,-a!
network private-dns record-set a create ; aaz ; -z,--zone-name! -n,--name! --resource-group,-g! --metadata:+ --ttl
network private-dns record-set a delete ; aaz ; --if-match -z,--zone-name@n -n,--name@c --resource-group,-g@g --yes,-y:0 --ids:+
network private-dns record-set a list ; aaz ; --next-token --max-items -z,--zone-name! --resource-group,-g!
network private-dns record-set a remove-record ; cli ; --resource-group,-g! --zone-name,-z! --record-set-name,-n! --ipv4-address,-a! --keep-empty-record-set:0
network private-dns record-set a show ; aaz ; -z,--zone-name@n -n,--name@c --resource-group,-g@g --ids:+
network private-dns record-set a update ; aaz ; --add:+ --set:+ --remove:+ --force-string:?=bool --if-match -z,--zone-name@n -n,--name@c --resource-group,-g@g --metadata:+ --ids:+
network private-dns record-set cname list ; aaz ; --next-token --max-items -z,--zone-name! --resource-group,-g!
network private-dns record-set cname set-record ; cli ; --resource-group,-g! --zone-name,-z! --record-set-name,-n! --cname,-c!
network private-dns record-set cname show ; aaz ; -z,--zone-name@n -n,--name@c --resource-group,-g@g --ids:+
network private-dns record-set list ; aaz ; --next-token --max-items -z,--zone-name! --resource-group,-g!
network private-dns zone list ; aaz ; --next-token --max-items --resource-group,-g
network private-dns zone show ; aaz ; -n,--name@n --resource-group,-g@g --ids:+
network private-endpoint list ; aaz ; --next-token --max-items --resource-group,-g
network public-ip list ; aaz ; --next-token --max-items --resource-group,-g
network public-ip show ; aaz ; -n,--name@n --resource-group,-g@g --expand --ids:+
network route-table list ; aaz ; --next-token --max-items --resource-group,-g!
network route-table route create ; aaz ; --no-wait:?=bool --resource-group,-g! -n,--name! --route-table-name! --address-prefix --next-hop-ip-address --next-hop-type=Internet|None|VirtualAppliance|VirtualApplianceEcmp|VirtualNetworkGateway|VnetLocal --next-hop:+
network route-table route delete ; aaz ; --no-wait:?=bool --resource-group,-g@g -n,--name@c --route-table-name@n --ids:+
network route-table route list ; aaz ; --next-token --max-items --resource-group,-g! --route-table-name!
network route-table route show ; aaz ; --resource-group,-g@g -n,--name@c --route-table-name@n --ids:+
network route-table route update ; aaz ; --no-wait:?=bool --add:+ --set:+ --remove:+ --force-string:?=bool --resource-group,-g@g -n,--name@c --route-table-name@n --address-prefix --next-hop-ip-address --next-hop-type=Internet|None|VirtualAppliance|VirtualApplianceEcmp|VirtualNetworkGateway|VnetLocal --next-hop:+ --ids:+
network route-table show ; aaz ; --resource-group,-g@g -n,--name@n --expand --ids:+
network vnet list ; aaz ; --next-token --max-items --resource-group,-g
network vnet peering create ; aaz ; --no-wait:?=bool --resource-group,-g! --vnet-name! -n,--name! --allow-forwarded-traffic:?=bool --allow-gateway-transit:?=bool --allow-vnet-access:?=bool --enable-only-ipv6:?=bool --local-subnet-names:+ --peer-complete-vnets:?=bool --remote-subnet-names:+ --remote-vnet! --use-remote-gateways:?=bool
network vnet peering delete ; aaz ; --no-wait:?=bool --resource-group,-g@g --vnet-name@n -n,--name@c --ids:+
network vnet peering list ; aaz ; --next-token --max-items --resource-group,-g! --vnet-name!
network vnet peering show ; aaz ; --resource-group,-g@g --vnet-name@n -n,--name@c --ids:+
network vnet peering sync ; cli ; --resource-group,-g@g --vnet-name@n --name,-n@c --ids:+
network vnet peering update ; aaz ; --no-wait:?=bool --add:+ --set:+ --remove:+ --force-string:?=bool --resource-group,-g@g --vnet-name@n -n,--name@c --sync-remote=bool --allow-forwarded-traffic:?=bool --allow-gateway-transit:?=bool --allow-vnet-access:?=bool --enable-only-ipv6:?=bool --local-subnet-names:+ --peer-complete-vnets:?=bool --remote-subnet-names:+ --remote-vnet --use-remote-gateways:?=bool --ids:+
network vnet show ; aaz ; --resource-group,-g@g -n,--name@n --expand --ids:+
network vnet subnet list ; aaz ; --next-token --max-items --resource-group,-g! --vnet-name!
network vnet subnet show ; aaz ; --resource-group,-g@g -n,--name@c --vnet-name@n --expand --ids:+
network vnet subnet update ; aaz ; --no-wait:?=bool --add:+ --set:+ --remove:+ --force-string:?=bool --resource-group,-g@g -n,--name@c --vnet-name@n --address-prefixes:+ --default-outbound,--default-outbound-access:?=bool --ipam-allocations,--ipam-pool-prefix-allocations:+ --nat-gateway --nsg,--network-security-group --ple-network-policies,--private-endpoint-network-policies=Disabled|Enabled|NetworkSecurityGroupEnabled|RouteTableEnabled --pls-network-policies,--private-link-service-network-policies=Disabled|Enabled --route-table --endpoints:+ --sharing-scope=DelegatedServices|Tenant --delegations:+ --service-endpoints:+ --service-endpoint-policy:+ --disable-private-endpoint-network-policies:?=bool --disable-private-link-service-network-policies:?=bool --ids:+
network vnet-gateway list ; aaz ; --next-token --max-items --resource-group,-g!
network watcher list ; aaz ;
network watcher packet-capture create ; aaz ; --no-wait:?=bool -n,--name! --capture-size --filters:+ --target --target-type=AzureVM|AzureVMSS --time-limit --capture-limit --exclude:+ --include:+ --file-path --storage-account --storage-path -g,--resource-group! --vm
network watcher packet-capture delete ; aaz ; --no-wait:?=bool -n,--name! --location,-l!
network watcher packet-capture list ; aaz ; --location,-l!
network watcher packet-capture show ; aaz ; -n,--name! --location,-l!
network watcher packet-capture show-status ; aaz ; --no-wait:?=bool -n,--name! --location,-l!
network watcher packet-capture stop ; aaz ; --no-wait:?=bool -n,--name! --location,-l!
network watcher show-next-hop ; aaz ; --no-wait:?=bool --dest-ip! --source-ip! --nic --vm! -g,--resource-group
network watcher show-security-group-view ; aaz ; --no-wait:?=bool --vm! -g,--resource-group
network watcher show-topology ; aaz ; -g,--resource-group --subnet --vnet --location,-l
network watcher test-connectivity ; aaz ; --no-wait:?=bool --protocol=Http|Https|Icmp|Tcp --source-port --source-resource! --dest-address --dest-port --dest-resource --method=Get --valid-status-codes:+ -g,--resource-group --headers:+
network watcher test-ip-flow ; aaz ; --no-wait:?=bool --direction!=Inbound|Outbound --protocol!=TCP|UDP --nic --vm! --local! --remote! -g,--resource-group
resource list ; cli ; --resource-group,-g --namespace --resource-type --name,-n --tag:? --location,-l
resource show ; cli ; --ids:+ --resource-group,-g --namespace --parent --resource-type --name,-n --api-version --include-response-body:?=bool --latest-include-preview,-v
storage account keys list ; cli ; --resource-group,-g --account-name,-n! --expand-key-type=kerb
storage account list ; cli ; --resource-group,-g
storage account network-rule add ; cli ; --resource-group,-g --account-name,-n! --action --subnet --vnet-name --ip-address:* --ipv6-address:* --tenant-id --resource-id
storage account network-rule list ; cli ; --resource-group,-g --account-name,-n!
storage account network-rule remove ; cli ; --resource-group,-g --account-name,-n! --ip-address:* --ipv6-address:* --subnet --vnet-name --tenant-id --resource-id
storage account show ; cli ; --resource-group,-g~g --name,-n@n --expand=geoReplicationStats|blobRestoreStatus --ids:+
storage account update ; cli ; --resource-group,-g~g --name,-n@n --sku --tags:* --custom-domain --use-subdomain=bool --encryption-services:+=blob|file|table|queue --encryption-key-source=Microsoft.Storage|Microsoft.Keyvault --encryption-key-version --encryption-key-name --encryption-key-vault --enable-files-aadkerb:?=bool --access-tier=Hot|Cool|Premium|Cold|Smart --https-only:?=bool --enable-sftp:?=bool --enable-local-user:?=bool --enable-files-aadds:?=bool --assign-identity:0 --bypass:+=None|Logging|Metrics|AzureServices --default-action=Allow|Deny --enable-large-file-share:0 --enable-files-adds:?=bool --domain-name --net-bios-domain-name --forest-name --domain-guid --domain-sid --azure-storage-sid --sam-account-name --account-type=User|Computer --routing-choice=MicrosoftRouting|InternetRouting --publish-microsoft-endpoints:?=bool --publish-internet-endpoints:?=bool --allow-blob-public-access:?=bool --min-tls-version=TLS1_0|TLS1_1|TLS1_2|TLS1_3 --allow-shared-key-access,-k:?=bool --identity-type=None|SystemAssigned|UserAssigned|SystemAssigned,UserAssigned --user-identity-id --key-vault-user-identity-id,-u --key-vault-federated-client-id,-f --sas-expiration-action,--sas-exp-action=Log|Block --sas-expiration-period,--sas-exp --key-expiration-period-in-days,--key-exp-days --allow-cross-tenant-replication,-r:?=bool --default-share-permission,-d=None|StorageFileDataSmbShareReader|StorageFileDataSmbShareContributor|StorageFileDataSmbShareElevatedContributor --immutability-period-in-days,--immutability-period --immutability-state=Unlocked|Locked|Disabled --allow-protected-append-writes,--allow-append,-w:?=bool --public-network-access=Enabled|Disabled|SecuredByPerimeter --upgrade-to-storagev2:?=bool --yes,-y:0 --enable-smb-oauth:?=bool --zones:+ --zone-placement-policy=Any|None --enable-blob-geo-priority-replication,--blob-geo-sla:?=bool --publish-ipv6-endpoint:?=bool --allowed-copy-scope=PrivateLink|AAD|All --set:+ --add:+ --remove:+ --force-string:0 --ids:+
storage blob delete ; cli ; --account-name --connection-string --blob-endpoint --account-key --sas-token --delete-snapshots=include|only --auth-mode=login|key --name,-n --container-name,-c --timeout --blob-url --if-modified-since --if-unmodified-since --if-match --if-none-match --tags-condition --lease-id --snapshot
storage blob download ; cli ; --account-name --connection-string --blob-endpoint --account-key --sas-token --file,-f --open-mode --start-range --end-range --overwrite:?=bool --auth-mode=login|key --name,-n --container-name,-c --timeout --blob-url --if-modified-since --if-unmodified-since --if-match --if-none-match --tags-condition --no-progress:0 --snapshot --lease-id --version-id --max-connections --validate-content:0
storage blob exists ; cli ; --account-name --connection-string --blob-endpoint --account-key --sas-token --auth-mode=login|key --name,-n --container-name,-c --timeout --blob-url --snapshot
storage blob list ; cli ; --account-name --connection-string --blob-endpoint --account-key --sas-token --delimiter --include --marker --num-results --prefix --show-next-marker:0 --auth-mode=login|key --container-name,-c! --timeout
storage blob show ; cli ; --account-name --connection-string --blob-endpoint --account-key --sas-token --auth-mode=login|key --name,-n --container-name,-c --timeout --blob-url --if-modified-since --if-unmodified-since --if-match --if-none-match --tags-condition --snapshot --lease-id
storage container create ; cli ; --account-name --connection-string --blob-endpoint --account-key --sas-token --name,-n! --resource-group,-g --metadata:+ --public-access=off|blob|container --fail-on-exist:0 --timeout --default-encryption-scope,-d --prevent-encryption-scope-override,-p:?=bool --auth-mode=login|key
storage container exists ; cli ; --account-name --connection-string --blob-endpoint --account-key --sas-token --auth-mode=login|key --name,-n! --timeout
storage container list ; cli ; --account-name --connection-string --blob-endpoint --account-key --sas-token --include-metadata:?=bool --include-deleted:?=bool --marker --num-results --prefix --show-next-marker --auth-mode=login|key --timeout
storage container show ; cli ; --account-name --connection-string --blob-endpoint --account-key --sas-token --auth-mode=login|key --name,-n! --timeout --lease-id
version ; cli ;
vm deallocate ; aaz ; --no-wait:?=bool --resource-group,-g@g -n,--name,--vm-name@n --force-deallocate:?=bool --hibernate:?=bool --ids:+
vm extension list ; cli ; --resource-group,-g@g --vm-name@n --ids:+
vm extension show ; cli ; --resource-group,-g@g --vm-name@n --name,-n@c --instance-view:0 --ids:+
vm get-instance-view ; cli ; --resource-group,-g@g --name,-n@n --ids:+
vm list ; cli ; --resource-group,-g --show-details,-d:0 --vmss
vm list-ip-addresses ; cli ; --resource-group,-g~g --name,-n~n --ids:+
vm nic list ; cli ; --resource-group,-g! --vm-name!
vm nic show ; cli ; --resource-group,-g! --vm-name! --nic!
vm restart ; cli ; --resource-group,-g@g --name,-n@n --force:0 --no-wait:0 --ids:+
vm run-command invoke ; cli ; --resource-group,-g@g --name,-n@n --command-id! --scripts:+ --parameters:+ --no-wait:0 --ids:+
vm show ; cli ; --resource-group,-g@g --name,-n@n --show-details,-d:0 --include-user-data,-u:0 --ids:+
vm start ; aaz ; --no-wait:?=bool --resource-group,-g@g -n,--name,--vm-name@n --ids:+
vm stop ; cli ; --resource-group,-g@g --name,-n@n --skip-shutdown:0 --no-wait:0 --ids:+
`;

export interface ArgumentSpec {
  /** Spellings, in the order the real CLI names them. */
  readonly names: readonly string[];
  readonly count: '1' | '0' | '?' | '*' | '+';
  readonly required: boolean;
  readonly idPart: 'g' | 'n' | 'c' | null;
  /** A part of an id that may be left out. */
  readonly optionalPart: boolean;
  readonly choices: readonly string[] | null;
}

export interface CommandSpec {
  readonly name: string;
  /** `aaz` commands are generated in the real CLI and word their complaints differently. */
  readonly kind: 'aaz' | 'cli';
  readonly arguments: readonly ArgumentSpec[];
}

const BOOLEAN = ['true', 't', 'yes', 'y', '1', 'false', 'f', 'no', 'n', '0'];

/** Arguments every command takes. */
const GLOBAL =
  '--output,-o=json|jsonc|yaml|yamlc|table|tsv|none --query --subscription --only-show-errors:0 --verbose:0 --debug:0 --help,-h:0 --acquire-policy-token:0 --change-reference';

export function commandNames(): readonly string[] {
  return TABLE.trim()
    .split('\n')
    .map((line) => line.slice(0, line.indexOf(' ;')));
}

/** Only the line that is needed is read: start-up time counts. */
export function commandSpec(name: string): CommandSpec | undefined {
  const start = TABLE.indexOf(`\n${name} ;`);
  if (start < 0) return undefined;
  const [, kind, list] = TABLE.slice(start + 1, TABLE.indexOf('\n', start + 1)).split(' ;');
  const texts = `${list ?? ''} ${GLOBAL}`.split(' ').filter((text) => text !== '');
  const specs = texts.map(argumentSpec);
  // A command may have an argument of its own by a global name (`account show --subscription`).
  const own = specs.filter((s, i) => !s.names.some((n) => specs.findIndex((o) => o.names.includes(n)) < i));
  return { name, kind: kind?.trim() === 'aaz' ? 'aaz' : 'cli', arguments: own };
}

function argumentSpec(text: string): ArgumentSpec {
  const match = /^([^:!@~=]+)(?::([0?*+]))?(!)?(?:([@~])([gnc]))?(?:=(.*))?$/.exec(text)!;
  const choices = match[6];
  return {
    names: match[1]!.split(','),
    count: (match[2] ?? '1') as ArgumentSpec['count'],
    required: match[3] === '!',
    idPart: (match[5] ?? null) as ArgumentSpec['idPart'],
    optionalPart: match[4] === '~',
    choices: choices === undefined ? null : choices === 'bool' ? BOOLEAN : choices.split('|'),
  };
}
