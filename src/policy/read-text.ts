import * as fs from 'node:fs';
import { CODES, EXIT, messageOf, WritError } from '../core/index.ts';

/** Reads a text file a person wrote. Its size is checked before a byte is read, and nothing but files is read. */
export function readTextFile(path: string, code: number, maxBytes: number): string {
  const fail = (what: string, suggestion: string, cause?: unknown) =>
    new WritError(code, `${path}: ${what}`, { suggestion, context: { file: path }, exit: EXIT.usage, cause });
  let fd: number;
  try {
    fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  } catch (error) {
    throw fail(`cannot be read: ${messageOf(error)}`, `check the name: ls -l ${path}`, error);
  }
  try {
    const stat = fs.fstatSync(fd);
    if (!stat.isFile()) throw fail('is not a file', 'name a YAML or JSON file');
    if (stat.size > maxBytes)
      throw fail(
        `has ${stat.size} bytes; at most ${maxBytes} are read`,
        'split it, or check that it is the right file',
      );
    const bytes = fs.readFileSync(fd);
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch (error) {
      throw fail('is not UTF-8 text', 'save it as UTF-8', error);
    }
  } finally {
    fs.closeSync(fd);
  }
}

export const POLICY_FILE = { code: CODES.invalid_policy, maxBytes: 1024 * 1024 } as const;
