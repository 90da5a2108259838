/** Machines, images, clusters: the command groups of the Azure CLI. Form and meaning: ../tree.ts. */
export const COMPUTE = `
acr: build check-health check-name create delete import list login run show show-endpoints show-usage update
 agentpool: create delete list show update
 artifact-streaming: create show update
  operation: cancel show
 cache: create delete list show update
 config:
  authentication-as-arm: show update
  content-trust: show update
  retention: show update
  soft-delete: show update
 connected-registry: create deactivate delete get-settings list list-client-tokens repo resync show update
  install: info renew-credentials
  permissions: show update
 credential: renew show
 credential-set: create delete list show update
 encryption: rotate-key show
 helm: delete install-cli list push show
  repo: add
 identity: assign remove show
 manifest: delete list list-deleted list-deleted-tags list-metadata list-referrers restore show show-metadata update-metadata
  metadata: list show update
 network-rule: add list remove
 pack: build
 private-endpoint-connection: approve delete list reject show
 private-link-resource: list
 replication: create delete list show update
 repository: delete list list-deleted show show-manifests show-tags untag update
 scope-map: create delete list show update
 task: cancel-run create delete list list-runs logs run show show-run update update-run
  credential: add list remove update
  identity: assign remove show
  timer: add list remove update
 taskrun: delete list logs show
 token: create delete list show update
  credential: delete generate
 webhook: create delete get-config list list-events ping show update
aks: browse check-acr create delete disable-addons enable-addons get-credentials get-upgrades get-versions install-cli install-desktop list operation-abort remove-dev-spaces rotate-certs scale show start stop update update-credentials upgrade use-dev-spaces wait
 approuting: disable enable update
  gateway:
   istio: disable enable
  zone: add delete list update
 command: invoke result
 connection: delete list list-configuration list-support-types show validate wait
  create: app-insights appconfig cognitiveservices confluent-cloud cosmos-cassandra cosmos-gremlin cosmos-mongo cosmos-sql cosmos-table eventhub keyvault mongodb-atlas mysql mysql-flexible neon-postgres postgres postgres-flexible redis redis-enterprise servicebus signalr sql storage-blob storage-file storage-queue storage-table webpubsub
  update: app-insights appconfig cognitiveservices confluent-cloud cosmos-cassandra cosmos-gremlin cosmos-mongo cosmos-sql cosmos-table eventhub keyvault mongodb-atlas mysql mysql-flexible neon-postgres postgres postgres-flexible redis redis-enterprise servicebus signalr sql storage-blob storage-file storage-queue storage-table webpubsub
 identity-binding: create delete list show
 machine: list show
 maintenanceconfiguration: add delete list show update
 mesh: disable disable-egress-gateway disable-ingress-gateway enable enable-egress-gateway enable-ingress-gateway get-revisions get-upgrades proxy-redirection-mechanism
  upgrade: complete rollback start
 namespace: add delete get-credentials list show update
 nodepool: add delete delete-machines get-rollback-versions get-upgrades list operation-abort rollback scale show start stop update upgrade wait
  auto-scale: add delete update
  manual-scale: add delete update
  snapshot: create delete list show update wait
 oidc-issuer: rotate-signing-keys
 safeguards: create delete list show update wait
 snapshot: create delete list show wait
 trustedaccess:
  role: list
  rolebinding: create delete list show update
aro: create delete get-admin-kubeconfig get-versions list list-credentials show update validate wait
 identity: create-required get-required
batch:
 account: create delete list login outbound-endpoints set show
  autostorage-keys: sync
  identity: assign remove show
  keys: list renew
  network-profile: set show
   network-rule: add delete list
 application: create delete list set show
  package: activate create delete list show
  summary: list show
 job: create delete disable enable list reset set show stop
  prep-release-status: list
  task-counts: show
 job-schedule: create delete disable enable list reset set show stop
 location: list-skus
  quotas: show
 node: delete list reboot show
  file: delete download list show
  remote-login-settings: show
  scheduling: disable enable
  service-logs: upload
  user: create delete reset
 pool: create delete list reset resize set show
  autoscale: disable enable evaluate
  node-counts: list
  supported-images: list
  usage-metrics: list
 private-endpoint-connection: list show
 private-link-resource: list show
 task: create delete list reactivate reset show stop
  file: delete download list show
  subtask: list
batchai: list-usages
 cluster: auto-scale create delete list resize show
  file: list
  node: exec list
 experiment: create delete list show
 file-server: create list
 job: create delete list show terminate wait
  file: list stream
  node: exec list
 workspace: create delete list show
capacity:
 reservation: create delete list show update wait
  group: create delete list show update
compute-fleet: create delete list list-vms list-vmss show update wait
compute-recommender: spot-placement-recommender spot-placement-score
container: attach create delete exec export list logs restart show start stop
 container-group-profile: create delete list list-revisions show show-revision
disk: create delete grant-access list revoke-access show update wait
 config: update
disk-access: create delete list show update wait
disk-encryption-set: create delete list list-associated-resources show update wait
 identity: assign remove show
image: create delete list show update wait
 builder: cancel create delete list run show show-runs update wait
  customizer: add clear remove
  error-handler: add remove show
  identity: assign remove show
  optimizer: add remove show update
  output: add clear remove
   versioning: remove set show
  trigger: create delete list show wait
  validator: add remove show
lab: delete get wait
 arm-template: list show
 artifact: list
 artifact-source: list show
 custom-image: create delete list show wait
 environment: create delete list show wait
 formula: delete export-artifacts list show
 gallery-image: list
 secret: delete list set show wait
 vm: apply-artifacts claim create delete hibernate list show start stop wait
 vnet: get list
ppg: create delete list show update
restore-point: create delete show wait
 collection: create delete list list-all show update wait
sf:
 application: create delete list show update
  certificate: add
 application-type: create delete list show
  version: create delete list show
 cluster: create list show
  client-certificate: add remove
  durability: update
  node: add remove
  node-type: add
  reliability: update
  setting: remove set
  upgrade-type: set
 managed-application: create delete list show update
 managed-application-type: create delete list show update
  version: create delete list show update
 managed-cluster: create delete list show update
  client-certificate: add delete
  network-security-rule: add delete get list update
 managed-node-type: create delete list show update
  node: delete reimage restart
  vm-extension: add delete
  vm-secret: add
 managed-service: create delete list show update
  correlation-scheme: create delete update
  load-metrics: create delete update
 service: create delete list show
sig: create delete list list-community list-shared show show-community show-shared update wait
 gallery-application: create delete list show update wait
  version: create delete list show update wait
 identity: assign remove show wait
 image-definition: create delete list list-community list-shared show show-community show-shared update wait
 image-version: create delete list list-community list-shared list-soft-deleted show show-community show-shared undelete update wait
 in-vm-access-control-profile: create delete list show update wait
 in-vm-access-control-profile-version: create delete list show update wait
 share: add enable-community remove reset wait
snapshot: create delete grant-access list revoke-access show update wait
sshkey: create delete list show update
vm: assess-patches auto-shutdown capture convert create deallocate delete generalize get-instance-view install-patches list list-ip-addresses list-sizes list-skus list-usage list-vm-resize-options migrate-to-vmss open-port perform-maintenance reapply redeploy reimage resize restart show simulate-eviction start stop update wait
 application: list set
 availability-set: cancel-migration-to-vmss convert convert-to-vmss create delete list list-sizes show start-migration-to-vmss update validate-migration-to-vmss
 boot-diagnostics: disable enable get-boot-log get-boot-log-uris
 diagnostics: get-default-config set
 disk: attach detach
 encryption: disable enable show
 extension: delete list set show wait
  image: list list-names list-versions show
 host: create delete get-instance-view list list-resize-options redeploy resize restart show update wait
  group: create delete get-instance-view list show update
 identity: assign remove show
 image: accept-terms list list-offers list-publishers list-skus show
  terms: accept cancel show
 monitor:
  log: show
  metrics: list-definitions tail
 nic: add list remove set show
 run-command: create delete invoke list show update wait
 secret: add format list remove
 unmanaged-disk: attach detach list
 user: delete reset-ssh update
vmss: create deallocate delete delete-instances get-instance-view get-os-upgrade-history get-resiliency-view list list-instance-connection-info list-instance-public-ips list-instances list-skus perform-maintenance reimage restart scale set-orchestration-service-state show simulate-eviction start stop update update-domain-walk update-instances wait
 application: list set
 diagnostics: get-default-config set
 disk: attach detach
 encryption: disable enable show
 extension: delete list set show upgrade
  image: list list-names list-versions show
 identity: assign remove show
 lifecycle-hook: add list remove show update
 lifecycle-hook-event: approve list reject show update
 nic: list list-vm-nics show
 rolling-upgrade: cancel get-latest start
 run-command: create delete invoke list show update wait
`;
