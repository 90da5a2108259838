import { join } from 'node:path';
import { createOrchestrator, type Orchestrator } from '../cloud/index.ts';
import { newSessionId } from '../ghost/index.ts';
import type { OwnedShell, Shell } from '../shell/index.ts';
import { approverFor } from './approver.ts';
import type { Cli } from './cli.ts';
import type { FolderFlags } from './folders.ts';
import { openWorkspace } from './workspace.ts';

/** One `writ tasks` command is a session of its own: its shell, its registry, its progress on stderr. */
export interface TaskFlags extends FolderFlags {
  readonly json?: boolean;
  readonly approve?: 'ask' | 'never';
  readonly azureScan?: boolean;
}

/** Answers what the work answers, once the line of progress is gone: results are printed after it. */
export async function withOrchestrator<T>(
  cli: Cli,
  flags: TaskFlags,
  work: (orchestrator: Orchestrator, shell: Shell) => Promise<T>,
): Promise<T> {
  const workspace = openWorkspace(cli, flags);
  const sessionId = `tasks_${newSessionId(workspace.clock.now(), () => false).slice('ghost_'.length)}_${process.pid}`;
  const shell = lazyShell(sessionId, () =>
    workspace.openShell({ sessionId, approver: approverFor(cli, flags.approve ?? 'ask') }),
  );
  const progress = progressOn(cli);
  const orchestrator = await createOrchestrator({
    shell,
    sessionId,
    taskDir: workspace.audit,
    captureDir: join(workspace.audit, 'captures'),
    clock: workspace.clock,
    scanAzure: flags.azureScan !== false,
    openJournal: (path) => workspace.ledger.openJournal({ path, flush: 'each' }),
    onProgress: progress.show,
  });
  try {
    return await work(orchestrator, shell);
  } finally {
    progress.end();
    await orchestrator.close();
    await shell.close();
  }
}

/** Opened by the first command that is sent: who only looks leaves no audit trail of nothing. */
function lazyShell(sessionId: string, open: () => Promise<OwnedShell>): Shell & { close(): Promise<void> } {
  let opened: Promise<OwnedShell> | undefined;
  const shell = () => {
    opened ??= open();
    return opened;
  };
  return {
    sessionId,
    execute: async (request) => (await shell()).execute(request),
    close: async () => {
      await (await opened)?.close();
    },
  };
}

/** At a terminal one line that is written over; elsewhere a line for each step. */
export function progressOn(cli: Cli): { show(line: string): void; end(): void } {
  if (cli.stderr.isTTY !== true) return { show: (line) => cli.note(line), end: () => undefined };
  let shown = false;
  return {
    show: (line) => {
      cli.stderr.write(`\r\u001b[2K${cli.style.dim(line)}`);
      shown = true;
    },
    end: () => {
      if (shown) cli.stderr.write('\r\u001b[2K');
    },
  };
}
