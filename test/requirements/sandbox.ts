import type { Requirement } from './requirement.ts';

const must = (id: string, source: string, text: string): Requirement => ({ id, source, text, state: 'met' });

export const requirements: readonly Requirement[] = [
  must(
    'SBX-01',
    'shell.md Execute',
    'Programs are started by argv only; no shell, no expansion, no splitting.',
  ),
  must(
    'SBX-02',
    'shell.md Execute',
    'A child gets a complete environment from an allow list; nothing else is inherited.',
  ),
  must('SBX-03', 'shell.md Execute', 'stdin is closed unless bytes are given.'),
  must(
    'SBX-04',
    'shell.md Execute',
    'Output is bounded in memory while it streams; the rest is counted and dropped.',
  ),
  must('SBX-05', 'shell.md Response', 'A missing program is a value with exit code 127.'),
  must(
    'SBX-06',
    'shell.md Record',
    'A folder as program, a NUL in an argument, an argument list the system refuses end as values (126).',
  ),
  must(
    'SBX-07',
    'shell.md Classify',
    'No shell is ever started by us, not even by the system library for a file without a header.',
  ),
  must(
    'SBX-08',
    'shell.md Execute',
    'A timeout ends the whole process group, TERM first and KILL after the grace.',
  ),
  must('SBX-09', 'flight.md Engine contract', 'What a program leaves in its group is killed when it ends.'),
  must(
    'SBX-10',
    'flight.md Engine contract',
    'Descendants that left the group are found and killed as far as the system shows them; none keeps us waiting.',
  ),
  must(
    'SBX-11',
    'overview.md Rooms',
    'Memory, file size, processor time and number of processes can be limited.',
  ),
  must(
    'SBX-12',
    'overview.md The spine',
    'Nothing runs without an unforged, unused writ for exactly the argv (and folder) that runs.',
  ),
  must(
    'SBX-13',
    'shell.md Classify',
    'An approved pipeline runs as processes joined by pipes, with one timeout and every exit code and stderr.',
  ),
  must(
    'SBX-14',
    'gateways.md MCP',
    'A long-lived child can be started, talked to, and stopped with its whole group.',
  ),
  must('SBX-15', 'lab.md', 'A program can be run on the person’s own terminal.'),
  must(
    'SBX-16',
    'shell.md Classify',
    'Bare names are resolved on our own fixed PATH, never on the caller’s.',
  ),
  must(
    'SBX-17',
    'toolchain.md Sandbox',
    'The bubblewrap arguments are the hardened form: no capabilities, own user, pid, ipc, uts and net namespaces.',
  ),
  must(
    'SBX-18',
    'toolchain.md Sandbox',
    'In the sandbox only named paths are writable; deeper wishes win, stricter wishes win on the same path.',
  ),
  must(
    'SBX-19',
    'flight.md Engine contract',
    'A writable path that goes through a symlink, the root and kernel file systems are refused.',
  ),
  must(
    'SBX-20',
    'toolchain.md Sandbox',
    'Remounting inside gives no write access to the host, also as root.',
  ),
  must(
    'SBX-21',
    'toolchain.md Sandbox',
    'Neither /proc nor /sys leads to the host: no foreign processes, nothing to tune.',
  ),
  must(
    'SBX-22',
    'toolchain.md Sandbox',
    'Without network neither TCP nor unix sockets of the host can be reached.',
  ),
  must(
    'SBX-23',
    'flight.md Engine contract',
    'No engine outlives its step, whatever it detaches, also when we are killed.',
  ),
  must('SBX-24', 'overview.md Rooms', 'A fork bomb under limits is ended and the machine goes on.'),
  must('SBX-25', 'flight.md Engine contract', 'Symlinks in the workspace give no access outside it.'),
  must(
    'SBX-26',
    'flight.md Engine contract',
    'Masked state looks empty and cannot be changed; credentials of the machine are hidden.',
  ),
  must(
    'SBX-27',
    'toolchain.md Sandbox',
    'No process of the host can be traced or signalled, and no descriptor is inherited.',
  ),
  must('SBX-28', 'overview.md Rooms', 'Limits hold inside the sandbox, scratch space included.'),
  must(
    'SBX-29',
    'overview.md Command line',
    'writ doctor tells what the machine has and lacks, with the command that mends it.',
  ),
  must(
    'SBX-30',
    'toolchain.md Sandbox',
    'System calls that lead round the namespaces, or leave set-user-id files, are refused inside.',
  ),
  must(
    'SBX-32',
    'overview.md Rooms',
    'A sandbox made ready ahead runs nothing before it is given a writ, and is ended when it is not wanted.',
  ),
  must(
    'SBX-33',
    'flight.md Plan-token',
    'A sandbox made ready ahead is used only for the launch it was made for, while all it shows is still the same.',
  ),
  must(
    'SBX-34',
    'flight.md Engine contract',
    'When we are killed a sandbox that waits is gone at whatever moment, and its program has not started.',
  ),
];
