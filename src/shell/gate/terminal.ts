import { userInfo } from 'node:os';
import { basename } from 'node:path';
import {
  type ApprovalAnswer,
  type ApprovalQuestion,
  type Approver,
  decidingEvaluation,
  type Json,
  quoteArgv,
} from '../../core/index.ts';
import { alertBox } from './box.ts';
import { type LineReader, lineReader, type TerminalStreams } from './lines.ts';

/**
 * A person at a terminal.
 *
 * G1 Only `a` or `approve`, typed after the question was shown, approves. There is no default answer.
 * G2 Every way of not answering (closed input, time up, an interrupt, nonsense five times, an error) is
 *    `abandoned`, which counts as a denial.
 * G3 What is shown is what would run, all of it, with nothing invisible in it.
 */
export interface TerminalOptions extends TerminalStreams {
  /** Who sits there. Default: the user of this process. */
  readonly approver?: string;
}

const MOST_TRIES = 5;
const MOST_REASON = 500;

export function terminalApprover(options: TerminalOptions): Approver {
  return {
    ask: async (question, signal) => {
      const person = await lineReader(options, signal);
      try {
        options.output.write(`\n${alertBox(alertOf(question), options.output.columns ?? 80)}\n`);
        const given = await answer(question, person, options.approver ?? userName());
        if (given.kind === 'abandoned') options.output.write('\nNot approved: nobody answered.\n');
        return given;
      } finally {
        person.close();
      }
    },
  };
}

function alertOf({ action, decision, reasoning, modifiable }: ApprovalQuestion) {
  const deciding = decidingEvaluation(decision);
  const runs = argvText(action.detail.pipeline);
  return {
    tier: /^tier(\d)/.exec(deciding?.rule ?? '')?.[1] ?? '3',
    classification: 'RISKY',
    command: action.subject,
    ...(runs === undefined || runs === action.subject.trim() ? {} : { runs }),
    risk: deciding?.reason ?? 'not proven to be harmless',
    reasoning,
    modifiable,
  };
}

/** The stages as a command line, programs by the name they were called; undefined when there are none. */
function argvText(pipeline: Json | undefined): string | undefined {
  if (!Array.isArray(pipeline)) return undefined;
  const stages = pipeline as readonly (readonly string[])[];
  return stages.map(([program = '', ...args]) => quoteArgv([called(program), ...args])).join(' | ');
}

/** Programs in the system's folders go by their name; any other is shown with its path. */
function called(program: string): string {
  return /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/.test(program) ? basename(program) : program;
}

async function answer(
  question: ApprovalQuestion,
  person: LineReader,
  approver: string,
): Promise<ApprovalAnswer> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const line = await person.read('Your choice: ');
    if (line === undefined) return { kind: 'abandoned', reason: person.why() };
    switch (line.trim().toLowerCase()) {
      case 'a':
      case 'approve':
        return { kind: 'approve', approver };
      case 'd':
      case 'deny': {
        const reason = await person.read('Denial reason (optional, press Enter to skip): ');
        return { kind: 'deny', approver, reason: (reason ?? '').trim().slice(0, MOST_REASON) };
      }
      case 'm':
      case 'modify': {
        if (!question.modifiable) break;
        const replacement = await person.read('Command instead: ');
        if (replacement === undefined) return { kind: 'abandoned', reason: person.why() };
        if (replacement.trim() !== '') return { kind: 'modify', approver, replacement };
        break;
      }
    }
    person.say(`Please answer a, d${question.modifiable ? ' or m' : ''}.`);
  }
  return { kind: 'abandoned', reason: 'no answer that could be understood' };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that has no name.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
