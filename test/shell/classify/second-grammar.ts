/** The second shell grammar, reduced to argv: what it reads of a plain command or pipeline, or null. */
import { createRequire } from 'node:module';

interface Node {
  readonly [key: string]: unknown;
}
/** The package has no types; this is what is used of it. */
const { syntax } = createRequire(import.meta.url)('mvdan-sh') as {
  syntax: {
    NodeType(node: Node): string;
    NewParser(...options: unknown[]): { Parse(text: string, name: string): Node };
    Variant(language: unknown): unknown;
    LangBash: unknown;
  };
};

/** The parser's number for the operator `|`. */
const PIPE = 12;

function list(value: unknown): Node[] {
  return Array.isArray(value) ? (value as Node[]) : [];
}

function withoutEscapes(text: string): string {
  return text.replace(/\\\n/g, '').replace(/\\(.)/gs, '$1');
}

function word(node: Node): string | null {
  let value = '';
  for (const part of list(node['Parts'])) {
    const text = part['Value'] as string;
    switch (syntax.NodeType(part)) {
      case 'Lit':
        value += withoutEscapes(text);
        break;
      case 'SglQuoted':
        if (part['Dollar'] === true) return null;
        value += text;
        break;
      case 'DblQuoted':
        if (part['Dollar'] === true) return null;
        for (const inner of list(part['Parts'])) {
          if (syntax.NodeType(inner) !== 'Lit') return null;
          value += (inner['Value'] as string).replace(/\\\n/g, '').replace(/\\([$`"\\])/g, '$1');
        }
        break;
      default:
        return null;
    }
  }
  return value;
}

function stages(statement: Node): string[][] | null {
  if (statement['Negated'] === true || statement['Background'] === true || statement['Coprocess'] === true)
    return null;
  if (list(statement['Redirs']).length > 0) return null;
  const command = statement['Cmd'] as Node | null;
  if (command === null) return null;
  const kind = syntax.NodeType(command);
  if (kind === 'BinaryCmd') {
    if (command['Op'] !== PIPE) return null;
    const left = stages(command['X'] as Node);
    const right = stages(command['Y'] as Node);
    return left === null || right === null ? null : [...left, ...right];
  }
  if (kind !== 'CallExpr' || list(command['Assigns']).length > 0) return null;
  const argv: string[] = [];
  for (const arg of list(command['Args'])) {
    const value = word(arg);
    if (value === null) return null;
    argv.push(value);
  }
  return argv.length === 0 ? null : [argv];
}

/** Null: not plain for this grammar, or not readable at all. */
export function secondReading(text: string): string[][] | null {
  let file: Node;
  try {
    file = syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(text, '');
  } catch {
    return null;
  }
  const statements = list(file['Stmts']);
  return statements.length === 1 ? stages(statements[0]!) : null;
}
