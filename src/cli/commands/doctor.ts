import type { DefineCommand } from '../cli.ts';

export const define: DefineCommand = (command, cli) => {
  command.option('--json', 'one JSON document').action(async () => {
    cli.print('doctor');
  });
};
