/**
 * Which DaemonSet the commands about rollouts mean, and what they read from.
 *
 * Nothing is decided here. Only a cluster that is not there is looked for once more: by the name that is nearest.
 */
import { defaultReconcileOptions } from '../../app/reconcile/process/dependencies.ts';
import { createProcessCache } from '../../app/reconcile/process/process-cache.ts';
import type { ExplainSources } from '../../app/why/explain.ts';
import { findHoldingFleet, type HoldingFleet } from '../../app/fleet/rollout/holding-fleet.ts';
import { findRollout } from '../../app/rollout/find-rollout.ts';
import type { FindSources, FoundRollout } from '../../app/rollout/find-rollout.ts';
import type { RolloutRefusal } from '../../app/rollout/refusals.ts';
import { createPolicyReader } from '../../adapters/policy/policy-reader.ts';
import type { DaemonSetKey } from '../../core/model/identifiers.ts';
import {
  parseClusterId,
  parseNamespacedName,
  requireRegistration,
} from '../command-line/cluster-arguments.ts';
import type { Stack } from '../reach/stack.ts';

/** The DaemonSet that is meant. Throws CommandError (2). */
export function parseKey([cluster = '', text = '']: readonly string[]): DaemonSetKey {
  const key = parseNamespacedName(text, 'DaemonSet');
  return { cluster: parseClusterId(cluster), ...key };
}

/** To find a DaemonSet. */
export function findSourcesOf(stack: Stack): FindSources {
  const { registry, freezes, view } = stack;
  const holderOf = (key: DaemonSetKey): Promise<HoldingFleet | undefined> =>
    findHoldingFleet(key, stack);
  return { registry, freezes, view, policies: createPolicyReader(), holderOf };
}

/** Finds it. Throws CommandError (1) for a cluster that is not there, with the one that may have been meant. */
export async function findInStack(
  key: DaemonSetKey,
  stack: Stack,
): Promise<FoundRollout | RolloutRefusal> {
  const found = await findRollout(key, findSourcesOf(stack));
  await requireKnown(found, key, stack);
  return found;
}

/** Throws for a refusal that is of the cluster's name. */
export async function requireKnown(
  outcome: { readonly kind: string; readonly code?: string },
  { cluster }: DaemonSetKey,
  { registry }: Stack,
): Promise<void> {
  if (outcome.code === 'unknown-cluster') await requireRegistration(registry, cluster);
}

/** To tell what a run of now would plan. */
export function sourcesOf({ view, clock }: Pick<Stack, 'view' | 'clock'>): ExplainSources {
  const cache = createProcessCache();
  const policies = createPolicyReader();
  return { view, cache, policies, options: defaultReconcileOptions, nowMs: clock.nowMs() };
}
