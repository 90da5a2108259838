import type { ModelFlags } from '../brain.ts';
import type { Cli, DefineCommand } from '../cli.ts';

/** The io of the engine's commands, from that of the command line. */
export function ioOf(cli: Cli) {
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
    .option('--html', 'also write the report as one HTML file with charts')
    .option('--compare <file>', 'compare with a second capture: rates, and packet by packet for two ends')
    .option('--narrative', 'add an account by a model, from the semantic JSON alone')
    .option('--brain <name>', 'whose model: gemini or openai')
    .option('--model <name>', 'which model')
    .option('--base-url <url>', 'where the model is')
    .addHelpText(
      'after',
      '\nExamples:\n  writ pcap analyze capture.pcap --report-dir reports\n  writ pcap analyze capture.pcap --html --narrative',
    )
    .action(
      async (
        files: string[],
        options: {
          json: boolean;
          semanticDir?: string;
          reportDir?: string;
          html?: boolean;
          compare?: string;
          narrative?: boolean;
        } & ModelFlags,
      ) => {
        const { analyzeCommand } = await import('../../pcap/index.ts');
        const narrator = options.narrative
          ? (await import('../narrator.ts')).narratorFor(cli, options)
          : undefined;
        cli.exitCode = await analyzeCommand({ files, ...options, narrator }, ioOf(cli));
      },
    );
  command
    .command('verify')
    .description('re-derive every finding of a semantic report from its capture')
    .argument('<report>', 'the <stem>_semantic.json that analyze wrote')
    .option('--capture <file>', 'the capture, if it is not where the report says')
    .option('--json', 'one JSON document', false)
    .addHelpText('after', '\nExample:\n  writ pcap verify capture_semantic.json')
    .action(async (report: string, options: { capture?: string; json: boolean }) => {
      const { verificationExit, verifyReport } = await import('../../pcap/index.ts');
      const result = await verifyReport(report, cli.cwd, options.capture);
      cli.exitCode = verificationExit(result);
      if (options.json) return cli.json(result);
      for (const f of result.findings)
        cli.print(
          `${f.holds ? cli.style.green('holds') : cli.style.red('fails')} ${f.id}${f.why ? `: ${f.why}` : ''}`,
        );
      for (const id of result.missing) cli.print(`${cli.style.red('left out')} ${id}`);
      for (const section of result.altered)
        cli.print(`${cli.style.red('altered')} ${section}: not what the capture gives`);
      cli.print(result.verified ? 'every finding holds' : 'the report does not hold');
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
