/**
 * Which DaemonSets nodes wait for, and their pods, for a run that has found a node with the start-up taint (ADR 0089).
 *
 * META was read before, and `ingest` writes what it vouches for before META, so what is read here is at least as new. A set of pods
 * that moves meanwhile counts as not readable: what moves it wakes the key of its DaemonSet, which looks at the same nodes.
 */
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { ClusterUid } from '../../../core/model/identifiers.ts';
import type { PodProjection } from '../../../core/model/projections.ts';
import type { StartUp } from '../../../core/model/registration.ts';
import { toldObject } from '../../../core/model/view-items.ts';
import type { DaemonSetRef, NamespacedName } from '../../../ports/stores/view-store.ts';
import { podsByNode, startUpSetOf } from '../../../core/start-up/start-up-done.ts';
import type { PodsByNode, StartUpSet } from '../../../core/start-up/start-up-done.ts';
import { namePages } from '../../clusters/read-registry.ts';
import { warmKey } from '../process/process-cache.ts';
import { loadSet, type Readers } from './load-set.ts';
import { readPosition, type StoredInputs } from './stored-inputs.ts';

const NAMES_PER_PAGE = 500;
const READS_AT_ONCE = 50;

/** A DaemonSet that may count, and where its pods are. */
export interface StoredStartUpSet {
  readonly set: StartUpSet;
  readonly ref: DaemonSetRef;
}

/** All DaemonSets of the cluster that may count. */
export async function readStartUpSets(
  clusterUid: ClusterUid,
  startUp: StartUp,
  { view }: Pick<Readers, 'view'>,
): Promise<readonly StoredStartUpSet[]> {
  const sets: StoredStartUpSet[] = [];
  for await (const page of namePages(view, clusterUid, { limit: NAMES_PER_PAGE })) {
    const read = await sideBySide(page, READS_AT_ONCE, async ({ uid, namespace, name }) =>
      uid === null
        ? undefined
        : readStartUpSet({ clusterUid, uid, namespace, name }, startUp, view),
    );
    sets.push(...read.filter((each) => each !== undefined));
  }
  return sets;
}

/** One of them; undefined: it is gone, or does not count. */
export async function readStartUpSet(
  { namespace, name, ...ref }: DaemonSetRef & NamespacedName,
  startUp: StartUp,
  view: Readers['view'],
): Promise<StoredStartUpSet | undefined> {
  const item = await view.readDaemonSet(ref);
  if (item?.object === null && item.opaqueReason === undefined) return undefined;
  const set = startUpSetOf({ namespace, name }, item ? toldObject(item) : null, startUp);
  return set && { set, ref };
}

/** The pods of one of them by node; undefined: they cannot be read just now. */
export async function readStartUpPods(
  { ref }: StoredStartUpSet,
  { meta }: Pick<StoredInputs, 'meta'>,
  readers: Readers,
): Promise<PodsByNode | undefined> {
  const { sliceCount } = meta;
  const { podsChanged: changed } = await readPosition(meta, ref, readers.view);
  const set = `pods/${ref.uid}` as const;
  const key = warmKey({ clusterUid: ref.clusterUid, set }, sliceCount);
  const warm = readers.cache.sets.get(key, changed);
  const read = warm ?? (await loadSet({ ref, meta }, { set, sliceCount, changed }, readers));
  if (!('objects' in read)) return undefined;
  const pods = read.objects.filter((object): object is PodProjection => object.kind === 'Pod');
  return podsByNode(pods, ref.uid);
}
