import { isJsonObject, type JsonObject, quoteArgv } from '../../../core/index.ts';
import type { Vm } from './inventory.ts';
import { jsonOf, type Notebook } from './notebook.ts';

/** Where captures may be stored: given by flags or writ.yaml, else the first account that has no firewall. */
export interface CapturePlace {
  readonly storageAccount: string;
  readonly authMode?: string;
}

export interface WireView {
  readonly auditId: string;
  readonly semantic: JsonObject;
  readonly taskId: string;
}

const MAX_CHECKS = 12;

/** One capture on one machine, analysed and cleaned up. Undefined when it was refused or failed. */
export function captureAt(
  notebook: Notebook,
  vm: Vm,
  place: CapturePlace,
  seconds: number,
  context: string,
): WireView | 'denied' | 'failed' {
  const started = notebook.task('capture_traffic', {
    target: vm.name,
    resource_group: vm.group,
    storage_account: place.storageAccount,
    duration_seconds: seconds,
    investigation_context: context,
    ...(place.authMode === 'key' ? { storage_auth_mode: 'key' } : {}),
  });
  if (started.denied) return 'denied';
  if (started.taskId === null || started.status !== 'task_pending') return 'failed';
  let state = started;
  for (let n = 0; n < MAX_CHECKS && state.status === 'task_pending'; n++)
    state = notebook.task('check_task', { task_id: started.taskId });
  if (state.denied) return 'denied';
  const file = state.result?.local_pcap_path;
  if (state.status !== 'task_completed' || typeof file !== 'string') {
    if (state.status === 'task_pending') notebook.task('cancel_task', { task_id: started.taskId });
    return 'failed';
  }
  // Reading the analysis as data needs nobody's permission: the engine is read-only.
  const answer = notebook.ask(
    quoteArgv(['pcap-forensics', file, '--json']),
    `Read what was on the wire at ${vm.name}.`,
  );
  const semantic = jsonOf(answer);
  notebook.task('cleanup_task', { task_id: started.taskId });
  return answer.kind === 'ok' && isJsonObject(semantic)
    ? { auditId: answer.auditId, semantic, taskId: started.taskId }
    : 'failed';
}

/** Numbers of one conversation's streams, summed over all of them. */
export interface StreamSums {
  readonly streams: number;
  readonly retransmissions: number;
  readonly duplicateAcks: number;
  readonly outOfOrder: number;
  readonly zeroWindows: number;
  readonly resets: number;
  readonly rttMs: number | null;
}

export function streamsBetween(view: WireView, a: string, b: string): StreamSums {
  const tcp = isJsonObject(view.semantic.tcp) ? view.semantic.tcp : {};
  const streams = (Array.isArray(tcp.streams_with_issues) ? tcp.streams_with_issues : [])
    .filter(isJsonObject)
    .filter((s) => touches(s, a) && touches(s, b));
  const sum = (key: string) =>
    streams.reduce((total, s) => total + (typeof s[key] === 'number' ? (s[key] as number) : 0), 0);
  const rtts = streams.flatMap((s) =>
    isJsonObject(s.ack_rtt_ms) && typeof s.ack_rtt_ms.median === 'number' ? [s.ack_rtt_ms.median] : [],
  );
  return {
    streams: streams.length,
    retransmissions: sum('retransmissions'),
    duplicateAcks: sum('duplicate_acks'),
    outOfOrder: sum('out_of_order'),
    zeroWindows: sum('zero_window_events'),
    resets: sum('rst'),
    rttMs: rtts.length === 0 ? null : rtts.sort((x, y) => x - y)[Math.floor(rtts.length / 2)]!,
  };
}

function touches(stream: JsonObject, address: string): boolean {
  return [stream.src, stream.dst].some(
    (end) => typeof end === 'string' && (end === address || end.startsWith(`${address}:`)),
  );
}
