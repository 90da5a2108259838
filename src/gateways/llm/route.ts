import type { Clock } from '../../core/index.ts';
import type { LlmConfig, Provider, Target } from './config.ts';
import type { Protocol } from './protocol.ts';
import { type Content, type Scope, selects } from './rules.ts';

/**
 * Which target serves a request.
 *
 * R1 The order of targets is a function of the configuration, the seed and the number of the request:
 *    the same sequence of requests is routed the same way again.
 * R2 A target that failed several times in a row rests; when all rest, the one that has rested longest is
 *    tried, so that a route is never dead for good.
 */
export interface Choice {
  readonly target: Target;
  readonly provider: Provider;
}

export interface Plan {
  readonly choices: readonly Choice[];
  readonly attempts: number;
  readonly strategy: string;
}

export interface Router {
  plan(protocol: Protocol, scope: Scope, content: Content): Plan | undefined;
  report(choice: Choice, ok: boolean): void;
  health(): readonly { readonly target: string; readonly failures: number; readonly resting: boolean }[];
}

const FAILURES_TO_REST = 3;
const REST_MS = 15_000;

export function createRouter(config: LlmConfig, clock: Clock): Router {
  const providers = new Map(config.providers.map((p) => [p.name, p]));
  const failures = new Map<string, { count: number; since: number }>();
  const turns = config.routes.map(() => 0);
  const random = seeded(config.seed);
  const nameOf = ({ target }: Choice) => `${target.provider}/${target.model ?? '*'}`;
  const resting = (choice: Choice) => {
    const state = failures.get(nameOf(choice));
    return (
      state !== undefined && state.count >= FAILURES_TO_REST && clock.monotonic() - state.since < REST_MS
    );
  };

  const ordered = (index: number, choices: readonly Choice[]): readonly Choice[] => {
    const turn = turns[index]!++;
    switch (config.routes[index]!.strategy) {
      case 'fallback':
        return [...choices].sort((a, b) => a.target.tier - b.target.tier);
      case 'safety_tier':
        // The safest tier first, and never past it on an error: a less safe model is not a substitute.
        return choices.filter((c) => c.target.tier === Math.max(...choices.map((o) => o.target.tier)));
      case 'round_robin':
        return choices.map((_, i) => choices[(turn + i) % choices.length]!);
      case 'cost':
        return [...choices].sort((a, b) => priceOf(a.target) - priceOf(b.target));
      case 'weighted': {
        const first = pick(choices, random());
        return [first, ...choices.filter((c) => c !== first)];
      }
    }
  };

  return {
    plan: (protocol, scope, content) => {
      const index = config.routes.findIndex(
        (r) =>
          r.targets.some((t) => providers.get(t.provider)?.protocol === protocol) &&
          selects(r, scope, content),
      );
      const route = config.routes[index];
      if (route === undefined) return undefined;
      const choices = route.targets.flatMap((target) => {
        const provider = providers.get(target.provider);
        return provider?.protocol === protocol ? [{ target, provider }] : [];
      });
      const order = ordered(index, choices);
      const awake = order.filter((c) => !resting(c));
      const longest = [...order].sort(
        (a, b) => (failures.get(nameOf(a))?.since ?? 0) - (failures.get(nameOf(b))?.since ?? 0),
      );
      return {
        choices: awake.length > 0 ? awake : longest.slice(0, 1),
        attempts: 1 + route.retries,
        strategy: route.strategy,
      };
    },
    report: (choice, ok) => {
      if (ok) failures.delete(nameOf(choice));
      else
        failures.set(nameOf(choice), {
          count: (failures.get(nameOf(choice))?.count ?? 0) + 1,
          since: clock.monotonic(),
        });
    },
    health: () =>
      [...failures].map(([target, { count, since }]) => ({
        target,
        failures: count,
        resting: count >= FAILURES_TO_REST && clock.monotonic() - since < REST_MS,
      })),
  };
}

const priceOf = (target: Target) =>
  target.usd_per_million === undefined
    ? Number.POSITIVE_INFINITY
    : target.usd_per_million.input + target.usd_per_million.output;

function pick(choices: readonly Choice[], at: number): Choice {
  const total = choices.reduce((sum, c) => sum + c.target.weight, 0);
  let left = at * total;
  for (const choice of choices) {
    left -= choice.target.weight;
    if (left < 0) return choice;
  }
  return choices.at(-1)!;
}

/** A small generator with a known sequence (mulberry32): routing must be repeatable, not secret. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
