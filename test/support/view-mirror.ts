/**
 * A watcher and its ingest in one step: copies a simulated cluster into the view table.
 *
 * It keeps the order that reconcile relies on (slices, DaemonSet, name, position, META; protocol 20)
 * and stamps only what differs, so tests of reconcile need neither queue nor watcher. Like the watcher it
 * keeps the former version of what differs in nothing else (design 2). Lag is simply a test that does not
 * call `sync` yet; `syncSlices` without `syncMeta` is an ingest in the middle.
 */
import { compileSelector } from '@rollcall/base/label-selector.ts';
import { nodeName, resourceVersion, uid as asUid } from '../../src/core/model/identifiers.ts';
import type { ClusterUid, Epoch, Incarnation } from '../../src/core/model/identifiers.ts';
import { canonicalJson, type Json } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject, Taint } from '@rollcall/base/objects.ts';
import { ZERO_STAMP, stampOf, type Stamp } from '../../src/core/model/position.ts';
import type {
  NodeProjection,
  Projection,
  RevisionProjection,
} from '../../src/core/model/projections.ts';
import type { ClusterMeta, Slice } from '../../src/core/model/view-items.ts';
import { EMPTY_HASHES, projectionText } from '../../src/core/projections/set-hash.ts';
import { keepTombstones, tombstoneOf } from '../../src/core/pod/tombstones.ts';
import { projectLivePod } from '../../src/core/projections/project.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { SlicedSet, ViewStore } from '../../src/ports/stores/view-store.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';
import { controllerUid } from './simulated-objects.ts';

/** Copies one simulated cluster into one view table. */
export class ViewMirror {
  readonly #cluster: SimulatedCluster;
  readonly #view: ViewStore;
  readonly #clock: Clock;
  readonly #known = new Map<string, { namespace: string; name: string; uid: string }>();
  era = 1;
  epoch = '500' as Epoch;
  seq = 0;
  /** Hides pods from the view, as a filter or a lost event would. */
  hide: (pod: KubernetesObject) => boolean = () => false;

  constructor(cluster: SimulatedCluster, view: ViewStore, clock: Clock) {
    this.#cluster = cluster;
    this.#view = view;
    this.#clock = clock;
  }

  get clusterUid(): ClusterUid {
    return this.#cluster.clusterUid;
  }

  get stamp(): Stamp {
    const incarnation = 'mirror' as Incarnation;
    return stampOf({ era: this.era, epoch: this.epoch, incarnation, seq: this.seq });
  }

  /** One message, applied whole. */
  async sync(change: Partial<ClusterMeta> = {}): Promise<void> {
    await this.syncSlices();
    await this.syncMeta(change);
  }

  /** Everything but META: where an ingest may be when a run reads. */
  async syncSlices(): Promise<void> {
    this.seq += 1;
    await this.#slice('nodes', this.#cluster.list('nodes').map(projectNode));
    const live = new Set<string>();
    for (const object of this.#cluster.list('daemonsets')) {
      live.add(object.metadata.uid);
      await this.#daemonSet(object as DaemonSetObject);
    }
    for (const [uid, known] of this.#known) {
      if (live.has(uid)) continue;
      this.#known.delete(uid);
      const ref = { clusterUid: this.clusterUid, uid: asUid(uid) };
      await this.#view.writeDaemonSet(ref, { stamp: this.stamp, object: null });
      const name = await this.#view.readName(this.clusterUid, known);
      if (name?.uid !== uid) continue;
      await this.#view.writeName(this.clusterUid, { ...name, uid: null, stamp: this.stamp });
    }
  }

  /** META, last: marks as of now. */
  async syncMeta(change: Partial<ClusterMeta> = {}): Promise<void> {
    const former = await this.#view.readMeta(this.clusterUid);
    const nodes = await this.#view.readSlice({
      clusterUid: this.clusterUid,
      set: 'nodes',
      index: 0,
    });
    const version = resourceVersion(this.#cluster.version);
    const nowMs = this.#clock.nowMs();
    const heard = { Node: nowMs, Pod: nowMs, DaemonSet: nowMs, ControllerRevision: nowMs };
    const meta: ClusterMeta = {
      version: former?.version ?? 0,
      clusterUid: this.clusterUid,
      era: this.era,
      epoch: this.epoch,
      incarnation: 'mirror' as Incarnation,
      seq: this.seq,
      isComplete: true,
      isCutOpen: false,
      broken: former?.broken ?? 0,
      sliceCount: 1,
      marks: { Node: version, Pod: version, DaemonSet: version, ControllerRevision: version },
      hashes: EMPTY_HASHES,
      lastSentAtMs: nowMs,
      heardAtMs: heard,
      nodesChanged: nodes?.stamp ?? ZERO_STAMP,
      daemonSetsChanged: this.stamp,
      ...change,
    };
    const result = await this.#view.writeMeta(meta);
    if (result === 'lost') throw new Error('the mirror is the only writer of META in a test');
  }

  async #daemonSet(object: DaemonSetObject): Promise<void> {
    const uid = asUid(object.metadata.uid);
    const { namespace = '', name } = object.metadata;
    const ref = { clusterUid: this.clusterUid, uid };
    this.#known.set(uid, { namespace, name, uid });
    const pods = this.#cluster
      .list('pods')
      .filter((pod) => pod.metadata.namespace === namespace && !this.hide(pod))
      .filter((pod) => [undefined, object.metadata.uid].includes(controllerUid(pod)))
      .map(projectLivePod);
    const revisions = this.#cluster
      .list('controllerrevisions')
      .filter((item) => standsWith(object, item))
      .map(projectRevision);
    const podsChanged = await this.#slice(`pods/${uid}`, pods);
    const revisionsChanged = await this.#slice(`revisions/${uid}`, revisions);
    const stored = await this.#view.readDaemonSet(ref);
    if (contentOf(stored?.object ?? null) !== contentOf(object)) {
      await this.#view.writeDaemonSet(ref, { stamp: this.stamp, object });
    }
    const known = await this.#view.readName(this.clusterUid, { namespace, name });
    if (known?.uid !== uid) {
      const item = { namespace, name, uid, stamp: this.stamp };
      await this.#view.writeName(this.clusterUid, item);
    }
    await this.#view.raisePosition(ref, { podsChanged, revisionsChanged });
  }

  /** Writes a slice if it differs; answers its stamp. */
  async #slice(set: SlicedSet, objects: readonly Projection[]): Promise<Stamp> {
    const ref = { clusterUid: this.clusterUid, set, index: 0 };
    const stored = await this.#view.readSlice(ref);
    const former = new Map(stored?.objects.map(({ object }) => [object.uid, object]));
    const entries = objects.map((object) => {
      const known = former.get(object.uid);
      const isSame = known !== undefined && projectionText(known) === projectionText(object);
      return { object: isSame ? known : object, hash: 0 };
    });
    if (stored !== undefined && textOf(stored.objects) === textOf(entries)) return stored.stamp;
    const living = new Set(objects.map(({ uid }) => uid));
    const left = (stored?.objects ?? []).flatMap(({ object }) =>
      object.kind === 'Pod' ? (tombstoneOf(object, this.#clock.nowMs()) ?? []) : [],
    );
    const gone = keepTombstones([...left, ...(stored?.gone ?? [])], {
      nowMs: this.#clock.nowMs(),
      isLiving: (uid) => living.has(uid),
    });
    const buried = gone.length === 0 ? {} : { gone };
    const slice: Slice = { stamp: this.stamp, objects: entries, ...buried };
    await this.#view.writeSlice(ref, slice, stored?.stamp);
    return this.stamp;
  }
}

/** Owned ones, whatever their labels, and orphans that the selector matches (protocol 21). */
function standsWith(daemonSet: DaemonSetObject, { metadata, ...item }: KubernetesObject): boolean {
  if (metadata.namespace !== daemonSet.metadata.namespace) return false;
  const owner = controllerUid({ ...item, metadata });
  if (owner !== undefined) return owner === daemonSet.metadata.uid;
  return compileSelector(daemonSet.spec.selector).matches(metadata.labels ?? {});
}

function contentOf(object: DaemonSetObject | null): string {
  if (object === null) return '';
  const { managedFields: _dropped, ...metadata } =
    object.metadata as KubernetesObject['metadata'] & {
      readonly managedFields?: unknown;
    };
  return textOf({ ...object, metadata: { ...metadata, resourceVersion: '' } });
}

function textOf(value: unknown): string {
  return canonicalJson(value as Json);
}

/** Nodes of these tests are Ready unless their status says otherwise. */
function isNodeReady(node: KubernetesObject): boolean {
  const status = node['status'] as
    { conditions?: readonly { readonly type: string; readonly status: string }[] } | undefined;
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status !== 'False';
}

export function projectNode(node: KubernetesObject): NodeProjection {
  const spec = node['spec'] as { taints?: readonly Taint[]; unschedulable?: boolean } | undefined;
  const { creationTimestamp } = node.metadata;
  return {
    kind: 'Node',
    name: nodeName(node.metadata.name),
    uid: asUid(node.metadata.uid),
    resourceVersion: resourceVersion(node.metadata.resourceVersion),
    labels: node.metadata.labels ?? {},
    taints: spec?.taints ?? [],
    unschedulable: spec?.unschedulable === true,
    isReady: isNodeReady(node),
    isTerminating: node.metadata.deletionTimestamp !== undefined,
    ...(creationTimestamp === undefined ? {} : { createdAtMs: Date.parse(creationTimestamp) }),
  };
}

/** A revision as a watcher would project it. */
export function projectRevision(item: KubernetesObject): RevisionProjection {
  const owner = controllerUid(item);
  return {
    kind: 'ControllerRevision',
    namespace: item.metadata.namespace ?? '',
    name: item.metadata.name,
    uid: asUid(item.metadata.uid),
    resourceVersion: resourceVersion(item.metadata.resourceVersion),
    ...(owner === undefined ? {} : { ownerUid: asUid(owner) }),
    labels: item.metadata.labels ?? {},
    revision: Number(item['revision'] ?? 0),
    isTerminating: item.metadata.deletionTimestamp !== undefined,
  };
}
