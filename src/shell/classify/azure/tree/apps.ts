/** Applications: the command groups of the Azure CLI. Form and meaning: ../tree.ts. */
export const APPS = `
ams:
 account: check-name create delete list show update
  encryption: set show
  identity: assign remove show
  mru: set show
  sp: create reset-credentials
  storage: add remove set-authentication sync-storage-keys
 account-filter: create delete list show update
 asset: create delete get-encryption-key get-sas-urls list list-streaming-locators show update
 asset-filter: create delete list show update
 asset-track: create delete list show update update-data
 content-key-policy: create delete list show update
  option: add remove update
 job: cancel delete list show start update
 live-event: create delete list reset show standby start stop update wait
 live-output: create delete list show
 streaming-endpoint: create delete get-skus list scale show start stop update wait
  akamai: add remove
 streaming-locator: create delete get-paths list list-content-keys show
 streaming-policy: create delete list show
 transform: create delete list show update
  output: add remove
apim: apply-network-updates backup check-name create delete list restore show update wait
 api: create delete export import list show update wait
  operation: create delete list show update
  release: create delete list show update
  revision: create list
  schema: create delete get-etag list show wait
  versionset: create delete list show update
 backend: create delete list show update
 deletedservice: list purge show
 graphql:
  resolver: create delete list show
   policy: create delete list show
 nv: create delete list show show-secret update wait
 product: create delete list show update wait
  api: add check delete list
appconfig: create delete list list-deleted purge recover show show-deleted update
 credential: list regenerate
 feature: delete disable enable list lock set show unlock
  filter: add delete list show update
 identity: assign remove show
 kv: delete export import list lock restore set set-keyvault set-snapshot-reference show unlock
 network-security-perimeter-configuration: list reconcile show
 replica: create delete list show
 revision: list
 snapshot: archive create list recover show
appservice: list-locations
 ase: create create-inbound-services delete list list-addresses list-plans send-test-notification show update upgrade
 domain: create show-terms
 hybrid-connection: set-key
 plan: create delete list show update
  identity: assign remove set-default show
  managed-instance:
   install-script: add list remove
   instance: connect list recycle
   network: add remove show
   registry-adapter: add list remove
   storage-mount: add list remove
 vnet-integration: list
bot: create delete download prepare-deploy prepare-publish publish show update
 authsetting: create delete list list-providers show
 directline: create delete show update
 email: create delete show
 facebook: create delete show
 kik: create delete show
 msteams: create delete show
 skype: create delete show
 slack: create delete show
 sms: create delete show
 telegram: create delete show
 webchat: show
cognitiveservices: list
 account: create delete list list-deleted list-kinds list-models list-skus list-usage purge recover show show-deleted update
  commitment-plan: create delete list show
  compute: create delete list show
  connection: create delete list show update
  deployment: create delete list show
  identity: assign remove show
  keys: list regenerate
  managed-compute-deployment: create delete list show update
  managed-network: create provision-network show update
   outbound-rule: bulk-set list remove set show
  network-rule: add list remove
  project: create delete list show update
   connection: create delete list show update
 agent: create delete delete-deployment list list-versions show start status stop update
  logs: show
 commitment-tier: list
 model: list
 usage: list
connection: delete generate-configuration list list-support-types show validate wait
 create: app-insights appconfig confluent-cloud cosmos-cassandra cosmos-gremlin cosmos-mongo cosmos-sql cosmos-table eventhub keyvault mysql mysql-flexible postgres postgres-flexible redis redis-enterprise servicebus signalr sql storage-blob storage-file storage-queue storage-table webpubsub
 preview-configuration: app-insights appconfig confluent-cloud cosmos-cassandra cosmos-gremlin cosmos-mongo cosmos-sql cosmos-table eventhub keyvault mysql mysql-flexible postgres postgres-flexible redis redis-enterprise servicebus signalr sql storage-blob storage-file storage-queue storage-table webpubsub
 update: app-insights appconfig confluent-cloud cosmos-cassandra cosmos-gremlin cosmos-mongo cosmos-sql cosmos-table eventhub keyvault mysql mysql-flexible postgres postgres-flexible redis redis-enterprise servicebus signalr sql storage-blob storage-file storage-queue storage-table webpubsub
containerapp: browse create delete exec list list-usages show show-custom-domain-verification-id up update
 auth: show update
  apple: show update
  facebook: show update
  github: show update
  google: show update
  microsoft: show update
  openid-connect: add remove show update
  twitter: show update
 compose: create
 connection: delete list list-configuration list-support-types show validate wait
  create: app-insights appconfig cognitiveservices confluent-cloud containerapp cosmos-cassandra cosmos-gremlin cosmos-mongo cosmos-sql cosmos-table eventhub fabric-sql keyvault mongodb-atlas mysql mysql-flexible neon-postgres postgres postgres-flexible redis redis-enterprise servicebus signalr sql storage-blob storage-file storage-queue storage-table webpubsub
  update: app-insights appconfig cognitiveservices confluent-cloud containerapp cosmos-cassandra cosmos-gremlin cosmos-mongo cosmos-sql cosmos-table eventhub fabric-sql keyvault mongodb-atlas mysql mysql-flexible neon-postgres postgres postgres-flexible redis redis-enterprise servicebus signalr sql storage-blob storage-file storage-queue storage-table webpubsub
 dapr: disable enable
 env: create delete list list-usages show update
  certificate: create delete list upload
  dapr-component: list remove set show
  http-route-config: create delete list show update
  logs: show
  premium-ingress: add remove show update
  storage: list remove set show
  workload-profile: add delete list list-supported show update
 github-action: add delete show
 hostname: add bind delete list
 identity: assign remove show
 ingress: disable enable show update
  access-restriction: list remove set
  cors: disable enable show update
  sticky-sessions: set show
  traffic: set show
 job: create delete list show start stop update
  execution: list show
  identity: assign remove show
  registry: list remove set show
  secret: list remove set show
 logs: show
 registry: list remove set show
 replica: list show
 revision: activate copy deactivate list restart set-mode show
  label: add remove swap
 secret: list remove set show
 ssl: upload
functionapp: create delete deploy list list-consumption-locations list-flexconsumption-locations list-flexconsumption-runtimes list-runtimes restart show start stop update
 config: set show
  access-restriction: add remove set show
  appsettings: delete list set
  container: delete set show
  hostname: add delete get-external-ip list
  ssl: bind create delete import list show unbind upload
 connection: delete list list-configuration list-support-types show validate wait
  create: app-insights appconfig cognitiveservices confluent-cloud cosmos-cassandra cosmos-gremlin cosmos-mongo cosmos-sql cosmos-table eventhub fabric-sql keyvault mongodb-atlas mysql mysql-flexible neon-postgres postgres postgres-flexible redis redis-enterprise servicebus signalr sql storage-blob storage-file storage-queue storage-table webpubsub
  update: app-insights appconfig cognitiveservices confluent-cloud cosmos-cassandra cosmos-gremlin cosmos-mongo cosmos-sql cosmos-table eventhub fabric-sql keyvault mongodb-atlas mysql mysql-flexible neon-postgres postgres postgres-flexible redis redis-enterprise servicebus signalr sql storage-blob storage-file storage-queue storage-table webpubsub
 cors: add credentials remove show
 deployment: list-publishing-credentials list-publishing-profiles
  config: set show
  container: config show-cd-url
  github-actions: add remove
  slot: auto-swap create delete list swap
  source: config config-local-git config-zip delete show sync update-token
  user: set show
 flex-migration: list revert start
 function: delete list show
  keys: delete list set
 hybrid-connection: add list remove
 identity: assign remove show
 keys: delete list set
 log:
  deployment: list show
 plan: create delete list show update
 runtime:
  config: set show
 scale:
  config: set show
   always-ready: delete set
 update-strategy:
  config: set show
 vnet-integration: add list remove
logicapp: create delete list restart scale show start stop update
 config:
  appsettings: delete list set
 deployment:
  source: config-zip
maps:
 account: create delete list show update
  keys: list renew
 map: list-operation
signalr: create delete list restart show start stop update
 cors: add list remove update
 custom-certificate: create delete list show update
 custom-domain: create delete list show update
 identity: assign remove show
 key: list renew
 network-rule: list update
  ip-rule: add remove
 replica: create delete list restart show start stop update
 upstream: clear list update
staticwebapp: create delete disconnect list reconnect show update
 appsettings: delete list set
 backends: link show unlink validate
 enterprise-edge: disable enable show
 environment: delete functions list show
 functions: link show unlink
 hostname: delete list set show
 identity: assign remove show
 secrets: list reset-api-key
 users: invite list update
webapp: browse create create-remote-connection delete deploy exec list list-instances list-runtimes restart show ssh start stop up update
 auth: show update
 config: set show
  access-restriction: add remove set show
  appsettings: delete list set
  backup: create delete list restore show update
  connection-string: delete list set
  container: delete set show
  hostname: add delete get-external-ip list
  snapshot: list restore
  ssl: bind create delete import list show unbind upload
  storage-account: add delete list update
 connection: delete list list-configuration list-support-types show validate wait
  create: app-insights appconfig cognitiveservices confluent-cloud cosmos-cassandra cosmos-gremlin cosmos-mongo cosmos-sql cosmos-table eventhub fabric-sql keyvault mongodb-atlas mysql mysql-flexible neon-postgres postgres postgres-flexible redis redis-enterprise servicebus signalr sql storage-blob storage-file storage-queue storage-table webpubsub
  update: app-insights appconfig cognitiveservices confluent-cloud cosmos-cassandra cosmos-gremlin cosmos-mongo cosmos-sql cosmos-table eventhub fabric-sql keyvault mongodb-atlas mysql mysql-flexible neon-postgres postgres postgres-flexible redis redis-enterprise servicebus signalr sql storage-blob storage-file storage-queue storage-table webpubsub
 cors: add remove show
 deleted: list restore
 deployment: list-publishing-credentials list-publishing-profiles
  container: config show-cd-url
  github-actions: add remove
  slot: auto-swap create delete list swap
  source: config config-local-git config-zip delete show sync update-token
  user: set show
 hybrid-connection: add list remove
 identity: assign remove show
 log: config download show tail
  deployment: list show
  startup: list show
 secure-build: show
 sitecontainers: convert create delete list log show status update
 traffic-routing: clear set show
 troubleshoot: config deployment status
  collect: network-capture
 vnet-integration: add list remove
 webjob:
  continuous: list remove start stop
  triggered: list log remove run
`;
