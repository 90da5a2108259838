/** What `writ pcap` and `pcap-forensics` share: options in, files and text out, an exit code back. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';
import { CODES, EXIT, type ExitCode, messageOf, WritError } from '../core/index.ts';
import type { Analysis } from './analysis.ts';
import { analyze } from './analyze.ts';
import { countersOf } from './count.ts';
import type { Counters } from './counters.ts';
import { Engine } from './engine.ts';
import { findingsOf } from './findings/index.ts';
import { NotACapture } from './read/capture-file.ts';
import type { Narrator } from './report/narrative.ts';
import { countFile } from './run.ts';
import { semanticReport } from './semantic/build.ts';
import type { SemanticReport } from './semantic/types.ts';

export interface CommandIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether progress may be redrawn on one line. */
  readonly errIsTerminal: boolean;
  readonly cwd: string;
}

export interface AnalyzeOptions {
  readonly files: readonly string[];
  readonly json: boolean;
  readonly semanticDir?: string | undefined;
  readonly reportDir?: string | undefined;
  readonly html?: boolean | undefined;
  /** A second capture to compare the first with. */
  readonly compare?: string | undefined;
  /** Present when a narrative was asked for: who writes it, or why nobody can. */
  readonly narrator?: Narrator | { readonly absent: string } | undefined;
}

export interface Analysed {
  readonly analysis: Analysis;
  readonly report: SemanticReport;
}

/** Analyses one file, with progress for those that take longer than a second. */
export async function analyseFile(path: string, io: CommandIo): Promise<Analysed> {
  const progress = progressOn(io, basename(path));
  const analysis = await analyze(resolve(io.cwd, path), { progress: progress.step });
  progress.end();
  const named = { ...analysis, capture: { ...analysis.capture, file: path } };
  return { analysis: named, report: semanticReport(named, findingsOf(named)) };
}

export async function analyzeCommand(options: AnalyzeOptions, io: CommandIo): Promise<ExitCode> {
  const files = options.compare === undefined ? options.files : [options.files[0] ?? '', options.compare];
  const all: Analysed[] = [];
  const stems = distinctStems(files);
  // `--json` alone writes nothing: the document on stdout is the result.
  const writes =
    !options.json ||
    options.semanticDir !== undefined ||
    options.reportDir !== undefined ||
    options.html === true;
  if (options.narrator !== undefined && !writes)
    io.err('a narrative goes into the reports: name a folder for them with --report-dir\n');
  for (const file of files) {
    const analysed = await analyseFile(file, io);
    all.push(analysed);
    if (!writes) continue;
    const paths = await writeReports(analysed, stems[all.length - 1]!, options, io);
    if (!options.json) io.out(`${summaryLine(analysed.report)}\n${paths.map((p) => `  ${p}\n`).join('')}`);
  }
  const [first, second] = all;
  if (options.compare !== undefined && first && second)
    return compareAnalysed(first, second, [stems[0]!, stems[1]!], options, writes, io);
  if (options.json)
    io.out(`${jsonText(all.length === 1 ? first?.report : { files: all.map((x) => x.report) })}\n`);
  return EXIT.ok;
}

async function writeReports(
  { report, analysis }: Analysed,
  stem: string,
  options: AnalyzeOptions,
  io: CommandIo,
): Promise<readonly string[]> {
  // Loaded here: who only wants the JSON does not wait for them.
  const { executiveSummary, forensicReport } = await import('./report/markdown.ts');
  const reports = options.reportDir ?? '.';
  const narrative =
    options.narrator === undefined
      ? undefined
      : await (await import('./report/narrative.ts')).narrativeOf(report, options.narrator);
  if (narrative?.written === false) io.err(`no narrative: ${narrative.reason}\n`);
  return [
    writeOutput(io, options.semanticDir ?? '.', `${stem}_semantic.json`, jsonText(report, 2)),
    writeOutput(io, reports, `${stem}_executive_summary.md`, executiveSummary(report)),
    ...(options.html
      ? [
          writeOutput(
            io,
            reports,
            `${stem}_forensic_report.html`,
            (await import('./report/html.ts')).htmlReport(report, analysis, narrative),
          ),
        ]
      : []),
    // Last: who waits for this file finds the others there.
    writeOutput(io, reports, `${stem}_forensic_report.md`, forensicReport(report, analysis, narrative)),
  ];
}

async function compareAnalysed(
  a: Analysed,
  b: Analysed,
  stems: readonly [string, string],
  options: AnalyzeOptions,
  writes: boolean,
  io: CommandIo,
): Promise<ExitCode> {
  const { compareRates } = await import('./compare/compare.ts');
  const { compareEnds } = await import('./compare/dual-end.ts');
  const { comparisonMarkdown } = await import('./compare/markdown.ts');
  const comparison = compareRates(
    a.analysis,
    b.analysis,
    await compareEnds(resolve(io.cwd, a.analysis.capture.file), resolve(io.cwd, b.analysis.capture.file)),
  );
  if (writes) {
    const stem = `${stems[0]}_vs_${stems[1]}_comparison`;
    const json = writeOutput(io, options.semanticDir ?? '.', `${stem}.json`, jsonText(comparison, 2));
    const markdown = writeOutput(io, options.reportDir ?? '.', `${stem}.md`, comparisonMarkdown(comparison));
    if (!options.json)
      io.out(
        `comparison: ${comparison.dual_end?.conclusion ?? comparison.verdict}\n  ${json}\n  ${markdown}\n`,
      );
  }
  if (options.json) io.out(`${jsonText(comparison)}\n`);
  return EXIT.ok;
}

/** Counters of every file. A file that is no capture has zeros and the reason; the exit code then is 2. */
export async function countersCommand(
  files: readonly string[],
  io: CommandIo,
): Promise<{ readonly files: Record<string, Counters>; readonly exit: ExitCode }> {
  const out: Record<string, Counters> = {};
  let exit: ExitCode = EXIT.ok;
  for (const file of files) {
    const name = Object.hasOwn(out, basename(file)) ? file : basename(file);
    const progress = progressOn(io, name);
    try {
      out[name] = await countFile(resolve(io.cwd, file), { progress: progress.step });
    } catch (error) {
      if (!(error instanceof NotACapture)) throw error;
      io.err(`${error.message}\n`);
      out[name] = countersOf(new Engine(), {
        container: undefined,
        compressed: false,
        damaged: true,
        error: error.message,
      });
      exit = EXIT.usage;
    }
    progress.end();
  }
  return { files: out, exit };
}

export function stemOf(file: string): string {
  const name = basename(file).replace(/\.gz$/i, '');
  return name.slice(0, name.length - extname(name).length) || name;
}

/** Captures of two machines are often called the same: the second of a name gets a number. */
function distinctStems(files: readonly string[]): readonly string[] {
  const used = new Set<string>();
  return files.map((file) => {
    const stem = stemOf(file);
    let [own, n] = [stem, 2];
    while (used.has(own)) own = `${stem}-${n++}`;
    used.add(own);
    return own;
  });
}

/** Writes beside and renames, so that a reader never sees half a report. */
export function writeOutput(io: CommandIo, directory: string, name: string, text: string): string {
  const path = join(directory, name);
  try {
    mkdirSync(resolve(io.cwd, directory), { recursive: true });
    const target = resolve(io.cwd, path);
    writeFileSync(`${target}.${process.pid}.tmp`, text);
    renameSync(`${target}.${process.pid}.tmp`, target);
  } catch (error) {
    throw new WritError(CODES.storage_failed, `${path} cannot be written: ${messageOf(error)}`, {
      suggestion: 'choose a folder you may write to with --semantic-dir and --report-dir',
      cause: error,
    });
  }
  return path;
}

export function jsonText(value: unknown, indent = 0): string {
  return JSON.stringify(value, null, indent);
}

function summaryLine({ capture_summary: s, findings }: SemanticReport): string {
  const found = findings.length === 0 ? 'no findings' : `${findings.length} findings`;
  return `${basename(s.file)}: ${s.total_packets} packets, ${s.duration_seconds} s, ${found}`;
}

/** Progress on stderr once a file takes longer than a second. */
export function progressOn(
  io: CommandIo,
  name: string,
): { readonly step: (done: number, total: number) => void; readonly end: () => void } {
  const started = performance.now();
  const pause = io.errIsTerminal ? 250 : 2000;
  let next = started + 1000;
  let shown = false;
  return {
    step(done, total) {
      const now = performance.now();
      if (now < next) return;
      next = now + pause;
      shown = true;
      const percent = total > 0 ? `${Math.min(100, Math.floor((done / total) * 100))} %` : `${done} bytes`;
      const rate = (done / 1e6 / ((now - started) / 1000)).toFixed(0);
      io.err(
        `${io.errIsTerminal ? '\r' : ''}${name}: ${percent} read, ${rate} MB/s${io.errIsTerminal ? ' ' : '\n'}`,
      );
    },
    end() {
      if (shown && io.errIsTerminal) io.err('\r\u001b[K');
    },
  };
}
