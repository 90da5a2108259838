import { byBucket, type Orchestrator, type Orphan, removeOrphan } from '../cloud/index.ts';
import type { Shell } from '../shell/index.ts';
import type { Person, Watch } from './events.ts';
import { loadSession } from './session.ts';
import type { SessionV1 } from './session-v1.ts';

/** Steps 2 and 5–8 of the start: which session this is, and what earlier ones left behind. */
export type SessionChoice =
  | { readonly kind: 'resume'; readonly session: SessionV1 }
  | { readonly kind: 'fresh'; readonly resumedFrom: string | null }
  | { readonly kind: 'abort'; readonly reason: string };

export async function chooseSession(
  auditDir: string,
  resume: string | undefined,
  person: Person,
  watch: Watch,
): Promise<SessionChoice> {
  if (resume === undefined) return { kind: 'fresh', resumedFrom: null };
  const loaded = loadSession(auditDir, resume);
  switch (loaded.kind) {
    case 'loaded':
      return { kind: 'resume', session: loaded.session };
    case 'missing':
      return { kind: 'abort', reason: `there is no session ${resume} in ${auditDir}` };
    case 'corrupt': {
      watch({ type: 'warning', text: `session file corrupted: ${loaded.reason}.` });
      const answer = await person.choose('[F]resh session / [A]bort', ['f', 'a'], 'a');
      return answer === 'f'
        ? { kind: 'fresh', resumedFrom: resume }
        : { kind: 'abort', reason: 'the session file is corrupted' };
    }
    case 'altered': {
      const warning = 'session file checksum mismatch — file may have been modified.';
      watch({ type: 'warning', text: warning });
      const answer = await person.choose('[C]ontinue anyway  [F]resh session  [A]bort', ['c', 'f', 'a'], 'a');
      if (answer === 'a') return { kind: 'abort', reason: 'the session file was altered' };
      if (answer === 'f') return { kind: 'fresh', resumedFrom: resume };
      return {
        kind: 'resume',
        session: { ...loaded.session, integrity_warnings: [...loaded.session.integrity_warnings, warning] },
      };
    }
  }
}

/** Shows what is left over and, when the person wants, removes it: every deletion goes through the gate. */
export async function handleOrphans(
  orchestrator: Orchestrator,
  shell: Shell,
  person: Person,
  watch: Watch,
): Promise<readonly string[]> {
  const listed = await orchestrator.orchestrate({ intent: 'list_tasks' });
  const orphans = listed.orphans ?? [];
  const buckets = byBucket(orphans);
  watch({
    type: 'orphans',
    buckets: Object.fromEntries(Object.entries(buckets).map(([bucket, items]) => [bucket, items.length])),
    items: orphans.map((o) => `${o.bucket}: ${o.resource} (${o.detail})`),
    problems: listed.scan_problems ?? [],
  });
  if (orphans.length === 0) return [];
  const choice = await person.choose('[C]lean up now  [S]kip  [R]eview each one', ['c', 's', 'r'], 's');
  if (choice === 's') return [];
  const manual: string[] = [];
  for (const orphan of orphans) {
    if (
      choice === 'r' &&
      (await person.choose(
        `Clean up ${orphan.resource} (${orphan.detail})? [Y]es / [N]o`,
        ['y', 'n'],
        'n',
      )) !== 'y'
    )
      continue;
    const left = await cleanUp(orphan, orchestrator, shell, watch);
    if (left) manual.push(orphan.task_id ?? orphan.resource);
  }
  return manual;
}

/** Answers true when something is still there that a person has to remove. */
async function cleanUp(
  orphan: Orphan,
  orchestrator: Orchestrator,
  shell: Shell,
  watch: Watch,
): Promise<boolean> {
  const { gone } = await removeOrphan(orchestrator, shell, orphan);
  if (orphan.task_id !== null)
    watch({
      type: gone ? 'progress' : 'warning',
      text: gone
        ? `${orphan.task_id} cleaned up.`
        : `Task ${orphan.task_id}: partial cleanup — some resources require manual deletion.`,
    });
  return !gone;
}
