import type { Json } from '../../core/index.ts';
import { type AzCall, az, azRead, given, option } from './az-call.ts';
import type { Reversal } from './reversal.ts';

/** Machines: their power, and the few changes inside one that can be taken back word for word. */
const VM = ['--resource-group', '--name'] as const;

const start: Reversal = {
  read: (call) =>
    azRead(
      'vm get-instance-view',
      given(call, ...VM),
      "instanceView.statuses[?starts_with(code,'PowerState/')].code",
    ),
  plan: (call, before) => {
    switch (Array.isArray(before) ? before[0] : undefined) {
      case 'PowerState/deallocated':
        return { argv: call.argv, undo: az('vm deallocate', ...given(call, ...VM)) };
      case 'PowerState/stopped':
        return { argv: call.argv, undo: az('vm stop', ...given(call, ...VM)) };
      default:
        return 'it is neither stopped nor deallocated';
    }
  },
};

/** What a script of one line changes, how that is read, and the line that takes it back. */
interface GuestChange {
  readonly read: string;
  undo(printed: string): string | undefined;
}

function guestChange(script: string): GuestChange | undefined {
  const insert = /^iptables -I (INPUT|OUTPUT|FORWARD) 1 (-[\w\s./:,-]+)$/.exec(script);
  if (insert)
    return { read: `iptables -S ${insert[1]}`, undo: () => `iptables -D ${insert[1]} ${insert[2]}` };
  const remove = /^iptables -D (INPUT|OUTPUT|FORWARD) (-[\w\s./:,-]+)$/.exec(script);
  if (remove) {
    const [, chain = '', rule = ''] = remove;
    return {
      read: `iptables -S ${chain}`,
      undo: (printed) => {
        const rules = printed.split('\n').filter((line) => line.startsWith(`-A ${chain} `));
        const at = rules.findIndex((line) => line.trim() === `-A ${chain} ${rule}`);
        if (at < 0) return undefined;
        return at === rules.length - 1
          ? `iptables -A ${chain} ${rule}`
          : `iptables -I ${chain} ${at + 1} ${rule}`;
      },
    };
  }
  const setting = /^sysctl -w ([a-z][\w.]*)=(\d+)$/.exec(script);
  if (setting)
    return {
      read: `sysctl -n ${setting[1]}`,
      undo: (printed) => {
        const value = /^\s*(\d+)\s*$/m.exec(printed)?.[1];
        return value === undefined ? undefined : `sysctl -w ${setting[1]}=${value}`;
      },
    };
  return undefined;
}

const runScript = (call: AzCall, script: string) =>
  az('vm run-command invoke', ...given(call, ...VM), '--command-id', 'RunShellScript', '--scripts', script);

const runCommand: Reversal = {
  read: (call) => {
    const change = changeOf(call);
    if (change === undefined) return 'there is no known way back from this script';
    return [...runScript(call, change.read), '--query', 'value[0].message', '--output', 'json'];
  },
  plan: (call, before: Json) => {
    const printed =
      typeof before === 'string' ? (/\[stdout\]\n([\s\S]*?)\n?\[stderr\]/.exec(before)?.[1] ?? '') : '';
    const undo = changeOf(call)?.undo(printed);
    if (undo === undefined) return 'what it changes could not be read inside the machine';
    return { argv: call.argv, undo: runScript(call, undo) };
  },
};

function changeOf(call: AzCall): GuestChange | undefined {
  const plain = [...call.options.keys()].every((o) => [...VM, '--command-id', '--scripts'].includes(o));
  if (!plain || option(call, '--command-id') !== 'RunShellScript') return undefined;
  return guestChange(option(call, '--scripts'));
}

export const MACHINES: Readonly<Record<string, Reversal>> = {
  'vm start': start,
  'vm run-command invoke': runCommand,
};
