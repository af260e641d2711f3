/** A registered cluster with one DaemonSet `ops/agent` under a policy, in the stores of a command. */
import assert from 'node:assert/strict';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { uid, type DaemonSetKey } from '../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../src/core/model/registration.ts';
import type { RolloutRecord } from '../../src/core/model/rollout-record.ts';
import { emptyState, type DaemonSetState } from '../../src/core/model/state.ts';
import type { RegistryStore } from '../../src/ports/stores/registry-store.ts';
import type { DaemonSetRef, ViewStore } from '../../src/ports/stores/view-store.ts';
import type { FleetClusterRecord, FleetRecord } from '../../src/core/fleet/rollout/fleet-record.ts';
import type { FleetRolloutStore, FleetStore } from '../../src/ports/stores/fleet-rollout-store.ts';
import { daemonSet } from './core-fixtures.ts';
import { wholeClusterRecord } from './fleet-rollout-store-suite.ts';
import { fleetDocument } from './fleet-samples.ts';
import { fleetRecord } from './fleet-records.ts';
import { STARTED_MS, recordOf } from './rollout-records.ts';
import { metaOf, registrationOf, sliceOf, stampAt } from './store-suite.ts';

const STAMP = stampAt(1);
/** UID of the DaemonSet. */
const AGENT_UID = uid('agent-uid');
const POLICY = 'soak: 10m\ncanary: {nodes: 3}';

/** What of it a test varies. */
export interface StoredRollout {
  readonly cluster?: string;
  readonly registration?: Partial<ClusterRegistration>;
  /** Text of the annotation; null: none. */
  readonly policy?: string | null;
  /** Null: no rollout was begun. */
  readonly record?: RolloutRecord | null;
  readonly state?: Partial<DaemonSetState>;
  readonly object?: Parameters<typeof daemonSet>[0];
  /** When its watcher was heard last; when the rollout began unless told. */
  readonly lastSentAtMs?: number;
}

interface Stores {
  readonly registry: RegistryStore;
  readonly view: ViewStore;
}

/** Names it. */
export function agentOf(cluster = 'prod'): DaemonSetKey {
  return { cluster: registrationOf(cluster).id, namespace: 'ops', name: 'agent' };
}

/** The reference of its items. */
export function agentRef(cluster = 'prod'): DaemonSetRef {
  return { clusterUid: registrationOf(cluster).clusterUid, uid: AGENT_UID };
}

/** Writes all of it. */
export async function storeRollout(
  { registry, view }: Stores,
  options: StoredRollout = {},
): Promise<void> {
  const { cluster = 'prod', policy = POLICY, record = recordOf() } = options;
  const { lastSentAtMs = STARTED_MS } = options;
  const registration = { ...registrationOf(cluster), mode: 'takeover' as const };
  await registry.writeCluster({ ...registration, ...options.registration }, 0);
  const { clusterUid } = registration;
  const ref = agentRef(cluster);
  await view.writeSlice({ clusterUid, set: 'nodes', index: 0 }, sliceOf(STAMP, 3), undefined);
  await view.writeName(clusterUid, { namespace: 'ops', name: 'agent', uid: ref.uid, stamp: STAMP });
  const object = agentObject(policy, options.object);
  await view.writeDaemonSet(ref, { stamp: STAMP, object });
  await view.writeState(ref, {
    ...emptyState(STARTED_MS),
    ...(record === null ? {} : { rollout: record }),
    ...options.state,
  });
  await view.writeMeta({ ...metaOf(clusterUid), isComplete: true, lastSentAtMs });
}

/** No fleet has it. */
export const noHolder = (): Promise<undefined> => Promise.resolve(undefined);

/** A fleet that gave its release to the first nodes of the cluster alone. */
export async function storeHoldingFleet(
  { fleets, rollouts }: { readonly fleets: FleetStore; readonly rollouts: FleetRolloutStore },
  fleet: Partial<FleetRecord> = {},
  cluster: Partial<FleetClusterRecord> = {},
): Promise<void> {
  const key = { namespace: 'ops', name: 'agent' };
  const { release, uid: fleetUid } = fleetRecord();
  const head = { ...key, ...release, uid: fleetUid, history: [], document: fleetDocument({}) };
  assert.equal(await fleets.writeFleet(head, undefined), 'written');
  const record = fleetRecord({ ...key, version: 0, ...fleet });
  assert.equal(await rollouts.writeRecord(record), 'written');
  const { failure: _none, ...own } = wholeClusterRecord('prod');
  const given = { ...own, place: 0, isPartial: true, phase: 'well', ...cluster } as const;
  assert.equal(await rollouts.writeClusterRecord(record, given), 'written');
}

/** Every pod of 50 is updated and available, unless a test says otherwise. */
function agentObject(policy: string | null, object: StoredRollout['object'] = {}): DaemonSetObject {
  return daemonSet({
    status: {
      desiredNumberScheduled: 50,
      updatedNumberScheduled: 50,
      numberAvailable: 50,
      observedGeneration: object.metadata?.generation ?? 1,
    },
    ...object,
    metadata: {
      namespace: 'ops',
      uid: AGENT_UID,
      ...(policy === null ? {} : { annotations: { 'rollcall.dev/rollout': policy } }),
      ...object.metadata,
    },
  });
}
