/**
 * A simulated API server with a history: everything that changes is a commit that can be watched.
 *
 * Adds to SimulatedCluster what the watcher and an observer need: the log of commits in the order of
 * their resourceVersions, compaction (410), backups of etcd, generations, finalizers, and the snapshot
 * request on the Lease. Listeners hear of each commit at once; nothing stands between them and it.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject, Taint } from '@rollcall/base/objects.ts';
import type { LiveRead } from '../../../src/ports/cluster/cluster-access.ts';
import type { NamespacedName } from '../../../src/ports/stores/view-store.ts';
import {
  SNAPSHOT_REQUESTED_ANNOTATION,
  WATCHER_LEASE,
} from '../../../src/watcher/lease/lease-object.ts';
import { SimulatedCluster, type ClusterBackup } from '../simulated-cluster.ts';
import type { Kind } from '../simulated-hooks.ts';

/** One change of one object. A deletion carries the last state under the version of the deletion. */
export interface Commit {
  readonly version: number;
  readonly kind: Kind;
  readonly type: 'added' | 'modified' | 'deleted';
  readonly object: KubernetesObject;
}

/** Hears of every commit, and of a restore (undefined). */
export type CommitListener = (commit: Commit | undefined) => void;

type Named = { readonly metadata: { readonly name: string } } & Record<string, unknown>;

function withTaints(node: Named, joining: readonly Taint[]): Named {
  const spec = (node['spec'] ?? {}) as { readonly taints?: readonly Taint[] };
  return { ...node, spec: { ...spec, taints: [...(spec.taints ?? []), ...joining] } };
}

/** A simulated API server that can be watched. */
export class SimulatedApiServer extends SimulatedCluster {
  /** Commits still known to watches, oldest first. */
  commits: Commit[] = [];
  /** Every commit there ever was. */
  readonly history: Commit[] = [];
  /** True while nothing answers: etcd is being restored. */
  isAway: () => boolean = () => false;
  /** Versions up to this one are compacted: a watch from there is expired. */
  compactedVersion = 0;
  /** With these kubelets register, besides what a node has. */
  joiningTaints: readonly Taint[] = [];
  readonly #listeners = new Set<CommitListener>();

  /** Calls back at each commit until the returned function is called. */
  subscribe(listener: CommitListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  override put(kind: Kind, object: Named): KubernetesObject {
    const name = object.metadata as KubernetesObject['metadata'];
    const isNew = this.find(kind, name.name, name.namespace) === undefined;
    const isJoining = isNew && kind === 'nodes' && this.joiningTaints.length > 0;
    const stored = super.put(kind, isJoining ? withTaints(object, this.joiningTaints) : object);
    this.#commit(kind, isNew ? 'added' : 'modified', stored);
    return stored;
  }

  override change(
    kind: Kind,
    key: NamespacedName,
    edit: (object: KubernetesObject) => KubernetesObject,
  ): KubernetesObject {
    const stored = super.change(kind, key, edit);
    this.#commit(kind, 'modified', stored);
    const { deletionTimestamp, finalizers, name, namespace } = stored.metadata;
    const isReleased = deletionTimestamp !== undefined && (finalizers ?? []).length === 0;
    // A kubelet has to confirm a pod's end; everything else is gone with its last finalizer.
    if (isReleased && kind !== 'pods') this.remove(kind, name, namespace);
    return stored;
  }

  override remove(kind: Kind, name: string, namespace?: string): void {
    const former = this.find(kind, name, namespace);
    if (former === undefined) return;
    super.remove(kind, name, namespace);
    const metadata = { ...former.metadata, resourceVersion: this.version };
    this.#commit(kind, 'deleted', { ...former, metadata });
  }

  /** All API servers are stopped for a restore (etcd's operations guide): what was on its way to one of them is lost. */
  override restore(backup: ClusterBackup): void {
    super.restore(backup);
    this.dropStuck();
    this.commits = this.commits.filter((commit) => commit.version <= backup.version);
    // etcd goes back behind its compactions, too: a list of the new history is never one too old.
    this.compactedVersion = Math.min(this.compactedVersion, backup.version);
    for (const listener of this.#listeners) listener(undefined);
  }

  /** Begins with what another etcd held: all of it is told as if it had just been made, owners before pods. */
  begin(backup: ClusterBackup): void {
    super.restore(backup);
    this.compactedVersion = backup.version;
    const kinds = [...backup.objects.keys()].sort((left, right) =>
      left === 'pods' ? 1 : right === 'pods' ? -1 : 0,
    );
    for (const kind of kinds) {
      for (const object of this.list(kind)) {
        const version = Number(object.metadata.resourceVersion);
        for (const listener of this.#listeners) listener({ version, kind, type: 'added', object });
      }
    }
  }

  /** Forgets the history: a watch that resumes from before now is expired. */
  compact(): void {
    this.compactedVersion = Number(this.version);
    this.commits = [];
  }

  /** Creates a DaemonSet as a user does. */
  createDaemonSet(object: Named): DaemonSetObject {
    const metadata = { namespace: 'ns', ...object.metadata, generation: 1 };
    return this.put('daemonsets', { ...object, metadata }) as unknown as DaemonSetObject; // as put
  }

  /** Edits a DaemonSet's spec as a user does: its generation grows. */
  editDaemonSet(name: string, edit: (spec: JsonObject) => JsonObject): void {
    this.change('daemonsets', { namespace: 'ns', name }, (object) => ({
      ...object,
      metadata: { ...object.metadata, generation: (object.metadata.generation ?? 0) + 1 },
      spec: edit(object['spec'] as JsonObject),
    }));
  }

  override async requestSnapshot(requestId: string): Promise<LiveRead<JsonObject>> {
    const answer = await super.requestSnapshot(requestId);
    if (answer.kind !== 'found') return answer;
    const { namespace, name } = WATCHER_LEASE;
    if (this.find('leases', name, namespace) === undefined) return { kind: 'missing' };
    const lease = this.change('leases', WATCHER_LEASE, (former) => {
      const annotations = {
        ...former.metadata.annotations,
        [SNAPSHOT_REQUESTED_ANNOTATION]: requestId,
      };
      return { ...former, metadata: { ...former.metadata, annotations } };
    });
    return { kind: 'found', object: lease as unknown as JsonObject }; // stored objects are raw JSON
  }

  #commit(kind: Kind, type: Commit['type'], object: KubernetesObject): void {
    const commit = { version: Number(this.version), kind, type, object };
    this.commits.push(commit);
    this.history.push(commit);
    for (const listener of this.#listeners) listener(commit);
  }
}
