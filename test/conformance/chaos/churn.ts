/**
 * Continuous churn by seed: nodes join, leave, are made again, tainted, labelled, go NotReady; DaemonSets
 * are edited, rolled back, broken, deleted and made again; pods are deleted and fail.
 *
 * It goes straight to the API server, and takes every refusal as it comes: while faults are at work, a
 * request may fail, and after a restore the world is not what it was. What it knows it reads anew.
 * Bounded on purpose: few nodes are NotReady or tainted at a time, and a broken template is mended before
 * long, so that rollouts move on instead of waiting for their budget; and a node fails pods of a DaemonSet a few times at most, so that the back-off of failed
 * pods (15 minutes in the end) stays short of the bound in which everything must settle.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ApiError, type ApiClient, type KubernetesObject } from '../control-plane/api.ts';
import { setNodeReady } from '../control-plane/nodes.ts';
import { listAll } from '../control-plane/watch.ts';
import { daemonSetPath, podPath } from '../scenarios/daemon-set.ts';
import type { Seeded } from '../scenarios/seeded.ts';
import {
  PART_NAMES,
  PLACES,
  castNode,
  daemonSetOf,
  editOf,
  isMadeForStorage,
  nodeNames,
} from './cast.ts';
import type { TemplateVersion } from './cast.ts';

export interface Churn {
  /** How often each kind of step was done. */
  readonly counts: Readonly<Record<string, number>>;
  /** How many steps the cluster refused, e.g. because its API server was down. */
  readonly refused: () => number;
  /** Ends it, then heals what only a person could heal: bad images, nodes that are NotReady or take no pods, DaemonSets that are gone. */
  readonly end: () => Promise<void>;
}

export interface ChurnOptions {
  readonly admin: ApiClient;
  readonly seeded: Seeded;
  readonly nodesCount: number;
}

const PAUSE_MS = { from: 150, to: 1_200 };
const EXTRA_NODES_MAX = 8;
const NOT_READY_MAX = 2;
const TAINTED_MAX = 5;
const FAILURES_PER_PLACE_MAX = 3;
const FIRST_VERSION: TemplateVersion = { version: 'v1', isBad: false };
const HEAL_ATTEMPTS_MAX = 120;

interface NodeTaint {
  readonly key: string;
}

type Step = readonly [name: string, weight: number, run: (stage: ChurnStage) => Promise<void>];

const STEPS: readonly Step[] = [
  ['delete-pod', 5, (stage) => stage.deletePod()],
  ['fail-pod', 3, (stage) => stage.failPod()],
  ['edit', 4, (stage) => stage.edit(false)],
  ['roll-back', 2, (stage) => stage.rollBack()],
  ['break', 1, (stage) => stage.edit(true)],
  ['make-again', 1, (stage) => stage.makeAgain()],
  ['taint', 4, (stage) => stage.taint()],
  ['label', 3, (stage) => stage.label()],
  ['not-ready', 2, (stage) => stage.notReady()],
  ['join', 2, (stage) => stage.join()],
  ['leave', 2, (stage) => stage.leave()],
  ['remake-node', 2, (stage) => stage.remakeNode()],
];

/** Creates nodes and DaemonSets. */
export async function setScene(admin: ApiClient, nodesCount: number): Promise<void> {
  for (const name of nodeNames(nodesCount)) await admin.post('/api/v1/nodes', castNode(name));
  for (const name of PART_NAMES) {
    await admin.post(daemonSetPath({}), daemonSetOf(name, FIRST_VERSION));
  }
}

/** Starts churning until `end`. */
export function startChurn(options: ChurnOptions): Churn {
  const { seeded } = options;
  const stage = new ChurnStage(options);
  const counts: Record<string, number> = {};
  let refused = 0;
  let isEnding = false;
  const weights = STEPS.flatMap((step) => Array.from({ length: step[1] }, () => step));
  const run = async (): Promise<void> => {
    while (!isEnding) {
      const [name, , step] = seeded.pick(weights);
      try {
        await step(stage);
        counts[name] = (counts[name] ?? 0) + 1;
      } catch {
        // Refused, reset or gone meanwhile: that is what this suite does to everyone.
        refused += 1;
      }
      await delay(seeded.integer(PAUSE_MS));
    }
  };
  const finished = run();
  return {
    counts,
    refused: () => refused,
    end: async () => {
      isEnding = true;
      await finished;
      await healStubbornly(stage);
    },
  };
}

/** After a restart the API server refuses everyone for a moment. */
async function healStubbornly(stage: ChurnStage): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await stage.heal();
      return;
    } catch (error) {
      if (attempt === HEAL_ATTEMPTS_MAX) throw error;
      await delay(500);
    }
  }
}

class ChurnStage {
  readonly #admin: ApiClient;
  readonly #seeded: Seeded;
  readonly #nodesCount: number;
  readonly #failures = new Map<string, number>();
  readonly #former = new Map<string, TemplateVersion>();
  readonly #broken = new Set<string>();
  #versions = 1;

  constructor({ admin, seeded, nodesCount }: ChurnOptions) {
    this.#admin = admin;
    this.#seeded = seeded;
    this.#nodesCount = nodesCount;
  }

  async deletePod(): Promise<void> {
    const pod = await this.#anyPod();
    if (pod !== undefined) await this.#admin.delete(podPath(place(pod)));
  }

  async failPod(): Promise<void> {
    const pod = await this.#anyPod();
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return;
    const { nodeName } = pod['spec'] as { nodeName?: string };
    const key = `${pod.metadata.labels?.['app'] ?? ''} ${nodeName ?? ''}`;
    const failures = this.#failures.get(key) ?? 0;
    if (nodeName === undefined || failures >= FAILURES_PER_PLACE_MAX) return;
    this.#failures.set(key, failures + 1);
    await this.#admin.patch(`${podPath(place(pod))}/status`, { status: { phase: 'Failed' } });
  }

  async edit(isBad: boolean): Promise<void> {
    this.#versions += 1;
    const version = `v${String(this.#versions)}`;
    await this.#editTo(isBad ? this.#anyPart() : this.#partToEdit(), { version, isBad });
  }

  async rollBack(): Promise<void> {
    const name = this.#partToEdit();
    await this.#editTo(name, this.#former.get(name) ?? FIRST_VERSION);
  }

  /** Under its old name at once: its successor finds the pods of the one before still there (row 38). */
  async makeAgain(): Promise<void> {
    const name = this.#anyPart();
    await this.#admin.delete(daemonSetPath({ name }), { propagationPolicy: 'Background' });
    this.#versions += 1;
    const version = `v${String(this.#versions)}`;
    await this.#admin.post(daemonSetPath({}), daemonSetOf(name, { version, isBad: false }));
  }

  async taint(): Promise<void> {
    const key = this.#seeded.pick([PLACES.noSchedule, PLACES.noExecute]);
    const effect = key === PLACES.noSchedule ? 'NoSchedule' : 'NoExecute';
    const node = await this.#nodeToDisturb(TAINTED_MAX, (one) => taintsOf(one).some(isOurs));
    const others = taintsOf(node).filter((taint) => !isOurs(taint));
    const wanted = others.length < taintsOf(node).length ? others : [...others, { key, effect }];
    await this.#patchNode(node, {
      metadata: { resourceVersion: node.metadata.resourceVersion },
      spec: { taints: wanted },
    });
  }

  /** Of nodes that are made with storage, fewer than ten: of more, somebody would have to confirm what goes (ADR 0057). */
  async label(): Promise<void> {
    const made = (await this.#nodes()).filter(({ metadata }) => isMadeForStorage(metadata.name));
    const node = made.length === 0 ? await this.#anyNode() : this.#seeded.pick(made);
    const isStorage = node.metadata.labels?.[PLACES.storageLabel] === 'true';
    await this.#patchNode(node, {
      metadata: { labels: { [PLACES.storageLabel]: isStorage ? null : 'true' } },
    });
  }

  async notReady(): Promise<void> {
    const node = await this.#nodeToDisturb(NOT_READY_MAX, isNeverReady);
    const isAway = isNeverReady(node);
    await setNodeReady(this.#admin, node.metadata.name, isAway);
  }

  async join(): Promise<void> {
    const nodes = await this.#nodes();
    if (nodes.length >= this.#nodesCount + EXTRA_NODES_MAX) return;
    const taken = new Set(nodes.map(({ metadata }) => metadata.name));
    const free = nodeNames(this.#nodesCount * 2).filter((name) => !taken.has(name));
    await this.#admin.post('/api/v1/nodes', castNode(this.#seeded.pick(free)));
  }

  async leave(): Promise<void> {
    const nodes = await this.#nodes();
    if (nodes.length <= this.#nodesCount - EXTRA_NODES_MAX) return;
    await this.#admin.delete(`/api/v1/nodes/${this.#seeded.pick(nodes).metadata.name}`);
  }

  /** Another node under the same name, whose pods are still there (row 39). */
  async remakeNode(): Promise<void> {
    const { name } = (await this.#anyNode()).metadata;
    await this.#admin.delete(`/api/v1/nodes/${name}`);
    await this.#admin.post('/api/v1/nodes', castNode(name));
  }

  async heal(): Promise<void> {
    for (const node of await this.#nodes()) {
      if (isNeverReady(node)) await setNodeReady(this.#admin, node.metadata.name, true);
      await this.#letPodsIn(node);
    }
    for (const name of PART_NAMES) {
      const path = daemonSetPath({ name });
      const found = await this.#admin.request({ method: 'GET', path });
      if (found.status === 404) {
        await this.#admin.post(daemonSetPath({}), daemonSetOf(name, FIRST_VERSION));
      } else if (found.status >= 400) {
        throw new ApiError({ method: 'GET', path }, found);
      } else {
        const { version, isBad } = versionOf(found.body as KubernetesObject);
        if (isBad) await this.#admin.patch(path, editOf({ version, isBad: false }));
      }
    }
  }

  /**
   * A taint that came between the creation of a pod and its binding leaves that pod pending for ever: it
   * may stay (spec 2.5), so it is not deleted, and a rollout counts it as unavailable, as upstream.
   */
  async #letPodsIn(node: KubernetesObject): Promise<void> {
    const taints = taintsOf(node);
    const wanted = taints.filter(({ key }) => key !== PLACES.noSchedule);
    if (wanted.length === taints.length) return;
    const { resourceVersion } = node.metadata;
    await this.#patchNode(node, { metadata: { resourceVersion }, spec: { taints: wanted } });
  }

  async #editTo(name: string, template: TemplateVersion): Promise<void> {
    const path = daemonSetPath({ name });
    const before = versionOf(await this.#admin.get(path));
    await this.#admin.patch(path, editOf(template));
    if (!before.isBad) this.#former.set(name, before);
    if (template.isBad) this.#broken.add(name);
    else this.#broken.delete(name);
  }

  #anyPart(): string {
    return this.#seeded.pick(PART_NAMES);
  }

  #partToEdit(): string {
    const [broken] = this.#broken;
    return broken ?? this.#anyPart();
  }

  /** Any node; one of the disturbed ones when there are enough of them. */
  async #nodeToDisturb(
    countMax: number,
    isDisturbed: (node: KubernetesObject) => boolean,
  ): Promise<KubernetesObject> {
    const nodes = await this.#nodes();
    const disturbed = nodes.filter(isDisturbed);
    return this.#seeded.pick(disturbed.length >= countMax ? disturbed : nodes);
  }

  async #anyPod(): Promise<KubernetesObject | undefined> {
    const { items } = await listAll(this.#admin, '/api/v1/namespaces/default/pods');
    return items.length === 0 ? undefined : this.#seeded.pick(items);
  }

  async #nodes(): Promise<readonly KubernetesObject[]> {
    return (await listAll(this.#admin, '/api/v1/nodes')).items;
  }

  async #anyNode(): Promise<KubernetesObject> {
    return this.#seeded.pick(await this.#nodes());
  }

  async #patchNode(node: KubernetesObject, body: unknown): Promise<void> {
    await this.#admin.patch(`/api/v1/nodes/${node.metadata.name}`, body);
  }
}

export function versionOf(daemonSet: KubernetesObject): TemplateVersion {
  const { template } = daemonSet['spec'] as {
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: { readonly containers: readonly { readonly image: string }[] };
    };
  };
  const image = template.spec.containers[0]?.image ?? '';
  return {
    version: template.metadata.labels['version'] ?? '',
    isBad: image.includes('cannot-pull'),
  };
}

function isNeverReady({ metadata }: KubernetesObject): boolean {
  return metadata.labels?.[PLACES.neverReady] === 'true';
}

function taintsOf(node: KubernetesObject): readonly NodeTaint[] {
  const { taints = [] } = node['spec'] as { readonly taints?: readonly NodeTaint[] };
  return taints;
}

/** The others are the node controller's. */
function isOurs({ key }: NodeTaint): boolean {
  return key === PLACES.noSchedule || key === PLACES.noExecute;
}

function place({ metadata }: KubernetesObject): {
  readonly namespace: string;
  readonly name: string;
} {
  return { namespace: metadata.namespace ?? '', name: metadata.name };
}
