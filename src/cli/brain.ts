import type { Brain } from '../core/index.ts';
import { geminiBrain, openaiBrain, playbookBrain, systemPrompt } from '../ghost/index.ts';
import type { Cli } from './cli.ts';
import type { InvestigateFlags } from './commands/investigate.ts';
import type { Config } from './config.ts';
import type { LabWorkspace } from './lab-workspace.ts';
import type { ModelWish } from './model-endpoint.ts';
import type { Workspace } from './workspace.ts';

/** The brain an investigation runs with, or why there is none and what to set. */
export type ChosenBrain =
  | { readonly ok: true; readonly brain: Brain; readonly model: string; close(): Promise<void> }
  | { readonly ok: false; readonly reason: string };

const DEFAULT_MODELS = { gemini: 'gemini-2.0-flash', openai: 'gpt-4.1' } as const;
const KEYS = { gemini: 'GEMINI_API_KEY', openai: 'OPENAI_API_KEY' } as const;

/** What a command line may say about the model to use. */
export type ModelFlags = Pick<InvestigateFlags, 'brain' | 'model' | 'baseUrl'>;

/** Where a provider's model is and with which key, or what to set. A local endpoint needs no key; a provider does. */
export function modelWish(
  cli: Pick<Cli, 'env'>,
  config: Config,
  provider: 'gemini' | 'openai',
  flags: ModelFlags,
): ({ readonly ok: true } & ModelWish) | { readonly ok: false; readonly reason: string } {
  const baseUrl = flags.baseUrl ?? config.brain?.base_url;
  const key = cli.env[KEYS[provider]];
  if (!key && !(provider === 'openai' && baseUrl !== undefined))
    return { ok: false, reason: `${KEYS[provider]} is not set` };
  return {
    ok: true,
    provider,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    key: key ?? 'none',
    model: flags.model ?? config.brain?.model ?? DEFAULT_MODELS[provider],
  };
}

export async function chooseBrain(
  cli: Cli,
  workspace: Workspace,
  flags: InvestigateFlags,
  isResume: boolean,
  memories: readonly string[],
  lab: LabWorkspace | undefined,
): Promise<ChosenBrain> {
  const name = flags.brain ?? workspace.config.brain?.name ?? 'playbook';
  const configured = workspace.config.capture;
  const capture = {
    ...defined(
      'storageAccount',
      flags.storageAccount ?? configured?.storage_account ?? lab?.capture.storageAccount,
    ),
    ...defined(
      'resourceGroup',
      flags.resourceGroup ?? configured?.resource_group ?? lab?.capture.resourceGroup,
    ),
    ...defined('location', configured?.location),
    ...defined('authMode', configured?.storage_auth_mode),
  };
  switch (name) {
    case 'playbook':
      return {
        ok: true,
        brain: playbookBrain({ capture, auditDir: workspace.audit }),
        model: 'playbook',
        close: async () => undefined,
      };
    case 'gemini':
    case 'openai': {
      const wish = modelWish(cli, workspace.config, name, flags);
      if (!wish.ok) {
        return {
          ok: false,
          reason: `Set ${KEYS[name]} to use the ${name} brain (export ${KEYS[name]}=…), or use the embedded one: --brain playbook`,
        };
      }
      const { model } = wish;
      const { modelEndpoint } = await import('./model-endpoint.ts');
      const gateway = await modelEndpoint(workspace, wish);
      const prompt = systemPrompt({ auditDir: workspace.audit, isResume, capture, memories });
      const options = { endpoint: gateway.endpoint, model, systemPrompt: prompt, clock: workspace.clock };
      return {
        ok: true,
        brain: await (name === 'gemini' ? geminiBrain(options) : openaiBrain(options)),
        model,
        close: gateway.close,
      };
    }
    default:
      return {
        ok: false,
        reason: `there is no brain called ${String(name)}; use playbook, gemini or openai`,
      };
  }
}

function defined<K extends string>(key: K, value: string | undefined): { readonly [P in K]?: string } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [P in K]?: string };
}
