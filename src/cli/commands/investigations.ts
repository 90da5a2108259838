import { join } from 'node:path';
import { EXIT, visible } from '../../core/index.ts';
import type { DefineCommand } from '../cli.ts';
import { type FolderFlags, folderOptions, folders } from '../folders.ts';

export const define: DefineCommand = (command, cli) => {
  command.addHelpText(
    'after',
    '\nExamples:\n  writ investigations list\n  writ investigations show ghost_20260115_143022',
  );
  folderOptions(command.command('list').description('finished investigations, newest first'))
    .option('--json', 'one JSON document')
    .action(async (flags: FolderFlags & { json?: boolean }) => {
      const { pastInvestigations } = await import('../../ghost/index.ts');
      const past = pastInvestigations(folders(cli, flags).audit);
      if (flags.json) return cli.json({ investigations: past });
      for (const i of past)
        cli.print(
          `${i.session_id}  ${i.generated_at.slice(0, 16)}  ${i.verdict.padEnd(13)} ${visible(i.symptom).slice(0, 80)}`,
        );
      if (past.length === 0) cli.print('None yet. Start one with: writ investigate');
    });
  folderOptions(command.command('show').description('one investigation: its report'))
    .argument('<session-id>')
    .option('--json', 'one JSON document')
    .action(async (id: string, flags: FolderFlags & { json?: boolean }) => {
      const { isSessionId, pastInvestigations } = await import('../../ghost/index.ts');
      const { readFileSync } = await import('node:fs');
      const { audit } = folders(cli, flags);
      const found = isSessionId(id) ? pastInvestigations(audit).find((i) => i.session_id === id) : undefined;
      if (found === undefined) {
        cli.exitCode = EXIT.usage;
        if (flags.json) cli.json({ error: { message: `no investigation ${visible(id)}` } });
        return cli.note(
          `no investigation ${visible(id)} in ${audit}; writ investigations list shows what there is`,
        );
      }
      if (flags.json) cli.json(JSON.parse(readFileSync(found.path, 'utf8')));
      else cli.print(visible(readFileSync(join(audit, `ghost_rca_${id}.md`), 'utf8'), 'newlines'));
    });
};
