import type { Requirement } from './requirement.ts';

const must = (id: string, source: string, text: string): Requirement => ({ id, source, text, state: 'met' });

/** What the lab must do, apart from packets (`LABP-…`, kept by their own list when there is one). */
export const requirements: readonly Requirement[] = [
  must(
    'LAB-01',
    'lab.md world',
    'A world is one YAML file; every field of the page is read, optional ones have defaults',
  ),
  must(
    'LAB-02',
    'lab.md world',
    'A mistake in a world is refused with file, line, column, reason and what to write',
  ),
  must(
    'LAB-03',
    'lab.md world',
    'A world that contradicts itself (overlaps, unknown names, address outside its subnet, duplicate priorities or addresses) is refused',
  ),
  must('LAB-04', 'lab.md truth', 'A world without truth works; nothing but a scorer reads truth'),
  must('LAB-05', 'lab.md faults_over_time', 'Worlds change over time by JSON Patch on the world'),
  must(
    'LAB-06',
    'lab.md NSG',
    'NSG rules by priority at subnet and NIC, with default rules by their Azure names',
  ),
  must(
    'LAB-07',
    'lab.md NSG',
    'Service tags: VirtualNetwork with peers and user routes, Internet the rest, AzureLoadBalancer, Storage, Sql, with regions',
  ),
  must(
    'LAB-08',
    'lab.md routes',
    'Effective routes: longest prefix, then user over BGP over system; service endpoints; None goes nowhere',
  ),
  must('LAB-09', 'lab.md peering', 'A peering carries traffic only while both sides are Connected'),
  must(
    'LAB-10',
    'lab.md VMs',
    'An appliance forwards only with ip_forwarding and drops conversations whose beginning it did not see',
  ),
  must(
    'LAB-11',
    'lab.md os_firewall',
    'OS firewall: ordered, first match wins, policy last, replies pass, REJECT tells the sender',
  ),
  must(
    'LAB-12',
    'lab.md listens',
    'Closed ports answer with a reset; a listener bound elsewhere does not answer',
  ),
  must(
    'LAB-13',
    'lab.md DNS',
    'Private zones answer only the VNets they are linked to; missing names do not exist',
  ),
  must(
    'LAB-14',
    'lab.md storage',
    'A storage firewall needs both the subnet on its list and the service endpoint on the subnet',
  ),
  must(
    'LAB-15',
    'lab.md link',
    'Wires lose, delay, limit, corrupt and reorder; a small MTU is told only when the world says so',
  ),
  must(
    'LAB-16',
    'lab.md az',
    'The az stand-in has every command of the page, with --query, output formats, --ids and short forms',
  ),
  must('LAB-17', 'lab.md az', 'Required arguments, errors and exit codes are those of the real CLI'),
  must(
    'LAB-18',
    'lab.md az',
    'Writes change the world, persist in the lab directory and appear in the activity log',
  ),
  must('LAB-19', 'lab.md az', 'run-command answers the diagnostic commands engineers use, in the real shape'),
  must(
    'LAB-20',
    'lab.md local',
    'Probes from the engineer’s machine: without VPN no private address and public DNS only; with it from its own address',
  ),
  must(
    'LAB-21',
    'lab.md clock',
    'Time in the world runs fast on request, so that a 60 s capture takes a moment',
  ),
  must(
    'LAB-22',
    'lab.md captures',
    'A packet capture runs until its limit or stop; its blob is a real pcap file',
  ),
  must('LAB-23', 'lab.md az', 'An az call answers in at most 1.6 times the start of Node'),
  must(
    'LAB-24',
    'lab.md commands',
    'writ lab list, check and up work for people and with --json for scripts',
  ),
  must('LAB-25', 'lab.md az', 'Two calls that write at the same time do not lose each other’s change'),
];
