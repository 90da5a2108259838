import { CAUSE_KINDS, type ToolDeclaration } from '../core/index.ts';

/** The six tools. Each maps to the shell or the orchestrator and to nothing else. */
const text = (description: string) => ({ type: 'string', description });
const list = (description: string) => ({ type: 'array', items: { type: 'string' }, description });
const hypothesis = text('Hypothesis this call tests, e.g. "h1".');

export const TOOL_NAMES = [
  'run_shell_cmd',
  'capture_traffic',
  'check_task',
  'cancel_task',
  'cleanup_task',
  'complete_investigation',
] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

export const DECLARATIONS: readonly ToolDeclaration[] = [
  {
    name: 'run_shell_cmd',
    description:
      'Run one diagnostic command through the Safe-Exec Shell. It is classified first: SAFE runs, RISKY asks the engineer, FORBIDDEN never runs and must not be tried again. For ping, dig, traceroute, ss, netstat, curl (GET only), az reads (list, show, get), and cat of files under the audit folder or of a report_path from a finished task. One command, no chaining, no sudo, no redirection.',
    parameters: {
      type: 'object',
      properties: {
        command: text('The complete command.'),
        reasoning: text(
          'One sentence: why the investigation needs it. The engineer reads it, and it is recorded.',
        ),
        hypothesis_id: hypothesis,
      },
      required: ['command', 'reasoning'],
    },
  },
  {
    name: 'capture_traffic',
    description:
      'Start a packet capture with Azure Network Watcher on a VM, or at both ends with "source_vm to dest_vm". Returns a task_id at once; follow it with check_task. Creating the capture asks the engineer.',
    parameters: {
      type: 'object',
      properties: {
        target: text('VM name, group/name, full resource id, or "source_vm to dest_vm".'),
        resource_group: text('Resource group of the VM or VMs.'),
        storage_account: text('Storage account for the capture file.'),
        duration_seconds: { type: 'integer', description: 'Length in seconds; 60 by default, 300 at most.' },
        investigation_context: text('One sentence: which behaviour is being captured.'),
        storage_auth_mode: {
          type: 'string',
          enum: ['login', 'key'],
          description: 'login (Entra ID, default) or key.',
        },
        hypothesis_id: hypothesis,
      },
      required: ['target', 'resource_group', 'storage_account'],
    },
  },
  {
    name: 'check_task',
    description:
      'Follow a capture task. Polls Azure for up to 45 seconds by itself, and goes on through download and analysis when the capture is ready. Call again until the status is task_completed, task_failed, task_cancelled or task_timed_out.',
    parameters: {
      type: 'object',
      properties: { task_id: text('The id from capture_traffic.'), hypothesis_id: hypothesis },
      required: ['task_id'],
    },
  },
  {
    name: 'cancel_task',
    description:
      'Abort a running capture. Every deletion asks the engineer. Does nothing to a task that has ended.',
    parameters: {
      type: 'object',
      properties: { task_id: text('The task to cancel.'), reason: text('Why, for the record.') },
      required: ['task_id'],
    },
  },
  {
    name: 'cleanup_task',
    description:
      'Delete what a finished capture left in Azure and on disk. Every deletion asks the engineer. Call it after the report has been read; calling it again is harmless.',
    parameters: {
      type: 'object',
      properties: { task_id: text('The task to clean up.') },
      required: ['task_id'],
    },
  },
  {
    name: 'complete_investigation',
    description:
      'End the investigation: the root cause is found, every hypothesis is settled, or nothing more can be learnt. The report is written from the audit trail.',
    parameters: {
      type: 'object',
      properties: {
        confidence: {
          type: 'string',
          enum: ['high', 'medium', 'low'],
          description: 'high: confirmed by evidence. medium: probable. low: could not be verified.',
        },
        root_cause_summary: text('One to three sentences; cite audit ids.'),
        confirmed_hypotheses: list('Ids confirmed by evidence.'),
        refuted_hypotheses: list('Ids disproved by evidence.'),
        unverifiable_hypotheses: list('Ids that denials kept from being tested.'),
        contradicted_hypotheses: list(
          'Ids with evidence for and against; name the conflicting audit ids in the summary.',
        ),
        recommended_actions: list('Concrete next steps; exact commands where there are any.'),
        causes: {
          type: 'array',
          description:
            'Each cause with the audit ids that prove it. A cause without valid evidence is printed as unsupported.',
          items: {
            type: 'object',
            properties: {
              kind: { type: 'string', enum: [...CAUSE_KINDS] },
              resource: text('Name of the resource at fault.'),
              detail: text('Rule, route, record, port or network at fault, where there is one.'),
              explanation: text('Which symptom it explains, and how.'),
              evidence: list('Audit ids of this session.'),
            },
            required: ['kind', 'resource', 'evidence'],
          },
        },
        failed_checks: {
          type: 'array',
          description:
            'Commands that show the fault now and would show that it is gone, e.g. az network watcher test-connectivity … --query connectionStatus --output tsv with expected Reachable.',
          items: {
            type: 'object',
            properties: {
              command: text('The complete command.'),
              expected: text('Exactly what it prints once the fault is gone.'),
            },
            required: ['command', 'expected'],
          },
        },
        observations: list('Remarks that are not causes.'),
      },
      required: ['confidence', 'root_cause_summary'],
    },
  },
];
