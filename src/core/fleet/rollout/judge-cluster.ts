/**
 * How one cluster fares with the release that it was given: the gate's evidence. Read from the tables, never asked of the cluster;
 * whatever is silent, not whole or could not be read is evidence of nothing.
 *
 * Only what was seen after the cluster was given it counts: an older message, an older generation, a record of another revision are
 * evidence of nothing. What says *well* is the cluster's own staged rollout, whose record names the revision of exactly the
 * generation that the apply made: its canary soaked, its groups passed, and a node runs it. Where nothing had to soak (a first release,
 * a way back) its pods have to be available besides. Counters alone decide nothing: they are where others were told of success that
 * was of the release before. A cluster that has no node for it is `empty`, never well.
 */
import { isObserved } from '../../daemon-set/generation.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { ClusterId, ClusterUid } from '../../model/identifiers.ts';
import type { ClusterMode } from '../../model/registration.ts';
import type { RolloutRecord } from '../../model/rollout-record.ts';
import type { DaemonSetState } from '../../model/state.ts';
import { POLICY_ANNOTATION } from '../../policy/rollout-policy.ts';
import { countsOf, describeMissing } from '../../rollout/pod-counts.ts';
import { copilotStanding, explainNotFollowed } from '../../may-act/opt-in.ts';
import { compareManifest } from '../compare-manifest.ts';
import type { FleetManifest } from '../fleet-daemon-set.ts';
import type { Untouched } from '../plan-cluster.ts';
import type { ClusterFailureCause } from './failure-class.ts';
import type { ClusterFailure, FleetClusterRecord } from './fleet-record.ts';

/** A cluster that was heard lately, and whose view is whole. */
export interface HeardCluster {
  readonly kind: 'heard';
  readonly cluster: ClusterId;
  readonly clusterUid: ClusterUid;
  readonly mode: ClusterMode;
  readonly labels: Readonly<Record<string, string>>;
  /** When the newest message of its watcher was sent. */
  readonly heardAtMs: number;
  /** Null: there is none of that name; absent: it is there and could not be read. */
  readonly daemonSet?: DaemonSetObject | null;
  /** True where its view shows not one node; asked where none should run it. Absent: there is one, or it is not known. */
  readonly isWithoutNodes?: true;
  /** Of its runs; absent: none was yet. */
  readonly state?: Pick<DaemonSetState, 'history' | 'rollout'>;
}

/** The facts about one cluster. */
export type ClusterEvidence =
  | HeardCluster
  /** No registration, or it is not placed there any more. */
  | { readonly kind: 'gone'; readonly cluster: ClusterId }
  | { readonly kind: 'untouched'; readonly cluster: ClusterId; readonly why: Untouched }
  /** Not heard for OFFLINE_AFTER_MS, or never. */
  | { readonly kind: 'offline'; readonly cluster: ClusterId; readonly silentForMs?: number }
  /** Its view is not whole, or it could not be read: look again. */
  | { readonly kind: 'unclear'; readonly cluster: ClusterId; readonly why: string };

export type NodeTally = NonNullable<FleetClusterRecord['nodes']>;

/** How it fares. */
export type ClusterVerdict =
  | { readonly kind: 'gone' | 'untouched' | 'offline' }
  /** It has another kube-system by now: it was rebuilt, and has nothing of this. */
  | { readonly kind: 'rebuilt' }
  /** Nothing of the release was seen yet. */
  | { readonly kind: 'awaited' }
  /** Nothing of it can be told at this moment: evidence of nothing, neither good nor bad. */
  | { readonly kind: 'unclear' }
  | { readonly kind: 'rolling'; readonly nodes: NodeTally }
  | { readonly kind: 'well'; readonly nodes: NodeTally }
  /** It runs there, and there is no node that it should run on: there never was, or the cluster has none at all. */
  | { readonly kind: 'empty' }
  /** Another client changed it after the apply. */
  | { readonly kind: 'reverted'; readonly fields: readonly string[] }
  | { readonly kind: 'failed'; readonly failure: Omit<ClusterFailure, 'atMs'> };

/** True of one that was given it and is not known to run it yet. */
export function isOnItsWay({ kind }: Pick<ClusterVerdict, 'kind'>): boolean {
  return kind === 'rolling' || kind === 'awaited';
}

/** Fields of the differences that are told. */
const FIELDS_MAX = 3;

/** Judges a cluster against the manifest that it was given. */
export function judgeCluster(
  record: FleetClusterRecord,
  manifest: FleetManifest,
  evidence: ClusterEvidence,
): ClusterVerdict {
  if (evidence.kind !== 'heard') return { kind: evidence.kind };
  if (evidence.clusterUid !== record.clusterUid) return { kind: 'rebuilt' };
  const { daemonSet } = evidence;
  if (!isSeenSince(record, evidence) || daemonSet === undefined) return { kind: 'awaited' };
  if (daemonSet === null) {
    return record.nodes === undefined
      ? { kind: 'awaited' }
      : { kind: 'reverted', fields: ['metadata.name'] };
  }
  const fields = changedFields(manifest, daemonSet);
  if (fields.length > 0) return { kind: 'reverted', fields };
  const standing = evidence.mode === 'copilot' ? copilotStanding(daemonSet) : 'followed';
  if (standing !== 'followed') {
    return failed('PolicyNotFollowed', explainNotFollowed(standing));
  }
  return judgeRollout(record, evidence, daemonSet);
}

/** True if its view is of after the apply, by the watcher's messages and by the generation. */
function isSeenSince(
  { appliedGeneration, openedAtMs }: FleetClusterRecord,
  { daemonSet, heardAtMs }: HeardCluster,
): boolean {
  if (appliedGeneration === undefined || heardAtMs <= openedAtMs) return false;
  const generation = daemonSet?.metadata.generation;
  return generation === undefined || generation >= appliedGeneration;
}

/** Fields that decide which pods run, and how they are staged: other clients may own the rest. */
function changedFields(manifest: FleetManifest, daemonSet: DaemonSetObject): readonly string[] {
  const object: object = daemonSet;
  const live = isJsonObject(object) ? object : {};
  return compareManifest(manifest, live)
    .map(({ field }) => field)
    .filter((field) => field.startsWith('spec.template') || field.includes(POLICY_ANNOTATION))
    .slice(0, FIELDS_MAX);
}

function judgeRollout(
  record: FleetClusterRecord,
  { state, isWithoutNodes }: HeardCluster,
  daemonSet: DaemonSetObject,
): ClusterVerdict {
  const nodes = nodesOf(daemonSet.status);
  const rollout = rolloutOf(daemonSet, state);
  const halt = rollout && findHalt(rollout);
  if (halt !== undefined) return halt;
  // A status of the generation before counts pods that are updated to something else, and nodes for something else.
  if (rollout === undefined || !isObserved(daemonSet)) {
    return { kind: 'rolling', nodes: { ...nodes, updated: 0 } };
  }
  const isDone = rollout.step.kind === 'done';
  // A cluster that was scaled to nothing says nothing of the release; one whose nodes are all passed over does.
  if (nodes.desired === 0 && isWithoutNodes === true) return { kind: 'empty' };
  if (nodes.desired === 0) return judgeNoNodes(record, { nodes, isDone });
  const isServed = isDone && isServing(daemonSet, rollout);
  const isWell = nodes.updated > 0 && (isServed || isTried(record, rollout));
  return { kind: isWell ? 'well' : 'rolling', nodes };
}

function nodesOf(status: DaemonSetObject['status']): NodeTally {
  const { updatedNumberScheduled: updated = 0, desiredNumberScheduled: desired = 0 } = status ?? {};
  return { updated, desired };
}

function findHalt({ breach, orders }: RolloutRecord): ClusterVerdict | undefined {
  if (breach !== undefined) {
    return failed(`Halted/${breach.cause}`, breach.message, breach.nodes);
  }
  if (orders.undo === undefined) return undefined;
  return failed('Halted/Undone', `${orders.undo.by} undid it inside the cluster`);
}

function judgeNoNodes(
  { nodes: before }: FleetClusterRecord,
  { nodes, isDone }: { readonly nodes: NodeTally; readonly isDone: boolean },
): ClusterVerdict {
  if (before !== undefined && before.desired > 0) {
    const message = `it should run on no node any more, and did on ${String(before.desired)}`;
    return failed('NoNodes', message);
  }
  return isDone ? { kind: 'empty' } : { kind: 'rolling', nodes };
}

/**
 * True of a rollout that went by its steps, where pods of each were available for the soak, and of a way back that is over. Where nothing
 * had to soak, all pods that its status counts have to run it and be available, but for as many nodes as were bad when it began,
 * and a first release has to be the baseline.
 */
function isServing(
  daemonSet: DaemonSetObject,
  { isReturn, returnedAtMs, triedAtMs, trial, proven }: RolloutRecord,
): boolean {
  if (isReturn ? returnedAtMs !== undefined : triedAtMs !== undefined) return true;
  const counts = countsOf(daemonSet);
  if (counts === undefined || counts.available === 0 || proven === undefined) return false;
  return describeMissing(counts, trial.outside.length) === undefined;
}

/** Of a cluster that is to go only so far: its canary passed the soak, and waits for the next stage, or went on already. */
function isTried(
  { isPartial, openedAtMs }: FleetClusterRecord,
  { proven, hash, step: { soakedAtMs } }: RolloutRecord,
): boolean {
  if (!isPartial) return false;
  if (soakedAtMs !== undefined) return soakedAtMs >= openedAtMs;
  return proven?.hash === hash && proven.provenAtMs >= openedAtMs;
}

/** The record of the rollout of this very generation; undefined: no run has begun it. */
export function rolloutOf(
  { metadata }: Pick<DaemonSetObject, 'metadata'>,
  state: HeardCluster['state'],
): RolloutRecord | undefined {
  const { history, rollout } = state ?? {};
  if (history === undefined || rollout === undefined) return undefined;
  if (history.generation !== metadata.generation) return undefined;
  return rollout.hash === history.hash ? rollout : undefined;
}

function failed(
  cause: ClusterFailureCause,
  message: string,
  nodes: ClusterFailure['nodes'] = [],
): ClusterVerdict {
  return { kind: 'failed', failure: { cause, message, nodes } };
}
