import type { DefineCommand } from './cli.ts';

/** Every command: its name, one line of help, and the file that has it, loaded only when it is called. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<{ readonly define: DefineCommand }>;
}

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'doctor',
    summary: 'what this machine has and lacks, and the command that mends it',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'audit',
    summary: 'verify, show and export the records of what happened',
    load: () => import('./commands/audit.ts'),
  },
  {
    name: 'approvals',
    summary: 'requests that wait for a person: list, show, approve, reject',
    load: () => import('./commands/approvals.ts'),
  },
  {
    name: 'investigate',
    summary: 'find the root cause of a network problem, with evidence',
    load: () => import('./commands/investigate.ts'),
  },
  {
    name: 'investigations',
    summary: 'what earlier investigations found',
    load: () => import('./commands/investigations.ts'),
  },
  {
    name: 'tasks',
    summary: 'packet captures as tasks: start, follow, clean up, find what was left behind',
    load: () => import('./commands/tasks.ts'),
  },
  {
    name: 'completion',
    summary: 'shell completions for bash, zsh and fish',
    load: () => import('./commands/completion.ts'),
  },
  {
    name: 'shell',
    summary: 'run a command through the Safe-Exec Shell, or say how it would be judged',
    load: () => import('./commands/shell.ts'),
  },
  {
    name: 'redact',
    summary: 'replace the secrets in what comes from stdin',
    load: () => import('./commands/redact.ts'),
  },
  {
    name: 'why',
    summary: 'which rule decided about a command, and what would change it',
    load: () => import('./commands/why.ts'),
  },
  {
    name: 'pcap',
    summary: 'what a packet capture says: analysis, reports, plain counters',
    load: () => import('./commands/pcap.ts'),
  },
  {
    name: 'lab',
    summary: 'a simulated Azure: list worlds, check a world file, open a shell in one',
    load: () => import('./commands/lab.ts'),
  },
  {
    name: 'run',
    summary: 'run a plan of tool calls under a policy',
    load: () => import('./commands/run.ts'),
  },
  {
    name: 'replay',
    summary: 'play a recorded run again, without any effect',
    load: () => import('./commands/replay.ts'),
  },
  {
    name: 'report',
    summary: 'what a run did: timeline, denials, what it touched (console, JSON, HTML)',
    load: () => import('./commands/report.ts'),
  },
  {
    name: 'list-runs',
    summary: 'the runs on record',
    load: () => import('./commands/list-runs.ts'),
  },
  {
    name: 'show-run',
    summary: 'one run on record, in full',
    load: () => import('./commands/show-run.ts'),
  },
  {
    name: 'policy',
    summary: 'check, test, explain and compare policies',
    load: () => import('./commands/policy.ts'),
  },
  {
    name: 'tool',
    summary: 'tools for plans: list them, write your own, test it',
    load: () => import('./commands/tool.ts'),
  },
  {
    name: 'gateway',
    summary: 'policy firewalls in front of models and MCP servers',
    load: () => import('./commands/gateway.ts'),
  },
  {
    name: 'flight',
    summary: 'workflows that plan, are judged and approved, and only then act',
    load: () => import('./commands/flight.ts'),
  },
];
