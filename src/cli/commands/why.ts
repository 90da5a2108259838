import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CODES, visible, WritError } from '../../core/index.ts';
import type { Explanation } from '../../shell/index.ts';
import type { Cli, DefineCommand } from '../cli.ts';
import { type FolderFlags, folderOptions, folders } from '../folders.ts';

export const define: DefineCommand = (command, cli) => {
  folderOptions(command)
    .argument('<audit-id>', 'of a command in the shell audit, as ghost_20260115_143022_007')
    .option('--json', 'one JSON document')
    .addHelpText('after', '\nExample:\n  writ why ghost_20260115_143022_007')
    .action(async (auditId: string, flags: FolderFlags & { json?: boolean }) => {
      const { audit } = folders(cli, flags);
      const found = await explanationOf(audit, auditId);
      if (flags.json) cli.json(found);
      else print(cli, found);
    });
};

async function explanationOf(
  auditDir: string,
  auditId: string,
): Promise<Explanation & { readonly file: string }> {
  const session = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,127})_\d{3,12}$/.exec(auditId)?.[1];
  const file = session === undefined ? undefined : join(auditDir, `shell_audit_${session}.jsonl`);
  if (file !== undefined && existsSync(file)) {
    const { explain, readShellAudit } = await import('../../shell/index.ts');
    const { records } = await readShellAudit(file);
    const record = records.find((r) => r.audit_id === auditId);
    if (record !== undefined) return { ...explain(record), file };
  }
  throw new WritError(CODES.invalid_input, `there is no record ${visible(auditId)} in ${auditDir}`, {
    suggestion: 'writ audit show lists what there is; --audit-dir names another folder',
  });
}

function print(cli: Cli, e: Explanation & { readonly file: string }): void {
  const row = (label: string, text: string) =>
    cli.print(`${cli.style.dim(label.padEnd(12))}${visible(text)}`);
  row('command', e.command);
  if (e.span !== null && e.span[1] > e.span[0]) row('decided by', e.command.slice(...e.span));
  row('class', `${e.classification}, tier ${e.tier}, rule ${e.rule}`);
  row('reason', e.reason);
  row('decision', `${e.decided_by}: ${e.outcome}`);
  for (const change of e.change) row('to change', change);
  row('record', e.file);
}
