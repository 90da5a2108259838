import { type OptionSpec, type OptionTable, optionTable, type Scan, scanOptions } from '../options.ts';
import { over, type Rule, type Verdict, type Word } from '../rule.ts';

/** One entry of the allow list. */
export interface Program {
  readonly names: readonly string[];
  /** Folders besides the system's own in which this program is installed as a rule. */
  readonly folders: readonly string[];
  /** The rule that says it is read-only, and every other rule this program can be judged by. */
  readonly safe: Rule;
  readonly rules: readonly Rule[];
  /** `words[0]` is the program itself, already trusted. */
  judge(words: readonly Word[]): Verdict;
}

export interface ProgramSpec {
  readonly names: readonly string[];
  readonly folders?: readonly string[];
  readonly safe: Rule;
  readonly rules: readonly Rule[];
  readonly options: OptionSpec;
  /** Looks at what the options left: operands, and options that need each other. Null: no objection. */
  readonly operands?: (scan: Scan, words: readonly Word[]) => Verdict | null;
}

/** A program whose arguments follow the usual option grammar. */
export function optionProgram(spec: ProgramSpec): Program {
  const table: OptionTable = optionTable(spec.options);
  return {
    names: spec.names,
    folders: spec.folders ?? [],
    safe: spec.safe,
    rules: spec.rules,
    judge(words) {
      const scan = scanOptions(table, words);
      if (scan.verdict !== null) return scan.verdict;
      return spec.operands?.(scan, words) ?? over(spec.safe, words);
    },
  };
}
