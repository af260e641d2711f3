/** What `rollcall rollout status` and `rollcall why` tell of a DaemonSet of a world, from its stores alone. */
import assert from 'node:assert/strict';
import { createPolicyReader } from '../../../src/adapters/policy/policy-reader.ts';
import { explainNodes, type ExplainSources } from '../../../src/app/why/explain.ts';
import type { StackStanding } from '../../../src/core/status/outages.ts';
import { defaultReconcileOptions } from '../../../src/app/reconcile/process/dependencies.ts';
import { createProcessCache } from '../../../src/app/reconcile/process/process-cache.ts';
import { findRollout, type FoundRollout } from '../../../src/app/rollout/find-rollout.ts';
import { rolloutStatusOf, type RolloutStatus } from '../../../src/app/rollout/rollout-status.ts';
import type { Verdict } from '../../../src/core/model/verdict.ts';
import { CLUSTER } from './registration.ts';
import type { World } from './world.ts';
import { noHolder } from '../rollout-stores.ts';

/** How the rollout of the DaemonSet stands. */
export async function statusOf(world: World, name: string): Promise<RolloutStatus> {
  const { found, sources } = await find(world, name);
  return rolloutStatusOf(found, sources);
}

/** Why there is a pod of it on each node, or none; undefined: nothing can be told. */
export async function verdictsOf(
  world: World,
  name: string,
): Promise<readonly Verdict[] | undefined> {
  const { found, sources } = await find(world, name);
  return explainNodes(found.stored, sources);
}

async function find(
  world: World,
  name: string,
): Promise<{
  readonly found: FoundRollout;
  readonly sources: ExplainSources & { readonly standing: StackStanding };
}> {
  const policies = createPolicyReader();
  const { view, registry, freezes } = world;
  const key = { cluster: CLUSTER, namespace: 'ns', name };
  const found = await findRollout(key, { registry, freezes, view, policies, holderOf: noHolder });
  assert.equal(found.kind, 'found');
  const cache = createProcessCache();
  const nowMs = world.functionClock.nowMs();
  const options = defaultReconcileOptions;
  return { found, sources: { view, cache, policies, options, nowMs, standing: {} } };
}
