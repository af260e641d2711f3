/**
 * A small built-in DaemonSet controller on a simulated cluster, for plays of copilot: what it does there, never how fast.
 *
 * One `sync` is one pass over all DaemonSets, as facts §2 has it for OnDelete: the template's revision is made, or
 * renumbered when the template was rolled back; failed pods and surplus ones go; a node without a pod gets one of the
 * *newest* template; the status follows. With RollingUpdate outdated pods go at maxUnavailable 1. Taints keep and evict
 * nobody, selectors of nodes are not looked at, nothing surges. Bytes decide what is one template, as in the original.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { canonicalJson } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import { hash48 } from '@rollcall/base/hash48.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import { nodeOf } from './simulated-cluster.ts';
import { controllerUid } from './simulated-objects.ts';

/** What it reads and writes: an API server, as anybody outside of the functions does. */
export interface BuiltInHost {
  list(kind: 'pods' | 'nodes' | 'daemonsets' | 'controllerrevisions'): readonly KubernetesObject[];
  put(kind: 'pods' | 'controllerrevisions', object: StoredObject): KubernetesObject;
  change(
    kind: 'daemonsets' | 'controllerrevisions',
    key: { readonly namespace: string; readonly name: string },
    edit: (object: KubernetesObject) => KubernetesObject,
  ): KubernetesObject;
  remove(kind: 'pods', name: string, namespace?: string): void;
}

type StoredObject = JsonObject & {
  readonly metadata: { readonly name: string; readonly [field: string]: unknown };
};

const HASH_LABEL = 'controller-revision-hash';

/** The controller; it keeps nothing but a counter for names. */
export class SimulatedBuiltIn {
  /** False: it stands still, as one whose leader is gone. */
  isRunning = true;
  /** Refuses a pod, as quota or admission does. */
  refuses: (daemonSet: DaemonSetObject, node: string) => boolean = () => false;
  readonly #host: BuiltInHost;
  #names = 0;

  constructor(host: BuiltInHost) {
    this.#host = host;
  }

  /** One pass. */
  sync(): void {
    if (!this.isRunning) return;
    for (const object of this.#host.list('daemonsets')) {
      if (object.metadata.deletionTimestamp !== undefined) continue;
      this.#syncOne(object as unknown as DaemonSetObject); // a DaemonSet by its kind
    }
  }

  #syncOne(daemonSet: DaemonSetObject): void {
    const hash = this.#snapshot(daemonSet);
    const nodes = this.#host.list('nodes').map(({ metadata }) => metadata.name);
    this.#manage(daemonSet, { hash, nodes });
    if (daemonSet.spec.updateStrategy?.type !== 'OnDelete') this.#roll(daemonSet, hash);
    this.#writeStatus(daemonSet, { hash, nodes });
  }

  #podsOf({ metadata }: DaemonSetObject): readonly KubernetesObject[] {
    return this.#host.list('pods').filter((pod) => controllerUid(pod) === metadata.uid);
  }

  /** Makes or renumbers the revision of the template; answers its hash. */
  #snapshot(daemonSet: DaemonSetObject): string {
    const { uid, name, namespace = '' } = daemonSet.metadata;
    const template = { ...(daemonSet.spec.template as object), $patch: 'replace' } as JsonObject;
    const text = canonicalJson({ spec: { template } });
    const owned = this.#host
      .list('controllerrevisions')
      .filter((revision) => controllerUid(revision) === uid);
    const newest = Math.max(0, ...owned.map(numberOf));
    const found = owned.find((revision) => canonicalJson(revision['data'] as Json) === text);
    const hash = found?.metadata.labels?.[HASH_LABEL] ?? hash48(`${uid} ${text}`).toString(36);
    if (found === undefined) {
      const labels = { ...daemonSet.spec.template.metadata?.labels, [HASH_LABEL]: hash };
      const ownerReferences = [ownerOf(daemonSet)];
      const metadata = { name: `${name}-${hash}`, namespace, labels, ownerReferences };
      const kind = { apiVersion: 'apps/v1', kind: 'ControllerRevision' };
      const data = { spec: { template } };
      this.#host.put('controllerrevisions', { ...kind, metadata, data, revision: newest + 1 });
    } else if (numberOf(found) < newest) {
      this.#host.change(
        'controllerrevisions',
        { namespace, name: found.metadata.name },
        (object) => {
          return { ...object, revision: newest + 1 };
        },
      );
    }
    return hash;
  }

  #manage(
    daemonSet: DaemonSetObject,
    at: { readonly hash: string; readonly nodes: readonly string[] },
  ): void {
    const byNode = Map.groupBy(this.#podsOf(daemonSet), nodeOf);
    for (const node of at.nodes) {
      const [kept, ...others] = byNode.get(node) ?? [];
      for (const surplus of others) this.#delete(surplus);
      if (kept !== undefined && isEnded(kept)) this.#delete(kept);
      else if (kept === undefined && !this.refuses(daemonSet, node)) {
        this.#create(daemonSet, { node, hash: at.hash });
      }
    }
  }

  #delete(pod: KubernetesObject): void {
    if (pod.metadata.deletionTimestamp !== undefined) return;
    this.#host.remove('pods', pod.metadata.name, pod.metadata.namespace);
  }

  #create(daemonSet: DaemonSetObject, at: { readonly node: string; readonly hash: string }): void {
    const { name, namespace = '', generation = 0 } = daemonSet.metadata;
    const { template } = daemonSet.spec;
    this.#names += 1;
    const matchFields = [{ key: 'metadata.name', operator: 'In', values: [at.node] }];
    const nodeSelectorTerms = [{ matchFields }];
    const required = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
    this.#host.put('pods', {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `${name}-x${String(this.#names).padStart(4, '0')}`,
        namespace,
        labels: {
          ...template.metadata?.labels,
          [HASH_LABEL]: at.hash,
          'pod-template-generation': String(generation),
        },
        ownerReferences: [ownerOf(daemonSet)],
      },
      spec: { ...template.spec, affinity: { nodeAffinity: required } } as unknown as JsonObject,
      status: { phase: 'Pending' },
    });
  }

  #roll(daemonSet: DaemonSetObject, hash: string): void {
    const pods = this.#podsOf(daemonSet);
    if (!pods.every(isReady)) return;
    const old = pods.find(({ metadata }) => metadata.labels?.[HASH_LABEL] !== hash);
    if (old !== undefined) this.#delete(old);
  }

  #writeStatus(
    daemonSet: DaemonSetObject,
    at: { readonly hash: string; readonly nodes: readonly string[] },
  ): void {
    const { name, namespace = '', generation = 0 } = daemonSet.metadata;
    const pods = this.#podsOf(daemonSet);
    const ready = pods.filter(isReady).length;
    const status = {
      desiredNumberScheduled: at.nodes.length,
      currentNumberScheduled: pods.length,
      numberMisscheduled: 0,
      numberReady: ready,
      numberAvailable: ready,
      numberUnavailable: at.nodes.length - ready,
      updatedNumberScheduled: pods.filter(
        ({ metadata }) => metadata.labels?.[HASH_LABEL] === at.hash,
      ).length,
      observedGeneration: generation,
    };
    if (canonicalJson(status) === canonicalJson((daemonSet.status ?? {}) as unknown as Json))
      return;
    this.#host.change('daemonsets', { namespace, name }, (object) => ({ ...object, status }));
  }
}

function ownerOf({ metadata }: DaemonSetObject): JsonObject & { uid: string; name: string } {
  const { uid, name } = metadata;
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid, controller: true };
}

function numberOf(revision: KubernetesObject): number {
  return typeof revision['revision'] === 'number' ? revision['revision'] : 0;
}

function isEnded(pod: KubernetesObject): boolean {
  return ['Failed', 'Succeeded'].includes((pod['status'] as { phase?: string }).phase ?? '');
}

function isReady(pod: KubernetesObject): boolean {
  const { conditions = [] } = pod['status'] as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}
