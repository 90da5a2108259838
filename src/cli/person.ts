import { createInterface } from 'node:readline';
import type { Person } from '../ghost/index.ts';
import { nobody } from '../ghost/index.ts';
import type { Cli } from './cli.ts';

/** The person at the terminal, or nobody: without a terminal nothing prompts and the careful answer holds. */
export function personAt(cli: Cli, signal: AbortSignal): Person {
  if (!cli.interactive) return nobody;
  const line = (prompt: string) => ask(cli, prompt, signal);
  return {
    present: true,
    line,
    choose: async (question, letters, fallback) => {
      for (let tries = 0; tries < 5; tries++) {
        const answer = (await line(`${question} > `)).trim().toLowerCase();
        const letter = letters.find((l) => answer !== '' && (answer === l || answer.startsWith(l)));
        if (letter !== undefined) return letter;
        if (signal.aborted) return fallback;
        cli.note(`Please answer with one of: ${letters.join(', ')}`);
      }
      return fallback;
    },
  };
}

/** One line; an end of input or an interrupt is an empty answer. */
function ask(cli: Cli, prompt: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const reader = createInterface({ input: cli.stdin, output: cli.stderr, terminal: true });
    const done = (answer: string) => {
      signal.removeEventListener('abort', stop);
      reader.close();
      resolve(answer);
    };
    const stop = () => done('');
    signal.addEventListener('abort', stop, { once: true });
    // In raw mode the terminal hands Ctrl-C to the reader: pass it on as the signal it means.
    reader.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    reader.on('close', () => done(''));
    reader.question(prompt, done);
  });
}
