/**
 * An ordinary day of a cluster, as users' tools make it, the same from the first minute to the last: two managers that
 * apply DaemonSets server-side, an annotator, a rewriter of every object's metadata, an autoscaler, evictions, cordons,
 * and now and then a new version.
 *
 * Only nodes that come and go, evictions and new versions give a pod a reason to change. What is refused (an object that
 * has just gone) is counted, and nobody's fault.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiClient, KubernetesObject } from '../control-plane/api.ts';
import { listAll } from '../control-plane/watch.ts';
import { castNode, daemonSetOf, PART_NAMES, PLACES } from '../chaos/cast.ts';
import { daemonSetPath, podPath } from '../scenarios/daemon-set.ts';
import type { Seeded } from '../scenarios/seeded.ts';

/** A day that goes on. */
export interface Day {
  /** How often each routine was done. */
  readonly counts: Readonly<Record<string, number>>;
  readonly refused: () => number;
  /** Ends it: nodes are uncordoned, those that were to be deleted are gone. */
  readonly end: () => Promise<void>;
}

const LISTS = [
  '/api/v1/nodes',
  '/api/v1/namespaces/default/pods',
  '/apis/apps/v1/namespaces/default/daemonsets',
  '/apis/apps/v1/namespaces/default/controllerrevisions',
  '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases',
] as const;
/** What an autoscaler waits between its taint and the end of a machine. */
const DRAIN_MS = 4000;
const APPLY = 'application/apply-patch+yaml';

/** Routines with how long they rest, in milliseconds. */
const ROUTINES: readonly (readonly [name: string, restMs: number, act: Routine])[] = [
  ['apply-by-flux', 7000, (cluster) => cluster.applyWhole()],
  ['apply-by-argocd', 11_000, (cluster) => cluster.applyMarks()],
  ['annotate', 1000, (cluster) => cluster.annotate()],
  ['rewrite-all', 45_000, (cluster) => cluster.rewriteAll()],
  ['scale', 20_000, (cluster) => cluster.scale()],
  ['evict', 15_000, (cluster) => cluster.evict()],
  ['cordon', 13_000, (cluster) => cluster.cordon()],
  ['new-version', 90_000, (cluster) => cluster.newVersion()],
];

type Routine = (cluster: UsersCluster) => Promise<void>;

/** Begins the day. */
export function beginDay(options: {
  readonly admin: ApiClient;
  readonly seeded: Seeded;
  readonly nodesCount: number;
}): Day {
  const cluster = new UsersCluster(options);
  const counts: Record<string, number> = {};
  const ending = new AbortController();
  let refused = 0;
  const follow = async ([name, restMs, act]: (typeof ROUTINES)[number]): Promise<void> => {
    while (!ending.signal.aborted) {
      await delay(restMs, undefined, { signal: ending.signal }).catch(() => undefined);
      try {
        await act(cluster);
        counts[name] = (counts[name] ?? 0) + 1;
      } catch {
        refused += 1;
      }
    }
  };
  const finished = Promise.all(ROUTINES.map(follow));
  return {
    counts,
    refused: () => refused,
    end: async () => {
      ending.abort();
      await finished;
      await cluster.tidyUp();
    },
  };
}

class UsersCluster {
  readonly #admin: ApiClient;
  readonly #seeded: Seeded;
  readonly #nodesCount: number;
  readonly #versions = new Map<string, number>();
  #joined = 0;

  constructor({ admin, seeded, nodesCount }: Parameters<typeof beginDay>[0]) {
    this.#admin = admin;
    this.#seeded = seeded;
    this.#nodesCount = nodesCount;
  }

  /** The whole object, as it stands in Git: mostly what is there already. */
  async applyWhole(): Promise<void> {
    for (const name of PART_NAMES) await this.#applyPart(name);
  }

  /** Another manager's own labels and annotations, with a value that changes. */
  async applyMarks(): Promise<void> {
    for (const name of PART_NAMES) {
      const annotations = { 'argocd.argoproj.io/tracking-id': `soak:${String(Date.now())}` };
      const metadata = { name, namespace: 'default', annotations };
      await this.#apply('argocd-controller', {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata,
      });
    }
  }

  async annotate(): Promise<void> {
    const second = { metadata: { annotations: { 'example.com/second': String(Date.now()) } } };
    await this.#admin.patch(daemonSetPath({ name: this.#seeded.pick(PART_NAMES) }), second);
    const pods = await this.#list('/api/v1/namespaces/default/pods');
    await this.#admin.patch(podPath(place(this.#seeded.pick(pods))), second);
  }

  /** A label of the rewriter's own on every object there is: each gets a version and an event. */
  async rewriteAll(): Promise<void> {
    const annotations = { 'example.com/rewritten': String(Date.now()) };
    for (const path of LISTS) {
      for (const { metadata } of await this.#list(path)) {
        const body = { metadata: { annotations } };
        await this.#admin.request({ method: 'PATCH', path: `${path}/${metadata.name}`, body });
      }
    }
  }

  /** One machine goes as an autoscaler takes it, taint first; one joins where there are too few. */
  async scale(): Promise<void> {
    const nodes = await this.#list('/api/v1/nodes');
    const { name } = this.#seeded.pick(nodes).metadata;
    await this.#admin.patch(`/api/v1/nodes/${name}`, {
      spec: { taints: [{ key: PLACES.toBeDeleted, value: '1', effect: 'NoSchedule' }] },
    });
    await delay(DRAIN_MS);
    await this.#admin.delete(`/api/v1/nodes/${name}`);
    for (let count = nodes.length - 1; count < this.#nodesCount; count += 1) {
      this.#joined += 1;
      const joining = `joined-${String(this.#joined).padStart(4, '0')}`;
      await this.#admin.post('/api/v1/nodes', castNode(joining));
    }
  }

  /** By name, as drain does. */
  async evict(): Promise<void> {
    const pod = this.#seeded.pick(await this.#list('/api/v1/namespaces/default/pods'));
    await this.#admin.post(`${podPath(place(pod))}/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: pod.metadata.name, namespace: 'default' },
    });
  }

  async cordon(): Promise<void> {
    const node = this.#seeded.pick(await this.#list('/api/v1/nodes'));
    await this.#setCordon(node, !isCordoned(node));
  }

  async newVersion(): Promise<void> {
    const name = this.#seeded.pick(PART_NAMES);
    this.#versions.set(name, (this.#versions.get(name) ?? 1) + 1);
    await this.#applyPart(name);
  }

  async tidyUp(): Promise<void> {
    for (const node of await this.#list('/api/v1/nodes')) {
      const { taints = [] } = node['spec'] as { readonly taints?: readonly { key: string }[] };
      if (taints.some(({ key }) => key === PLACES.toBeDeleted)) {
        await this.#admin.delete(`/api/v1/nodes/${node.metadata.name}`);
      } else if (isCordoned(node)) await this.#setCordon(node, false);
    }
  }

  async #setCordon(node: KubernetesObject, unschedulable: boolean): Promise<void> {
    await this.#admin.patch(`/api/v1/nodes/${node.metadata.name}`, { spec: { unschedulable } });
  }

  async #applyPart(name: string): Promise<void> {
    const version = `v${String(this.#versions.get(name) ?? 1)}`;
    await this.#apply('flux', daemonSetOf(name, { version, isBad: false }));
  }

  async #apply(manager: string, body: KubernetesObject): Promise<void> {
    const path = `${daemonSetPath({ name: body.metadata.name })}?fieldManager=${manager}&force=true`;
    const answer = await this.#admin.request({ method: 'PATCH', path, body, contentType: APPLY });
    if (answer.status >= 400) throw new Error(`${manager}: ${JSON.stringify(answer.body)}`);
  }

  async #list(path: string): Promise<readonly KubernetesObject[]> {
    return (await listAll(this.#admin, path)).items;
  }
}

function isCordoned(node: KubernetesObject): boolean {
  return (node['spec'] as { readonly unschedulable?: boolean }).unschedulable === true;
}

function place({ metadata }: KubernetesObject): {
  readonly namespace: string;
  readonly name: string;
} {
  return { namespace: metadata.namespace ?? '', name: metadata.name };
}
