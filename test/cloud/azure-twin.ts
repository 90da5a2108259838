import { writeFileSync } from 'node:fs';
import type { Redacted } from '../../src/core/index.ts';
import type { Shell, ShellRequest, ShellResponse } from '../../src/shell/index.ts';

/**
 * A twin of the shell port with a small Azure behind it: it answers the orchestrator's own commands, keeps
 * what exists (captures, blobs), and can be told to deny or fail any of them. The lab plays the real thing
 * end to end; here every failure can be had at will.
 */
export interface AzureTwin extends Shell {
  readonly requests: ShellRequest[];
  readonly captures: Map<string, { polls: number }>;
  readonly blobs: Set<string>;
  /** Commands containing the text are denied by the person, or fail with this stderr. */
  deny(text: string): void;
  fail(text: string, stderr: string, times?: number): void;
  count(text: string): number;
}

export interface TwinOptions {
  readonly type?: string;
  readonly runningPolls?: number;
  readonly finalStatus?: string;
  readonly container?: string;
  readonly regions?: readonly string[];
  readonly storedAt?: (name: string) => string;
  readonly accountGroup?: string;
  readonly vmLocation?: string;
  readonly extensions?: string;
}

const text = (s: string) => s as Redacted;

export function azureTwin(options: TwinOptions = {}): AzureTwin {
  const denials: string[] = [];
  const failures: { text: string; stderr: string; left: number }[] = [];
  const requests: ShellRequest[] = [];
  const captures = new Map<string, { polls: number }>();
  const blobs = new Set<string>();
  const value = (command: string, option: string) =>
    new RegExp(`${option} '?([^' ]+)'?`).exec(command)?.[1] ?? '';

  const answer = (command: string): { output: string; exit: number; stderr?: string } => {
    const name = value(command, '--name');
    const missing = { output: '', exit: 3, stderr: '(ResourceNotFound) The resource was not found.' };
    if (/^az resource (list|show)/.test(command))
      return { output: options.type ?? 'Microsoft.Compute/virtualMachines', exit: 0 };
    if (command.startsWith('az vm show'))
      return {
        output: JSON.stringify({ location: options.vmLocation ?? 'westeurope', os: 'Linux' }),
        exit: 0,
      };
    if (command.startsWith('az vm extension list'))
      return { output: options.extensions ?? '["NetworkWatcherAgentLinux"]', exit: 0 };
    if (command.startsWith('az storage account show'))
      return {
        output: JSON.stringify({
          blob: 'https://forensicsa.blob.core.windows.net/',
          group: options.accountGroup ?? 'prod-rg',
        }),
        exit: 0,
      };
    if (command.startsWith('az storage container exists'))
      return { output: options.container ?? 'true', exit: 0 };
    if (command.includes('packet-capture create')) {
      captures.set(name, { polls: 0 });
      return { output: 'Succeeded', exit: 0 };
    }
    if (command.includes('packet-capture show-status')) {
      const capture = captures.get(name);
      if (!capture) return missing;
      capture.polls++;
      return {
        output: capture.polls > (options.runningPolls ?? 1) ? (options.finalStatus ?? 'Stopped') : 'Running',
        exit: 0,
      };
    }
    if (command.includes('packet-capture show ')) {
      if (!captures.has(name)) return missing;
      const url = options.storedAt?.(name) ?? `https://forensicsa.blob.core.windows.net/captures/${name}.cap`;
      blobs.add(url.split('/').slice(4).join('/'));
      return { output: url, exit: 0 };
    }
    if (command.includes('packet-capture delete'))
      return captures.delete(name) ? { output: '', exit: 0 } : missing;
    if (command.includes('packet-capture list')) {
      const [from, to] = (/\[(\d+):(\d+)\]/.exec(command) ?? []).slice(1).map(Number) as [number, number];
      return { output: [...captures.keys()].slice(from, to).join('\n'), exit: 0 };
    }
    if (command.startsWith('az network watcher list'))
      return { output: (options.regions ?? ['westeurope']).join('\n'), exit: 0 };
    if (command.includes('blob download')) {
      if (!blobs.has(name)) return { output: '', exit: 3, stderr: 'BlobNotFound' };
      writeFileSync(value(command, '--file'), 'pcap');
      return { output: '', exit: 0 };
    }
    if (command.includes('blob delete'))
      return blobs.delete(name)
        ? { output: '', exit: 0 }
        : { output: '', exit: 3, stderr: 'ErrorCode:BlobNotFound' };
    if (command.startsWith('pcap-forensics')) {
      const [, file, , other] = command.split(' ') as [string, string, string, string];
      const folder = value(command, '--report-dir');
      const stem = (path: string) => path.split('/').at(-1)!.replace('.pcap', '');
      const report = command.includes('--compare')
        ? `${stem(file)}_vs_${stem(other)}_comparison.md`
        : `${stem(file)}_forensic_report.md`;
      writeFileSync(`${folder}/${report}`, '## Executive Summary\n');
      return { output: 'ok', exit: 0 };
    }
    if (command.startsWith('rm ')) return { output: '', exit: 0 };
    return { output: '', exit: 127, stderr: `unknown command: ${command}` };
  };

  let n = 0;
  const respond = (command: string): ShellResponse => {
    const base = {
      classification: 'RISKY' as const,
      action: 'user_approved' as const,
      output: text(''),
      stderr: text(''),
      exit_code: null,
      error: null,
      duration_seconds: 0.01,
      output_metadata: {} as ShellResponse['output_metadata'],
      audit_id: `s_${String(++n).padStart(3, '0')}`,
      denial_reason: null,
    };
    if (denials.some((d) => command.includes(d)))
      return { ...base, status: 'denied', action: 'user_denied', denial_reason: text('not today') };
    const failure = failures.find((f) => command.includes(f.text) && f.left > 0);
    if (failure) {
      failure.left--;
      return { ...base, status: 'completed', exit_code: 1, stderr: text(failure.stderr) };
    }
    const { output, exit, stderr } = answer(command);
    return {
      ...base,
      status: 'completed',
      output: text(output),
      stderr: text(stderr ?? ''),
      exit_code: exit,
    };
  };

  return {
    sessionId: 's',
    requests,
    captures,
    blobs,
    deny: (part) => void denials.push(part),
    fail: (part, stderr, times = 1) => void failures.push({ text: part, stderr, left: times }),
    count: (part) => requests.filter((r) => r.command.includes(part)).length,
    execute: async (request) => {
      requests.push(request);
      return respond(request.command);
    },
  };
}
