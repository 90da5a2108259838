import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApprovalAnswer, type ApprovalQuestion, systemClock, systemIds } from '../../src/core/index.ts';
import { openLedger } from '../../src/ledger/index.ts';
import { createShell, type OwnedShell, type ShellOptions } from '../../src/shell/index.ts';

/** A shell on a real ledger with real processes; programs are small scripts first on its PATH. */
export interface Place {
  readonly dir: string;
  readonly audit: string;
  readonly bin: string;
  readonly state: string;
  /** Questions that were put to the person, in order. */
  readonly questions: ApprovalQuestion[];
  /** What the person answers, in order; nobody is there when it is empty. */
  readonly answers: (ApprovalAnswer | Error)[];
  program(name: string, script: string): void;
  open(options?: Partial<ShellOptions>): Promise<OwnedShell>;
  remove(): void;
}

export function makePlace(): Place {
  const dir = mkdtempSync(join(tmpdir(), 'writ-shell-'));
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  const audit = join(dir, 'audit');
  const state = join(dir, '.writ');
  const questions: ApprovalQuestion[] = [];
  const answers: (ApprovalAnswer | Error)[] = [];
  return {
    dir,
    audit,
    bin,
    state,
    questions,
    answers,
    program: (name, script) => {
      writeFileSync(join(bin, name), `#!/bin/bash\n${script}\n`);
      chmodSync(join(bin, name), 0o755);
    },
    open: async (options = {}) => {
      const ledger = openLedger({ stateDir: state });
      return createShell({
        sessionId: 's1',
        auditDir: audit,
        openJournal: (path) => ledger.openJournal({ path }),
        approver: {
          ask: async (question) => {
            questions.push(question);
            const answer = answers.shift();
            if (answer instanceof Error) throw answer;
            return answer ?? { kind: 'abandoned', reason: 'there is nobody' };
          },
        },
        clock: systemClock,
        ids: systemIds,
        cwd: dir,
        programPath: [bin],
        ...options,
      });
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

export const yes: ApprovalAnswer = { kind: 'approve', approver: 'ada' };
