import { EXIT, WritError } from '../../core/index.ts';
import type { DefineCommand } from '../cli.ts';
import { type FolderFlags, folderOptions } from '../folders.ts';

export interface InvestigateFlags extends FolderFlags {
  readonly resume?: string;
  readonly brain?: 'gemini' | 'openai' | 'playbook';
  readonly model?: string;
  readonly baseUrl?: string;
  readonly lab?: string;
  readonly speed?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly html?: boolean;
  readonly memory?: boolean;
  readonly propose?: boolean;
  readonly role?: string;
  readonly azureScan?: boolean;
  readonly storageAccount?: string;
  readonly resourceGroup?: string;
}

const HELP = `
Examples:
  writ investigate --lab redis-behind-dead-nva
  writ investigate "VMs in prod-subnet cannot reach the Redis cache on port 6379"
  writ investigate --lab redis-behind-dead-nva --propose
  writ investigate --resume ghost_20260115_143022

Brains: playbook (embedded, no key, no network), gemini (GEMINI_API_KEY), openai (OPENAI_API_KEY, or any compatible
endpoint with --base-url). RISKY commands ask at the terminal; without one they are denied. --yes answers yes to all,
and works in the lab only. --json prints one event a line.`;

export const define: DefineCommand = (command, cli) => {
  folderOptions(command)
    .argument('[symptom]', 'what is wrong, in your own words; asked for when left out')
    .option('--resume <session>', 'go on with an interrupted session')
    .option('--brain <name>', 'playbook, gemini or openai (default playbook, or brain.name in writ.yaml)')
    .option('--model <name>', 'model of the chosen brain')
    .option('--base-url <url>', 'endpoint of the chosen brain')
    .option('--lab <world>', 'investigate a simulated world: a name from writ lab list, or a file')
    .option('--speed <n>', 'how fast time runs in the lab', '60')
    .option('--yes', 'approve everything (lab only)')
    .option('--html', 'also write the report as one HTML file')
    .option('--propose', 'turn the recommended commands into a flight for approval (exit 4 while it waits)')
    .option('--role <role>', 'who has to approve what is proposed (default network-lead)')
    .option('--no-memory', 'do not look at earlier investigations')
    .option('--no-azure-scan', 'do not search Azure for captures left behind')
    .option('--storage-account <name>', 'where captures are stored')
    .option('--resource-group <name>', 'resource group for captures')
    .option('--json', 'one JSON event a line')
    .addHelpText('after', HELP)
    .action(async (symptom: string | undefined, flags: InvestigateFlags) => {
      if (flags.yes && flags.lab === undefined) {
        throw new WritError(3004, '--yes approves without asking and works in the lab only', {
          suggestion: 'leave --yes out, or add --lab WORLD',
          exit: EXIT.usage,
        });
      }
      const { runInvestigation } = await import('../investigation.ts');
      cli.exitCode = await runInvestigation(cli, symptom ?? '', flags);
    });
};
