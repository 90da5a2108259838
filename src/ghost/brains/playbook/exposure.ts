import { rulesCheck } from './checks.ts';
import type { Complaint } from './complaint.ts';
import type { FailedCheck, Finding } from './finding.ts';
import { az, type Inventory, type ResourceRef, type Vm } from './inventory.ts';
import type { Notebook } from './notebook.ts';
import { decide, type NsgRule, nsgsOf, portMatches, readRules } from './nsg.ts';
import { ruleBefore } from './remedies.ts';

const WIDE = (source: string) => source === '*' || /^(Any|Internet)$/i.test(source) || source === '0.0.0.0/0';

/** Rules that let the whole world at a port it should not reach. */
export function checkExposure(
  notebook: Notebook,
  inventory: Inventory,
  { mentioned, conversations }: Complaint,
  ports: readonly number[],
): readonly Finding[] {
  const servers = [...new Set(conversations.map((c) => c.server))];
  const named = mentioned.filter((vm) => servers.length === 0 || servers.includes(vm));
  const suspects = named.length > 0 ? named : inventory.vms.filter((vm) => vm.publicIp !== null);
  const nsgs = new Map(
    suspects.flatMap((vm) => nsgsOf(vm, 'Inbound')).map((n) => [`${n.group}/${n.name}`, n]),
  );
  const findings: Finding[] = [];
  for (const nsg of nsgs.values()) {
    const read = readRules(notebook, nsg);
    if (read === undefined) continue;
    const behind = suspects.filter((vm) => nsgsOf(vm, 'Inbound').includes(nsg));
    const wide = read.rules.filter(
      (r) =>
        isWide(r) &&
        (ports.length === 0 || ports.some((p) => r.ports.some((range) => portMatches(range, p)))),
    );
    for (const rule of wide.filter((r) => !shadowed(r, read.rules))) {
      findings.push({
        kind: 'overexposed_rule',
        resource: nsg.name,
        detail: rule.name,
        explanation: `Rule ${rule.name} of ${nsg.name} lets ${rule.sources.join(', ')} reach port ${rule.ports.join(', ')}.`,
        evidence: [read.auditId],
        remedies: [
          az(
            'network',
            'nsg',
            'rule',
            'update',
            '--resource-group',
            nsg.group,
            '--nsg-name',
            nsg.name,
            '--name',
            rule.name,
            '--source-address-prefixes',
            'VirtualNetwork',
          ),
        ],
        checks: behind.flatMap((vm) => outsideCheck(vm, rule, ports)),
      });
    }
  }
  return findings.length > 0 ? findings : tooWideInside(notebook, mentioned, ports);
}

/** A machine of the network that should not get in: the one rule that lets it. */
function tooWideInside(
  notebook: Notebook,
  mentioned: readonly Vm[],
  ports: readonly number[],
): readonly Finding[] {
  const found = mentioned.flatMap((server) =>
    nsgsOf(server, 'Inbound').flatMap((nsg): readonly Finding[] => {
      const read = readRules(notebook, nsg);
      if (read === undefined) return [];
      const others = mentioned.filter((vm) => vm !== server);
      return others.flatMap((client) =>
        ports.flatMap((port): readonly Finding[] => {
          const flow = { source: client.ip, destination: server.ip, port, protocol: 'tcp' } as const;
          const rule = decide(read.rules, 'Inbound', flow);
          const way = ruleBefore('Deny', nsg, rule.name, 'Inbound', flow, read.rules);
          return rule.access === 'Allow'
            ? [
                exposing(
                  nsg,
                  rule.name,
                  client,
                  port,
                  read.auditId,
                  way,
                  rulesCheck(server, 'Inbound', flow, 'Deny'),
                ),
              ]
            : [];
        }),
      );
    }),
  );
  const [only] = found;
  // Several would be a guess: then the text did not say who should be kept out.
  return only && found.every((f) => f.resource === only.resource && f.detail === only.detail) ? [only] : [];
}

function exposing(
  nsg: ResourceRef,
  rule: string,
  client: Vm,
  port: number,
  auditId: string,
  remedies: readonly string[],
  checks: readonly FailedCheck[],
): Finding {
  return {
    kind: 'overexposed_rule',
    resource: nsg.name,
    detail: rule,
    explanation: `Rule ${rule} of ${nsg.name} lets ${client.name} (${client.ip}) reach port ${port}.`,
    evidence: [auditId],
    remedies,
    checks,
  };
}

/** Somebody in the world (an address kept for documentation) at the first port the rule opens. */
function outsideCheck(vm: Vm, rule: NsgRule, ports: readonly number[]): readonly FailedCheck[] {
  const open = ports.find((p) => rule.ports.some((range) => portMatches(range, p)));
  const port = open ?? Number.parseInt(rule.ports[0] ?? '', 10);
  const flow = { source: '203.0.113.10', destination: vm.ip, port, protocol: 'tcp' } as const;
  return Number.isInteger(port) ? rulesCheck(vm, 'Inbound', flow, 'Deny') : [];
}

function isWide(rule: NsgRule): boolean {
  return (
    rule.direction === 'Inbound' &&
    rule.access === 'Allow' &&
    rule.priority < 65_000 &&
    rule.sources.some(WIDE)
  );
}

/** An earlier deny for the same ports from everywhere takes the rule's effect away. */
function shadowed(rule: NsgRule, rules: readonly NsgRule[]): boolean {
  return rules.some(
    (r) =>
      r.direction === 'Inbound' &&
      r.access === 'Deny' &&
      r.priority < rule.priority &&
      r.sources.some(WIDE) &&
      rule.ports.every((p) => r.ports.includes('*') || r.ports.includes(p)),
  );
}
