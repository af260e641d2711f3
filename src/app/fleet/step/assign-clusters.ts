/**
 * Assigns the clusters of a fleet anew: reads every registration, and writes lists. The one thing
 * here that costs the whole fleet. Lists are written before the record names them, so a step that
 * loses its record leaves lists that nobody reads, and that the next assignment removes.
 */
import { defined } from '@rollcall/base/defined.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { compilePlacement } from '../../../core/fleet/choose-clusters.ts';
import type { FleetDaemonSet } from '../../../core/fleet/fleet-daemon-set.ts';
import { assignFleet } from '../../../core/fleet/rollout/assign-fleet.ts';
import type { AssignedCluster } from '../../../core/fleet/rollout/assign-fleet.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import { readRegistry } from '../../clusters/read-registry.ts';
import { READ_AT_ONCE, ASSIGN_AT_LEAST_MS, ASSIGN_EVERY_MS } from '../observe/dependencies.ts';
import type { StepFleetsDependencies } from '../observe/dependencies.ts';
import { readList, writeList } from '../member-lists.ts';

/** True where the lists of a record are not of the registry as it is. */
export function mustAssign(record: FleetRecord, registryRevision: number, nowMs: number): boolean {
  if (record.stages.length === 0) return true;
  const ageMs = nowMs - record.dealtAtMs;
  // A first stage without a cluster waits for one that is heard of again, of which no registration tells.
  const isAwaiting = record.stage < 0 && record.gate.kind === 'no-evidence';
  // Who got the release through the ring is in no list any more, and goes back as well.
  const turnedAtMs = record.orders.undo?.atMs ?? record.breach?.atMs ?? 0;
  const isTurned = record.dealtAtMs < turnedAtMs;
  if (isAwaiting || isTurned || record.registryRevision !== registryRevision) {
    return ageMs >= ASSIGN_EVERY_MS;
  }
  return ageMs >= ASSIGN_AT_LEAST_MS;
}

interface AssignmentOf {
  readonly record: FleetRecord;
  readonly fleet: FleetDaemonSet;
  /** As read before: a registration that changes meanwhile is dealt with once more. */
  readonly registryRevision: number;
}

/** The record with lists of now. Rejects when a table fails. */
export async function assignClusters(
  { record, fleet, registryRevision }: AssignmentOf,
  dependencies: StepFleetsDependencies,
): Promise<FleetRecord> {
  const clusters = await gather(record, fleet, dependencies);
  const nowMs = dependencies.clock.nowMs();
  const { contentHash } = record.release;
  const open = record.stages[record.stage];
  const members = open === undefined ? [] : await readList(record, open.members, dependencies);
  const openMembers = new Set(members);
  const assignment = assignFleet(fleet, clusters, {
    contentHash,
    stage: record.stage,
    openMembers,
    isReturn: record.isReturn === true,
    nowMs,
  });
  const stages = await sideBySide(assignment.stages, READ_AT_ONCE, async (stage) => ({
    name: stage.name,
    namesNobody: stage.namesNobody,
    members: await writeList(record, stage.clusters, dependencies),
  }));
  return {
    ...record,
    stages,
    ring: await writeList(record, assignment.ring, dependencies),
    untouchedClusters: assignment.untouchedClusters,
    registryRevision,
    dealtAtMs: nowMs,
    ringDueAtMs: nowMs,
  };
}

async function gather(
  record: FleetRecord,
  fleet: FleetDaemonSet,
  { registry, rollouts, view }: StepFleetsDependencies,
): Promise<readonly AssignedCluster[]> {
  const { registrations } = await readRegistry(registry);
  const placed = registrations.filter(compilePlacement(fleet.placement));
  const records = await rollouts.readClusterRecords(
    record,
    placed.map(({ id }) => id),
  );
  return sideBySide(placed, READ_AT_ONCE, async (registration): Promise<AssignedCluster> => {
    const { id, clusterUid, labels, mode, isFrozen, rival } = registration;
    const meta = await view.readMeta(clusterUid);
    const known = records.get(id);
    return {
      id,
      clusterUid,
      labels,
      mode,
      isFrozen,
      ...defined({ rival, heardAtMs: meta?.lastSentAtMs, record: known }),
    };
  });
}
