import {
  type Command,
  type CommandNode,
  type CompoundCommand,
  type CompoundList,
  type ParsedScript,
  type PipelineNode,
  parse,
  type Redirection,
  type Statement,
} from 'unbash';
import type { Found, Inspector, Walk } from './inspection.ts';
import {
  argumentText,
  fixedText,
  inspectArithmetic,
  inspectAssignment,
  inspectTest,
  isFixed,
  MAX_DEPTH,
  type WordSink,
} from './shell-words.ts';

/**
 * `sh -c SCRIPT`: the script is parsed and each command in it is judged like one asked for directly.
 * What only the shell will know (variables, globs, arithmetic on names) is unproven, except as an argument of
 * a builtin that merely prints or compares.
 */
const MAX_SCRIPT = 64 * 1024;

/** Builtins that start nothing and change nothing outside the shell. */
const HARMLESS = new Set(
  'echo printf test [ true false : pwd exit return shift wait times type umask ulimit break continue cd'.split(
    ' ',
  ),
);
/** Of those, the ones for which any argument will do. */
const PRINTERS = new Set(['echo', 'printf', 'test', '[', ':', 'true', 'false']);
/** Builtins that set variables named by their arguments. */
const SETTERS = new Set('export readonly local declare typeset read unset'.split(' '));
const WRAPPING = new Set(['command', 'builtin', 'exec', 'time']);
const OPAQUE = new Set(
  'eval source . trap alias unalias enable bind complete compgen mapfile readarray let set shopt fc history coproc kill disown suspend hash getopts'.split(
    ' ',
  ),
);

export const shellInspector: Inspector = (args, found, walk) => {
  const script = scriptOf(args);
  if (script === undefined) {
    found.doubt(walk.name, 'it would run code from a file or its input, which is not looked through');
    return;
  }
  found.code.push(script);
  if (script.length > MAX_SCRIPT) found.doubt(walk.name, 'its script is too long to be looked through');
  else new Script(found, walk).script(parse(script), 0);
};

/** The text behind `-c`, or undefined when the code comes from elsewhere or the options are not plain. */
function scriptOf(args: readonly string[]): string | undefined {
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string;
    if (arg === '--norc' || arg === '--noprofile' || arg === '--posix') continue;
    if (!/^[-+][abcefhklmnpuvxBCEHPT]+$/.test(arg)) return undefined;
    if (arg.startsWith('-') && arg.includes('c')) {
      const script = args[i + 1];
      return script === undefined || /^[-+]/.test(script) ? undefined : script;
    }
  }
  return undefined;
}

class Script implements WordSink {
  readonly #found: Found;
  readonly #walk: Walk;
  readonly #functions = new Set<string>();

  constructor(found: Found, walk: Walk) {
    this.#found = found;
    this.#walk = walk;
  }

  doubt(why: string): void {
    this.#found.doubt(this.#walk.name, why);
  }

  variable(name: string): void {
    this.#found.variables.push(name);
  }

  script(script: ParsedScript, depth: number): void {
    const mistake = script.errors?.[0];
    if (mistake) this.doubt(`its script cannot be read: ${mistake.message}`);
    else for (const statement of script.commands) this.#statement(statement, depth);
  }

  #lists(lists: readonly (CompoundList | undefined)[], depth: number): void {
    for (const list of lists)
      for (const statement of list?.commands ?? []) this.#statement(statement, depth + 1);
  }

  #statement(statement: Statement, depth: number): void {
    const node = statement.command;
    for (const part of node.type === 'AndOr' ? node.commands : [node]) this.#pipeline(part, depth + 1);
  }

  #pipeline(node: PipelineNode, depth: number): void {
    if (node.type === 'Pipeline')
      for (const [i, part] of node.commands.entries()) this.#node(part, depth, i > 0);
    else this.#node(node, depth, false);
  }

  #node(node: CommandNode, depth: number, piped: boolean): void {
    if (depth > MAX_DEPTH) {
      this.doubt('its script is nested too deeply');
      return;
    }
    switch (node.type) {
      case 'Command':
        this.#command(node, depth, piped);
        break;
      case 'Redirected':
        for (const redirect of node.redirects) this.#redirect(redirect, depth);
        this.#compound(node.command, depth);
        break;
      case 'Function':
        this.#functions.add(node.name.value);
        if (node.body.type === 'Redirected' || node.body.type === 'CompoundList')
          this.doubt('it defines a function with redirections');
        else this.#compound(node.body, depth + 1);
        break;
      case 'Coproc':
        this.doubt('it starts a coprocess');
        break;
      default:
        this.#compound(node, depth);
    }
  }

  #compound(node: CompoundCommand, depth: number): void {
    switch (node.type) {
      case 'If':
        this.#lists(
          [node.clause, node.then, ...node.elif.flatMap((e) => [e.clause, e.then]), node.else],
          depth,
        );
        break;
      case 'For':
      case 'Select':
        this.variable(node.name.value);
        for (const word of node.wordlist ?? []) fixedText(word, depth, this);
        this.#lists([node.body], depth);
        break;
      case 'While':
        this.#lists([node.clause, node.body], depth);
        break;
      case 'Subshell':
      case 'BraceGroup':
        this.#lists([node.body], depth);
        break;
      case 'Case':
        for (const word of [node.word, ...node.items.flatMap((item) => item.pattern)])
          fixedText(word, depth, this);
        this.#lists(
          node.items.map((item) => item.body),
          depth,
        );
        break;
      case 'TestCommand':
        inspectTest(node.expression, depth, this);
        break;
      case 'ArithmeticFor':
        for (const part of [node.initialize, node.test, node.update]) if (part) inspectArithmetic(part, this);
        this.#lists([node.body], depth);
        break;
      case 'ArithmeticCommand':
        if (node.expression) inspectArithmetic(node.expression, this);
        break;
    }
  }

  #command(command: Command, depth: number, piped: boolean): void {
    for (const part of command.prefix) if (part.type === 'Assignment') inspectAssignment(part, depth, this);
    for (const redirect of command.redirects) this.#redirect(redirect, depth);
    if (command.name === undefined) return;
    const program = fixedText(command.name, depth, this);
    if (program === undefined) {
      this.doubt('the name of a command is made up when the script runs');
      return;
    }
    const texts = command.args.map((arg) => argumentText(arg, depth, this));
    const words = [program, ...command.args.map((arg, i) => texts[i] ?? arg.text)];
    const stdin = piped || command.redirects.some((r) => r.type !== 'Redirect' || r.operator.startsWith('<'));
    this.#call(program, words, { open: texts.includes(undefined), stdin });
  }

  #call(
    program: string,
    words: readonly string[],
    how: { readonly open: boolean; readonly stdin: boolean },
  ): void {
    // The body of a function was inspected where it was defined.
    if (this.#functions.has(program)) return;
    const via = `${this.#walk.name} -c`;
    const plainSet = program === 'set' && words.slice(1).every((word) => /^[-+][eufxnvC]+$/.test(word));
    if (OPAQUE.has(program) && !plainSet) this.doubt(`${program} runs or changes what is not looked through`);
    const harmless = HARMLESS.has(program) || plainSet;
    const setter = SETTERS.has(program);
    if (how.open && !PRINTERS.has(program))
      this.doubt(`${program} gets an argument that only the run will show`);
    // Subscripts are evaluated as arithmetic, and so as code, even from a quoted word.
    if ((harmless || setter) && words.some((word) => /\[.*[$`]/s.test(word)))
      this.doubt(`${program} could evaluate a subscript`);
    if (program === 'printf' && words.includes('-v')) this.doubt('printf -v sets a variable');
    if (program === 'wait' && words.some((word) => /^-\w*p/.test(word)))
      this.doubt('wait -p sets a variable');
    // Files and programs are looked up from one folder only.
    if (program === 'cd' && words[1] !== '.')
      this.doubt('after cd names mean other files: give the step a cwd instead');
    if (setter) {
      if (words.slice(1).some((word) => /^-\w*[inA]/.test(word))) this.doubt(`${program} evaluates a value`);
      for (const word of words.slice(1))
        if (!word.startsWith('-')) this.variable(word.split(/[=+[]/, 1)[0] as string);
    }
    this.#walk.enter(words, via, { builtin: harmless || setter || WRAPPING.has(program), ...how });
  }

  #redirect(redirect: Redirection, depth: number): void {
    if (redirect.type === 'HereDoc') {
      for (const part of redirect.body.parts ?? []) isFixed(part, depth, this);
      return;
    }
    const target = redirect.target === undefined ? undefined : fixedText(redirect.target, depth, this);
    if (redirect.type === 'HereString') return;
    if (target === undefined) this.doubt('a redirection leads where only the run will show');
    else if (redirect.operator.endsWith('&') && /^(\d+|-)$/.test(target)) return;
    else if (redirect.operator === '<') this.#found.reads.push(target);
    else this.#found.writes.push(target);
  }
}
