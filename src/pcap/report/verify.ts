import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  CODES,
  EXIT,
  type ExitCode,
  isJsonObject,
  type JsonObject,
  parseJson,
  WritError,
} from '../../core/index.ts';
import { analyze } from '../analyze.ts';
import { findingsOf } from '../findings/index.ts';

/** Re-derives every finding of a semantic report from the capture it names, by hash and frames. */
export interface Verification {
  readonly report: string;
  readonly capture: string;
  readonly hash_matches: boolean;
  readonly findings: readonly { readonly id: string; readonly holds: boolean; readonly why: string | null }[];
  readonly missing: readonly string[];
  readonly verified: boolean;
}

export async function verifyReport(path: string, cwd: string, captureOption?: string): Promise<Verification> {
  const file = resolve(cwd, path);
  const report = readReport(file);
  const summary = isJsonObject(report.capture_summary) ? report.capture_summary : {};
  const capture = findCapture(String(summary.file ?? ''), file, cwd, captureOption);
  const analysis = await analyze(capture);
  const hashMatches = analysis.capture.sha256 === summary.sha256;
  const derived = findingsOf(analysis);
  const claimed = (Array.isArray(report.findings) ? report.findings : []).filter(isJsonObject);
  const findings = claimed.map((claim) => {
    const own = derived.find((f) => f.id === claim.id);
    const why =
      own === undefined
        ? 'the capture does not give this finding'
        : own.predicate !== claim.predicate
          ? 'its predicate gives another result'
          : JSON.stringify(own.frames) !== JSON.stringify(claim.frames)
            ? 'its frames are others'
            : own.severity !== claim.severity
              ? 'its severity is another'
              : null;
    return {
      id: String(claim.id),
      holds: why === null && hashMatches,
      why: hashMatches ? why : 'the capture is not the one the report was made from',
    };
  });
  const missing = derived.filter((f) => !claimed.some((c) => c.id === f.id)).map((f) => f.id);
  return {
    report: path,
    capture,
    hash_matches: hashMatches,
    findings,
    missing,
    verified: hashMatches && missing.length === 0 && findings.every((f) => f.holds),
  };
}

export const verificationExit = (v: Verification): ExitCode => (v.verified ? EXIT.ok : EXIT.integrity);

function readReport(file: string): JsonObject {
  if (!existsSync(file))
    throw new WritError(CODES.invalid_input, `${file}: there is no such report`, {
      suggestion: 'give the <stem>_semantic.json that writ pcap analyze wrote',
      exit: EXIT.usage,
    });
  const parsed = parseJson(readFileSync(file, 'utf8'));
  if (!parsed.ok || !isJsonObject(parsed.value) || !isJsonObject(parsed.value.capture_summary)) {
    throw new WritError(CODES.invalid_input, `${file}: is not a semantic report`, {
      suggestion: 'give the <stem>_semantic.json that writ pcap analyze wrote',
      exit: EXIT.usage,
    });
  }
  return parsed.value;
}

/** Where the report says, beside the report, or where the caller says. */
function findCapture(named: string, report: string, cwd: string, option: string | undefined): string {
  const places =
    option !== undefined
      ? [resolve(cwd, option)]
      : [resolve(cwd, named), join(dirname(report), named.split('/').at(-1) ?? named)];
  const found = places.find((p) => existsSync(p));
  if (found === undefined)
    throw new WritError(CODES.invalid_input, `the capture ${named} is not where the report says`, {
      suggestion: 'name it with --capture FILE',
      exit: EXIT.usage,
    });
  return found;
}
