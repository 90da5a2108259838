import { EXIT, visible } from '../../core/index.ts';
import type { Cli, DefineCommand } from '../cli.ts';
import type { Check } from '../doctor-checks.ts';
import { type FolderFlags, folderOptions, folders } from '../folders.ts';

interface Flags extends FolderFlags {
  readonly json?: boolean;
}

export const define: DefineCommand = (command, cli) => {
  folderOptions(command)
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      '\nExample:\n  writ doctor\nExit code 1 when something Writ cannot work without is missing.',
    )
    .action(async (flags: Flags) => {
      const { state } = folders(cli, flags);
      const { examineMachine } = await import('../doctor-checks.ts');
      const checks = await examineMachine(state);
      const ok = checks.every((check) => check.state !== 'missing');
      if (!ok) cli.exitCode = EXIT.failed;
      if (flags.json) cli.json({ ok, checks });
      else print(cli, checks, ok);
    });
};

function print(cli: Cli, checks: readonly Check[], ok: boolean): void {
  const { style } = cli;
  const paint = { ok: style.green, missing: style.red, optional: style.yellow };
  for (const { name, state, found, why, mend } of checks) {
    cli.print(`${paint[state](state.padEnd(8))} ${style.bold(name.padEnd(12))} ${visible(found)}`);
    if (state === 'ok') continue;
    cli.print(style.dim(`         why: ${why}`));
    if (mend !== '') cli.print(`         ${style.cyan('mend')}: ${visible(mend)}`);
  }
  const lacking = checks.filter((check) => check.state !== 'ok').length;
  cli.print();
  cli.print(
    ok
      ? `Ready${lacking > 0 ? `; ${lacking} optional ${lacking === 1 ? 'part is' : 'parts are'} missing` : ''}.`
      : 'Not ready.',
  );
}
