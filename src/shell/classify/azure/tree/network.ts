/** Networks: the command groups of the Azure CLI. Form and meaning: ../tree.ts. */
export const NETWORK = `
network: list-service-aliases list-service-tags list-usages
 application-gateway: create delete list show show-backend-health start stop update wait
  address-pool: create delete list show update wait
  auth-cert: create delete list show update wait
  client-cert: add list remove show update wait
  frontend-ip: create delete list show update wait
  frontend-port: create delete list show update wait
  http-listener: create delete list show update wait
  http-settings: create delete list show update wait
  identity: assign remove show wait
  listener: create delete list show update wait
  private-link: add list remove show wait
   ip-config: add list remove show wait
  probe: create delete list show update wait
  redirect-config: create delete list show update wait
  rewrite-rule: create delete list list-request-headers list-response-headers show update wait
   condition: create delete list list-server-variables show update wait
   set: create delete list show update wait
  root-cert: create delete list show update wait
  routing-rule: create delete list show update wait
  rule: create delete list show update wait
  settings: create delete list show update wait
  ssl-cert: create delete list show update wait
  ssl-policy: list-options set show wait
   predefined: list show
  ssl-profile: add list remove show update wait
  url-path-map: create delete list show update wait
   rule: create delete list show update wait
  waf-config: list-dynamic-rule-sets list-rule-sets set show
  waf-policy: create delete list show update wait
   custom-rule: create delete list show update
    match-condition: add list remove
   managed-rule:
    exception: add list remove
    exclusion: add list remove
     rule-set: add list remove
    rule-set: add list remove update
   policy-setting: list update
 asg: create delete list show update wait
  address-prefix-set: create delete list show update wait
 cross-region-lb: create delete list show update wait
  address-pool: create delete list show update
   address: add list remove show update
  frontend-ip: create delete list show update
  rule: create delete list show update
 custom-ip:
  prefix: create delete list show update wait
 ddos-custom-policy: create delete list show update wait
 ddos-protection: create delete list show update wait
 dns: list-references
  dnssec-config: create delete show wait
  record-set: list
   a: add-record create delete list remove-record show update
   aaaa: add-record create delete list remove-record show update
   caa: add-record create delete list remove-record show update
   cname: create delete list remove-record set-record show update
   ds: add-record create delete list remove-record show update
   mx: add-record create delete list remove-record show update
   naptr: add-record create delete list remove-record show update
   ns: add-record create delete list remove-record show update
   ptr: add-record create delete list remove-record show update
   soa: show update
   srv: add-record create delete list remove-record show update
   tlsa: add-record create delete list remove-record show update
   txt: add-record create delete list remove-record show update
  zone: create delete export import list show update
 express-route: create delete get-link-failover-all-tests-detail get-link-failover-single-test-detail get-stats list list-arp-tables list-route-tables list-route-tables-summary list-service-providers show start-link-failover-test stop-link-failover-test update wait
  auth: create delete list show wait
  gateway: create delete get-failover-all-tests-detail get-failover-single-test-detail get-resiliency-information get-routes-information list show start-site-failover-test stop-site-failover-test update wait
   connection: create delete list show update wait
  peering: create delete get-stats list show update wait
   connection: create delete list show wait
    ipv6-config: remove set wait
   peer-connection: list show
  port: create delete generate-loa list show update wait
   authorization: create delete list show update wait
   identity: assign remove show wait
   link: list show update wait
   location: list show
 first-party-service-tag: create delete list show update wait
 lb: create delete list list-mapping list-nic show update wait
  address-pool: create delete list show update wait
   address: add list remove show update wait
   tunnel-interface: add list remove show update wait
  frontend-ip: create delete list show update wait
  inbound-nat-pool: create delete list show update wait
  inbound-nat-rule: create delete list show update wait
  outbound-rule: create delete list show update wait
  probe: create delete list show update wait
  rule: create delete list show update wait
 local-gateway: create delete list show update wait
 nat:
  gateway: create delete list show update wait
 network-watcher:
  connection-monitor: create delete list show wait
  packet-capture: create delete list query-status show stop
 nic: create delete list list-effective-nsg show show-effective-route-table update wait
  ip-config: create delete list show update wait
   address-pool: add remove
   inbound-nat-rule: add remove wait
 nsg: create delete list show update wait
  rule: create delete list show update wait
 private-dns:
  link:
   vnet: create delete list show update wait
  record-set: list
   a: add-record create delete list remove-record show update
   aaaa: add-record create delete list remove-record show update
   cname: create delete list remove-record set-record show update
   mx: add-record create delete list remove-record show update
   ptr: add-record create delete list remove-record show update
   soa: show update
   srv: add-record create delete list remove-record show update
   txt: add-record create delete list remove-record show update
  zone: create delete export import list show update wait
 private-endpoint: create delete list list-types show update wait
  asg: add list remove wait
  dns-zone-group: add create delete list remove show wait
  ip-config: add list remove wait
 private-endpoint-connection: approve delete list reject show
 private-link-resource: list
 private-link-service: create delete list list-auto-approved show update wait
  connection: delete update wait
 profile: delete list show wait
 public-ip: create delete list show update wait
  ddos-protection: show
  prefix: create delete list show update wait
 route-filter: create delete list show update wait
  rule: create delete list list-service-communities show update wait
 route-table: create delete list show update wait
  route: create delete list show update wait
 routeserver: create delete list show update wait
  peering: create delete list list-advertised-routes list-learned-routes show update wait
 security-partner-provider: create delete list show update wait
 service-endpoint: list
  policy: create delete list show update wait
  policy-definition: create delete list show update wait
 traffic-manager:
  endpoint: create delete list show show-geographic-hierarchy update
  profile: check-dns create delete list show update
 virtual-appliance: create delete get-boot-diagnostic-log list reimage restart show update wait
  connection: list show update wait
  identity: assign remove show wait
  inbound-security-rule: create show
  migration: abort commit execute prepare
  site: create delete list show update wait
  sku: list show
 virtual-network-appliance: create delete list show update wait
 vnet: check-ip-address create delete list list-available-ips list-endpoint-services move-ip-configurations show update wait
  peering: create delete list show sync update wait
  subnet: create delete list list-available-delegations list-available-ips show update wait
 vnet-gateway: create delete disconnect-vpn-connections get-failover-all-tests-detail get-failover-single-test-detail get-resiliency-information get-routes-information list list-advertised-routes list-bgp-peer-status list-learned-routes reset show show-supported-devices start-site-failover-test stop-site-failover-test update wait
  aad: assign remove show wait
  identity: assign remove show wait
  ipsec-policy: add clear list wait
  migration: abort commit execute prepare
  nat-rule: add list remove wait
  packet-capture: start stop wait
  revoked-cert: create delete wait
  root-cert: create delete wait
  vpn-client: generate show-health show-url
   ipsec-policy: set show wait
 vpn-connection: create delete list list-ike-sas show show-device-config-script update wait
  ipsec-policy: add clear list wait
  packet-capture: start stop wait
  shared-key: reset show update
 watcher: configure list run-configuration-diagnostic show-next-hop show-security-group-view show-topology test-connectivity test-ip-flow
  connection-monitor: create delete list query show start stop wait
   endpoint: add list remove show wait
   output: add list remove wait
   test-configuration: add list remove show wait
   test-group: add list remove show wait
  flow-log: create delete list show update wait
  packet-capture: create delete list show show-status stop wait
  troubleshooting: show start
private-link:
 association: create delete list show
resourcemanagement:
 private-link: create delete list show
`;
