import type { Requirement } from './requirement.ts';

const must = (id: string, source: string, text: string): Requirement => ({
  id: `CLOUD-${id}`,
  source,
  text,
  state: 'met',
});

export const requirements: readonly Requirement[] = [
  must(
    '01',
    'cloud seed: async bridge',
    'A capture starts with one gated command and answers task_pending with a task id at once.',
  ),
  must(
    '02',
    'cloud seed: sidecar pipeline',
    'A ready capture goes through download and analysis to COMPLETED, and through cleanup to DONE.',
  ),
  must('03', 'cloud.md', 'The cleanup plan is registered before the first resource exists.'),
  must(
    '04',
    'cloud.md Behaviour',
    'Polling backs off as min(5·2^(n-1), 30) seconds within bursts of at most 45 seconds.',
  ),
  must('05', 'cloud seed: error table', 'After twenty polls a task is TIMED_OUT and cleans up by itself.'),
  must('06', 'cloud.md States', 'Every transition appends the whole task to the registry in order.'),
  must('07', 'cloud.md Behaviour', 'A failed or unreadable status is a failed poll, not a failed task.'),
  must(
    '08',
    'cloud seed: coupling',
    'Every command carries reasoning; the create command carries the investigation context verbatim.',
  ),
  must(
    '09',
    'cloud.md Commands',
    'The blob is downloaded and deleted at the place read back from the capture.',
  ),
  must('10', 'cloud.md Commands', 'A missing capture agent on the VM is noticed and explained.'),
  must(
    '11',
    'cloud seed: error table',
    'A denied create cancels the task, is sent once and needs no cleanup.',
  ),
  must('12', 'cloud seed: error table', 'A denied download cancels the task and cleans the capture.'),
  must(
    '13',
    'cloud seed: error table',
    'A denied deletion leaves partial with a warning naming the resource, visible until it is gone.',
  ),
  must(
    '14',
    'cloud.md Behaviour',
    'Azure saying that the very thing is not found counts as deleted; any other "not found" does not.',
  ),
  must(
    '15',
    'cloud seed: error table',
    'A failed download is retried once after five seconds, then fails the task.',
  ),
  must(
    '16',
    'cloud seed: error table',
    'Provisioning, capture and analysis failures fail the task and clean up.',
  ),
  must(
    '17',
    'cloud seed: error table',
    'An inaccessible container fails the task before anything is created.',
  ),
  must(
    '18',
    'cloud checklist RS03',
    'A target that cannot be detected is an error without a task, after one resource call.',
  ),
  must(
    '19',
    'cloud seed: instrumentation',
    'AKS is detected and answered with what is supported; other types are refused.',
  ),
  must('20', 'cloud.md', 'A registry that cannot be written stops the task before anything is created.'),
  must('21', 'cloud.md Behaviour', 'Ended tasks are idempotent for every intent.'),
  must('22', 'ghost design tool 4', 'Cancelling removes what was created and records the reason.'),
  must(
    '30',
    'cloud seed: dual-end capture',
    'Two ends are two linked tasks with their own approvals, analysed in one comparison.',
  ),
  must('31', 'cloud seed: dual-end capture', 'Neither end is analysed before both captures are here.'),
  must(
    '32',
    'cloud seed: dual-end capture',
    'When one end dies the other falls back to single-end analysis and says so.',
  ),
  must(
    '33',
    'cloud.md Behaviour',
    'Unknown intents, unknown tasks, missing and hostile parameters are errors without a command.',
  ),
  must(
    '34',
    'cloud.md Commands',
    'Time limits are clamped; task ids are unique within a second and valid Azure names.',
  ),
  must('35', 'cloud.md Commands', 'A storage account in another group is given by its full resource id.'),
  must(
    '36',
    'cloud.md Commands',
    'Storage commands carry --auth-mode; captures are addressed by the VM’s region.',
  ),
  must('37', 'cloud.md', 'Hostile output of az is never turned into a command.'),
  must(
    '38',
    'cloud seed: dual-end capture',
    'The two ends may be in different resource groups and subscriptions, as group/name or by resource id.',
  ),
  must(
    '40',
    'cloud seed: error table',
    'Tasks of dead sessions that never ended are found and can be cleaned.',
  ),
  must('41', 'ghost.md Files', 'Tasks of a session that is alive are not taken for orphans.'),
  must('42', 'cloud.md Orphans', 'Ended tasks that were not cleaned are reported, clean ones are not.'),
  must(
    '43',
    'cloud.md Orphans',
    'The Azure scan covers every region with a watcher and does not depend on truncated output.',
  ),
  must('44', 'cloud checklist G', 'A scan that could not be made is reported.'),
  must('45', 'cloud.md Orphans', 'Local files of ours older than seven days are stale.'),
  must('46', 'cloud.md', 'Corrupt lines and records of another version are reported and left alone.'),
  must(
    '47',
    'cloud.md',
    'A task is in the hands of one living session; ids are unique over sessions; the newest record wins.',
  ),
  must(
    '48',
    'cloud.md Orphans',
    'A capture whose task no longer counts it is an orphan; how a task ended stays its status.',
  ),
  must('49', 'cloud.md', 'A record with a command that is not its task’s own is reported, never run.'),
  must('50', 'cloud.md States', 'The state machine is data, and every illegal transition is refused.'),
  must('51', 'cloud.md', 'A restart at any point resumes: what was created is known with its undo.'),
  must(
    '52',
    'cloud.md',
    'kill -9 before any record, again and again: what exists is always in the plan of a task that is known.',
  ),
  must(
    '60',
    'cloud.md Dual-end',
    'On the lab, both ends are captured, compared and cleaned up with ten approvals in all.',
  ),
  must('61', 'cloud seed: error table', 'On the lab, a denied create leaves nothing in the cloud.'),
  must(
    '62',
    'cloud seed: error table',
    'On the lab, provisioning and capture failures of every kind end FAILED with what Azure said, cleaned.',
  ),
  must(
    '63',
    'cloud seed: error table',
    'On the lab, a download is tried once more; twice failed or its blob gone, the cloud is cleaned.',
  ),
  must(
    '64',
    'cloud seed: error table',
    'On the lab, an engine that fails leaves neither cloud resources nor partial local files.',
  ),
  must('65', 'cloud seed: error table', 'On the lab, a denied download cancels and cleans the capture.'),
  must(
    '66',
    'cloud seed: error table',
    'On the lab, each denied deletion is partial, warned of, found by the next session and cleaned there.',
  ),
  must(
    '67',
    'cloud seed: error table',
    'On the lab, polling times out, survives throttling and an expired login, and cleans up truthfully.',
  ),
  must(
    '68',
    'cloud seed: error table',
    'On the lab, storage that cannot be used fails the task before a person is asked for anything.',
  ),
  must(
    '69',
    'cloud seed: error table',
    'On the lab, undetectable targets leave no task; pending tasks of dead sessions are found.',
  ),
  must(
    '70',
    'cloud seed: classification table',
    'Every command is one program; reading is SAFE, creating, downloading and deleting RISKY.',
  ),
  must('71', 'cloud.md Commands', 'The real Azure CLI’s argument parser accepts every command we can send.'),
  must('80', 'cloud.md Commands', 'Hostile requests are refused or quoted, never executed, never thrown at.'),
  must(
    '81',
    'cloud.md',
    'Whatever az answers, however much, the task says how it stands; memory and time stay bounded.',
  ),
  must(
    '90',
    'overview.md Command line',
    'Every writ tasks command has help with an example, exit codes, JSON, and says what was not scanned.',
  ),
  must(
    '91',
    'cloud.md',
    'writ tasks shows progress while polling and cleans up in bulk, each deletion approved by a person.',
  ),
];
