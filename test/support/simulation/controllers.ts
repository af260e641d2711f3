/**
 * What else runs in a cluster: scheduler, kubelets, garbage collector and pod collector, in short.
 *
 * Each reacts to commits after a delay of virtual time and looks at the present state when it acts.
 * A pod is bound to the node it is aimed at, becomes ready (or fails, as `behaviour` says, or is ill, as its image
 * asks: ailments.ts), and is removed once its kubelet confirms a deletion. A dead kubelet confirms nothing. There is no node
 * controller: tests taint nodes themselves, and evict pods that bear a taint for seconds (steps-of-taints.ts).
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { ailingStep, ailmentOf, withAilingStatus, type Ailment } from './ailments.ts';
import type { Commit, SimulatedApiServer } from './api-server.ts';
import { isPinnedNowhere } from './pinned-pods.ts';

export type PodBehaviour = 'run' | 'fail' | 'succeed' | 'stay-pending';

/** Delays of the simulated controllers, in milliseconds. */
export interface ControllerDelays {
  readonly bindMs: number;
  readonly startMs: number;
  readonly stopMs: number;
  readonly collectMs: number;
  /** The pod collector waits long before it removes pods of a vanished node. */
  readonly orphanedPodMs: number;
}

const DELAYS: ControllerDelays = {
  bindMs: 10,
  startMs: 300,
  stopMs: 400,
  collectMs: 100,
  orphanedPodMs: 60_000,
};

const FOREGROUND = 'foregroundDeletion';
const ORPHAN = 'orphan';

interface PodStatus {
  readonly phase?: string;
}

/** Scheduler, kubelets and collectors of one simulated cluster. */
export class SimulatedControllers {
  behaviour: (pod: KubernetesObject) => PodBehaviour = () => 'run';
  /** How a pod that would run is ill; what its image asks for unless told. */
  illnessOf: (pod: KubernetesObject) => Ailment | undefined = ailmentOf;
  /** How long the containers of a bound pod take to become ready. */
  startDelayMs: () => number;
  /** How long the scheduler takes to bind a pod. */
  bindDelayMs: () => number;
  /** How long a pod that was deleted takes to end. */
  stopDelayMs: () => number;
  /** How far the clock of a node's kubelet is off. */
  kubeletSkewMs: (node: string) => number = () => 0;
  /** Nodes whose kubelet does nothing, and those whose kubelet refuses every pod. */
  readonly deadNodes = new Set<string>();
  readonly failingNodes = new Set<string>();
  /** Between two of the dependents that the garbage collector releases from an orphaning owner. */
  orphanPaceMs = 0;
  readonly #api: SimulatedApiServer;
  readonly #clock: Clock;
  readonly #delays: ControllerDelays;
  /** UIDs of owners whose dependents are being released one by one. */
  readonly #orphaning = new Set<string>();
  /** UIDs of pods that are ill: one chain of steps each. */
  readonly #ailing = new Set<string>();

  constructor(api: SimulatedApiServer, clock: Clock, delays: Partial<ControllerDelays> = {}) {
    this.#api = api;
    this.#clock = clock;
    this.#delays = { ...DELAYS, ...delays };
    this.startDelayMs = () => this.#delays.startMs;
    this.bindDelayMs = () => this.#delays.bindMs;
    this.stopDelayMs = () => this.#delays.stopMs;
    api.subscribe((commit) => {
      if (commit === undefined) this.lookAtEverything();
      else this.#react(commit);
    });
  }

  /** Deletes a pod as a user does: its kubelet has to confirm. */
  deletePod(pod: KubernetesObject): void {
    const { name, namespace = '' } = pod.metadata;
    const found = this.#api.find('pods', name, namespace);
    if (found?.metadata.uid !== pod.metadata.uid) return;
    if (found.metadata.deletionTimestamp !== undefined) return;
    this.#api.change('pods', { namespace, name }, (object) => this.#terminating(object));
  }

  /** Deletes a DaemonSet as a user does. */
  deleteDaemonSet(name: string, propagation: 'background' | 'foreground' | 'orphan'): void {
    const key = { namespace: 'ns', name };
    if (propagation === 'background') {
      this.#api.remove('daemonsets', name, key.namespace);
      return;
    }
    const finalizer = propagation === 'foreground' ? FOREGROUND : ORPHAN;
    this.#api.change('daemonsets', key, (object) => {
      const marked = this.#terminating(object);
      const finalizers = [...(object.metadata.finalizers ?? []), finalizer];
      const generation = (object.metadata.generation ?? 0) + 1;
      return { ...marked, metadata: { ...marked.metadata, generation, finalizers } };
    });
  }

  /** Removes a node object; its pods stay until the pod collector comes. */
  removeNode(name: string): void {
    this.#api.remove('nodes', name);
  }

  /** Looks at every object again: after a restore, or when a kubelet came back. */
  lookAtEverything(): void {
    const version = Number(this.#api.version);
    for (const kind of ['daemonsets', 'pods'] as const) {
      for (const object of this.#api.list(kind)) {
        this.#react({ version, kind, type: 'modified', object });
      }
    }
    this.#clock.after(this.#delays.collectMs, () => {
      this.#collectGarbage();
    });
    this.#collectLostLater();
  }

  #react({ kind, type, object }: Commit): void {
    const { bindMs, collectMs } = this.#delays;
    if (kind === 'pods' && type === 'deleted') this.#endForeground();
    if (kind === 'pods' && type !== 'deleted') this.#reactToPod(object, type === 'added');
    if (kind === 'nodes' && type === 'added') {
      this.#clock.after(bindMs, () => {
        this.lookAtEverything();
      });
    }
    if (kind === 'nodes' && type === 'deleted') {
      this.#collectLostLater();
    }
    const isNewDependent = type === 'added' && object.metadata.ownerReferences !== undefined;
    if (kind === 'daemonsets' || isNewDependent) {
      this.#clock.after(collectMs, () => {
        this.#collectGarbage();
      });
    }
  }

  #reactToPod(object: KubernetesObject, isNew: boolean): void {
    const { orphanedPodMs } = this.#delays;
    const isEnding = object.metadata.deletionTimestamp !== undefined;
    const isBound = boundNodeOf(object) !== undefined;
    if (isEnding) this.#later(this.stopDelayMs(), object, (pod) => this.#finish(pod));
    else if (!isBound) this.#later(this.bindDelayMs(), object, (pod) => this.#bind(pod));
    else if (phaseOf(object) === 'Pending') {
      this.#later(this.startDelayMs(), object, (pod) => this.#run(pod));
    }
    if (isNew) this.#later(orphanedPodMs, object, (pod) => this.#collectLost(pod));
  }

  /** Runs after a delay if the very pod still exists, on its present state. */
  #later(delayMs: number, pod: KubernetesObject, act: (pod: KubernetesObject) => void): void {
    this.#clock.after(delayMs, () => {
      const found = this.#api.find('pods', pod.metadata.name, pod.metadata.namespace);
      if (found?.metadata.uid === pod.metadata.uid) act(found);
    });
  }

  #bind(pod: KubernetesObject): void {
    const target = nodeOf(pod);
    if (boundNodeOf(pod) !== undefined || pod.metadata.deletionTimestamp !== undefined) return;
    if (target === undefined || this.#api.find('nodes', target) === undefined) return;
    if (isPinnedNowhere(pod)) return;
    this.#changePod(pod, (object) => ({
      ...object,
      spec: { ...(object['spec'] as JsonObject), nodeName: target },
    }));
  }

  #run(pod: KubernetesObject): void {
    const isDead = this.deadNodes.has(nodeOf(pod) ?? '');
    const isMissing = this.#api.find('nodes', nodeOf(pod) ?? '') === undefined;
    const isPending = phaseOf(pod) === 'Pending';
    if (isDead || isMissing || !isPending || pod.metadata.deletionTimestamp !== undefined) return;
    const isRefused = this.failingNodes.has(nodeOf(pod) ?? '');
    const behaviour = isRefused ? 'fail' : this.behaviour(pod);
    if (behaviour === 'stay-pending') return;
    const ailment = behaviour === 'run' ? this.illnessOf(pod) : undefined;
    if (ailment !== undefined) {
      this.#fallIll(pod, ailment);
      return;
    }
    const phase = { run: 'Running', fail: 'Failed', succeed: 'Succeeded' }[behaviour];
    this.setPhase(pod, phase);
  }

  /** Writes a pod's status as its kubelet does. */
  setPhase(pod: KubernetesObject, phase: string): void {
    const ready = {
      type: 'Ready',
      status: phase === 'Running' ? 'True' : 'False',
      lastTransitionTime: this.#kubeletTime(pod),
    };
    this.#changePod(pod, (object) => ({ ...object, status: { phase, conditions: [ready] } }));
  }

  #fallIll(pod: KubernetesObject, ailment: Ailment): void {
    const { uid } = pod.metadata;
    if (this.#ailing.has(uid)) return;
    this.#ailing.add(uid);
    this.#ail(pod, { ailment, index: 0 });
  }

  /** Writes a step of its kubelet; a dead one writes nothing, and goes on when it is back. */
  #ail(pod: KubernetesObject, { ailment, index }: { ailment: Ailment; index: number }): void {
    if (pod.metadata.deletionTimestamp !== undefined) return;
    const isDead = this.deadNodes.has(nodeOf(pod) ?? '');
    const at = this.#kubeletTime(pod);
    const step = ailingStep(ailment, index, Date.parse(at));
    if (!isDead) this.#changePod(pod, (object) => withAilingStatus(object, step, at));
    if (step.lastsMs === undefined) return;
    const next = isDead ? index : index + 1;
    this.#later(Math.max(step.lastsMs, 1), pod, (found) =>
      this.#ail(found, { ailment, index: next }),
    );
  }

  #finish(pod: KubernetesObject): void {
    if (pod.metadata.deletionTimestamp === undefined) return;
    if ((pod.metadata.finalizers ?? []).length > 0) {
      // The kubelet is done, the object stays: terminal and held (spec 2.4).
      const isTerminal = ['Failed', 'Succeeded'].includes(phaseOf(pod));
      if (!isTerminal && !this.deadNodes.has(nodeOf(pod) ?? '')) this.setPhase(pod, 'Failed');
      return;
    }
    const node = boundNodeOf(pod);
    const isConfirmed = node === undefined || this.#api.find('nodes', node) !== undefined;
    if (!isConfirmed || (node !== undefined && this.deadNodes.has(node))) return;
    this.#api.remove('pods', pod.metadata.name, pod.metadata.namespace);
  }

  #collectLostLater(): void {
    this.#clock.after(this.#delays.orphanedPodMs, () => {
      for (const pod of this.#api.list('pods')) this.#collectLost(pod);
    });
  }

  /** The pod collector: a bound pod whose node is gone is removed without asking a kubelet. */
  #collectLost(pod: KubernetesObject): void {
    const node = boundNodeOf(pod);
    if (node === undefined || this.#api.find('nodes', node) !== undefined) return;
    if ((pod.metadata.finalizers ?? []).length > 0) return;
    this.#api.remove('pods', pod.metadata.name, pod.metadata.namespace);
  }

  #collectGarbage(): void {
    for (const kind of ['pods', 'controllerrevisions', 'podtemplates'] as const) {
      for (const object of this.#api.list(kind)) this.#collectDependent(kind, object);
    }
    for (const set of this.#api.list('daemonsets')) {
      if (set.metadata.finalizers?.includes(ORPHAN) === true) this.#orphan(set);
    }
    this.#endForeground();
  }

  #collectDependent(
    kind: 'pods' | 'controllerrevisions' | 'podtemplates',
    object: KubernetesObject,
  ): void {
    const references = object.metadata.ownerReferences ?? [];
    const reference = references.find((owner) => owner.kind === 'DaemonSet');
    if (reference === undefined) return;
    const sets = this.#api.list('daemonsets');
    const owner = sets.find((set) => set.metadata.uid === reference.uid);
    const finalizers = owner?.metadata.finalizers ?? [];
    if (finalizers.includes(ORPHAN)) return;
    if (owner === undefined || finalizers.includes(FOREGROUND)) {
      if (kind === 'pods') this.deletePod(object);
      else this.#api.remove(kind, object.metadata.name, object.metadata.namespace);
    }
  }

  /** References go one by one, the finalizer last; a dependent made meanwhile keeps its own. */
  #orphan(set: KubernetesObject): void {
    const { uid } = set.metadata;
    if (this.#orphaning.has(uid)) return;
    this.#orphaning.add(uid);
    const dependents = (['pods', 'controllerrevisions'] as const).flatMap((kind) =>
      this.#api.list(kind).flatMap((object) => (ownsOne(set, object) ? [{ kind, object }] : [])),
    );
    for (const [index, { kind, object }] of dependents.entries()) {
      this.#soon(index * this.orphanPaceMs, () => {
        this.#release(kind, object, uid);
      });
    }
    this.#soon(dependents.length * this.orphanPaceMs, () => {
      this.#orphaning.delete(uid);
      const found = this.#api.find('daemonsets', set.metadata.name, set.metadata.namespace);
      if (found?.metadata.uid === uid) this.#dropFinalizer(found, ORPHAN);
    });
  }

  /** At once if there is nothing to wait for. */
  #soon(delayMs: number, act: () => void): void {
    if (delayMs === 0) act();
    else this.#clock.after(delayMs, act);
  }

  #release(kind: 'pods' | 'controllerrevisions', object: KubernetesObject, uid: string): void {
    const { name, namespace = '' } = object.metadata;
    if (this.#api.find(kind, name, namespace)?.metadata.uid !== object.metadata.uid) return;
    this.#api.change(kind, { namespace, name }, (former) => {
      const kept = (former.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== uid);
      return { ...former, metadata: { ...former.metadata, ownerReferences: kept } };
    });
  }

  #endForeground(): void {
    const pods = this.#api.list('pods');
    for (const set of this.#api.list('daemonsets')) {
      if (set.metadata.finalizers?.includes(FOREGROUND) !== true) continue;
      const isOwner = (pod: KubernetesObject): boolean =>
        (pod.metadata.ownerReferences ?? []).some((owner) => owner.uid === set.metadata.uid);
      if (!pods.some(isOwner)) this.#dropFinalizer(set, FOREGROUND);
    }
  }

  #dropFinalizer(set: KubernetesObject, finalizer: string): void {
    const { name, namespace = '' } = set.metadata;
    this.#api.change('daemonsets', { namespace, name }, (object) => {
      const finalizers = (object.metadata.finalizers ?? []).filter((each) => each !== finalizer);
      return { ...object, metadata: { ...object.metadata, finalizers } };
    });
  }

  #changePod(
    pod: KubernetesObject,
    edit: (object: KubernetesObject) => KubernetesObject,
  ): KubernetesObject {
    const { name, namespace = '' } = pod.metadata;
    return this.#api.change('pods', { namespace, name }, edit);
  }

  #terminating(object: KubernetesObject): KubernetesObject {
    return {
      ...object,
      metadata: { ...object.metadata, deletionTimestamp: this.#timestamp() },
    };
  }

  /** Now, by the clock of a pod's kubelet. */
  #kubeletTime(pod: KubernetesObject): string {
    return new Date(this.kubeletNowMs(nodeOf(pod) ?? '')).toISOString();
  }

  /** What the clock of a node's kubelet says. */
  kubeletNowMs(node: string): number {
    return this.#clock.nowMs() + this.kubeletSkewMs(node);
  }

  #timestamp(): string {
    return new Date(this.#clock.nowMs()).toISOString();
  }
}

function ownsOne({ metadata: { uid } }: KubernetesObject, object: KubernetesObject): boolean {
  return (object.metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);
}

function boundNodeOf(pod: KubernetesObject): string | undefined {
  return (pod['spec'] as { readonly nodeName?: string } | undefined)?.nodeName;
}

/** status.phase of a pod. */
export function phaseOf(pod: KubernetesObject): string {
  return (pod['status'] as PodStatus | undefined)?.phase ?? 'Pending';
}
