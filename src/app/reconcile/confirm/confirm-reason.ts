/**
 * Does the reason of a planned delete still hold, by what is live now (design 3, step 5; S3)? In doubt nothing is deleted.
 *
 * An outdated pod that was planned as unavailable goes beyond the budget only while it is unavailable; with surge, an old pod
 * that is ready goes only once the new one is available. Differs from upstream: where no pod belongs any more the node is read
 * live too, since a view may show the new DaemonSet beside the old node.
 */
import type { NodeName, Uid } from '../../../core/model/identifiers.ts';
import type { DeleteReason, NodeView, PlannedDelete, View } from '../../../core/model/plan.ts';
import type { PodProjection } from '../../../core/model/projections.ts';
import type { Placement } from '../../../core/model/verdict.ts';
import { decidePlacement, preparePlacement } from '../../../core/placement/placement.ts';
import type { PreparedPlacement } from '../../../core/placement/placement.ts';
import {
  isAvailable,
  isTerminal,
  isUpdated,
  minReadyMsOf,
  revisionHashOfPod,
  templateGenerationOf,
} from '../../../core/pod/pod-facts.ts';
import { projectLiveNode, projectLivePod } from '../../../core/projections/project.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { ClusterReader, LiveRead } from '../../../ports/cluster/cluster-access.ts';

/** Whether a reason holds; `unreadable`: nothing can be said now. */
export type ReasonState = 'holds' | 'dropped' | 'unreadable';

export interface ReasonContext {
  readonly view: View;
  /** Hash of the current revision, as the plan knew it: what outdated and replaced are judged by. */
  readonly currentHash: string | undefined;
  /** UIDs of all victims of the run: none of them is the one that stays. */
  readonly victims: ReadonlySet<Uid>;
  readonly reads: SharedReads;
  /** The run's clock: minReadySeconds is judged at the time of the read. */
  readonly nowMs: () => number;
}

type Labelled = Pick<PodProjection, 'labels'>;

export class ReasonJudge {
  readonly #context: ReasonContext;
  readonly #nodes: ReadonlyMap<NodeName, NodeView>;
  readonly #minReadyMs: number;
  readonly #templateGeneration: string | undefined;
  readonly #placement: PreparedPlacement;

  constructor(context: ReasonContext) {
    const { daemonSet, nodes } = context.view;
    this.#context = context;
    this.#nodes = new Map(nodes.map((nodeView) => [nodeView.node.name, nodeView]));
    this.#minReadyMs = minReadyMsOf(daemonSet);
    this.#templateGeneration = templateGenerationOf(daemonSet);
    this.#placement = preparePlacement(daemonSet);
  }

  /** `pod` is the victim as it is live: owned by us, not terminating, of the planned UID. */
  async judge(planned: PlannedDelete, pod: PodProjection): Promise<ReasonState> {
    const reason = planned.repeats ?? planned.reason;
    switch (reason) {
      case 'replaced':
        return this.#judgeReplaced(planned, pod);
      case 'duplicate':
        return this.#judgeDuplicate(planned);
      case 'node-gone':
        return this.#judgeAbsence(pod.targetNode ?? planned.node);
      case 'not-wanted':
        if (!isStillAimed(planned, pod)) return 'dropped';
        return this.#judgeUnwanted(pod.targetNode, ['leave']);
      case 'vacated':
        if (!isStillAimed(planned, pod) || this.#hasRecovered(planned, pod)) return 'dropped';
        return this.#judgeUnwanted(pod.targetNode, ['leave', 'keep']);
      default:
        return holdsIf(this.#showsReason(reason, planned, pod));
    }
  }

  /** By what does not change while a pod lives. */
  isOfAnother(planned: PlannedDelete, pod: Labelled): boolean {
    return !this.#isOnTarget(planned, pod);
  }

  /** Reasons that the victim itself shows. */
  #showsReason(
    reason: Extract<DeleteReason, 'failed' | 'succeeded' | 'outdated' | 'repeat'>,
    planned: PlannedDelete,
    pod: PodProjection,
  ): boolean {
    switch (reason) {
      case 'failed':
        return pod.phase === 'Failed';
      case 'succeeded':
        return pod.phase === 'Succeeded';
      case 'outdated':
        return !this.#isOnTarget(planned, pod) && !this.#hasRecovered(planned, pod);
      case 'repeat':
        return true;
    }
  }

  /** Of the current revision, by the rollout's wider test (spec 2.9); so is all, while unknown. */
  #isCurrent(pod: Labelled): boolean {
    const { currentHash: hash } = this.#context;
    const templateGeneration = this.#templateGeneration;
    return hash === undefined || isUpdated(pod, { hash, templateGeneration });
  }

  /** Of the revision that its node is to run: the current one, unless a staged rollout keeps the node at another. */
  #isOnTarget({ targetHash }: PlannedDelete, pod: Labelled): boolean {
    return targetHash === undefined ? this.#isCurrent(pod) : revisionHashOfPod(pod) === targetHash;
  }

  /** The plan took it as unavailable, so that it costs no budget; by now it would (S3). */
  #hasRecovered(planned: PlannedDelete, pod: PodProjection): boolean {
    return !planned.isAvailable && this.#isAvailable(pod);
  }

  #isAvailable(pod: PodProjection): boolean {
    return isAvailable(pod, { minReadyMs: this.#minReadyMs, nowMs: this.#context.nowMs() });
  }

  /** With surge: the old pod goes while it is not ready, or once the new one is available. */
  async #judgeReplaced(planned: PlannedDelete, pod: PodProjection): Promise<ReasonState> {
    const currentHash = planned.targetHash ?? this.#context.currentHash;
    // The victim by hash alone, as surge pruning tells the two apart (spec 2.7, consequence e).
    if (currentHash === undefined || revisionHashOfPod(pod) === currentHash) return 'dropped';
    if (!pod.isReady) return 'holds';
    const successor = this.#findStaying(planned, (each) => this.#isOnTarget(planned, each));
    const live = await this.#readStaying(successor);
    if (typeof live === 'string') return live;
    return holdsIf(this.#isOnTarget(planned, live) && this.#isAvailable(live));
  }

  /** A duplicate goes only while the pod that stays is alive. */
  async #judgeDuplicate(planned: PlannedDelete): Promise<ReasonState> {
    const live = await this.#readStaying(this.#findStaying(planned, () => true));
    return typeof live === 'string' ? live : 'holds';
  }

  #findStaying(
    { node }: PlannedDelete,
    isMeant: (pod: PodProjection) => boolean,
  ): PodProjection | undefined {
    if (node === undefined) return undefined;
    // With `strict`, pods of a vanished node are replaced, too (spec 2.9).
    const { strays } = this.#context.view;
    const pods = this.#nodes.get(node)?.pods ?? strays.filter((pod) => pod.targetNode === node);
    return pods.find((pod) => !this.#context.victims.has(pod.uid) && isAlive(pod) && isMeant(pod));
  }

  /** The live pod, if it still is the one that was planned on and alive. */
  async #readStaying(pod: PodProjection | undefined): Promise<PodProjection | ReasonState> {
    if (pod === undefined) return 'dropped';
    const read = await this.#context.reads.pod(pod.name);
    if (read.kind === 'unavailable') return 'unreadable';
    if (read.kind === 'missing') return 'dropped';
    const live = projectLivePod(read.object);
    return live.uid === pod.uid && isAlive(live) ? live : 'dropped';
  }

  async #judgeAbsence(node: NodeName | undefined): Promise<ReasonState> {
    if (node === undefined) return 'dropped';
    const read = await this.#context.reads.node(node);
    if (read.kind === 'unavailable') return 'unreadable';
    return holdsIf(read.kind === 'missing');
  }

  /** The planned DaemonSet, which the caller confirms, on the node as it is now: a pod goes only from these places. */
  async #judgeUnwanted(
    node: NodeName | undefined,
    places: readonly Placement[],
  ): Promise<ReasonState> {
    if (node === undefined) return 'dropped';
    const read = await this.#context.reads.node(node);
    if (read.kind === 'unavailable') return 'unreadable';
    if (read.kind === 'missing') return 'holds';
    const { placement } = decidePlacement(this.#placement, projectLiveNode(read.object));
    return holdsIf(places.includes(placement));
  }
}

function holdsIf(isTrue: boolean): ReasonState {
  return isTrue ? 'holds' : 'dropped';
}

function isStillAimed(planned: PlannedDelete, pod: PodProjection): boolean {
  return pod.targetNode === planned.node;
}

function isAlive(pod: PodProjection): boolean {
  return !pod.isTerminating && !isTerminal(pod);
}

/** Live reads of one confirmation, each object read once; never reused after effects were sent (S3, S4). */
export interface SharedReads {
  readonly pod: (name: string) => Promise<LiveRead<KubernetesObject>>;
  readonly node: (name: NodeName) => Promise<LiveRead<KubernetesObject>>;
}

export function shareReads(
  reader: Pick<ClusterReader, 'getPod' | 'getNode'>,
  namespace: string,
): SharedReads {
  return {
    pod: readOnce((name: string) => reader.getPod({ namespace, name })),
    node: readOnce((name: NodeName) => reader.getNode(name)),
  };
}

function readOnce<Name extends string, Read>(
  read: (name: Name) => Promise<Read>,
): (name: Name) => Promise<Read> {
  const reads = new Map<Name, Promise<Read>>();
  return (name) => {
    const found = reads.get(name) ?? read(name);
    reads.set(name, found);
    return found;
  };
}
