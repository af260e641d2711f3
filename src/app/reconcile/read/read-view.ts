/**
 * Reads the slices a plan is made from: nodes of the cluster, pods and revisions of the DaemonSet.
 *
 * A set is taken from warm memory when its last change is the one that was read; otherwise it is loaded (load-set.ts).
 * A slice newer than the position says that `ingest` is at work: the caller reads again (protocol 2). A missing slice
 * means that the view is incomplete (protocol 18).
 * Pods from memory are used only if the position, read once more *after* the state, is unmoved: the
 * state may know more than pods that were decoded before it was read.
 */
import { counted } from '@rollcall/base/counted.ts';
import { compareStamps, laterStamp, stampOf, type Stamp } from '../../../core/model/position.ts';
import type {
  NodeProjection,
  OpaqueProjection,
  PodProjection,
  Projection,
  RevisionProjection,
  Tombstone,
} from '../../../core/model/projections.ts';
import type { DaemonSetRef, SlicedSet, ViewReader } from '../../../ports/stores/view-store.ts';
import { readPosition, readPositionNow } from './stored-inputs.ts';
import type { StoredInputs, SlicedInputs } from './stored-inputs.ts';
import { loadSet } from './load-set.ts';
import type { Moving, Readers, SetRead, SetRequest, StampAhead } from './load-set.ts';
import { warmKey, type WarmSet } from '../process/process-cache.ts';
import type { ClusterMeta } from '../../../core/model/view-items.ts';
import type { ClusterReader } from '../../../ports/cluster/cluster-access.ts';
import { projectLiveNode, projectLivePod } from '../../../core/projections/project.ts';

/** Everything that was read of one cluster for one DaemonSet. */
export interface ReadView {
  readonly nodes: readonly NodeProjection[];
  readonly pods: readonly PodProjection[];
  /** Pods that are gone, as their slices remember them (S13). */
  readonly gone: readonly Tombstone[];
  readonly revisions: readonly RevisionProjection[];
  /** Objects that could not be digested: a live read decides about them (protocol 22). */
  readonly opaque: readonly OpaqueProjection[];
}

/** What reading came to. */
export type ViewRead =
  | { readonly kind: 'read'; readonly view: ReadView }
  | Moving
  | { readonly kind: 'incomplete'; readonly missing: string };

/** What the slices hold; `viewing`: where they were asked for already. */
export async function readView(
  stored: SlicedInputs & Pick<StoredInputs, 'daemonSet'>,
  readers: Readers,
  viewing?: Promise<ViewRead>,
): Promise<ViewRead> {
  const { meta, position, daemonSet } = stored;
  const newest = stampOf(meta);
  const { podsChanged, revisionsChanged } = position;
  const known = [meta.nodesChanged, podsChanged, revisionsChanged, daemonSet.stamp];
  const stamp = known.reduce(laterStamp);
  if (compareStamps(stamp, newest) > 0) return { kind: 'moving', ahead: { stamp, of: 'meta' } };
  return viewing ?? readSlices(stored, readers);
}

/** Reads the slices of nodes, pods and revisions. */
export async function readSlices(stored: SlicedInputs, readers: Readers): Promise<ViewRead> {
  const { meta, position, ref } = stored;
  const { sliceCount } = meta;
  const pods: SlicedSet = `pods/${ref.uid}`;
  const revisions: SlicedSet = `revisions/${ref.uid}`;
  const isUnmoved = onceUnmoved(stored, readers);
  const own = (request: SetRequest): Promise<SetRead> =>
    readOwn(stored, { ...request, isUnmoved }, readers);
  const [nodes, podsRead, revisionsRead] = await Promise.all([
    readNodes(stored, readers),
    own({ set: pods, sliceCount, changed: position.podsChanged }),
    own({ set: revisions, sliceCount: 1, changed: position.revisionsChanged }),
  ]);
  return assemble({ nodes, pods: podsRead, revisions: revisionsRead });
}

/** Asks at most once whether the position still is the one that was read. */
function onceUnmoved({ ref, position }: SlicedInputs, { view }: Readers): () => Promise<boolean> {
  let answer: Promise<boolean> | undefined;
  return () => {
    answer ??= readPositionNow(ref, view).then(
      ({ podsChanged, revisionsChanged }) =>
        podsChanged === position.podsChanged && revisionsChanged === position.revisionsChanged,
    );
    return answer;
  };
}

function assemble(reads: Readonly<Record<'nodes' | 'pods' | 'revisions', SetRead>>): ViewRead {
  const wholes = Object.values(reads);
  for (const read of wholes) {
    if (read.kind === 'moving') return read;
    if (read.kind === 'missing') return { kind: 'incomplete', missing: read.set };
  }
  const objectsOf = (read: SetRead): readonly Projection[] =>
    read.kind === 'whole' ? read.objects : [];
  const nodes = ofKind(objectsOf(reads.nodes), 'Node');
  const pods = ofKind(objectsOf(reads.pods), 'Pod');
  const revisions = ofKind(objectsOf(reads.revisions), 'ControllerRevision');
  const opaque = wholes.flatMap((read) => ofKind(objectsOf(read), 'Opaque'));
  const gone = wholes.flatMap((read) => (read.kind === 'whole' ? read.gone : []));
  return { kind: 'read', view: { nodes, pods, gone, revisions, opaque } };
}

/** Those of one kind; the very list where it has no others: what is remembered by it must find it again. */
function ofKind<K extends Projection['kind']>(
  objects: readonly Projection[],
  kind: K,
): readonly Extract<Projection, { readonly kind: K }>[] {
  type Wanted = Extract<Projection, { readonly kind: K }>;
  const isWanted = (object: Projection): object is Wanted => object.kind === kind;
  return objects.every(isWanted) ? objects : objects.filter(isWanted);
}

/** Nodes are shared by all keys of a cluster: one load serves every run that waits for it. */
export async function readNodes(
  stored: {
    readonly ref: Pick<SlicedInputs['ref'], 'clusterUid'>;
    readonly meta: ClusterMeta;
  },
  readers: Readers,
): Promise<SetRead> {
  const { meta, ref } = stored;
  const request: SetRequest = {
    set: 'nodes',
    sliceCount: meta.sliceCount,
    changed: meta.nodesChanged,
  };
  const { sets, loading } = readers.cache;
  const key = warmKey({ clusterUid: ref.clusterUid, set: 'nodes' }, meta.sliceCount);
  const warm = sets.get(key, request.changed);
  if (warm !== undefined) return { ...warm, kind: 'whole' };
  const loadKey = `${key}|${request.changed}`;
  const shared = loading.get(loadKey);
  if (shared !== undefined) {
    const loaded = await shared.catch(() => undefined);
    if (loaded !== undefined) return { ...loaded, kind: 'whole' };
  }
  const load = loadSet(stored, request, readers);
  const result = load.then((read) => asWarm(read, request.changed));
  // Runs that share the load handle its failure; without any, it must not be an unhandled rejection.
  result.catch(() => undefined);
  loading.set(loadKey, result);
  try {
    return await load;
  } finally {
    if (loading.get(loadKey) === result) loading.delete(loadKey);
  }
}

function asWarm(read: SetRead, changed: Stamp): WarmSet | undefined {
  return read.kind === 'whole' ? { ...read, changed } : undefined;
}

/** Pods and revisions: from memory only if the position has not moved since the state was read. */
async function readOwn(
  stored: SlicedInputs,
  request: SetRequest & { readonly isUnmoved: () => Promise<boolean> },
  readers: Readers,
): Promise<SetRead> {
  const { clusterUid } = stored.ref;
  const key = warmKey({ clusterUid, set: request.set }, request.sliceCount);
  const warm = readers.cache.sets.get(key, request.changed);
  if (warm === undefined) return loadSet(stored, request, readers);
  if (!(await request.isUnmoved())) return { kind: 'moving' };
  return { ...warm, kind: 'whole' };
}

/**
 * True of a view that is broken for good, and not just being written (protocol 2, L1). `ingest` writes slices, then
 * META, one message of a cluster at a time: what stands above a META that is read afterwards can only
 * be of the message that comes next, in this era or in the one that a manifest begins. Anything else no message will
 * ever reach; a snapshot does.
 */
export async function isBrokenForGood(
  { stamp, of }: StampAhead,
  ref: DaemonSetRef,
  view: ViewReader,
): Promise<boolean> {
  const meta = await view.readMeta(ref.clusterUid);
  if (meta === undefined || isOfNextMessage(stamp, meta)) return false;
  if (compareStamps(stamp, stampOf(meta)) > 0) return true;
  if (of === 'meta') return false;
  if (of === 'nodes') return compareStamps(stamp, meta.nodesChanged) > 0;
  const { podsChanged, revisionsChanged } = await readPosition(meta, ref, view);
  return compareStamps(stamp, of.startsWith('pods/') ? podsChanged : revisionsChanged) > 0;
}

function isOfNextMessage(stamp: Stamp, meta: ClusterMeta): boolean {
  const next = { ...meta, seq: meta.seq + 1 };
  return stamp === stampOf(next) || stamp === stampOf({ ...next, era: meta.era + 1 });
}

/** The view with its opaque objects resolved, or why they could not be. */
export type OpaqueResolution =
  | { readonly kind: 'resolved'; readonly read: ReadView }
  | { readonly kind: 'unavailable'; readonly message: string };

/**
 * Reads opaque pods and nodes live (protocol 22). What cannot be read makes the run defer: planning without it could
 * place a second pod beside it. Opaque revisions are left out: history looks live when its revision is not seen.
 */
export async function resolveOpaque(
  read: ReadView,
  reader: ClusterReader | undefined,
): Promise<OpaqueResolution> {
  const open = read.opaque.filter(({ of }) => of === 'Pod' || of === 'Node');
  if (open.length === 0) return { kind: 'resolved', read };
  if (reader === undefined) {
    return {
      kind: 'unavailable',
      message: `${counted(open.length, 'object')} could not be digested`,
    };
  }
  const nodes: NodeProjection[] = [...read.nodes];
  const pods: PodProjection[] = [...read.pods];
  for (const item of open) {
    const { name, namespace = '' } = item;
    const live =
      item.of === 'Node' ? await reader.getNode(name) : await reader.getPod({ namespace, name });
    if (live.kind === 'unavailable') return { kind: 'unavailable', message: live.message };
    if (live.kind === 'missing' || live.object.metadata.uid !== item.uid) continue;
    if (item.of === 'Node') nodes.push(projectLiveNode(live.object));
    else pods.push(projectLivePod(live.object));
  }
  return { kind: 'resolved', read: { ...read, nodes, pods, opaque: [] } };
}
