# Network changes: what may be opened, and who must look at it first.
# Build: opa build -t wasm -e writ/preflight policies/network.rego
package writ.preflight

default decision := "allow"

decision := "deny" if {
	count(violations) > 0
} else := "require_approval" if {
	needs_lead
} else := "warn" if {
	count(warnings) > 0
}

artifacts := object.get(input.engine_output, "artifacts", [])

described := [d | some e in object.get(input.context, "artifacts", []); d := e]

violations contains sprintf("%s opens a port to the whole internet", [d.name]) if {
	some d in described
	some line in split(d.text, "\n")
	regex.match(`(?i)(nsg|security|firewall).*(0\.0\.0\.0/0|--source-address-prefixes? (\*|any|internet))`, line)
}

needs_lead if {
	some d in described
	regex.match(`(?i)\b(route|nsg|firewall|peering|vnet|dns)\b`, d.text)
}

warnings contains "this step describes nothing (no artifacts)" if count(artifacts) == 0

requires := {"role": "network-lead", "reason": "changes to the network are approved by a network lead"} if needs_lead
