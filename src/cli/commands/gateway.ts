import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createAuthority } from '../../authority/index.ts';
import { CODES, messageOf, systemClock, systemIds, WritError } from '../../core/index.ts';
import { openLedger, statePaths } from '../../ledger/index.ts';
import { openApprovalQueueOf } from '../approval-queue.ts';
import type { Cli, DefineCommand } from '../cli.ts';
import { type FolderFlags, folderOptions, folders } from '../folders.ts';

interface Flags extends FolderFlags {
  readonly config: string;
  readonly json?: boolean;
  readonly stdio?: boolean;
}

export const define: DefineCommand = (command, cli) => {
  const llm = command
    .command('llm')
    .description('a firewall in front of model providers, OpenAI-compatible and Gemini')
    .requiredOption('--config <file>', 'callers, providers, routes and rules')
    .addHelpText('after', '\nExample:\n  writ gateway llm --config examples/gateways/llm.yaml')
    .action((flags: Flags) => serveLlm(cli, flags));
  const mcp = command
    .command('mcp')
    .description('a firewall in front of MCP servers')
    .requiredOption('--config <file>', 'servers, callers and rules')
    .option('--stdio', 'serve one client on stdin and stdout, as MCP hosts launch it')
    .addHelpText('after', '\nExample:\n  writ gateway mcp --config examples/gateways/mcp.yaml --stdio')
    .action((flags: Flags) => serveMcp(cli, flags));
  for (const sub of [llm, mcp]) folderOptions(sub).option('--json', 'one JSON document when it listens');
};

async function serveMcp(cli: Cli, flags: Flags): Promise<void> {
  const { createMcpGateway, mcpConfigMistake, mcpConfigSchema, stdioClient } = await import(
    '../../gateways/mcp/index.ts'
  );
  const { readDocument } = await import('../../core/document.ts');
  const file = resolve(cli.cwd, flags.config);
  const { value: config } = readDocument(readConfig(file), mcpConfigSchema, { file: flags.config });
  const mistake = mcpConfigMistake(config);
  if (mistake !== undefined)
    throw new WritError(CODES.invalid_config, `${flags.config}: ${mistake}`, {
      suggestion: 'correct it there',
    });
  const state = await openState(cli, flags, 'mcp');
  try {
    const gateway = createMcpGateway(config, {
      ...state.deps,
      database: state.database,
      env: cli.env,
      baseDir: dirname(file),
    });
    if (flags.stdio) {
      const session = await gateway.attach(
        stdioClient(cli.stdin, process.stdout, config.limits.message_bytes),
      );
      // The client's end of the line is the end of the session.
      await Promise.race([untilStopped(), session.ended]);
    } else {
      announce(cli, flags, await gateway.listen());
      await untilStopped();
    }
    await gateway.close();
  } finally {
    await state.close();
  }
}

async function serveLlm(cli: Cli, flags: Flags): Promise<void> {
  const { configMistake, llmConfigSchema, startLlmGateway } = await import('../../gateways/llm/index.ts');
  const { readDocument } = await import('../../core/document.ts');
  const file = resolve(cli.cwd, flags.config);
  const { value: config } = readDocument(readConfig(file), llmConfigSchema, { file: flags.config });
  const mistake = configMistake(config);
  if (mistake !== undefined)
    throw new WritError(CODES.invalid_config, `${flags.config}: ${mistake}`, {
      suggestion: 'correct it there',
    });
  const keys = new Map<string, string>();
  for (const { name, key_env } of config.providers) {
    if (key_env === undefined) continue;
    const key = cli.env[key_env];
    if (!key)
      throw new WritError(CODES.invalid_config, `${key_env} is not set; the provider ${name} needs it`, {
        suggestion: `export ${key_env}=…`,
      });
    keys.set(name, key);
  }
  const state = await openState(cli, flags, 'llm');
  try {
    const gateway = await startLlmGateway(config, {
      ...state.deps,
      keys,
      database: state.database,
      baseDir: dirname(file),
    });
    announce(cli, flags, gateway.url);
    await untilStopped();
    await gateway.close();
  } finally {
    await state.close();
  }
}

/** Journal, approvals and authority of a gateway process. */
async function openState(cli: Cli, flags: FolderFlags, name: string) {
  const place = folders(cli, flags);
  const clock = systemClock;
  const ids = systemIds;
  const ledger = openLedger({ stateDir: place.state, clock });
  const paths = statePaths(place.state);
  // One writer a journal: each gateway process has its own.
  const file = `gateway_${name}_${clock.now().toISOString().slice(0, 19).replace(/[-:]/g, '')}_${process.pid}.jsonl`;
  const journal = await ledger.openJournal({
    path: join(paths.ledger, file),
    checkpointEvery: 1000,
    inlineFlush: name === 'mcp',
  });
  const queue = await openApprovalQueueOf(place, clock);
  const { openLineLog } = await import('../../gateways/line-log.ts');
  const log = openLineLog(clock, cli.note);
  const authority = createAuthority({ clock, ids, queue });
  return {
    deps: { clock, ids, authority, journal, queue, log: log.write },
    ledger,
    database: paths.database,
    stateDir: paths.stateDir,
    close: async () => {
      await queue.close();
      await journal.close();
      log.close();
    },
  };
}

function readConfig(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new WritError(CODES.invalid_config, `${file}: ${messageOf(error)}`, {
      suggestion: 'name the configuration with --config',
    });
  }
}

function announce(cli: Cli, flags: Flags, url: string): void {
  if (flags.json) cli.json({ listening: url, pid: process.pid });
  else cli.print(`Listening on ${url} (Ctrl-C ends it)`);
}

/** Until the person or the system says stop; open calls are broken off and recorded as such. */
function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
}
