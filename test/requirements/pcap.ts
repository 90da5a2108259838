import type { Requirement } from './requirement.ts';

const must = (
  id: string,
  source: string,
  text: string,
  state: Requirement['state'] = 'met',
): Requirement => ({ id: `PCAP-${id}`, source, text, state });

const READS = 'pcap.md, what it reads';
const JSON_PAGE = 'pcap.md Semantic JSON';

export const requirements: readonly Requirement[] = [
  must(
    '01',
    READS,
    'pcap in both byte orders, micro- and nanoseconds, old and patched variants; gzip of either container.',
  ),
  must(
    '02',
    READS,
    'pcapng with sections in either order, several interfaces, their resolution and offset, every kind of packet block.',
  ),
  must('03', READS, 'A file cut short gives what was read and a note, exit 0.'),
  must(
    '04',
    READS,
    'Lengths that lie end the reading where the reference ends it, with a reason and no allocation.',
  ),
  must(
    '05',
    'issue page, bad input',
    'No capture, a directory, no permission: exit 2 and what to do; zero packets and unknown link types: a result that says so.',
  ),
  must(
    '06',
    READS,
    'Ethernet, cooked, raw, loopback, PPP, HDLC, Frame Relay, ATM, 802.11 with its headers, firewall logs and others are decoded; the rest is counted.',
  ),
  must(
    '07',
    READS,
    'VLAN, QinQ, MPLS, GRE, VXLAN, Geneve, IP in IP and other tunnels are followed; the innermost flow is analysed, the tunnel is noted.',
  ),
  must('08', READS, 'IPv4 and IPv6 fragments are put together, bounded.'),
  must(
    '09',
    READS,
    'DNS over UDP, over TCP across segments, and on ports nobody registered; multicast DNS apart.',
  ),
  must('10', 'pcap.md TCP analysis', 'Every TCP verdict and ack RTT equals tshark’s, frame for frame.'),
  must(
    '11',
    'pcap.md TCP analysis',
    'The same on real traffic with loss, resets, closed ports, stalled windows and a small MTU.',
  ),
  must(
    '12',
    JSON_PAGE,
    'The semantic JSON has the members of the contract; sections without traffic are left out.',
  ),
  must(
    '13',
    JSON_PAGE,
    'Lists hold twenty with their totals; the document stays small and is the same for the same capture.',
  ),
  must(
    '14',
    'issue page, hostile files',
    'No bytes whatsoever make it crash, hang or allocate without bound.',
  ),
  must(
    '15',
    JSON_PAGE,
    'Tables of flows, questions, names and times are bounded; what gives way is counted and told.',
  ),
  must('16', JSON_PAGE, 'Quantiles are exact up to a bound (p95 at ⌊0.95·n⌋) and say so when they are not.'),
  must(
    '17',
    'pcap.md counters',
    '`writ pcap counters FILE… --json` prints one document, named and counted as the reference.',
  ),
  must(
    '18',
    'pcap.md commands',
    '`--json` alone prints and writes nothing; folders are honoured; help has an example; usage errors exit 2.',
  ),
  must(
    '19',
    'pcap.md Numbers',
    'A million packets a second on one core, a bounded footprint on a large file (measured by `npm run bench`).',
    'open',
  ),
  must('20', JSON_PAGE, 'ARP: requests, replies, unanswered, gratuitous, addresses claimed twice.'),
  must(
    '21',
    JSON_PAGE,
    'ICMP echo pairs match by both addresses, identifier and sequence; answers above twice the median stand out; IPv6 alike.',
  ),
  must(
    '22',
    JSON_PAGE,
    'ICMP errors with who sent them, what they quote and the MTU; redirects; exceeded TTLs; loops.',
  ),
  must(
    '23',
    JSON_PAGE,
    'A SYN sent again is the same attempt; handshakes, refusals and endings are counted by connection.',
  ),
  must(
    '24',
    JSON_PAGE,
    'A stream with issues tells each side’s losses, stalls and resets with sample frames.',
  ),
  must(
    '25',
    JSON_PAGE,
    'DNS answers match by both endpoints, id and name; failures, silence, slow answers, servers and parents are told.',
  ),
  must('26', JSON_PAGE, 'Names taken from packets are escaped: they are hostile text.'),
  must('27', READS, 'Notes on TLS names and alerts, HTTP status lines and DHCP messages.'),
  must('29', JSON_PAGE, 'The SHA-256 of a report is that of the whole file, however large or damaged it is.'),
  must('28', JSON_PAGE, 'IPv6 is first-class: flows, fragments, pings and addresses in canonical form.'),
];
