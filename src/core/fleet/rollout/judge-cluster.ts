/**
 * How one cluster fares with the release that it was given: the gate's evidence (issue 18, build item 4).
 *
 * Only what was seen after the cluster was given it counts: an older message, an older generation, a record of another revision are
 * evidence of nothing. What says *well* is the cluster's own staged rollout, whose record names the revision of exactly the
 * generation that the apply made: its canary soaked, its groups passed, and somebody runs it. Counters of a status decide nothing: they
 * are where others were told of success that was of the release before. A cluster that has no node for it is `empty`, never well.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { RolloutRecord } from '../../model/rollout-record.ts';
import { templateOfRevision } from '../../pod/revision.ts';
import { POLICY_ANNOTATION } from '../../policy/rollout-policy.ts';
import { copilotStanding, explainNotFollowed } from '../../takeover/opt-in.ts';
import { compareManifest } from '../compare-manifest.ts';
import type { FleetManifest } from '../fleet-daemon-set.ts';
import type { ClusterEvidence, HeardCluster } from './cluster-evidence.ts';
import type { ClusterFailure, FleetClusterRecord } from './fleet-record.ts';

/** Nodes that run it, of those that should. */
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
  /** It runs there, and there is no node that it should run on. */
  | { readonly kind: 'empty' }
  /** Somebody else changed it after the apply. */
  | { readonly kind: 'reverted'; readonly fields: readonly string[] }
  | { readonly kind: 'failed'; readonly failure: Omit<ClusterFailure, 'atMs'> };

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
  const { appliedGeneration } = record;
  const { daemonSet, heardAtMs } = evidence;
  if (appliedGeneration === undefined || daemonSet === undefined) return { kind: 'awaited' };
  if (heardAtMs <= record.openedAtMs) return { kind: 'awaited' };
  if (daemonSet === null) {
    return record.nodes === undefined
      ? { kind: 'awaited' }
      : { kind: 'reverted', fields: ['metadata.name'] };
  }
  if ((daemonSet.metadata.generation ?? 0) < appliedGeneration) return { kind: 'awaited' };
  const fields = changedFields(manifest, daemonSet);
  if (fields.length > 0) return { kind: 'reverted', fields };
  const standing = evidence.mode === 'copilot' ? copilotStanding(daemonSet) : 'followed';
  if (standing !== 'followed') {
    return failed('PolicyNotFollowed', explainNotFollowed(standing));
  }
  return judgeRollout(record, evidence, daemonSet);
}

/** What decides which pods run, and how they are staged: other fields may be anybody's. */
function changedFields(manifest: FleetManifest, daemonSet: DaemonSetObject): readonly string[] {
  const object: object = daemonSet;
  const live = isJsonObject(object) ? object : {};
  return compareManifest(manifest, live)
    .map(({ field }) => field)
    .filter((field) => field.startsWith('spec.template') || field.includes(POLICY_ANNOTATION))
    .slice(0, FIELDS_MAX);
}

function judgeRollout(
  { isPartial, openedAtMs, nodes: before }: FleetClusterRecord,
  { state }: HeardCluster,
  daemonSet: DaemonSetObject,
): ClusterVerdict {
  const desired = daemonSet.status?.desiredNumberScheduled ?? 0;
  const nodes = { updated: daemonSet.status?.updatedNumberScheduled ?? 0, desired };
  const rollout = rolloutOf(daemonSet, state);
  if (rollout === undefined) return { kind: 'rolling', nodes: { ...nodes, updated: 0 } };
  const { breach, orders, step, proven } = rollout;
  if (breach !== undefined) {
    return failed(`Halted/${breach.cause}`, breach.message, breach.nodes);
  }
  if (orders.undo !== undefined) {
    return failed('Halted/Undone', `${orders.undo.by} undid it inside the cluster`);
  }
  if (desired === 0) {
    if (before !== undefined && before.desired > 0) {
      const message = `it should run on no node any more, and did on ${String(before.desired)}`;
      return failed('NoNodes', message);
    }
    return step.kind === 'done' ? { kind: 'empty' } : { kind: 'rolling', nodes };
  }
  if (nodes.updated === 0) return { kind: 'rolling', nodes };
  const isTried = isPartial && proven?.hash === rollout.hash && proven.provenAtMs >= openedAtMs;
  return { kind: isTried || step.kind === 'done' ? 'well' : 'rolling', nodes };
}

/** The record of the rollout of this very generation; undefined: no run has begun it. */
export function rolloutOf(
  daemonSet: DaemonSetObject,
  state: HeardCluster['state'],
): RolloutRecord | undefined {
  const { history, rollout } = state ?? {};
  if (history === undefined || rollout === undefined) return undefined;
  if (history.generation !== daemonSet.metadata.generation) return undefined;
  return templateOfRevision(rollout.hash) === history.hash ? rollout : undefined;
}

function failed(
  cause: string,
  message: string,
  nodes: ClusterFailure['nodes'] = [],
): ClusterVerdict {
  return { kind: 'failed', failure: { cause, message, nodes } };
}
