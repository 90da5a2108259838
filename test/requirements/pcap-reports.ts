import type { Requirement } from './requirement.ts';

const must = (
  id: string,
  source: string,
  text: string,
  state: Requirement['state'] = 'met',
): Requirement => ({ id: `PCAPR-${id}`, source, text, state });

const FINDINGS = 'pcap.md Semantic JSON, findings';
const OUTPUTS = 'pcap.md Outputs';

export const requirements: readonly Requirement[] = [
  must(
    '01',
    FINDINGS,
    'Each rule fires on the fault it is for and stays silent on clean captures and other faults.',
  ),
  must('02', FINDINGS, 'Every finding has a severity from CRITICAL to INFO that follows the harm done.'),
  must(
    '03',
    FINDINGS,
    'The predicate of a finding is a filter another analyser runs; the finding’s frames are among what it shows.',
  ),
  must('04', FINDINGS, 'A reset by a device in between is told from one by the server.'),
  must('05', FINDINGS, 'IPv6 has the same findings as IPv4, with filters of its own.'),
  must(
    '06',
    FINDINGS,
    'Wrong checksums are reported as damage only where they are not left to the network card.',
  ),
  must(
    '10',
    OUTPUTS,
    'The Markdown report has `## Executive Summary` near the top, and each finding with frames, check and remedy.',
  ),
  must('11', OUTPUTS, 'The executive summary has at most fifty lines, whatever the capture holds.'),
  must('12', 'pcap.md, truncated captures', 'Empty, cut and truncated captures give reports that say so.'),
  must(
    '13',
    'pcap.md Semantic JSON, names',
    'Names from packets and files are escaped in Markdown and HTML.',
  ),
  must('14', FINDINGS, 'A report verifies against the capture it was made from.'),
  must(
    '15',
    FINDINGS,
    'Any edit of a finding, a figure or the capture makes verification fail with exit code 5.',
  ),
  must('16', FINDINGS, 'Verification without a report or a capture is a usage error that says what to give.'),
  must(
    '17',
    OUTPUTS,
    'analyze writes the files the page names; --json alone prints the semantic JSON and writes nothing.',
  ),
  must(
    '18',
    OUTPUTS,
    'Comparing two captures writes both reports and the comparison as Markdown and JSON, even if the files have one name.',
  ),
  must(
    '19',
    'pcap.md, a file that is no capture',
    'What is no capture ends with exit code 2, a message and no report.',
  ),
  must('20', OUTPUTS, 'Captures of both ends are matched packet by packet; a clean path is called clean.'),
  must('21', OUTPUTS, 'The offset of the two clocks is estimated from both directions, for IPv4 and IPv6.'),
  must(
    '22',
    OUTPUTS,
    'Loss between the two points is named with its segment and direction, and with a confidence.',
  ),
  must(
    '23',
    OUTPUTS,
    'Packets altered, overtaken, delayed or injected between the two points are named with their direction.',
  ),
  must('24', OUTPUTS, 'Captures that do not show the same packets are compared by rates alone.'),
  must('25', OUTPUTS, 'Different snap lengths of the two captures are not taken for alteration.'),
  must('30', OUTPUTS, 'Rates are compared: below 10 % stable, above 50 % significant, above 200 % critical.'),
  must('31', OUTPUTS, 'The comparison page has a summary with conclusion, confidence and clock offset.'),
  must(
    '40',
    OUTPUTS,
    'The HTML report is one file that draws throughput, round trips, retransmissions and conversations over time.',
  ),
  must(
    '41',
    OUTPUTS,
    'The HTML report runs no script, asks for nothing on the network, and shows hostile names as text.',
  ),
  must(
    '50',
    'pcap.md, narrative',
    'A model may add a narrative from the semantic JSON alone, marked as such; numbers it makes up are marked too. Without a model the report is complete and says so.',
  ),
];
