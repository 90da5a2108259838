/** Accounts, deployments and everything else: the command groups of the Azure CLI. Form and meaning: ../tree.ts. */
export const MANAGEMENT = `
account: clear get-access-token list list-locations set show
 lock: create delete list show update
 management-group: check-name-availability create delete list show update
  entities: list
  hierarchy-settings: create delete list update
  subscription: add remove show show-sub-under-mg
  tenant-backfill: get start
ad:
 app: create delete list show update
  credential: delete list reset
  federated-credential: create delete list show update
  owner: add list remove
  permission: add admin-consent delete grant list list-grants
 group: create delete get-member-groups list show
  member: add check list remove
  owner: add list remove
 signed-in-user: list-owned-objects show
 sp: create create-for-rbac delete list show update
  credential: delete list reset
  owner: list
 user: create delete get-member-groups list show update
advisor:
 configuration: list show update
 recommendation: disable enable list
bicep: build build-params decompile decompile-params format generate-params install lint list-versions publish restore run snapshot uninstall upgrade version
billing:
 account: list list-invoice-section show update wait
  invoice-section: list show
  reservation: list
  transaction: list
 agreement: list show
 balance: show
 customer: list show
 enrollment-account: list show
  billing-permission: list
 instruction: create list show update
 invoice: download list show
  section: create initiate-transfer list show update wait
 period: list show
 permission: list
 policy: show update
 product: list move show update validate-move
 profile: create list show update wait
  reservation: list
 property: show update
 role-assignment: delete list show
 role-definition: list show
 subscription: list move show update validate-move wait
 transaction: list
 transfer: accept-transfer list show
cache: delete list purge show
cloud: list list-profiles register set show unregister update
config: get set unset
 param-persist: delete off on show
consumption:
 budget: create create-with-rg delete delete-with-rg list show show-with-rg update update-with-rg
 marketplace: list
 pricesheet: show
 reservation:
  detail: list
  summary: list
 usage: list
data-boundary: create show show-tenant
deployment: cancel create delete export list show validate wait
 group: cancel create delete export list show validate wait what-if
 mg: cancel create delete export list show validate wait what-if
 operation: list show
  group: list show
  mg: list show
  sub: list show
  tenant: list show
 sub: cancel create delete export list show validate wait what-if
 tenant: cancel create delete export list show validate wait what-if
deployment-scripts: delete list show show-log
extension: add list list-available list-versions remove show update
feature: list register show unregister
 registration: create delete list show
group: create delete exists export list show update wait
 deployment: cancel create delete export list show validate wait
  operation: list show
 lock: create delete list show update
identity: create delete list list-operations list-resources show update
 federated-credential: create delete list show update
lock: create delete list show update
managedapp: create delete list show
 definition: create delete list show update
managedservices:
 assignment: create delete list show wait
 definition: create delete list show wait
policy:
 assignment: create delete list show update
  identity: assign remove show
  non-compliance-message: create delete list show update
 attestation: create delete list show update
 definition: create delete list show update
  version: create delete list show update
 enrollment: create delete list show update
 event: list
 exemption: create delete list show update
 metadata: list show
 remediation: cancel create delete list show
  deployment: list
 set-definition: create delete list show update
  version: create delete list show update
 state: list summarize trigger-scan
policy-insights:
 attestation:
provider: list register show unregister
 operation: list show
 permission: list
resource: create delete invoke-action list move patch show tag update wait
 link: create delete list show update
 lock: create delete list show update
role:
 assignment: create delete list list-changelogs update
 definition: create delete list show update
 deny-assignment: create delete list show
stack:
 group: create delete export list show validate
 mg: create delete export list show validate
 sub: create delete export list show validate
stack-whatif:
 group: create delete list show
 mg: create delete list show
 sub: create delete list show
tag: add-value create delete list remove-value update
term: accept show
ts: create delete export list show update
`;
