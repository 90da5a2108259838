import { userInfo } from 'node:os';
import { createInterface } from 'node:readline';
import {
  type ApprovalAnswer,
  type ApprovalQuestion,
  type Approver,
  decidingEvaluation,
} from '../../core/index.ts';
import { alertBox } from './box.ts';

/**
 * A person at a terminal. Every way of not answering (closed input, an interrupt, nonsense five times) is
 * `abandoned`, which counts as a denial.
 */
export interface TerminalOptions {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream & { readonly columns?: number };
}

const MOST_TRIES = 5;

export function terminalApprover(options: TerminalOptions): Approver {
  return {
    ask: async (question, signal) => {
      options.output.write(`\n${alertBox(alertOf(question), options.output.columns ?? 80)}\n`);
      const person = lineReader(options, signal);
      try {
        return await answer(question, person);
      } finally {
        person.close();
      }
    },
  };
}

function alertOf({ action, decision, reasoning }: ApprovalQuestion) {
  const deciding = decidingEvaluation(decision);
  return {
    tier: /^tier(\d)/.exec(deciding?.rule ?? '')?.[1] ?? '3',
    classification: 'RISKY',
    command: action.subject,
    risk: deciding?.reason ?? 'not proven to be harmless',
    reasoning,
  };
}

async function answer(question: ApprovalQuestion, person: LineReader): Promise<ApprovalAnswer> {
  const approver = userInfo().username;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const line = await person.read('Your choice: ');
    if (line === undefined) return { kind: 'abandoned', reason: 'the terminal was closed' };
    switch (line.trim().toLowerCase()) {
      case 'a':
      case 'approve':
        return { kind: 'approve', approver };
      case 'd':
      case 'deny': {
        const reason = (await person.read('Denial reason (optional, press Enter to skip): ')) ?? '';
        return {
          kind: 'deny',
          approver,
          ...(reason.trim() === '' ? {} : { reason: reason.trim().slice(0, 500) }),
        };
      }
      case 'm':
      case 'modify': {
        if (!question.modifiable) break;
        const replacement = await person.read('Command instead: ');
        if (replacement === undefined || replacement.trim() === '') break;
        return { kind: 'modify', approver, replacement };
      }
    }
  }
  return { kind: 'abandoned', reason: 'no answer that could be understood' };
}

interface LineReader {
  /** A line, or undefined when there will be none. */
  read(prompt: string): Promise<string | undefined>;
  close(): void;
}

/** Lines that arrive before they are asked for are kept: a person may type ahead. */
function lineReader({ input, output }: TerminalOptions, signal: AbortSignal): LineReader {
  const reader = createInterface({ input, terminal: false });
  const waiting: string[] = [];
  let wanted: ((line: string | undefined) => void) | undefined;
  let ended = false;
  const hand = (line: string | undefined) => {
    const take = wanted;
    wanted = undefined;
    if (take) take(line);
    else if (line !== undefined) waiting.push(line);
  };
  const end = () => {
    ended = true;
    hand(undefined);
  };
  reader.on('line', hand);
  reader.on('close', end);
  signal.addEventListener('abort', end, { once: true });
  return {
    read: (prompt) => {
      output.write(prompt);
      const ready = waiting.shift();
      if (ready !== undefined) return Promise.resolve(ready);
      if (ended) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        wanted = resolve;
      });
    },
    close: () => {
      signal.removeEventListener('abort', end);
      reader.off('close', end);
      reader.close();
    },
  };
}
