/** Storage and analytics: the command groups of the Azure CLI. Form and meaning: ../tree.ts. */
export const STORAGE = `
databoxedge: list-node list-sku show-job
 alert: list show
 bandwidth-schedule: create delete list show update wait
 device: create delete download-update get-extended-information install-update list scan-for-update show show-update-summary update wait
  share: create delete list show update
  storage-account: create delete list show update
   container: create delete list show update
  storage-account-credential: create delete list show update
  user: create delete list show update
 order: create delete list show update wait
dls:
 account: create delete enable-key-vault list show update
  firewall: create delete list show update
  trusted-provider: create delete list show update
 fs: append create delete download join list move preview remove-expiry set-expiry show test upload
  access: remove-all remove-entry set set-entry set-owner set-permission show
dms: check-name check-status create delete list list-skus show start stop wait
 project: check-name create delete list show
  task: cancel check-name create cutover delete list show
hdinsight: create delete list list-usage resize rotate-disk-encryption-key show update wait
 application: create delete list show wait
 autoscale: create delete list-timezones show update wait
  condition: create delete list update wait
 azure-monitor: disable enable show
 azure-monitor-agent: disable enable show
 credentials: show update wait
 host: list restart
 monitor: disable enable show
 script-action: delete execute list list-execution-history promote show-execution-details
netappfiles: check-file-path-availability check-name-availability check-quota-availability query-network-sibling-set update-network-sibling-set
 account: change-key-vault create delete get-key-vault-status list migrate-backup renew-credentials show transitiontocmk update wait
  ad: add list remove show update wait
  backup-policy: create delete list show update wait
  backup-vault: create delete list show update wait
   backup: create delete list restore-file show update wait
  identity: assign remove show wait
  quota-limit: list show
 cache: create delete list list-peering-passphrase pool-change reset-smb-password show update wait
 pool: create delete list show update wait
 quota-limit: list show
 resource: query-region-info
  region-info: list
   default: show
 snapshot: create delete list restore-files show update wait
  policy: create delete list show update volumes wait
 subvolume: create delete list show update wait
  metadata: show
 usage: list show
 volume: break-file-locks create delete finalize-relocation get-groupid-list-for-ldapuser list list-quota-report migrate-backup pool-change populate-availability-zone relocate reset-cifs-pw revert revert-relocation show splitclonefromparent update wait
  bucket: create delete generate-akv-credential generate-credential list refresh-certificate show update wait
  export-policy: add list remove show update wait
  latest-backup-status:
   current: show
  latest-restore-status:
   current: show
  quota-rule: create delete list show update wait
  ransomware-report: clear-suspect list show
  replication: approve authorize-external-replication finalize-external-replication list peer-external-cluster perform-replication-transfer populate-availability-zone re-initialize reestablish remove resume status suspend
 volume-group: create delete list show update wait
search:
 admin-key: renew show
 offering: list
 private-endpoint-connection: delete list show update
 private-link-resource: list
 query-key: create delete list
 service: check-name-availability create delete list show update upgrade wait
  admin-key: list regenerate
  network-security-perimeter-configuration: list reconcile show
  private-endpoint-connection: delete list show update
  private-link-resource: list
  query-key: create delete list
  shared-private-link-resource: create delete list show update wait
 shared-private-link-resource: create delete list show update wait
 usage: list show
storage: copy remove
 account: check-name create delete failover file-service-usage generate-sas list revoke-delegation-keys show show-connection-string show-usage update
  blob-inventory-policy: create delete show update
  blob-service-properties: show update
   cors-rule: add clear list
  encryption-scope: create list show update
  file-service-properties: show update
  hns-migration: start stop
  keys: list renew
  local-user: create delete list list-keys regenerate-password show update
  management-policy: create delete show update
  migration: show start
  network-rule: add list remove
  network-security-perimeter-configuration: list reconcile show
  or-policy: create delete list show update
   rule: add list remove show update
  private-endpoint-connection: approve delete reject show
  private-link-resource: list
 advanced-platform-metric: create delete list show update
 blob: delete delete-batch download download-batch exists generate-sas list query restore rewrite set-legal-hold set-tier show snapshot sync undelete update upload upload-batch url
  copy: cancel start start-batch
  immutability-policy: delete set
  incremental-copy: cancel start
  lease: acquire break change release renew
  metadata: show update
  service-properties: show update
   delete-policy: show update
 container: create delete exists generate-sas list restore set-permission show show-permission
  immutability-policy: create delete extend lock show
  lease: acquire break change release renew
  legal-hold: clear set show
  metadata: show update
  policy: create delete list show update
 container-rm: create delete exists list migrate-vlw show update
 cors: add clear list
 directory: create delete exists list show
  metadata: show update
 entity: delete insert merge query replace show
 file: delete delete-batch download download-batch exists generate-sas list resize show update upload upload-batch url
  copy: cancel start start-batch
  hard-link: create
  metadata: show update
  symbolic-link: create show
 fs: create delete exists generate-sas list list-deleted-path show undelete-path
  access: remove-recursive set set-recursive show update-recursive
  directory: create delete download exists generate-sas list move show upload
   metadata: show update
  file: append create delete download exists generate-sas list move set-expiry show upload
   metadata: show update
  metadata: show update
  service-properties: show update
 logging: off show update
 message: clear delete get peek put update
 metrics: show update
 queue: create delete exists generate-sas list stats
  metadata: show update
  policy: create delete list show update
 share: close-handle create delete exists generate-sas list list-handle show snapshot stats update url
  metadata: show update
  policy: create delete list show update
 share-rm: create delete exists list restore show snapshot stats update
 sku: list
 table: create delete exists generate-sas list stats
  policy: create delete list show update
synapse:
 activity-run: query-by-pipeline-run
 ad-only-auth: disable enable get
 data-flow: create delete list set show
 dataset: create delete list set show update
 integration-runtime: create delete get-connection-info get-monitoring-data get-status list list-auth-key regenerate-auth-key show start stop sync-credentials update upgrade wait
  managed: create
  self-hosted: create
 integration-runtime-node: delete get-ip-address show update
 kql-script: create delete export import list show wait
 kusto:
  attached-database-configuration: create delete list show update wait
  data-connection: delete list show wait
   event-grid: create update
   event-hub: create update
   iot-hub: create update
  database: create delete list show update wait
  database-principal-assignment: create delete list show update wait
  pool: add-language-extension create delete detach-follower-database list list-follower-database list-language-extension list-sku remove-language-extension show start stop update wait
  pool-principal-assignment: create delete list show update wait
 kusto-operation: list
 link-connection: create delete edit-link-tables get-link-tables-status get-status list list-link-tables show start stop update update-landing-zone-credential
 linked-service: create delete list set show update
 managed-private-endpoints: create delete list show
 notebook: create delete export import list set show
 pipeline: create create-run delete list set show update
 pipeline-run: cancel query-by-workspace show
 role:
  assignment: create delete list show
  definition: list show
  scope: list
 spark:
  job: cancel list show submit
  pool: create delete list show update wait
  session: cancel create list reset-timeout show
  statement: cancel invoke list show
 spark-job-definition: create delete list show update wait
 sql:
  ad-admin: create delete show update wait
  audit-policy: show update wait
  pool: create delete list list-deleted pause restore resume show show-connection-string update wait
   audit-policy: show update
   classification: create delete list show update
    recommendation: disable enable list
   tde: set show
   threat-policy: show update
 sql-script: create delete export import list show wait
 trigger: create delete get-event-subscription-status list set show start stop subscribe-to-event unsubscribe-from-event update wait
 trigger-run: cancel query-by-workspace rerun
 workspace: activate check-name create delete list show update wait
  firewall-rule: create delete list show update wait
  key: create delete list show wait
  managed-identity: grant-sql-access revoke-sql-access show-sql-access wait
 workspace-package: delete list show upload upload-batch
`;
