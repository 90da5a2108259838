import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  CODES,
  canonicalJson,
  EXIT,
  type ExitCode,
  isJsonObject,
  type Json,
  type JsonObject,
  parseJson,
  WritError,
} from '../../core/index.ts';
import { analyze } from '../analyze.ts';
import { findingsOf } from '../findings/index.ts';
import { semanticReport } from '../semantic/build.ts';
import type { Finding, SemanticReport } from '../semantic/types.ts';

/** Re-derives every finding of a semantic report from the capture it names, by hash and frames. */
export interface Verification {
  readonly report: string;
  readonly capture: string;
  readonly hash_matches: boolean;
  readonly findings: readonly { readonly id: string; readonly holds: boolean; readonly why: string | null }[];
  /** Findings the capture gives and the report leaves out. */
  readonly missing: readonly string[];
  /** Sections whose figures are not those of the capture. */
  readonly altered: readonly string[];
  readonly verified: boolean;
}

export async function verifyReport(path: string, cwd: string, captureOption?: string): Promise<Verification> {
  const file = resolve(cwd, path);
  const report = readReport(file);
  const summary = isJsonObject(report.capture_summary) ? report.capture_summary : {};
  const named = typeof summary.file === 'string' ? summary.file : '';
  const capture = findCapture(named, file, cwd, captureOption);
  const analysis = await analyze(capture);
  const hashMatches = analysis.capture.sha256 === summary.sha256;
  const derived = findingsOf(analysis);
  const claimed = Array.isArray(report.findings) ? report.findings : [];
  const findings = claimed.map((claim) => {
    const id = isJsonObject(claim) && typeof claim.id === 'string' ? claim.id : '(no id)';
    const own = derived.find((f) => f.id === id);
    const why = !hashMatches
      ? 'the capture is not the one the report was made from'
      : own === undefined
        ? 'the capture does not give this finding'
        : difference(own, claim);
    return { id, holds: why === null, why };
  });
  const ids = findings.map((f) => f.id);
  const missing = derived.filter((f) => !ids.includes(f.id)).map((f) => f.id);
  const facts = semanticReport({ ...analysis, capture: { ...analysis.capture, file: named } }, derived);
  const altered = hashMatches ? alteredSections(facts, report) : [];
  return {
    report: path,
    capture,
    hash_matches: hashMatches,
    findings,
    missing,
    altered,
    verified: hashMatches && missing.length === 0 && altered.length === 0 && findings.every((f) => f.holds),
  };
}

/** The first field of a claimed finding that the capture does not bear out. */
function difference(own: Finding, claim: Json): string | null {
  if (!isJsonObject(claim)) return 'it is not a finding';
  const fields = new Set([...Object.keys(own), ...Object.keys(claim)]);
  const truth = plain(own);
  const wrong = [...fields].find(
    (field) => text(isJsonObject(truth) ? truth[field] : undefined) !== text(claim[field]),
  );
  return wrong === undefined ? null : `its ${wrong} is not what the capture gives`;
}

/** Sections whose figures are not those of the capture; findings count by their order and number alone. */
function alteredSections(facts: SemanticReport, report: JsonObject): readonly string[] {
  const truth = plain(facts);
  if (!isJsonObject(truth)) return [];
  const keys = new Set([...Object.keys(truth), ...Object.keys(report)]);
  return [...keys].filter((key) =>
    key === 'findings'
      ? text(idsOf(truth.findings)) !== text(idsOf(report.findings))
      : text(truth[key]) !== text(report[key]),
  );
}

const idsOf = (list: Json | undefined): Json =>
  Array.isArray(list) ? list.map((f) => (isJsonObject(f) ? (f.id ?? null) : null)) : null;
const text = (value: Json | undefined) => (value === undefined ? '' : canonicalJson(value));
/** As it would stand in a file. */
function plain(value: Finding | SemanticReport): Json {
  const parsed = parseJson(JSON.stringify(value));
  return parsed.ok ? parsed.value : null;
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
