/** `az vm run-command invoke`: runs scripts in the emulated guest and answers in the agent's words. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Json } from '../../core/index.ts';
import type { Call } from '../az/call.ts';
import { AzError, armError } from '../az/errors.ts';
import { resourceId } from '../az/ids.ts';
import type { ToolResult } from '../tools/context.ts';
import type { Vm } from '../world/types.ts';
import { guestCommand } from './commands.ts';
import { Machine } from './machine.ts';
import { runPowerShell } from './powershell.ts';
import { runScript } from './shell.ts';

const COMMAND_IDS = ['RunShellScript', 'RunPowerShellScript', 'ifconfig', 'EnableRemotePS', 'IPConfig'];
/** The agent keeps the end of each stream. */
const KEPT = 4096;
const MAX_SCRIPT = 100_000;

export async function runCommand(call: Call, vm: Vm): Promise<Json> {
  const id = call.args.need('--command-id');
  const known = COMMAND_IDS.find((c) => c.toLowerCase() === id.toLowerCase());
  if (!known) throw armError('NotFound', `The entity was not found: run command '${id}'.`, 3);
  if (vm.power !== 'running')
    throw armError('OperationNotAllowed', 'The operation requires the VM to be running (or set to run).');
  const linux = known === 'RunShellScript' || known === 'ifconfig';
  if (linux !== (vm.os === 'linux'))
    throw armError(
      'BadRequest',
      `RunCommand '${known}' is not supported on ${vm.os === 'linux' ? 'Linux' : 'Windows'} operating system.`,
    );
  const script = known === 'ifconfig' ? 'ifconfig' : scriptOf(call);
  if (script.length > MAX_SCRIPT) throw armError('InvalidParameter', 'The script is too long.');
  const machine = new Machine(call.world, vm, call.lab.now, script);
  const result = linux ? runScript(script, machine, guestCommand) : runPowerShell(script, machine);
  call.change({
    patch: machine.patches,
    activity: {
      operation: 'Microsoft.Compute/virtualMachines/runCommand/action',
      resource: resourceId(vm.group, 'Microsoft.Compute/virtualMachines', vm.name),
      group: vm.group,
    },
  });
  return linux ? linuxAnswer(result) : windowsAnswer(result);
}

/** Several `--scripts` are lines of one script; `@file` reads it; `--parameters a=b` become variables. */
function scriptOf(call: Call): string {
  const words = call.args.words('--scripts') ?? [];
  const text = words
    .map((word) => {
      if (!word.startsWith('@')) return word;
      const file = resolve(call.cwd, word.slice(1));
      if (!existsSync(file)) throw new AzError(`[Errno 2] No such file or directory: '${word.slice(1)}'`);
      return readFileSync(file, 'utf8');
    })
    .join('\n');
  const parameters = call.args.words('--parameters') ?? [];
  const named = parameters
    .filter((p) => /^\w+=/.test(p))
    .map((p) => `${p.split('=')[0]}='${p.slice(p.indexOf('=') + 1).replaceAll("'", '')}'`);
  return [...named, text].join('\n');
}

function kept(text: string): string {
  return text.length > KEPT ? text.slice(-KEPT) : text;
}

function linuxAnswer(result: ToolResult): Json {
  const head =
    result.code === 0
      ? 'Enable succeeded: '
      : `Enable failed: failed to execute command: command terminated with exit status=${result.code}`;
  return {
    value: [
      {
        code: 'ProvisioningState/succeeded',
        displayStatus: 'Provisioning succeeded',
        level: 'Info',
        message: `${head}\n[stdout]\n${kept(result.stdout)}\n[stderr]\n${kept(result.stderr)}`,
        time: null,
      },
    ],
  };
}

function windowsAnswer(result: ToolResult): Json {
  const part = (code: string, message: string) => ({
    code: `ComponentStatus/${code}/succeeded`,
    displayStatus: 'Provisioning succeeded',
    level: 'Info',
    message: kept(message),
    time: null,
  });
  return { value: [part('StdOut', result.stdout), part('StdErr', result.stderr)] };
}
