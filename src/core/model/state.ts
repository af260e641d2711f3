/**
 * The state of one DaemonSet between reconciles: intents, marks of own writes, back-off, memo.
 *
 * One item per DaemonSet UID, written by compare-and-set on `version` (design 3, step 6). Nothing in
 * here expires by the clock; entries leave when they are resolved by identity or by mark.
 */
import type { DailyCounts } from '../cost/daily.ts';
import type { Epoch, NodeName, ResourceVersion, Uid } from './identifiers.ts';
import type { Stamp } from './position.ts';
import type { Tombstone } from './projections.ts';
import type { StateLog } from './log-entry.ts';
import type { OrderNote, RolloutRecord } from './rollout-record.ts';

/** Version of the state schema that this release writes. */
export const STATE_SCHEMA = 1;

/** A create that was recorded before it was sent. */
export interface CreateIntent {
  readonly kind: 'create';
  readonly node: NodeName;
  /** The slot or successor name: the intent's identity. */
  readonly name: string;
  /** When it was recorded last: tells two requests under one name apart. */
  readonly recordedAtMs: number;
  /** No request of its run starts later (protocol 5). */
  readonly startsByMs: number;
  /** The API server's answer; absent while unknown (never met by a mark then, protocol 3). */
  readonly answer?: { readonly uid: Uid; readonly resourceVersion: ResourceVersion };
  /**
   * An earlier request of this name that may still arrive, whatever this one was answered. Of several: the latest start, and
   * a time after the last of them that no record bears.
   */
  readonly earlier?: { readonly recordedAtMs: number; readonly startsByMs: number };
  /** When a live read last found the pod that was answered, of which no view knows; absent: none has (ADR 0031). */
  readonly confirmedAtMs?: number;
}

/** A delete that was recorded before it was sent. */
export interface DeleteIntent {
  readonly kind: 'delete';
  readonly node?: NodeName;
  readonly name: string;
  /** The victim: the intent's identity. */
  readonly uid: Uid;
  /** The precondition it was sent with. */
  readonly resourceVersion: ResourceVersion;
  readonly recordedAtMs: number;
  /** As of a create; of two deletes of one pod the later. */
  readonly startsByMs: number;
  /** True once the API server accepted it (or said that the pod is gone). */
  readonly isAccepted: boolean;
  /** When a live read last found the victim on its way out or gone, though the view shows it; as of a create. */
  readonly confirmedAtMs?: number;
}

/** An effect recorded before it is sent. */
export type Intent = CreateIntent | DeleteIntent;

/** Back-off of failed pods of one node (spec 2.7: 1 s doubling to 15 min). */
export interface BackoffEntry {
  readonly node: NodeName;
  /** observedGeneration it counts for: a new generation starts afresh. */
  readonly generation: number;
  readonly delayMs: number;
  readonly advancedAtMs: number;
}

/** A pod that stands under a name that would be ours to use. */
export interface NameHolder {
  readonly name: string;
  readonly uid: Uid;
}

/**
 * A node for which the API server (or an admission hook) refused the pod, or the delete of its pod.
 * Until `notBeforeMs` a plan creates nothing there (verdict `Refused`), or chooses that pod for no
 * rolling update, so that one node's refusal never starves the others.
 */
export interface RefusalEntry {
  readonly node: NodeName;
  /** metadata.generation it counts for: an edited DaemonSet gets a fresh chance. */
  readonly generation: number;
  /** RefusalCode, or `name-taken`, `born-terminating` and `not-selected`; for people. */
  readonly code: string;
  readonly message: string;
  /** The pod whose delete was refused; absent: a create was. */
  readonly victim?: Uid;
  /** Orphans under the node's names, not in the view; the next name follows from them as from a held one. */
  readonly holders?: readonly NameHolder[];
  readonly delayMs: number;
  readonly notBeforeMs: number;
}

/** Growing back-off of the key as a whole: cluster unreachable, namespace terminating, and such. */
export interface RetryEntry {
  readonly code: string;
  readonly delayMs: number;
  readonly notBeforeMs: number;
  /** True if no create may be sent before `notBeforeMs`; otherwise it is only the next look. */
  readonly holdsCreates: boolean;
  /** metadata.generation of which a write was refused: an edited DaemonSet gets a fresh chance. */
  readonly generation?: number;
}

/** A look at what is about to change by itself: the same reason waits longer each time (core/looks.ts). */
export interface LookEntry {
  readonly code: string;
  readonly delayMs: number;
  readonly atMs: number;
}

/** The current revision as history last found it, valid for one template at one generation of the DaemonSet. */
export interface HistoryEntry {
  readonly generation: number;
  /** By hash: a restored etcd repeats generations (faults row 71). */
  readonly template: string;
  readonly uid: Uid;
  readonly name: string;
  /** Its label controller-revision-hash. */
  readonly hash: string;
  /** revisionsChanged as read when it was looked up: the entry may be younger than the view. */
  readonly lookedUpAt: Stamp;
}

/**
 * The recent reports of one kind of event, so that a stateless run condenses as a client
 * library's recorder does (spec 2.8; core/event-correlation.ts). A courtesy: losing it is harmless.
 */
export interface EventTally {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  /** When an event of this kind happened last: after ten minutes of silence singles begin afresh. */
  readonly seenAtMs: number;
  /** Single Events written since then. */
  readonly singles: number;
  /** The Event written last, whose count is raised: by an equal message, or the combined one. */
  readonly last?: {
    readonly name: string;
    /** Hash of its message: the text itself may be long, and is not needed. */
    readonly digest: string;
    readonly count: number;
    readonly firstAtMs: number;
    readonly isAggregate: boolean;
    /** Of a combined one, when its count was written last. */
    readonly toldAtMs?: number;
  };
}

/** Stamps and versions exactly as a run read them (protocol 11). */
export interface Memo {
  readonly era: number;
  readonly epoch: Epoch;
  readonly nodesChanged: Stamp;
  readonly podsChanged: Stamp;
  readonly revisionsChanged: Stamp;
  readonly daemonSetChanged: Stamp;
  /** Version after this run's own status write: seeing what was planned and written is no reason to plan again. */
  readonly daemonSetVersion?: ResourceVersion;
  readonly configVersion: number;
  /** A restored registry counts its versions again (faults row 34). */
  readonly configHash: number;
  readonly release: string;
  /** The run that wrote this memo; every memo expires six hours later. */
  readonly ranAtMs: number;
}

/** A shrink that waits for an operator to confirm it, or (where Rollcall does not act) was only reported. */
export interface HeldRemoval {
  /** The confirmation has to name it. */
  readonly token: string;
  readonly heldAtMs: number;
  /** Pods that are to go or went within the window, and those that there were; as of the last run that wrote. */
  readonly pods: number;
  readonly basePods: number;
  /** The one change behind it, as the end of a sentence; 300 characters at most. */
  readonly cause: string;
  /** The last writer of that part, by the managedFields of that moment: a field manager, and when. */
  readonly author?: { readonly manager: string; readonly atMs: number };
  /** Since when so few pods are concerned that it would not be held any more; absent: it would. */
  readonly calmSinceMs?: number;
}

/** The removal guard's memory of pods that have to leave their nodes (ADR 0057); absent: no run has looked yet. */
export interface RemovalRecord {
  /** Hash of what the template says of placement, as of the last run that found no pod on its way out. */
  readonly placement: number;
  /** Since when pods are to leave nodes that changed: some seconds show whether more follow. */
  readonly sinceMs?: number;
  readonly held?: HeldRemoval;
  /** So many pods may go until then: a confirmation, or an edit that needs none. */
  readonly allowed?: { readonly pods: number; readonly untilMs: number };
  /** A confirmation that was given in the state itself (`rollcall rollout confirm`). */
  readonly order?: OrderNote & { readonly token: string };
}

/** One of the two PodTemplates that a DaemonSet under a rollout policy has (core/admission). */
export type CopySlot = 'a' | 'b';

/** The copy of a good revision's template, as it was written or found last. */
export interface TemplateCopy {
  readonly slot: CopySlot;
  /** controller-revision-hash. */
  readonly hash: string;
  readonly seenAtMs: number;
}

/** The known copies of a DaemonSet, one for a slot at most. */
export interface TemplateCopies {
  readonly held: readonly TemplateCopy[];
  /** When a write was refused last; absent: none was since the last that was not. */
  readonly refusedAtMs?: number;
}

/** Another manager than ours wrote the status: this DaemonSet is left alone for a while (core/status/status-writers.ts). */
export interface StatusPause {
  readonly manager: string;
  /** When it wrote, as the object says: no later than the API server's clock. */
  readonly atMs: number;
  /** By our clock; ten minutes after the write. */
  readonly untilMs: number;
}

/** Pods that were deleted as the view showed them and had another version by then (ADR 0071); absent: none had. */
export interface MovedVictims {
  /** The last eight characters of their UIDs, of the newest: of two pods with the same ones both count. */
  readonly uidEnds: readonly string[];
  /** When that was last. */
  readonly atMs: number;
}

/** How well nodes are served, counted by the write of a run (core/coverage). Times are seconds since 1970. */
export interface CoverageRecord {
  /** Counted until then. */
  readonly at: number;
  /** Nodes that were to have a pod then, and those of them that a pod of an approved release served. */
  readonly eligible: number;
  readonly covered: number;
  /** Since when runs were put off before they saw the view; absent: the last one saw it. */
  readonly putOffSince?: number;
  /** META's sum of times in the dark, as far as it is counted; absent: 0. */
  readonly unheardMs?: number;
  /** META's count of losses then; absent: 0. */
  readonly broken?: number;
  /** When the newest node that was seen was made. */
  readonly newest: number;
  /** Nodes that were made in that very second, by the last eight characters of their UIDs; absent: none that matters. */
  readonly atNewest?: readonly string[];
  /** Nodes that joined and had no ready pod yet, likewise; absent: none. */
  readonly joining?: readonly string[];
  /** Node-seconds by day: covered, uncovered, unknown; then nodes that joined, by how long they took (buckets). */
  readonly days: DailyCounts;
}

/** State of one DaemonSet. */
export interface DaemonSetState {
  readonly schema: typeof STATE_SCHEMA;
  /** Compare-and-set counter; 0 means: no item yet. */
  readonly version: number;
  readonly intents: readonly Intent[];
  /** Highest versions that our own successful writes returned, per type (spec 2.3 step 1). */
  readonly written: {
    readonly era: number;
    readonly pods?: ResourceVersion;
    readonly daemonSet?: ResourceVersion;
    readonly revisions?: ResourceVersion;
  };
  readonly backoff: readonly BackoffEntry[];
  /** Since when runs have been deferring; the deferral is capped (design 3, step 3). */
  readonly deferredSinceMs?: number;
  /** First write: bounds what follows a loss (protocol 6). 0: no pods, never acted on, hence nothing to lose. */
  readonly createdAtMs: number;
  /** Era and epoch for which the guard list beside foreign names was done (protocol 9). */
  readonly foreignListed?: {
    readonly era: number;
    readonly epoch: Epoch;
    /** takeoverProbedAtMs of the registration: each takeover needs a list of its own. */
    readonly probedAtMs?: number;
  };
  /** Pods that were answered and are gone without any view having shown them; absent means none (S13). */
  readonly buried?: readonly Tombstone[];
  readonly refusals?: readonly RefusalEntry[];
  /** Back-off of the whole key; absent while all is well. */
  readonly retry?: RetryEntry;
  readonly movedVictims?: MovedVictims;
  /** Of each kind of write that was refused, one for a code; absent: none. One that ended its run is in `retry`. */
  readonly refusedWrites?: readonly RetryEntry[];
  readonly history?: HistoryEntry;
  /** Since when runs that touched pods have left the status to a later one; absent: it stands. */
  readonly statusPostponedSinceMs?: number;
  /** Events told lately, by type and reason; absent means none. */
  readonly events?: readonly EventTally[];
  /** When the memo expires, and for when a timer is known to be on the delay queue. */
  readonly expiryAtMs?: number;
  /** When to look again, and the due time that was last put on the delay queue. */
  readonly dueAtMs?: number;
  readonly dueSentAtMs?: number;
  /** All due times that are known to be on the delay queue, soonest first; absent means none but that one. */
  readonly timersSentAtMs?: readonly number[];
  /** The look at what is about to change by itself; absent while there is nothing of the kind. */
  readonly look?: LookEntry;
  readonly memo?: Memo;
  /** How far the staged rollout is; absent: no policy asked for one. */
  readonly rollout?: RolloutRecord;
  /** Templates that stand in the cluster as copies (ADR 0063); absent: none that is known. */
  readonly copies?: TemplateCopies;
  readonly shrink?: RemovalRecord;
  /** Absent: no other client wrote its status lately. */
  readonly paused?: StatusPause;
  /** Runs by day (core/cost/counted.ts): nothing is decided on them. Absent: none was counted yet. */
  readonly days?: DailyCounts;
  /** How well its nodes are served: nothing is decided on it. Absent: no run has seen them yet. */
  readonly coverage?: CoverageRecord;
  /** Log entries for people, until they have an item of their own (core/log): no decision reads them. */
  readonly log?: StateLog;
}

/** State of a DaemonSet that has no item yet. */
export function emptyState(nowMs: number): DaemonSetState {
  return {
    schema: STATE_SCHEMA,
    version: 0,
    intents: [],
    written: { era: 0 },
    backoff: [],
    createdAtMs: nowMs,
  };
}
