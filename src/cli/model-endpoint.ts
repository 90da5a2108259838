import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createAuthority } from '../authority/index.ts';
import { systemIds } from '../core/index.ts';
import { type LlmEndpoint, PROVIDER_URLS, startLlmGateway } from '../gateways/llm/index.ts';
import { statePaths } from '../ledger/index.ts';
import type { Workspace } from './workspace.ts';

export interface ModelWish {
  readonly provider: 'gemini' | 'openai';
  readonly baseUrl?: string;
  readonly key: string;
  readonly model: string;
}

/** An LLM gateway of this process for one brain: every prompt redacted, every call on the ledger. */
export async function modelEndpoint(
  workspace: Pick<Workspace, 'ledger' | 'clock'>,
  wish: ModelWish,
): Promise<{ readonly endpoint: LlmEndpoint; close(): Promise<void> }> {
  const { ledger, clock } = workspace;
  // A journal has one writer and investigations run side by side: one file each.
  const stamp = clock.now().toISOString().slice(0, 19).replace(/[-:]/g, '');
  const name = `llm_${stamp}_${randomBytes(4).toString('hex')}.jsonl`;
  const journal = await ledger.openJournal({ path: join(statePaths(ledger.stateDir).ledger, name) });
  const gateway = await startLlmGateway(
    {
      default: 'allow',
      providers: [
        {
          name: wish.provider,
          protocol: wish.provider,
          base_url: wish.baseUrl ?? PROVIDER_URLS[wish.provider],
        },
      ],
      routes: [{ models: [wish.model], targets: [{ provider: wish.provider }] }],
    },
    {
      clock,
      ids: systemIds,
      authority: createAuthority({ clock, ids: systemIds }),
      journal,
      keys: new Map([[wish.provider, wish.key]]),
    },
  ).catch(async (error: unknown) => {
    await journal.close();
    throw error;
  });
  return {
    endpoint: gateway.endpoint({ name: 'ghost', models: [wish.model] }),
    close: async () => {
      await gateway.close();
      await journal.close();
    },
  };
}
