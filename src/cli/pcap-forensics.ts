/** The binary `pcap-forensics`: the engine without the other commands, so that it starts at once. */
import { parseArgs } from 'node:util';
import { EXIT, messageOf, WritError } from '../core/index.ts';
import { analyzeCommand, type CommandIo } from '../pcap/index.ts';
import { processCli } from './cli.ts';
import { ioOf } from './commands/pcap.ts';

const HELP = `Usage: pcap-forensics FILE... [options]

Reads packet captures (pcap, pcapng, also gzipped) and writes what they say.

Options:
  --json              print the semantic JSON; alone, no file is written
  --semantic-dir DIR  where <stem>_semantic.json goes (default: here)
  --report-dir DIR    where the reports go (default: here)
  --html              also write the report as one HTML file with charts
  --compare FILE      compare with a second capture: rates, and packet by packet for two ends
  --narrative         add an account by a model, from the semantic JSON alone
  -h, --help          this text
  -V, --version       the version

Example:
  pcap-forensics capture.pcap --report-dir reports
  pcap-forensics capture.pcap --json | jq .tcp

Exit codes: 0 done · 1 failed · 2 usage, or the file is no capture`;

async function main(argv: readonly string[]): Promise<number> {
  const cli = processCli();
  const io = ioOf(cli);
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        'semantic-dir': { type: 'string' },
        'report-dir': { type: 'string' },
        html: { type: 'boolean', default: false },
        compare: { type: 'string' },
        narrative: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) {
      io.out(`${HELP}\n`);
      return EXIT.ok;
    }
    if (positionals.length === 0) {
      io.err(`error: name a capture file\n\n${HELP}\n`);
      return EXIT.usage;
    }
    return await analyzeCommand(
      {
        files: positionals,
        json: values.json,
        semanticDir: values['semantic-dir'],
        reportDir: values['report-dir'],
        html: values.html,
        compare: values.compare,
        narrator: values.narrative ? (await import('./narrator.ts')).narratorFor(cli, {}) : undefined,
      },
      io,
    );
  } catch (error) {
    return report(error, argv.includes('--json'), io);
  }
}

function report(error: unknown, json: boolean, io: CommandIo): number {
  if (error instanceof WritError) {
    if (json) io.out(`${JSON.stringify({ error: error.toJSON() })}\n`);
    io.err(
      `error ${error.code}: ${error.message}\n${error.suggestion ? `  try: ${error.suggestion}\n` : ''}`,
    );
    return error.exit;
  }
  io.err(`error: ${messageOf(error)}\n`);
  const usage =
    error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
  return usage ? EXIT.usage : EXIT.failed;
}

process.exitCode = await main(process.argv.slice(2));
