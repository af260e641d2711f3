/**
 * Reads the DaemonSets of one cluster as the watcher and the last runs left them, and tells what is known of each.
 *
 * META is read before, as StoredInputs asks. A state or an object that cannot be read is about its DaemonSet alone.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { PolicyReading } from '../../core/policy/rollout-policy.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { toldObject, type NameItem, type ClusterMeta } from '../../core/model/view-items.ts';
import type { NamespacedName } from '../../ports/stores/view-store.ts';
import { describe as describeRemoval } from '../../core/removal-guard/removal-events.ts';
import { countsOf } from '../../core/rollout/pod-counts.ts';
import type {
  MissingReason,
  RolloutFacts,
  SetFacts,
} from '../../core/status/health/health-facts.ts';
import { guardOfPause } from '../../core/status/status-writers.ts';
import { standingFreeze } from '../../core/may-act/freeze.ts';
import { isHeldByPolicy, readPolicyOf } from '../../core/may-act/opt-in.ts';
import { hasSentinelName } from '../../core/may-act/takeover-sentinel.ts';
import { namePages } from '../clusters/read-registry.ts';
import { findHoldingFleet, holdOf, type HoldingFleet } from '../fleet/rollout/holding-fleet.ts';
import { readPosition, type StoredInputs } from '../reconcile/read/stored-inputs.ts';
import { nextOfRollout } from '../rollout/next-of-rollout.ts';
import {
  HELD_BY_POLICY,
  describeOpaque,
  stagedStatus,
  type StagedStatus,
} from '../rollout/rollout-status.ts';
import type { Explained } from '../why/explain.ts';
import { missedSinceMs } from '../why/standing.ts';
import type { FleetLook } from './fleet-look.ts';
import { orUnreadable } from '../../ports/stores/or-unreadable.ts';

export type ReadSet = NamespacedName &
  (
    | { readonly kind: 'unreadable'; readonly problem: string }
    | {
        readonly kind: 'read';
        readonly stored: StoredInputs;
        readonly policy: PolicyReading;
        /** That has its first nodes alone: what waits for approval waits for it. */
        readonly fleet?: HoldingFleet;
      }
  );

type FoundSet = Extract<ReadSet, { readonly kind: 'read' }>;

interface HeardCluster {
  readonly registration: ClusterRegistration;
  readonly meta: ClusterMeta;
}

/** Reads them, in the order of their names. Rejects when a table fails. */
export async function readDaemonSets(
  cluster: HeardCluster,
  look: FleetLook,
): Promise<readonly ReadSet[]> {
  const { namespace } = look.filter;
  const sets: ReadSet[] = [];
  const { clusterUid } = cluster.registration;
  for await (const names of namePages(look.view, clusterUid)) {
    const wanted = names.filter(
      (item) => !hasSentinelName(item) && (namespace ?? item.namespace) === item.namespace,
    );
    const read = await Promise.all(wanted.map((item) => readSet(item, cluster, look)));
    sets.push(...read.flatMap((set) => set ?? []));
  }
  return sets;
}

async function readSet(
  { uid, namespace, name }: NameItem,
  { registration, meta }: HeardCluster,
  look: FleetLook,
): Promise<ReadSet | undefined> {
  if (uid === null) return undefined;
  const { view, freeze, policies, nowMs } = look;
  const ref = { clusterUid: registration.clusterUid, uid };
  const read = await orUnreadable(() =>
    Promise.all([view.readState(ref), view.readDaemonSet(ref), readPosition(meta, ref, view)]),
  );
  if (read.kind === 'unreadable') return { ...read, namespace, name };
  const [state, daemonSet, position] = read.value;
  // One that was deleted meanwhile.
  if (
    daemonSet === undefined ||
    (daemonSet.object === null && daemonSet.opaqueReason === undefined)
  )
    return undefined;
  const frozen = standingFreeze(freeze, { namespace, name });
  const stored = { registration, ...defined({ frozen }), meta, ref, daemonSet, state, position };
  const policy = readPolicyOf(toldObject(daemonSet), policies);
  const set: ReadSet = { kind: 'read', namespace, name, stored, policy };
  if (rolloutOf(set, undefined, nowMs)?.gate.kind !== 'approval') return set;
  const fleet = await findHoldingFleet({ cluster: registration.id, namespace, name }, look);
  return { ...set, ...defined({ fleet }) };
}

/** Since when a run of it is missed; undefined: none is. */
export function missedIn(set: ReadSet, nowMs: number): number | undefined {
  return set.kind === 'read' ? missedSinceMs(set.stored, nowMs) : undefined;
}

/** Its rollout by a policy, as its record tells it, or as a plan of now does. Where Rollcall only looks, nothing is rolled out. */
function rolloutOf(
  set: ReadSet,
  explained: Explained | undefined,
  nowMs: number,
): StagedStatus | undefined {
  if (set.kind !== 'read' || set.stored.registration.mode === 'observe') return undefined;
  const { stored, policy, fleet } = set;
  const hold = defined({ hold: fleet && holdOf(fleet) });
  const { stages } = explained?.plan ?? {};
  return stagedStatus({ ...stored, policy, stages, seen: explained?.seen, ...hold }, nowMs);
}

/** Undefined: none has begun, and nothing holds the first one. */
function rolloutFacts(
  { namespace, name, stored: { registration, daemonSet }, policy, fleet }: FoundSet,
  staged: StagedStatus | undefined,
): RolloutFacts | undefined {
  const { id: cluster, mode } = registration;
  const isHeld = staged === undefined && isHeldByPolicy(toldObject(daemonSet), policy, mode);
  const told = isHeld ? ({ ...HELD_BY_POLICY, gate: { kind: 'invalid' } } as const) : staged;
  if (told === undefined) return undefined;
  const { phase, summary, gate } = told;
  const status = { cluster, namespace, name, mode, phase, ...defined({ staged, fleet }) };
  return { phase, summary, gate, next: nextOfRollout(status) };
}

export function factsOf(
  set: ReadSet,
  explained: (Explained & { readonly reasons: readonly MissingReason[] }) | undefined,
  nowMs: number,
): SetFacts {
  const { namespace, name } = set;
  if (set.kind === 'unreadable') return { namespace, name, unknown: set.problem };
  const { registration, daemonSet, state } = set.stored;
  const counts = countsOf(toldObject(daemonSet));
  const told = rolloutOf(set, explained, nowMs);
  const rollout = rolloutFacts(set, told);
  const held = state?.shrink?.held;
  const isPaused = guardOfPause(state?.paused, registration, nowMs) !== undefined;
  return {
    ...{ namespace, name },
    ...defined({
      counts,
      unknown: counts === undefined ? describeOpaque(daemonSet) : undefined,
      rollout,
      removal: held && describeRemoval(held),
      retry: state?.retry,
      paused: isPaused ? state?.paused : undefined,
      reasons: explained?.reasons,
    }),
  };
}
