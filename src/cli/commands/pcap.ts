import type { Cli, DefineCommand } from '../cli.ts';

/** The io of the engine's commands, from that of the command line. */
function ioOf(cli: Cli) {
  return {
    out: (text: string) => void cli.stdout.write(text),
    err: (text: string) => void cli.stderr.write(text),
    errIsTerminal: cli.stderr.isTTY === true,
    cwd: cli.cwd,
  };
}

export const define: DefineCommand = (command, cli) => {
  command
    .command('analyze')
    .description('what a capture says: facts, findings and reports')
    .argument('<file...>', 'pcap or pcapng files, also gzipped')
    .option('--json', 'print the semantic JSON; alone, no file is written', false)
    .option('--semantic-dir <dir>', 'where <stem>_semantic.json goes')
    .option('--report-dir <dir>', 'where the reports go')
    .addHelpText('after', '\nExample:\n  writ pcap analyze capture.pcap --report-dir reports')
    .action(async (files: string[], options: { json: boolean; semanticDir?: string; reportDir?: string }) => {
      const { analyzeCommand } = await import('../../pcap/index.ts');
      cli.exitCode = await analyzeCommand({ files, ...options }, ioOf(cli));
    });
  command
    .command('counters')
    .description('plain counters a script can compare: packets, streams, retransmissions, queries …')
    .argument('<file...>', 'pcap or pcapng files, also gzipped')
    .option('--json', 'one JSON document: {"files": {name: counters}}', false)
    .addHelpText(
      'after',
      '\nExample:\n  writ pcap counters a.pcap b.pcapng --json | jq \'.files["a.pcap"].tcp_retransmissions\'',
    )
    .action(async (files: string[], options: { json: boolean }) => {
      const { countersCommand } = await import('../../pcap/index.ts');
      const result = await countersCommand(files, ioOf(cli));
      cli.exitCode = result.exit;
      if (options.json) {
        cli.json({ files: result.files });
        return;
      }
      for (const [name, counters] of Object.entries(result.files)) {
        cli.print(cli.style.bold(name));
        for (const [key, value] of Object.entries(counters)) {
          if (value === 0 || value === null) continue;
          cli.print(`  ${key.padEnd(30)} ${typeof value === 'object' ? JSON.stringify(value) : value}`);
        }
      }
    });
};
