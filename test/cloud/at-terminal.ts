import { spawn } from 'node:child_process';
import { quoteArgv } from '../../src/core/index.ts';

export interface Session {
  readonly code: number | null;
  /** Everything the terminal showed. */
  readonly screen: string;
}

const WRIT = new URL('../../bin/writ.js', import.meta.url).pathname;
const PROMPT = 'Your choice: ';

/** `writ` at a real terminal, by script(1), with a person who answers each question as it is shown. */
export function atTerminal(
  argv: readonly string[],
  where: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
  answer: (question: string) => 'a' | 'd',
): Promise<Session> {
  const line = `stty cols 200; ${quoteArgv([process.execPath, WRIT, ...argv])}`;
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: where.cwd,
    env: { ...where.env, TERM: 'xterm', NO_COLOR: '1' },
    stdio: 'pipe',
  });
  let [screen, seen] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    seen += text;
    if (seen.includes('Denial reason')) {
      seen = '';
      child.stdin.write('not today\n');
    } else if (seen.includes(PROMPT)) {
      const question = seen;
      seen = '';
      child.stdin.write(`${answer(question)}\n`);
    }
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, screen })));
}
