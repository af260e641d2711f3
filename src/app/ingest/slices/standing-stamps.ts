/**
 * Which stamps stand in the table, whatever META says: everything is written only over an older one (S8).
 *
 * What stands above the messages that come is replaced by nothing, and a run that meets it looks again for ever
 * (protocol 2, L1). So a META that was lost begins an era after all of them (row 34), and a manifest looks once more,
 * at one small item for each DaemonSet. Assumes that nothing but what is read here bears stamps.
 */
import { SLICE_COUNT_MAX, slicesOfDaemonSet } from '../../../core/projections/set-hash.ts';
import type { ClusterUid, Uid } from '../../../core/model/identifiers.ts';
import { ZERO_STAMP, eraOfStamp, laterStamp, type Stamp } from '../../../core/model/position.ts';
import { positionIn, type ClusterMeta } from '../../../core/model/view-items.ts';
import type { IngestDependencies } from '../process/dependencies.ts';
import { listAllNames } from './names.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';

/** The era of a cluster without META: after every stamp and every state that may still stand. */
export async function firstEra(
  clusterUid: ClusterUid,
  dependencies: IngestDependencies,
): Promise<number> {
  const names = await listAllNames(clusterUid, dependencies, true);
  const uids = names.flatMap(({ uid, formerUids = [] }) => [
    ...(uid === null ? [] : [uid]),
    ...formerUids,
  ]);
  const stamps = [
    await latestOfNodes(clusterUid, dependencies),
    await latestOfDaemonSets({ clusterUid }, uids, dependencies),
    await latestOfSlices(clusterUid, uids, dependencies),
    ...names.map(({ stamp }) => stamp),
  ];
  const states = await latestEraOfStates(clusterUid, uids, dependencies);
  return Math.max(states, ...stamps.map(eraOfStamp)) + 1;
}

/** The latest stamp of the objects and positions of these DaemonSets; ZERO_STAMP when there is none. */
export async function latestOfDaemonSets(
  meta: Pick<ClusterMeta, 'clusterUid' | 'positions'>,
  uids: readonly Uid[],
  { view, options }: IngestDependencies,
): Promise<Stamp> {
  const stamps = await sideBySide(uids, options.concurrencyMax, async (uid) => {
    const ref = { clusterUid: meta.clusterUid, uid };
    const [object, position] = await Promise.all([
      view.readDaemonSet(ref),
      positionIn(meta.positions, uid) ?? view.readPosition(ref),
    ]);
    return latest([object?.stamp, position?.podsChanged, position?.revisionsChanged]);
  });
  return latest(stamps);
}

async function latestOfSlices(
  clusterUid: ClusterUid,
  uids: readonly Uid[],
  { view, options }: IngestDependencies,
): Promise<Stamp> {
  const stamps = await sideBySide(uids, options.concurrencyMax, async (uid) => {
    const refs = slicesOfDaemonSet(uid, SLICE_COUNT_MAX);
    const slices = await Promise.all(refs.map((ref) => view.readSlice({ clusterUid, ...ref })));
    return latest(slices.map((slice) => slice?.stamp));
  });
  return latest(stamps);
}

async function latestOfNodes(
  clusterUid: ClusterUid,
  { view, options }: IngestDependencies,
): Promise<Stamp> {
  const indexes = Array.from({ length: SLICE_COUNT_MAX }, (_, index) => index);
  const slices = await sideBySide(indexes, options.concurrencyMax, (index) =>
    view.readSlice({ clusterUid, set: 'nodes', index }),
  );
  return latest(slices.map((slice) => slice?.stamp));
}

/** Marks of a state count in its era alone: that era must not come again for another history. */
async function latestEraOfStates(
  clusterUid: ClusterUid,
  uids: readonly Uid[],
  { view, options }: IngestDependencies,
): Promise<number> {
  const eras = await sideBySide(uids, options.concurrencyMax, async (uid) => {
    const state = await view.readState({ clusterUid, uid });
    return state?.written.era ?? 0;
  });
  return Math.max(0, ...eras);
}

function latest(stamps: readonly (Stamp | undefined)[]): Stamp {
  return stamps.reduce<Stamp>((last, stamp = ZERO_STAMP) => laterStamp(last, stamp), ZERO_STAMP);
}
