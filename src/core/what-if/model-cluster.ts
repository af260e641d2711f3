/**
 * A cluster in values that answers plans as a real one would, on a clock of its own: pods start, become ready, and go.
 *
 * Kind on purpose: each request is answered at once, each new pod becomes ready, a pod that fails now goes on failing. What is
 * told of it is therefore an estimate, and says so (play.ts). Pure: it changes nothing but itself.
 */
import { isJsonObject, jsonMember } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { nodeName, resourceVersion, uid } from '../model/identifiers.ts';
import type { NodeName, Uid } from '../model/identifiers.ts';
import type { DeleteReason, Plan, PlannedCreate, View } from '../model/plan.ts';
import type {
  NodeProjection,
  PodProjection,
  RevisionProjection,
  Tombstone,
} from '../model/projections.ts';
import { nodeOf, revisionHashOfPod } from '../pod/pod-facts.ts';
import { TOMBSTONE_KEPT_MS } from '../pod/tombstones.ts';
import { computeView } from '../view/view.ts';

/** From a delete to the pod's absence. */
export const STOP_MS = 5_000;

export type Actor = 'rollcall' | 'built-in' | 'garbage-collector';

export interface Deed {
  readonly kind: 'create' | 'delete';
  readonly by: Actor;
  readonly node: NodeName;
  readonly atMs: number;
  readonly reason?: DeleteReason;
}

export interface ModelStart {
  readonly daemonSet: DaemonSetObject;
  readonly nodes: readonly NodeProjection[];
  readonly pods: readonly PodProjection[];
  readonly gone: readonly Tombstone[];
  readonly revisions: readonly RevisionProjection[];
  readonly nowMs: number;
  /** From a pod's creation to its readiness. */
  readonly startMs: number;
}

interface Timer {
  readonly atMs: number;
  readonly pod: Uid;
  readonly becomes: 'ready' | 'gone';
}

export class ModelCluster {
  nowMs: number;
  daemonSet: DaemonSetObject;
  readonly deeds: Deed[] = [];
  readonly #start: ModelStart;
  readonly #nodes: ReadonlyMap<NodeName, NodeProjection>;
  readonly #pods: Map<Uid, PodProjection>;
  #gone: Tombstone[];
  #timers: Timer[] = [];
  #made = 0;

  constructor(start: ModelStart) {
    this.#start = start;
    this.nowMs = start.nowMs;
    this.daemonSet = start.daemonSet;
    this.#nodes = new Map(start.nodes.map((node) => [node.name, node]));
    this.#pods = new Map(start.pods.map((pod) => [pod.uid, pod]));
    this.#gone = [...start.gone];
    for (const pod of start.pods) this.#begin(pod);
  }

  /** What a controller sees of it now. */
  view(daemonSet = this.daemonSet): View {
    const { nodes, revisions } = this.#start;
    const pods = [...this.#pods.values()];
    return computeView({ daemonSet, nodes, pods, revisions, gone: this.#gone, nowMs: this.nowMs });
  }

  /** When something happens next by itself. */
  get nextEventMs(): number | undefined {
    if (this.#timers.length === 0) return undefined;
    return this.#timers.reduce((soonest, { atMs }) => Math.min(soonest, atMs), Infinity);
  }

  /** Carries out the effects on pods; true if there were any. */
  apply(plan: Plan, by: Actor): boolean {
    const { creates, deletes, adopts, releases } = plan;
    for (const pod of adopts) this.#put({ ...pod, ownerUid: uid(this.daemonSet.metadata.uid) });
    // A released pod is another's business.
    for (const pod of releases) this.#pods.delete(pod.uid);
    for (const planned of deletes) this.#delete(planned.uid, by, planned.repeats ?? planned.reason);
    for (const create of creates) this.#create(create, by);
    return [creates, deletes, adopts, releases].some(({ length }) => length > 0);
  }

  /** Time goes on, and what is due happens. */
  advance(toMs: number): void {
    const due = this.#timers.filter(({ atMs }) => atMs <= toMs);
    this.#timers = this.#timers.filter(({ atMs }) => atMs > toMs);
    this.nowMs = toMs;
    this.#gone = this.#gone.filter(({ goneAtMs }) => toMs - goneAtMs < TOMBSTONE_KEPT_MS);
    for (const { pod: uidOfPod, atMs, becomes } of due) {
      const pod = this.#pods.get(uidOfPod);
      if (pod === undefined) continue;
      if (becomes === 'gone') this.#bury(pod, atMs);
      else if (!pod.isTerminating) {
        this.#put({ ...pod, phase: 'Running', isReady: true, readyChangedAtMs: atMs });
      }
    }
  }

  #begin(pod: PodProjection): void {
    const node = nodeOf(pod);
    if (pod.isTerminating) this.#later(STOP_MS, pod, 'gone');
    else if (pod.boundNode !== undefined && !this.#nodes.has(pod.boundNode)) {
      this.#delete(pod.uid, 'garbage-collector', 'node-gone');
    } else if (pod.phase === 'Pending' && pod.trouble === undefined && node !== undefined) {
      this.#starts(pod, Math.max(1000, pod.createdAtMs + this.#start.startMs - this.nowMs));
    }
  }

  #starts(pod: PodProjection, inMs: number): void {
    const node = this.#nodes.get(nodeOf(pod) ?? nodeName(''));
    if (node?.isReady === true) this.#later(inMs, pod, 'ready');
  }

  #later(inMs: number, { uid: pod }: PodProjection, becomes: Timer['becomes']): void {
    this.#timers.push({ atMs: this.nowMs + inMs, pod, becomes });
  }

  #create({ node, name, body }: PlannedCreate, by: Actor): void {
    this.#made += 1;
    const labels = jsonMember(body['metadata'], 'labels');
    const pod: PodProjection = {
      kind: 'Pod',
      namespace: this.daemonSet.metadata.namespace ?? '',
      name,
      uid: uid(`planned-${String(this.#made)}`),
      resourceVersion: resourceVersion('1'),
      ownerUid: uid(this.daemonSet.metadata.uid),
      labels: isJsonObject(labels) ? (labels as PodProjection['labels']) : {},
      targetNode: node,
      boundNode: node,
      phase: 'Pending',
      isReady: false,
      createdAtMs: this.nowMs,
      isTerminating: false,
    };
    this.#put(pod);
    this.#starts(pod, this.#start.startMs);
    this.deeds.push({ kind: 'create', by, node, atMs: this.nowMs });
  }

  #delete(victim: Uid, by: Actor, reason: DeleteReason): void {
    const pod = this.#pods.get(victim);
    if (pod === undefined || pod.isTerminating) return;
    this.#put({ ...pod, isTerminating: true });
    this.#later(STOP_MS, pod, 'gone');
    const node = nodeOf(pod);
    if (node !== undefined) {
      this.deeds.push({ kind: 'delete', by, node, atMs: this.nowMs, reason });
    }
  }

  #bury(pod: PodProjection, goneAtMs: number): void {
    this.#pods.delete(pod.uid);
    const { name, uid: uidOfPod, createdAtMs } = pod;
    const node = nodeOf(pod);
    if (node === undefined) return;
    const revision = revisionHashOfPod(pod);
    const tombstone = { name, uid: uidOfPod, node, createdAtMs, goneAtMs };
    const told = revision === undefined ? tombstone : { ...tombstone, revision };
    this.#gone.push(told);
  }

  #put(pod: PodProjection): void {
    this.#pods.set(pod.uid, pod);
  }
}
