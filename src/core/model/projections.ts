/**
 * Projections: the few fields of an object that can move a decision.
 *
 * The watcher projects raw objects at once and keeps only these, `ingest` stores them in slices, the
 * core decides on them. Times are milliseconds since 1970 as the API server wrote them.
 * The projection without its resourceVersion is the watcher's filter: equal means nothing to send.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, Taint } from '@rollcall/base/objects.ts';
import type { NodeName, ResourceVersion, Uid } from './identifiers.ts';

/** The four watched types, by kind. */
export type WatchedKind = 'Node' | 'Pod' | 'DaemonSet' | 'ControllerRevision';

/** The watched kinds in the order in which lists, marks and messages name them. */
export const WATCHED_KINDS = ['Node', 'Pod', 'DaemonSet', 'ControllerRevision'] as const;

/** The part of a Node that placement and verdicts read. */
export interface NodeProjection {
  readonly kind: 'Node';
  readonly name: NodeName;
  readonly uid: Uid;
  readonly resourceVersion: ResourceVersion;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly unschedulable: boolean;
  /** status of the condition Ready is "True". Explains; never decides placement (spec 2.5). */
  readonly isReady: boolean;
  readonly isTerminating: boolean;
  /** creationTimestamp: nodes that join during a rollout are not in its trial; absent: it has none that is a time. */
  readonly createdAtMs?: number;
  /** The node's software, in which a bad rollout is looked for; absent: its kubelet has not reported it yet. */
  readonly system?: NodeSystem;
}

/** status.nodeInfo, as far as nodes differ by it. */
export interface NodeSystem {
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly containerRuntimeVersion: string;
  readonly kubeletVersion: string;
  /** Changes with each boot: restarts after a reboot are the node's. */
  readonly bootId: string;
}

interface Identity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: Uid;
  readonly resourceVersion: ResourceVersion;
}

/** Pod phases. */
export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

/** How a container ended. */
export interface ContainerExit {
  /** `Error`, `Completed`, `OOMKilled`, `StartError`, `ContainerStatusUnknown` …; as the runtime says. */
  readonly reason: string;
  readonly exitCode: number;
  /** finishedAt, as the kubelet's clock told it; absent: the runtime did not say. */
  readonly finishedAtMs?: number;
}

/**
 * What a pod's status says of its init containers and containers that is not as it should be, in
 * the raw words of kubelet and runtime. What a word means is decided where it is judged
 * (core/health). Reasons flap, so evidence is the change of `restarts` and `lastExit`, never the
 * present word alone (rollouts facts 1).
 */
export interface PodTrouble {
  /** Sum of restartCount over init containers and containers; absent: 0. */
  readonly restarts?: number;
  /**
   * The first `state.waiting.reason` that is neither ContainerCreating nor PodInitializing. Words of a failed pull take turns with
   * ImagePullBackOff, so all of them are told as that.
   */
  readonly waiting?: string;
  /** The exit that ended last: of `lastState` or, where the container is not running, `state`; of init containers only those that failed. */
  readonly lastExit?: ContainerExit;
  /** Name of the container that `waiting`, else `lastExit`, is told of. */
  readonly container?: string;
  /** PodScheduled False: `Unschedulable` or another reason of the scheduler. */
  readonly unscheduled?: string;
  /** The cause that keeps it from its node, or its container from being made, where a message names it; never the message (ADR 0079). */
  readonly cause?: string;
  /** Reason of DisruptionTarget, if True. */
  readonly disruption?: string;
  /** True while ContainersReady is True and Ready is not: the node is lost, or a readiness gate holds. */
  readonly isReadyWithheld?: boolean;
}

/** The part of a Pod that claiming, planning and status read. */
export interface PodProjection extends Identity {
  readonly kind: 'Pod';
  /** UID of the controlling owner reference; absent for an orphan. */
  readonly ownerUid?: Uid;
  readonly labels: Readonly<Record<string, string>>;
  /** spec.nodeName: absent while unbound. */
  readonly boundNode?: NodeName;
  /** spec.nodeName, else the single node named by required affinity (spec 2.4). */
  readonly targetNode?: NodeName;
  readonly phase: PodPhase;
  /** status.reason, as the kubelet gives it for evicted or rejected pods. */
  readonly reason?: string;
  readonly isReady: boolean;
  /** lastTransitionTime of the condition Ready. */
  readonly readyChangedAtMs?: number;
  readonly createdAtMs: number;
  readonly isTerminating: boolean;
  /** Absent: nothing ever went wrong in it, or it is terminating. */
  readonly trouble?: PodTrouble;
}

/** The part of a ControllerRevision that history reads; its data stays in the cluster. */
export interface RevisionProjection extends Identity {
  readonly kind: 'ControllerRevision';
  readonly ownerUid?: Uid;
  readonly labels: Readonly<Record<string, string>>;
  readonly revision: number;
  readonly isTerminating: boolean;
}

/** A DaemonSet travels whole, without managedFields. */
export interface DaemonSetProjection extends Identity {
  readonly kind: 'DaemonSet';
  readonly object: DaemonSetObject;
}

/** The outline of a DaemonSet whose object is too large to be sent; no run decides by it (core/projections/outline.ts). */
export interface DaemonSetOutline {
  /** Of its projection, as JSON. */
  readonly bytes: number;
  /** More than that the watcher sends of no object. */
  readonly bytesMax: number;
  /** With an empty template. */
  readonly object: DaemonSetObject;
}

/**
 * An object that is too large or cannot be digested. It affects only its own set: a live read
 * there (protocol 22).
 */
export interface OpaqueProjection {
  readonly kind: 'Opaque';
  readonly of: WatchedKind;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: Uid;
  readonly resourceVersion: ResourceVersion;
  readonly reason: 'too-large' | 'undecodable';
  /** Of a DaemonSet that is too large; absent: of all else, and where even that would be long. */
  readonly outline?: DaemonSetOutline;
}

/** Any projection. */
export type Projection =
  NodeProjection | PodProjection | RevisionProjection | DaemonSetProjection | OpaqueProjection;

/** The projection as plain JSON, for hashing and for the wire. */
export function projectionJson(projection: Projection): JsonObject {
  return projection as unknown as JsonObject; // a projection holds JSON values only
}

/**
 * The record of a pod that is gone, so that its name is not given to another one too soon (tombstones.ts). That it
 * is gone is final: UIDs never come back, but for an etcd that is restored, where a pod that lives wins.
 */
export interface Tombstone {
  readonly name: string;
  readonly uid: Uid;
  /** The node that it was aimed at or ran on. */
  readonly node: NodeName;
  /** Its label controller-revision-hash; absent: it had none, or its labels were not seen. */
  readonly revision?: string;
  /** creationTimestamp; of a pod that no view showed, when its create was recorded. */
  readonly createdAtMs: number;
  /** When it was told to be gone: the message's time; of a pod that no view showed, by the clock of who settled its create. */
  readonly goneAtMs: number;
  /** In a state: the time of the last message that its view had been told, which no function owns; else absent. */
  readonly toldAtMs?: number;
}

/** An Event of a pod, as a live read found it: raw, as its writer left it. */
export interface PodEvent {
  /** A word as `FailedMount`. */
  readonly reason: string;
  /** Foreign text: it is searched for names, and never repeated whole. Cut at 1,024 characters. */
  readonly message: string;
  /** When it was told last, by the clock of who told it; absent: it does not say. */
  readonly atMs?: number;
}

/** The conclusion from one pod's Events. */
export type PodCause =
  /** In words, with the Event's reason. */
  | { readonly kind: 'known'; readonly words: string }
  /** None of them is of a kind that is known, or there is none. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'unreadable' };

/** One request that was answered, or that was given up because it was not. */
export interface AnswerTiming {
  /** Verb and resource, as `get pods` or `patch daemonsets/status`: only like is compared with like. */
  readonly kind: string;
  /** When it ended, by the clock of the process that sent it. */
  readonly atMs: number;
  readonly tookMs: number;
}
