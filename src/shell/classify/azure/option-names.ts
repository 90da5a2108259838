/** Long options of the Azure CLI's reading commands that only select, filter or format. Others are undeclared. */
export const OPTION_NAMES = `
access-policy-name account account-name acr action-group-name active-directory-id activity-log-alert-
name adaptive-network-hardenings-resource-name address-pool address-pool-name address-prefix-set-name
admin-user advanced-platform-metrics-rule-type agent-pool-name agent-version aggregation alias all
analytics-query api-id api-version app app-id appliance-name application application-group-name
application-id application-name application-security-group-name application-type-name application-type-
version apply apps architecture artifact-source-name artifact-type asg-name assessed-resource-id
assessment-name asset-name assignee assignee-object-id assignment attach-and-mount attached-database-
configuration-name attempt-refresh attestation-name auth-mode auth-type authentication-provider
authorization-rule-name auto-adjust-timegrain autoscale-name autoscale-setting-name availability-set-
name availability-zone available azure-monitor-workspace-name backend-id backend-pool-name backup-id
backup-intent backup-management-type backup-name backup-policy-name backup-vault-name big-data-pool-name
billing-account-name billing-period-name billing-profile-name blob-auditing-policy-name bucket-name
budget-name by-subscription cache-name caller capacity-reservation-group capacity-reservation-name
category certificate certificate-name change-reference circuit-name claimable cluster cluster-name
collection-name column command-id commitment-plan-name compute-name config-name configuration-name
connection connection-monitor connection-monitor-name connection-name consumer-group-name container
container-name continuation-token control-name correlation-id cosmosdb-account count created custom
custom-role-only customer-name dapr-component-name dashboard-name data-center-name data-connection-name
data-export-name data-source-type database database-name database-rid database-state datetime db-name
ddos-custom-policy-name default definition deleted deleted-time deleted-vault-id delimiter deployment-id
deployment-name dest-ip dest-mi dest-resource-group dest-rg detail detail-level device-family device-
name dimension direction disable-scope-strict-match disallow-trailing-dot disk-access-name disk-
encryption-set disk-encryption-set-name disk-name display-name dnl-scope domain-name domain-topic-name
dps-name dtu edge-zone edition elastic-pool enable-file-backup-request-intent end-date end-time
endpoint-name endpoint-type enrollment-account-name environment environment-name event-hub-name
eventhub-name exclude exclude-dir exclude-extended-info execution-id exists expand expand-ad-admin
experiment expiry export-parameters fabric-shortcut-name failover-test-id feature federated-credential-
id fetch-latest fields file-last-written file-system filename filename-contains fill-principal-name
fill-role-definition-name filter filter-display-name filter-name filter-string filters firewall-rule-
name firmware-version first first-party-service-tag-name fleet-name fleetspace-account-name fleetspace-
name from from-full-rp-name from-index function-name gallery-application-name gallery-application-
version-name gallery-image-definition gallery-image-name gallery-image-version gallery-image-version-
name gallery-name gallery-unique-name gateway-name grain graph-query group group-id group-name help host
host-group host-group-name host-name host-name-from-http-settings hostname hsm-name http-route-config-
name http-settings hub-name hybrid-connection-name hyperv-workers-enabled id identifier-uri identity
identity-arm-id identity-name ids if-match if-modified-since if-none-match if-unmodified-since ignore-
errors image image-name image-template-name include include-additional-properties include-all include-
body include-colocation-status include-default include-definition include-deleted include-disabled-
recommendations include-extended-locations include-groups include-inherited include-managed include-
metadata include-meter-details include-pending include-response-body include-snapshot include-snapshots
included-disabled index install-version instance instance-id instance-name instance-view interval
invoice-name invoice-section-name ip-address is-built-in is-ready-for-move is-windows-os issue-name
issuer-name item item-name item-type job job-execution-name job-id job-schedule-id key-name keyspace-
name keyword kid kind kusto-pool-name lab-name label latest latest-include-preview lb-name lease-id link
link-id link-name link-type linked-hub linked-server-name linked-service-name linux-workers-enabled
live-event-name livy-id local location log-point-in-time machine-name maintenance-category maintenance-
event-id maintenance-name maintenance-status managed-certificates-only managed-cluster managed-instance
managed-instance-enabled managed-instance-name managed-network-name management-group management-group-id
marker master-subnet match-body match-status-codes max-events max-file-size max-items max-results max-
segment-count maxpagesize maxresults member-id message metadata metric metric-name metric-namespace metricnames
metricnamespace metrics metrics-container-name mi migration-name move-to-archive-tier name named-value-
id namespace namespace-name network-interface-name network-security-perimeter-configuration-name
network-virtual-appliance-name network-watcher-name next-token nic nic-name no-children no-color no-
pretty-print no-wait node-id node-name node-type-name nodepool-name nsg nsg-name nsp-config-name num-
messages num-results nva nva-name object-id odata-query offer offset only-latest-per-database only-show-
errors operation operation-id operation-ids order-by orderby org-name os os-type outbound-rule-fqdn
outcome output output-directory-id output-name owner-name package package-name packet-capture-name page
page-size parent parent-protocol partition-key partner-namespace-name partner-topic-name path path-map-
name path-prefix pe-name peer peering-location peering-name period-end-date period-start-date
permissions pg-bouncer plan pn policy-assignment policy-assignment-name policy-definition policy-
definition-reference-id policy-id policy-name policy-set-definition policy-sub-type pool-id pool-name
port-name prefix principal-assignment-name private-endpoint-connection-name private-key-certificates-
only private-link product product-id product-name profile-name profile-version project-name protectable-
item-type protocol provider-name provider-namespace proximity-placement-group-name public-fqdn public-
gallery-name publisher publisher-name query query-id query-pack-name queue-count queue-name quota-limit-
name quota-rule-name quota-target quota-type ransomware-report-name recommendation-type recommended-for-
archive recordsetnamesuffix recurse recursive refresh refresh-summary region registry registry-name
relay-name release-id remote replica replica-name repo-name repository request reservation-id
reservation-order-id resiliency-view resolve-snapshot-references resolver-id resource resource-
association-name resource-group resource-group-name resource-id resource-ids-only resource-name
resource-namespace resource-parent resource-type resource-uri restorable-dropped-database-id restore-
location restore-mode restore-point-collection-name restore-point-name restore-points restore-timestamp
result-type revision role role-assignment-id role-id role-name roll-up-by route-name route-table-name
routeserver row-key rp-name rule rule-collection-name rule-id rule-index rule-name rule-set-name run-
command-name run-id run-status runtime saved-query saved-search-name scan-id scan-result-id schema
schema-group-name schema-id scope scope-name search search-query search-service-name security-alert-
policy-name security-connector-name security-contact-name security-enabled-only select selected-state
server server-configuration-option-name server-name service-group-name service-name service-objective
services session-id setting-name share-name shared-private-link-resource-name shared-to sharing-groups
show-all show-cluster show-details show-mine show-multicontainer-config show-next-marker show-resource-
name signalr-name size skip skip-token skiptoken sku sku-name sli-name slot snapshot snapshot-name
snapshot-policy-name snapshot-rg solution-name source source-id source-ip source-resource-id source-type
spark-pool-name spn sql-pool-name ssh-public-key-name standard-name start-date start-time state status
storage-account storage-account-name storage-name store-name subnet subnet-id subscription subscription-
name subvolume-name suffix support system-topic-name table table-name tag tags tags-condition tail
target target-container-name target-instance-name target-item-name target-operation target-resource-
group target-server-name target-server-type target-subscription-id target-tier target-type target-vault-
name task-id task-type template-spec tenant test-configuration-name test-group-name thumbprint tier
timeout timespan to top topic-name topic-type-name track-name transfer-name transform-name transparent-
data-encryption-name trigger-name trusted-id-provider-name type updated upn urn usage usage-threshold-
pct usage-threshold-percentage usage-type use-secondary-region user-name validate-dimensions variable
vault-name vcores vendor verbose verified-partner-name version version-name version-set-id virtual-
appliance-name virtual-machine-scale-set-name virtual-network-appliance-name virtual-network-gateway-
name virtualmachine-index vm vm-extension-name vm-id vm-instance vm-name vm-scale-set-name vmss vmss-
instance vmss-name vnet vnet-gateway vnet-name vnet-resource-group volume-group-name volume-name volume-
quota-rule-name watcher-name watcher-rg webapp-name with-property-changes worker-subnet workload-
profile-name workload-type workspace workspace-name workspaces wpc zone zone-name zone-redundant
`;
