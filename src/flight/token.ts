import { type Digest, digestOf, type Json } from '../core/index.ts';
import type { Artifact } from './artifacts.ts';

/**
 * The plan-token: one digest over all that was judged, kept with its parts so that a difference can be named.
 *
 * PT1 Only the orchestrator makes one; nothing in a receipt enters it unchecked.
 * PT2 Every part is derived again from disk at take-off. Parts, not only the digest, are compared.
 */
export const TOKEN_VERSION = '1';

export interface ArtifactDescriptor {
  readonly name: string;
  readonly role: string;
  readonly metadata_hash: string;
  readonly body_hash: string | null;
  readonly size: number;
}

export interface TokenParts {
  readonly artifacts: readonly ArtifactDescriptor[];
  readonly workspace_hash: string;
  readonly engine_id: string;
  readonly engine_hash: string;
  readonly protocol_version: string;
  readonly config_digest: string;
  readonly policy_digest: string;
  readonly model: string;
  readonly preconditions_digest: string;
}

/** The published document, with our parts beside it. */
export interface PlanToken {
  readonly token: string;
  readonly version: string;
  readonly artifacts: readonly { readonly name: string; readonly hash: string; readonly size: number }[];
  readonly model: string;
  readonly engine_id: string;
  readonly protocol_version: string;
  readonly workspace_hash: string;
  readonly created_at: string;
  readonly policy_digest: string;
  readonly governance_hash: string;
}

export interface PartsInput {
  readonly artifacts: readonly Artifact[];
  readonly workspaceHash: Digest;
  readonly engineId: string;
  readonly engineHash: Digest;
  readonly protocolVersion: string;
  readonly config: Json;
  readonly policyDigest: Digest;
  readonly model: string;
}

export function tokenParts(input: PartsInput): TokenParts {
  return {
    artifacts: input.artifacts.map((a) => ({
      name: a.name,
      role: a.role,
      metadata_hash: a.metadataHash,
      body_hash: a.bodyHash,
      size: a.size,
    })),
    workspace_hash: input.workspaceHash,
    engine_id: input.engineId,
    engine_hash: input.engineHash,
    protocol_version: input.protocolVersion,
    config_digest: digestOf(input.config),
    policy_digest: input.policyDigest,
    model: input.model,
    preconditions_digest: digestOf(
      input.artifacts.map((a) => [a.name, a.document.metadata?.preconditions ?? null]),
    ),
  };
}

export function tokenOf(parts: TokenParts): Digest {
  return digestOf({ version: TOKEN_VERSION, ...parts });
}

export function planToken(parts: TokenParts, createdAt: string): PlanToken {
  return {
    token: tokenOf(parts),
    version: TOKEN_VERSION,
    artifacts: parts.artifacts.map((a) => ({
      name: a.name,
      hash: a.body_hash ?? a.metadata_hash,
      size: a.size,
    })),
    model: parts.model,
    engine_id: parts.engine_id,
    protocol_version: parts.protocol_version,
    workspace_hash: parts.workspace_hash,
    created_at: createdAt,
    policy_digest: parts.policy_digest,
    governance_hash: digestOf({ policy: parts.policy_digest, config: parts.config_digest }),
  };
}

const NAMES: Readonly<Record<Exclude<keyof TokenParts, 'artifacts'>, string>> = {
  workspace_hash: 'the workspace',
  engine_id: "the engine's identity",
  engine_hash: "the engine's executable",
  protocol_version: 'the protocol version',
  config_digest: "the step's configuration",
  policy_digest: 'the policies, rules or models',
  model: 'the model',
  preconditions_digest: 'the declared preconditions',
};

/** What changed, in words; empty when nothing did. */
export function tokenDifferences(then: TokenParts, now: TokenParts): readonly string[] {
  const found: string[] = [];
  const byName = new Map(now.artifacts.map((a) => [a.name, a]));
  for (const a of then.artifacts) {
    const b = byName.get(a.name);
    byName.delete(a.name);
    if (b === undefined) found.push(`artifact ${a.name} is missing`);
    else if (a.role !== b.role) found.push(`artifact ${a.name}: its role changed`);
    else if (a.metadata_hash !== b.metadata_hash) found.push(`artifact ${a.name}: artifact.json changed`);
    else if (a.body_hash !== b.body_hash || a.size !== b.size)
      found.push(`artifact ${a.name}: its body changed`);
  }
  for (const name of byName.keys()) found.push(`artifact ${name} was added`);
  for (const [part, words] of Object.entries(NAMES))
    if (then[part as keyof typeof NAMES] !== now[part as keyof typeof NAMES]) found.push(`${words} changed`);
  if (found.length === 0 && tokenOf(then) !== tokenOf(now)) found.push('the order of the artifacts changed');
  return found;
}
