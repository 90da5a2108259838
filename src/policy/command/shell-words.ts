import type {
  ArithmeticExpression,
  Assignment,
  CommandArgument,
  ParsedScript,
  TestExpression,
  Word,
  WordPart,
} from 'unbash';

/** What the reader of words tells the reader of scripts. */
export interface WordSink {
  doubt(why: string): void;
  script(script: ParsedScript, depth: number): void;
  variable(name: string): void;
}

export const MAX_DEPTH = 30;

/** The text of a word if it is fixed before the script runs; what is inside is inspected either way. */
export function fixedText(word: Word, depth: number, sink: WordSink): string | undefined {
  let fixed = !word.text.startsWith('~');
  for (const part of word.parts ?? []) if (!isFixed(part, depth, sink)) fixed = false;
  return fixed ? word.value : undefined;
}

export function argumentText(arg: CommandArgument, depth: number, sink: WordSink): string | undefined {
  if (arg.type === 'Word') return fixedText(arg, depth, sink);
  inspectAssignment(arg, depth, sink);
  return arg.text;
}

export function inspectAssignment(assignment: Assignment, depth: number, sink: WordSink): void {
  sink.variable(assignment.name);
  if (assignment.index) sink.doubt('a subscript is evaluated');
  const value = assignment.value;
  for (const word of value.type === 'ArrayValue' ? value.elements : [value]) fixedText(word, depth, sink);
}

export function isFixed(part: WordPart, depth: number, sink: WordSink): boolean {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return true;
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.map((child) => isFixed(child, depth, sink)).every(Boolean);
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      if (part.script === undefined || depth > MAX_DEPTH) sink.doubt('a substitution cannot be read');
      else sink.script(part.script, depth + 1);
      if (part.type === 'ProcessSubstitution') sink.doubt('a process stands in for a file');
      return false;
    case 'ArithmeticExpansion':
      if (part.expression) inspectArithmetic(part.expression, sink);
      return false;
    case 'ParameterExpansion':
      if (part.prefix === '!' || part.index || part.operation)
        sink.doubt('an expansion does more than read a variable');
      return false;
    case 'SimpleExpansion':
    case 'Glob':
    case 'ExtendedGlob':
    case 'BraceExpansion':
      return false;
  }
}

/** Arithmetic on a name evaluates the name's value as code: only numbers are proven. */
export function inspectArithmetic(expression: ArithmeticExpression, sink: WordSink): void {
  for (const operand of operands(expression)) inspectArithmetic(operand, sink);
  if (expression.type === 'ArithmeticWord' && !/^\d+$/.test(expression.value))
    sink.doubt('arithmetic on a name evaluates its value');
  if (expression.type === 'ArithmeticCommandExpansion') sink.doubt('arithmetic on what a command prints');
}

function operands(expression: ArithmeticExpression): readonly ArithmeticExpression[] {
  switch (expression.type) {
    case 'ArithmeticBinary':
      return [expression.left, expression.right];
    case 'ArithmeticUnary':
      return [expression.operand];
    case 'ArithmeticTernary':
      return [expression.test, expression.consequent, expression.alternate];
    case 'ArithmeticGroup':
      return [expression.expression];
    case 'ArithmeticWord':
    case 'ArithmeticCommandExpansion':
      return [];
  }
}

export function inspectTest(expression: TestExpression, depth: number, sink: WordSink): void {
  for (const word of wordsOf(expression)) {
    if (fixedText(word, depth, sink) === undefined || word.value.includes('['))
      sink.doubt('a test could evaluate code');
  }
}

function wordsOf(expression: TestExpression): readonly Word[] {
  switch (expression.type) {
    case 'TestUnary':
      return [expression.operand];
    case 'TestBinary':
      return [expression.left, expression.right];
    case 'TestLogical':
      return expression.operands.flatMap(wordsOf);
    case 'TestNot':
      return wordsOf(expression.operand);
    case 'TestGroup':
      return wordsOf(expression.expression);
  }
}
