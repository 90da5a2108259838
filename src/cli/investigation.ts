import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createOrchestrator } from '../cloud/index.ts';
import { type Approver, EXIT, type ExitCode, systemClock } from '../core/index.ts';
import {
  chooseSession,
  type GhostEvent,
  investigate,
  isSessionId,
  newSession,
  newSessionId,
  type Person,
  pastInvestigations,
  type Rca,
  related,
  remember,
  type SessionV1,
  sessionPath,
  terminalWatch,
  type Watch,
} from '../ghost/index.ts';
import { approverFor } from './approver.ts';
import { type ChosenBrain, chooseBrain } from './brain.ts';
import type { Cli } from './cli.ts';
import type { InvestigateFlags } from './commands/investigate.ts';
import { openLabWorkspace } from './lab-workspace.ts';
import { personAt } from './person.ts';
import { openWorkspace, type Workspace } from './workspace.ts';

const NO_SYMPTOM = 'there is nothing to investigate: give the symptom as an argument';

/** `writ investigate`: puts the rooms together, runs one investigation, answers the exit code. */
export async function runInvestigation(
  cli: Cli,
  symptom: string,
  flags: InvestigateFlags,
): Promise<ExitCode> {
  const stop = new AbortController();
  const onSignal = () => stop.abort(new Error('interrupted'));
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  try {
    return await inSession(cli, symptom, flags, stop.signal);
  } finally {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}

async function inSession(
  cli: Cli,
  symptom: string,
  flags: InvestigateFlags,
  signal: AbortSignal,
): Promise<ExitCode> {
  const lab =
    flags.lab === undefined ? undefined : await openLabWorkspace(cli, flags.lab, Number(flags.speed ?? 60));
  const workspace = openWorkspace(cli, flags, lab?.clock ?? systemClock);
  const watch = watcher(cli, flags);
  const person = flags.json ? personAt({ ...cli, interactive: false }, signal) : personAt(cli, signal);
  const asked = symptom || lab?.symptom || '';
  // Nothing to look into and nobody to ask: said before anything is opened or searched.
  if (asked === '' && flags.resume === undefined && !person.present) return refuse(cli, NO_SYMPTOM);
  if (flags.resume !== undefined && !isSessionId(flags.resume))
    return refuse(cli, `${flags.resume} is not a session id`);
  const choice = await chooseSession(workspace.audit, flags.resume, person, watch);
  if (choice.kind === 'abort') return refuse(cli, choice.reason, EXIT.failed);
  const chosen = await chooseBrain(
    cli,
    workspace,
    flags,
    choice.kind === 'resume',
    memoriesOf(workspace, asked, flags, watch),
    lab,
  );
  if (!chosen.ok) return refuse(cli, chosen.reason, EXIT.failed);
  const session =
    choice.kind === 'resume'
      ? resumed(choice.session, workspace)
      : fresh(workspace, chosen, choice.resumedFrom);

  const approver: Approver =
    flags.yes && lab
      ? { ask: async () => ({ kind: 'approve', approver: 'lab --yes' }) }
      : approverFor(cli, flags.json ? 'never' : 'ask');
  const place = lab ? { programPath: [lab.bin], env: lab.env } : {};
  const shell = await workspace.openShell({ sessionId: session.session_id, approver, signal, ...place });
  const orchestrator = await createOrchestrator({
    shell,
    sessionId: session.session_id,
    taskDir: workspace.audit,
    captureDir: join(workspace.audit, 'captures'),
    clock: workspace.clock,
    scanAzure: flags.azureScan !== false,
    openJournal: (path) => workspace.ledger.openJournal({ path, flush: 'each' }),
    onProgress: (text) => watch({ type: 'progress', text }),
  });
  try {
    const end = await investigate({
      session,
      shell,
      orchestrator,
      brain: chosen.brain,
      person,
      watch,
      clock: workspace.clock,
      signal,
      symptom: asked,
      html: flags.html === true,
    });
    switch (end.kind) {
      case 'reported':
        if (!(flags.propose || (await wantsProposal(person, end.rca)))) return EXIT.ok;
        return await (await import('./propose.ts')).proposeFlightFrom(cli, workspace, end.rca, {
          shell,
          watch,
          role: flags.role ?? 'network-lead',
          place,
        });
      case 'no_symptom':
        return refuse(cli, NO_SYMPTOM);
      case 'brain_failed':
        return EXIT.failed;
      case 'interrupted':
        return EXIT.failed;
    }
  } finally {
    await orchestrator.close();
    await shell.close();
    await chosen.close();
  }
}

/** A person at the terminal is asked at the end whether what is recommended shall be proposed. */
async function wantsProposal(person: Person, rca: Rca): Promise<boolean> {
  if (!person.present || !rca.recommended_actions.some((action) => action.startsWith('az '))) return false;
  const question = 'Propose the recommended commands as a flight, for approval? [y/n]';
  return (await person.choose(question, ['y', 'n'], 'n')) === 'y';
}

function watcher(cli: Cli, flags: InvestigateFlags): Watch {
  if (flags.json) return (event: GhostEvent) => void cli.stdout.write(`${JSON.stringify(event)}\n`);
  return terminalWatch({
    write: (text) => void cli.stdout.write(text),
    width: cli.stdout.columns ?? 80,
    paint: cli.style,
  });
}

/** Earlier investigations of the same things: offered with their dates, shown to the person in a line each. */
function memoriesOf(
  workspace: Workspace,
  symptom: string,
  flags: InvestigateFlags,
  watch: Watch,
): readonly string[] {
  if (flags.memory === false || symptom === '') return [];
  const memories = related(symptom, pastInvestigations(workspace.audit)).map(remember);
  if (memories.length > 0) watch({ type: 'memory', items: memories });
  return memories;
}

function fresh(
  workspace: Workspace,
  chosen: Extract<ChosenBrain, { ok: true }>,
  resumedFrom: string | null,
): SessionV1 {
  const id = newSessionId(
    systemClock.now(),
    (taken) =>
      existsSync(sessionPath(workspace.audit, taken)) ||
      existsSync(join(workspace.audit, `shell_audit_${taken}.jsonl`)),
  );
  const session = newSession({
    sessionId: id,
    createdAt: workspace.clock.now().toISOString(),
    brain: chosen.brain.name,
    model: chosen.model,
    auditDir: workspace.audit,
  });
  return { ...session, resumed_from: resumedFrom };
}

function resumed(session: SessionV1, workspace: Workspace): SessionV1 {
  return {
    ...session,
    is_resume: true,
    resumed_from: session.session_id,
    audit_dir: workspace.audit,
    ended_at: null,
  };
}

function refuse(cli: Cli, reason: string, code: ExitCode = EXIT.usage): ExitCode {
  cli.note(`${cli.style.red('[ERROR]')} ${reason}`);
  return code;
}
