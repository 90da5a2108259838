import type { Redacted } from '../core/index.ts';
import { redact } from '../redact/index.ts';
import type { Executed } from './execute.ts';
import type { Gate } from './gate/pass.ts';
import type { Anonymizer } from './process/anonymize.ts';
import { emptyMetadata, processOutput, processStderr } from './process/process.ts';
import type { ShellAction, ShellClass, ShellResponse } from './types.ts';

/** A response before its record: the audit id comes with the record. */
export type Unrecorded = Omit<ShellResponse, 'audit_id'>;

const none = redact('').text;

const NOT_EXECUTABLE =
  'Writ starts programs, never a shell: write one command without chaining, substitution or redirection.';

export function blank(classification: ShellClass | null, action: ShellAction | null): Unrecorded {
  return {
    status: 'completed',
    classification,
    action,
    output: none,
    stderr: none,
    exit_code: null,
    error: null,
    duration_seconds: null,
    output_metadata: emptyMetadata,
    denial_reason: null,
  };
}

/** What a command that did not pass the gate is answered with. */
export function refusal(
  gate: Exclude<Gate, { kind: 'go' | 'modified' }>,
  classification: ShellClass,
): Unrecorded {
  switch (gate.kind) {
    case 'forbidden':
      return { ...blank(classification, null), status: 'error', error: 'forbidden_command' };
    case 'not_executable':
      return {
        ...blank(classification, 'user_abandoned'),
        status: 'denied',
        error: 'not_executable',
        stderr: redact(NOT_EXECUTABLE).text,
      };
    case 'denied': {
      const reason: Redacted = redact(gate.reason.toWellFormed()).text;
      return {
        ...blank(classification, gate.abandoned ? 'user_abandoned' : 'user_denied'),
        status: 'denied',
        denial_reason: reason === '' ? null : reason,
      };
    }
  }
}

/** Output → response. An error in redaction means no output at all. */
export function processed(
  base: Unrecorded,
  executed: Executed,
  anonymizer: Anonymizer | undefined,
): Unrecorded {
  const seconds = executed.seconds;
  try {
    if (executed.kind === 'not_started') {
      const stderr = processStderr(Buffer.from(executed.reason), anonymizer).text;
      return { ...base, exit_code: executed.exitCode, stderr, duration_seconds: seconds };
    }
    const { output } = executed;
    const out = processOutput(output.stdout, output.stdoutBytes, anonymizer);
    const err = processStderr(output.stderr, anonymizer);
    const categories = [...new Set([...out.metadata.redaction_categories, ...err.categories])].sort();
    const ended = executed.kind === 'exited';
    return {
      ...base,
      status: ended ? 'completed' : 'error',
      error: ended ? null : executed.kind,
      exit_code: ended ? executed.exitCode : null,
      output: out.text,
      stderr: err.text,
      duration_seconds: seconds,
      output_metadata: {
        ...out.metadata,
        redaction_count: out.metadata.redaction_count + err.count,
        redactions_applied: categories.length > 0,
        redaction_categories: categories,
        ...(anonymizer === undefined
          ? {}
          : {
              anonymization_applied: out.metadata.anonymization_applied === true || err.anonymized,
              anonymization_mappings_count: anonymizer.mappings,
            }),
      },
    };
  } catch {
    return { ...base, status: 'error', error: 'redaction_failure', duration_seconds: seconds };
  }
}
