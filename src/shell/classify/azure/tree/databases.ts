/** Databases: the command groups of the Azure CLI. Form and meaning: ../tree.ts. */
export const DATABASES = `
cosmosdb: check-name-exists create delete failover-priority-change list list-connection-strings list-keys list-read-only-keys offline-region regenerate-key restore show update
 cassandra:
  keyspace: create delete exists list show
   throughput: migrate show update
  table: create delete exists list show update
   throughput: migrate show update
 collection: create delete exists list show update
 database: create delete exists list show
 fleet: create delete list show
 fleetspace: create delete list show update
  account: create delete list show
 gremlin: retrieve-latest-backup-time
  database: create delete exists list restore show
   throughput: migrate show update
  graph: create delete exists list restore show update
   throughput: migrate show update
  restorable-database: list
  restorable-graph: list
  restorable-resource: list
 identity: assign remove show
 keys: list regenerate
 locations: list show
 mongodb: retrieve-latest-backup-time
  collection: create delete exists list restore show update
   throughput: migrate show update
  database: create delete exists list restore show
   throughput: migrate show update
  restorable-collection: list
  restorable-database: list
  restorable-resource: list
  role:
   definition: create delete exists list show update
  user:
   definition: create delete exists list show update
 network-rule: add list remove
 postgres: check-name-availability
  cluster: create delete list promote restart show start stop update wait
   server: list show
  configuration: list show
   coordinator: show update wait
   node: show update wait
   server: list
  firewall-rule: create delete list show update wait
  role: create delete list show update wait
 private-endpoint-connection: approve delete reject show
 private-link-resource: list
 restorable-database-account: list show
 service: create delete list show update
 sql: retrieve-latest-backup-time
  container: create delete exists list restore show update
   throughput: migrate show update
  database: create delete exists list restore show
   throughput: migrate show update
  restorable-container: list
  restorable-database: list
  restorable-resource: list
  role:
   assignment: create delete exists list show update wait
   definition: create delete exists list show update wait
  stored-procedure: create delete list show update
  trigger: create delete list show update
  user-defined-function: create delete list show update
 table: create delete exists list restore retrieve-latest-backup-time show
  restorable-resource: list
  restorable-table: list
  throughput: migrate show update
managed-cassandra:
 cluster: create deallocate delete invoke-command list show start status update
 datacenter: create delete list show update
mariadb:
 db: create delete list show
 server: create delete georestore list list-skus restart restore show show-connection-string start stop update wait
  configuration: list set show
  firewall-rule: create delete list show update
  private-endpoint-connection: approve delete reject show
  private-link-resource: list
  replica: create list stop
  vnet-rule: create delete list show update
 server-logs: download list
mysql:
 db: create delete list show
 flexible-server: create delete detach-vnet geo-restore list list-skus restart restore show show-connection-string start stop update upgrade wait
  ad-admin: create delete list show wait
  advanced-threat-protection-setting: show update
  backup: create delete list show
  db: create delete list show
  deploy: run setup
  export: create
  firewall-rule: create delete list show update
  gtid: reset
  identity: assign list remove show
  import: create stop-replication
  maintenance: list reschedule show
  mirroring: disable enable
  parameter: list set set-batch show
  replica: create list stop-replication
  server-logs: download list
 server: create delete georestore list list-skus restart restore show show-connection-string start stop update upgrade wait
  ad-admin: create delete list show wait
  configuration: list set show
  firewall-rule: create delete list show update
  key: create delete list show
  private-endpoint-connection: approve delete reject show
  private-link-resource: list
  replica: create list stop
  vnet-rule: create delete list show update
 server-logs: download list
postgres:
 flexible-server: create delete geo-restore list list-skus migrate-network restart restore revive-dropped show show-connection-string start stop update upgrade wait
  advanced-threat-protection-setting: show update
  autonomous-tuning: list-index-recommendations list-settings list-table-recommendations set-settings show show-settings update
  backup: create delete list show
  db: create delete list show
  deploy: run setup
  fabric-mirroring: start stop update-databases
  firewall-rule: create delete list show update
  identity: assign list remove show update
  maintenance-event: apply-now list reschedule show
  microsoft-entra-admin: create delete list show wait
  migration: check-name-availability create list show update
  parameter: list set show
  private-endpoint-connection: approve delete list reject show
  private-link-resource: list show
  replica: create list promote
  server-logs: download list
  virtual-endpoint: create delete list show update
redis: create delete export flush force-reboot import import-method list list-keys regenerate-keys show update
 access-policy: create delete list show update
 access-policy-assignment: create delete list show update
 firewall-rules: create delete list show update
 identity: assign remove show
 patch-schedule: create delete show update
 server-link: create delete list show
sql: list-usages show-usage
 db: copy create delete export import list list-deleted list-editions list-usages rename restore show show-connection-string show-deleted update
  advanced-threat-protection-setting: show update
  audit-policy: show update wait
  classification: delete list show update
   recommendation: disable enable list
  geo-backup: list restore show
  ledger-digest-uploads: disable enable show
  ltr-backup: delete list lock-time-based-immutability remove-legal-hold-immutability remove-time-based-immutability restore set-legal-hold-immutability show wait
  ltr-policy: set show
  op: cancel list
  replica: create delete-link list-links set-primary
  str-policy: set show wait
  tde: set show
   key: revalidate revert
  threat-policy: show update
 dw: create delete list pause resume show update
 elastic-pool: create delete list list-dbs list-editions show update
  op: cancel list
 failover-group: create delete list set-primary show update
 instance-failover-group: create delete set-primary show update
 instance-pool: create delete list show update wait
 mi: create delete failover list refresh-external-governance-status show start stop update
  ad-admin: create delete list update
  ad-only-auth: disable enable get
  advanced-threat-protection-setting: show update
  dtc: show update wait
  endpoint-cert: list show
  key: create delete list show
  link: create delete failover list show update
  op: cancel list show
  partner-cert: create delete list show
  server-configuration-option: list set show wait
  start-stop-schedule: create delete list show update
  tde-key: set show
 midb: create delete list list-deleted recover restore show update
  advanced-threat-protection-setting: show update
  copy: cancel complete list start
  ledger-digest-uploads: disable enable show
  log-replay: complete show start stop wait
  ltr-backup: delete list restore show wait
  ltr-policy: set show
  move: cancel complete list start
  short-term-retention-policy: set show
 recoverable-midb: list show
 server: create delete list list-usages refresh-external-governance-status restore show update wait
  ad-admin: create delete list update
  ad-only-auth: disable enable get
  advanced-threat-protection-setting: show update
  audit-policy: show update wait
  conn-policy: show update
  deleted-server: list show
  dns-alias: create delete list set show
  firewall-rule: create delete list show update
  ipv6-firewall-rule: create delete list show update
  key: create delete list show
  ms-support:
   audit-policy: show update wait
  outbound-firewall-rule: create delete list show
  tde-key: revalidate set show
  vnet-rule: create delete list show update
 stg: create delete list show
 virtual-cluster: delete list show
 vm: add-to-group create delete enable-azure-ad-auth list remove-from-group show start-assessment update validate-azure-ad-auth
  group: create delete list show update
   ag-listener: create delete list show update
`;
