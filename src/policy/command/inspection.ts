/**
 * What a command line would really start, as far as it can be proven.
 *
 * I1 What is not understood is `unproven`, never harmless.
 * I2 Nesting and the number of commands are bounded; past the bound everything is unproven.
 */
export interface InnerCommand {
  readonly argv: readonly string[];
  /** What led here: `''` for the outermost, `sh -c`, `env`, `find -exec` … */
  readonly via: string;
  /** A shell runs this name itself; no file is looked up. */
  readonly builtin: boolean;
  /** Arguments that only the run will show are added (xargs, find's braces, expansions). */
  readonly open: boolean;
}

export interface Unproven {
  /** The program that must be trusted by name in allow_interpreters. */
  readonly program: string;
  readonly why: string;
}

export interface Inspection {
  readonly commands: readonly InnerCommand[];
  readonly unproven: readonly Unproven[];
  /** Files a shell would open for `<` and `>`. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Variables set on the way: `env X=1`, `X=1 cmd`, `export X`. */
  readonly variables: readonly string[];
  /** Code in another language, for the word scan. */
  readonly code: readonly string[];
}

export class Found implements Inspection {
  readonly commands: InnerCommand[] = [];
  readonly unproven: Unproven[] = [];
  readonly reads: string[] = [];
  readonly writes: string[] = [];
  readonly variables: string[] = [];
  readonly code: string[] = [];

  doubt(program: string, why: string): void {
    this.unproven.push({ program, why });
  }
}

/** Looks at the arguments of one program and reports what they would start. */
export type Inspector = (args: readonly string[], found: Found, walk: Walk) => void;

export interface Walk {
  /** Name of the program being inspected, as its file is called. */
  readonly name: string;
  /** True when the call hands the program something on its standard input. */
  readonly stdin: boolean;
  /** Inspects a command started by this one. */
  enter(
    argv: readonly string[],
    via: string,
    how?: { readonly builtin?: boolean; readonly open?: boolean; readonly stdin?: boolean },
  ): void;
}

/**
 * Long options may be shortened to any unambiguous front (`--checkpoint-act`), so an option counts as
 * dangerous when it is the front of one.
 */
export function isLongOption(arg: string, dangerous: readonly string[]): string | undefined {
  if (!arg.startsWith('--') || arg.length < 3) return undefined;
  const name = arg.slice(2).split('=')[0] as string;
  return dangerous.find((option) => option === name || option.startsWith(name));
}

/** Letters of a bundle of short options: `-rf` gives `rf`. */
export function shortLetters(arg: string): string {
  return /^-[A-Za-z0-9]/.test(arg) ? arg.slice(1) : '';
}
