import type { Requirement } from './requirement.ts';

const met = (id: string, source: string, text: string): Requirement => ({ id, source, text, state: 'met' });

export const requirements: readonly Requirement[] = [
  met('TOOL-01', 'runner.md Output', 'fs.read gives path, content, size_bytes and encoding.'),
  met(
    'TOOL-02',
    'plans.md 1–10, 23–26',
    'Traversal, absolute, hidden, empty and malformed paths are denied.',
  ),
  met(
    'TOOL-03',
    'plans.md 12–19',
    'Links out, chains, loops, dangling links and linked bases are denied; links within are followed.',
  ),
  met(
    'TOOL-04',
    'runner.md Paths; plans.md W12',
    'Hard links, devices, pipes and folders are refused without waiting.',
  ),
  met('TOOL-05', 'plans.md W7', 'The size limit of fs.read holds and 0 means nothing.'),
  met('TOOL-06', 'plans.md W6', 'Arguments of the wrong type are a denial, never an exception.'),
  met('TOOL-07', 'issue: tools', 'Writes are atomic, keep the mode and leave nothing behind.'),
  met(
    'TOOL-08',
    'plans.md 22, W8',
    'The write limit counts the resulting bytes: appending and encodings included.',
  ),
  met('TOOL-09', 'plans.md 20, 21', 'Nothing outside is written, directly or through a link.'),
  met('TOOL-10', 'plans.md W11', 'A file swapped for a link during the call never gives what lies outside.'),
  met(
    'TOOL-11',
    'plans.md W11',
    'A folder swapped for a link during the call is neither read nor written through.',
  ),
  met(
    'TOOL-12',
    'plans.md 50–52, 60, 62, 65',
    'shell.run gives exit code, stdout and stderr; cwd and variables are honoured; arguments stay literal.',
  ),
  met(
    'TOOL-13',
    'plans.md 47–49, 61, 66, 67',
    'Only argv arrays; a missing program is an error, a missing folder a rejection.',
  ),
  met('TOOL-14', 'plans.md 55, W2', 'A file called like an allowed program is not that program.'),
  met('TOOL-15', 'plans.md W1', 'Variables and folders that choose the code are denied.'),
  met('TOOL-16', 'plans.md W18', 'A command inherits nothing of our environment.'),
  met('TOOL-17', 'plans.md W3', 'Files named by arguments keep to the policy of files.'),
  met(
    'TOOL-18',
    'issue: tools; overview Spine',
    'Commands run shut in: nothing outside is written, no network by default.',
  ),
  met('TOOL-19', 'plans.md 63, W5, W17', 'The policy timeout holds and ends the whole process family.'),
  met('TOOL-20', 'plans.md 64, W17', 'Output is cut while it streams.'),
  met('TOOL-21', 'plans.md W3, W4', 'Interpreters do not smuggle other programs in.'),
  met('TOOL-22', 'runner.md Output', 'http.get gives url, status, headers, body, size_bytes and truncated.'),
  met(
    'TOOL-23',
    'plans.md 33, 39–41',
    'Other schemes and unlisted hosts are denied before anything is resolved.',
  ),
  met(
    'TOOL-24',
    'plans.md 29–32, 35, 36, 44–46',
    'Names and literals that lead to private addresses are refused; every address counts.',
  ),
  met('TOOL-25', 'plans.md W14', 'A name is resolved once; the connection goes to the judged address.'),
  met('TOOL-26', 'plans.md W13', 'Each redirect is judged anew; loops end.'),
  met(
    'TOOL-39',
    'runner.md HTTP',
    'An answer that never ends or contradicts itself is an error within the timeout, and nothing of it piles up.',
  ),
  met('TOOL-27', 'runner.md HTTP', 'Credentials stay with their server and out of the output.'),
  met('TOOL-28', 'plans.md 38, W16', 'Size is capped while streaming, decompression included.'),
  met('TOOL-29', 'plans.md 43, W5', 'The policy timeout of http.get holds.'),
  met('TOOL-30', 'plans.md W15', 'Proxies of the environment are not used.'),
  met('TOOL-31', 'runner.md HTTP', 'TLS keeps the name while the address is pinned.'),
  met('TOOL-32', 'plans.md W14', 'DNS rebinding reaches nothing private.'),
  met('TOOL-33', 'runner.md Extending', 'An example of a third-party tool runs in a plan.'),
  met('TOOL-34', 'issue: extension', 'Third-party tools run in their own sandboxed process.'),
  met('TOOL-35', 'capsule §5', 'Whatever a tool does wrong is its step’s error or denial.'),
  met('TOOL-36', 'capsule §9', 'A file that is no tool stops the program with what is wrong.'),
  met(
    'TOOL-38',
    'plans.md W3; runner.md Hard cases',
    'Files the policy denies are not there for a command that walks folders by itself, under any of their names.',
  ),
  met(
    'TOOL-40',
    'issue: extension; runner.md Extending',
    'A third-party tool finds no denied or hidden file, no home and no state, and writes only what the policy gives.',
  ),
  met('TOOL-41', 'capsule §6', 'No plan can read or write the records and keys of Writ itself.'),
  met('TOOL-37', 'runner.md Extending', 'writ tool new writes a tool with a test.'),
];
