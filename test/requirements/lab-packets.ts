import type { Requirement } from './requirement.ts';

const must = (id: string, source: string, text: string): Requirement => ({
  id: `LABP-${id}`,
  source,
  text,
  state: 'met',
});

const SYNTHESIS = 'lab.md Packet synthesis';
const WORLDS = 'lab.md Worlds';

export const requirements: readonly Requirement[] = [
  must(
    '01',
    SYNTHESIS,
    'tshark reads a synthesised capture without an error, a warning or a malformed packet.',
  ),
  must('02', SYNTHESIS, 'Checksums of IPv4, TCP, UDP and ICMP are right for any content.'),
  must('03', SYNTHESIS, 'Captures are pcap files of Ethernet frames in micro- or nanoseconds.'),
  must('04', SYNTHESIS, 'DNS questions and answers are real messages: addresses, aliases, negative answers.'),
  must('05', SYNTHESIS, 'TCP offers the options a real host offers: MSS, SACK, timestamps, window scale.'),
  must('06', SYNTHESIS, 'Whatever port a flow uses, its payload is one the dissector of that port can read.'),
  must(
    '10',
    SYNTHESIS,
    'A drop shows SYNs repeated with doubling gaps at the sender and nothing at the receiver.',
  ),
  must('11', SYNTHESIS, 'What INPUT drops has been seen on the NIC, what OUTPUT drops has not.'),
  must('12', SYNTHESIS, 'A closed TCP port answers RST.'),
  must(
    '13',
    SYNTHESIS,
    'A REJECT rule and a closed UDP port answer ICMP unreachable that quotes the packet.',
  ),
  must(
    '14',
    SYNTHESIS,
    'An MTU black hole loses full segments only; fragmentation-needed comes when it may.',
  ),
  must('15', SYNTHESIS, 'Loss in percent shows as retransmissions in about that share.'),
  must('16', SYNTHESIS, 'An asymmetric path shows at each capture point what passes there and no more.'),
  must('17', SYNTHESIS, 'Delay and jitter show in round trips of TCP and ping.'),
  must('18', SYNTHESIS, 'A rate limit makes packets wait, then drops them; throughput is near the limit.'),
  must('19', SYNTHESIS, 'Reordering, corruption and slow readers look as they do in life.'),
  must('20', SYNTHESIS, 'A server that resets does so in about the stated share of conversations.'),
  must('21', 'lab.md Flows', 'Host names are looked up first, and what the lookup brings decides the rest.'),
  must('22', 'lab.md Storage', 'The storage firewall answers inside the conversation; nothing is dropped.'),
  must(
    '23',
    'lab.md VMs',
    'Traffic to a public address carries, at each end, the addresses that end would see.',
  ),
  must(
    '24',
    SYNTHESIS,
    'Whatever the wire does, a conversation ends, within its windows, having delivered no byte twice.',
  ),
  must('30', SYNTHESIS, 'Captures at two ends hold the same packets, less what was lost between them.'),
  must('31', SYNTHESIS, 'Two ends have clocks of their own, a few milliseconds apart.'),
  must('32', SYNTHESIS, 'An appliance sees transit traffic twice, and the time to live goes down by one.'),
  must('33', SYNTHESIS, 'The same world and parameters give the same file; a later start the same packets.'),
  must('34', SYNTHESIS, 'Times ascend and lie inside the capture.'),
  must('35', 'cloud seed: capture parameters', 'A capture keeps the asked number of bytes of each packet.'),
  must('36', 'engineering.md bounds', 'A capture ends at its size limit and at 200,000 packets.'),
  must(
    '37',
    'cloud seed: capture parameters',
    'Filters choose packets by protocol, address and port; an empty list chooses none.',
  ),
  must(
    '38',
    'lab.md bad input',
    'A VM that is off gives an empty file; an unknown one is refused with the names there are.',
  ),
  must('39', SYNTHESIS, 'Frames carry the hardware address of the NIC.'),
  must('40', WORLDS, 'A world that changes during a capture changes in the capture.'),
  must(
    '50',
    WORLDS,
    'At least 24 worlds over all kinds of cause: two causes, none, changing, misleading from outside.',
  ),
  must('51', WORLDS, 'Every world has red herrings and is no copy of another.'),
  must('52', WORLDS, 'A symptom speaks as a person would and never names the cause.'),
  must('53', WORLDS, 'The stated causes, and nothing else, are what flows of the world suffer from.'),
  must('54', WORLDS, 'Mending the stated causes puts the world right, and mending one of two does not.'),
  must(
    '55',
    WORLDS,
    'What only packets can show does show in a capture of the world, and not at its healthy neighbour.',
  ),
  must('56', WORLDS, 'A page explains how to write a world, with an example that works.'),
];
