/** Messaging, vaults, backup, monitoring, security: the command groups of the Azure CLI. Form and meaning: ../tree.ts. */
export const MESSAGING = `
backup:
 container: list re-register register show unregister
 deleted-vault: get list list-containers undelete
 item: list set-policy show
  source-scan-configuration: set
 job: list show stop wait
 policy: create delete get-default-for-vm list list-associated-items set show
 protectable-item: initialize list show
 protection: auto-disable-for-azurewl auto-enable-for-azurewl backup-now check-vm disable enable-for-azurefileshare enable-for-azurewl enable-for-vm reconfigure resume undelete update-for-vm
 recoveryconfig: show
 recoverypoint: list move show show-log-chain
 restore: restore-azurefiles restore-azurefileshare restore-azurewl restore-disks
  files: mount-rp unmount-rp
 vault: create delete list list-soft-deleted-containers show update
  backup-properties: set show
  encryption: show update
  identity: assign remove show
  resource-guard-mapping: delete show update
eventgrid:
 domain: create delete list show update
  event-subscription: create delete list show update
  key: list regenerate
  topic: create delete list show
   event-subscription: create delete list show update
 event-subscription: create delete list show update
 extension-topic: show
 partner:
  configuration: authorize create delete list show unauthorize update
  destination: activate create delete list show update
  namespace: create delete list show
   channel: create delete list show update
   event-channel: create delete list show
   key: list regenerate
  registration: create delete list show
  topic: activate deactivate delete list show
   event-subscription: create delete list show update
  verified-partner: list show
 system-topic: create delete list show update
  event-subscription: create delete list show update
 topic: create delete list show update
  event-subscription: create delete list show update
  key: list regenerate
 topic-type: list list-event-types show
eventhubs:
 cluster: available-region create delete list show update wait
  namespace: list
  quota-configuration: show update
  upgrade-preference: create show update upgrade-now
 eventhub: create delete list show update
  authorization-rule: create delete list show update
   keys: list renew
  consumer-group: create delete list show update
  fabric-shortcut: approve create delete list reject show update
 georecovery-alias: break-pair create delete exists fail-over list set show
  authorization-rule: list show
   keys: list
 namespace: create delete exists failover list show update wait
  application-group: create delete list show update
   policy: add remove
  authorization-rule: create delete list show update
   keys: list renew
  encryption: add remove
  identity: assign remove
  network-rule-set: create list show update
   ip-rule: add remove
   virtual-network-rule: add remove
  nsp-configuration: list show
  private-endpoint-connection: approve create delete list reject show update wait
  private-link-resource: show
  replica: add remove
  schema-registry: create delete list show update
iot:
 central:
  app: create delete list show update
   identity: assign remove show
   private-endpoint-connection: approve delete list reject show
   private-link-resource: list show
 dps: create delete list show update
  certificate: create delete generate-verification-code list show update verify
  linked-hub: create delete list show update
  policy: create delete list show update
 hub: create delete list list-skus manual-failover show show-connection-string show-quota-metrics show-stats update wait
  certificate: create delete generate-verification-code list show update verify
  consumer-group: create delete list show
  identity: assign remove show
  message-enrichment: create delete list update
  policy: create delete list renew-key show
  route: create delete list show test update
  routing-endpoint: create delete list show
keyvault: check-name create delete delete-policy list list-deleted purge recover set-policy show show-deleted update update-hsm wait wait-hsm
 backup: start
 certificate: backup create delete download get-default-policy import list list-deleted list-versions purge recover restore set-attributes show show-deleted
  contact: add delete list
  issuer: create delete list show update
   admin: add delete list
  pending: delete merge show
 ekm-connection: check create delete show update
  certificate: show
 key: backup create decrypt delete download encrypt get-attestation get-policy-template import list list-deleted list-versions purge random recover restore rotate set-attributes show show-deleted sign verify
  rotation-policy: show update
 network-rule: add list remove wait
 private-endpoint-connection: approve delete list reject show wait
 private-link-resource: list
 region: add list remove wait
 restore: start
 role:
  assignment: create delete list
  definition: create delete list show update
 secret: backup delete download list list-deleted list-versions purge recover restore set set-attributes show show-deleted
 security-domain: download init-recovery restore-blob upload wait
 setting: list show update
monitor: clone
 account: create delete list show update wait
  identity: assign remove show
  issue: add-investigation-result add-or-update-alert add-or-update-resource create delete fetch-background-visualization fetch-investigation-result list list-alert list-resource set-background-visualization show update
  metrics-container: create list show update
 action-group: create delete enable-receiver list show update wait
  identity: assign remove show
  test-notifications: create
 activity-log: list list-categories
  alert: create delete list show update
   action-group: add remove
   scope: add remove
 autoscale: create delete list show show-predictive-metric update
  profile: create delete list list-timezones show
  rule: copy create delete list
 dashboard: create delete list show wait
 diagnostic-settings: create delete list show update
  categories: list show
  subscription: create delete list show update
 log-analytics:
  cluster: create delete list show update wait
   identity: assign remove show wait
  query-pack: create delete list show update
   query: create delete list search show update
  workspace: create delete failback failover get-schema get-shared-keys list list-available-service-tier list-deleted-workspaces list-link-target list-management-groups list-usages recover show update wait
   data-export: create delete list show update
   identity: assign remove show wait
   linked-service: create delete list show update wait
   linked-storage: add create delete list remove show
   pack: disable enable list
   saved-search: create delete list show update
   table: create delete list migrate show update wait
    restore: create
    search-job: cancel create
 log-profiles: create delete list show update
 metrics: list list-definitions list-namespaces list-sub list-sub-definitions
  alert: create delete list show update
   condition: create
   dimension: create
 private-link-scope: create delete list show update wait
  private-endpoint-connection: approve delete list reject show wait
  private-link-resource: list show
  scoped-resource: create delete list show wait
 sli: create delete list show update
relay:
 hyco: create delete list show update
  authorization-rule: create delete list show update
   keys: list renew
 namespace: create delete exists list show update wait
  authorization-rule: create delete list show update
   keys: list renew
 wcfrelay: create delete list show update
  authorization-rule: create delete list show update
   keys: list renew
security:
 adaptive-application-controls: list show
 adaptive_network_hardenings: list show
 alert: list show update
 alerts-suppression-rule: delete delete_scope list show update upsert_scope
 allowed_connections: list show
 api-collection:
  apim: list offboard onboard show wait
 assessment: create delete list show
 assessment-metadata: create delete list show
 atp:
  cosmosdb: show update
  storage: show update
 auto-provisioning-setting: list show update
 automation: create_or_update delete list show validate
 automation-action-event-hub: create
 automation-action-logic-app: create
 automation-action-workspace: create
 automation-rule: create
 automation-rule-set: create
 automation-scope: create
 automation-source: create
 contact: create delete list show update
 discovered-security-solution: list show
 external-security-solution: list show
 iot-alerts: delete list show
 iot-analytics: list show
 iot-recommendations: list show
 iot-solution: create delete list show update
 jit-policy: list show
 location: list show
 pricing: create list show
 regulatory-compliance-assessments: list show
 regulatory-compliance-controls: list show
 regulatory-compliance-standards: list show
 secure-score-control-definitions: list
 secure-score-controls: list list_by_score
 secure-scores: list show
 security-connector: create delete list show update
  devops: create delete list-available-azuredevopsorgs list-available-githubowners list-available-gitlabgroups show update wait
   azuredevopsorg: create list show update wait
    project: create list show update wait
     repo: create list show update wait
   githubowner: list show
    repo: list show
   gitlabgroup: list list-subgroups show
    project: list show
 security-solutions: list
 security-solutions-reference-data: list
 setting: create list show update
 sub-assessment: list show
 task: list show
 topology: list show
 va:
  sql: create delete show update
   baseline: add create delete list set show
   results: list show
   scans: initiate-scan list show
    scan-operation-result: show
 workspace-setting: create delete list show
servicebus:
 georecovery-alias: break-pair create delete exists fail-over list set show
  authorization-rule: list show
   keys: list
 migration: abort complete delete list show start wait
 namespace: create delete exists failover list show update wait
  authorization-rule: create delete list show update
   keys: list renew
  encryption: add remove
  identity: assign remove
  network-rule-set: create list show update
   ip-rule: add remove
   virtual-network-rule: add remove
  private-endpoint-connection: approve create delete list reject show update wait
  private-link-resource: show
  replica: add remove
 queue: create delete list show update
  authorization-rule: create delete list show update
   keys: list renew
 topic: create delete list show update
  authorization-rule: create delete list show update
   keys: list renew
  subscription: create delete list show update
   rule: create delete list show update
`;
