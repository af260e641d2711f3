/**
 * Applies a verdict to a cluster's record. Pure; the same record again where nothing moved, so that nothing is written.
 *
 * A failure stands until the cluster is given something else, or an operator resumes: a pod that crashes now and then must not look well
 * at the moment of the gate. A client that takes the release back is answered twice within ten minutes; the third time is a
 * loop: that is told and left (facts 6), since two healers never end.
 */
import type { ClusterMode } from '../../model/registration.ts';
import { explainNotFollowed } from '../../may-act/opt-in.ts';
import { isUnstaged, type Rendering } from '../render-fleet.ts';
import type { ClusterVerdict } from './judge-cluster.ts';
import type { ClusterFailure, FleetClusterRecord } from './fleet-record.ts';

/** So many reverts by another client, in this time, are a loop. */
const REVERTS_MAX = 3;
const REVERTS_WITHIN_MS = 600_000;

/** Of what an API server or a webhook says of a cluster, in characters: a fleet's record tells of sixteen. */
export const FAILURE_MESSAGE_MAX = 1000;

/** The record as the verdict leaves it, and whether the cluster is to be given the same once more. */
export interface Noted {
  readonly record: FleetClusterRecord;
  readonly isToGive: boolean;
}

/** Notes a verdict. */
export function noteVerdict(
  record: FleetClusterRecord,
  verdict: ClusterVerdict,
  nowMs: number,
): Noted {
  const kept = { record, isToGive: false };
  if (record.phase === 'failed') return kept;
  switch (verdict.kind) {
    case 'failed':
      return { record: withFailure(record, { ...verdict.failure, atMs: nowMs }), isToGive: false };
    case 'reverted':
      return noteRevert(record, verdict.fields, nowMs);
    case 'rolling':
      return { record: moved(record, 'rolling', { nodes: verdict.nodes }), isToGive: false };
    case 'empty':
      return arrived(record, moved(record, 'well', { nodes: noneOf(record) }));
    case 'well':
      return arrived(record, moved(record, 'well', { nodes: verdict.nodes, nowMs }));
    default:
      // Nothing was seen of it, or it is none of ours to judge.
      return kept;
  }
}

/** Back without approval and windows: given the same with its whole policy. */
function arrived({ isUngated }: FleetClusterRecord, record: FleetClusterRecord): Noted {
  return { record, isToGive: isUngated === true };
}

/** How many it had stays known: nodes that come back, and are passed over then, are a failure. */
function noneOf({ nodes }: FleetClusterRecord): NonNullable<FleetClusterRecord['nodes']> {
  return { updated: 0, desired: nodes?.desired ?? 0 };
}

/** True of a cluster that goes back to what was good before, or has gone. */
function isReturn({ phase }: FleetClusterRecord): boolean {
  return phase === 'returning' || phase === 'returned';
}

/** The record as failed, with the beginning of what was said. */
export function withFailure(
  record: FleetClusterRecord,
  failure: ClusterFailure,
): FleetClusterRecord {
  const { wellSinceMs: _former, ...rest } = record;
  const message = failure.message.slice(0, FAILURE_MESSAGE_MAX);
  return { ...rest, phase: 'failed', failure: { ...failure, message } };
}

interface Seen {
  readonly nodes: NonNullable<FleetClusterRecord['nodes']>;
  readonly nowMs?: number;
}

/** Among the phases of going there, or of going back. */
function moved(
  record: FleetClusterRecord,
  phase: 'rolling' | 'well',
  { nodes, nowMs }: Seen,
): FleetClusterRecord {
  const next = isReturn(record) ? (phase === 'well' ? 'returned' : 'returning') : phase;
  const { wellSinceMs: formerMs, ...rest } = record;
  const wellSinceMs = phase === 'well' ? (formerMs ?? nowMs) : undefined;
  // Counts of nodes move with every pod: they are written at first sight, at the first node, and when something else is.
  const isSeen = record.nodes !== undefined && (record.nodes.updated > 0 || nodes.updated === 0);
  if (isSeen && next === record.phase && wellSinceMs === formerMs) return record;
  return { ...rest, phase: next, nodes, ...(wellSinceMs === undefined ? {} : { wellSinceMs }) };
}

function noteRevert(record: FleetClusterRecord, fields: readonly string[], nowMs: number): Noted {
  const { reverts } = record;
  // The same revert, seen again: the cluster was not given the release since (paused, or its turn is over).
  if (reverts?.isOpen === true) return { record, isToGive: true };
  const isWithin = reverts !== undefined && nowMs - reverts.sinceMs <= REVERTS_WITHIN_MS;
  const count = (isWithin ? reverts.count : 0) + 1;
  const noted: FleetClusterRecord = {
    ...record,
    reverts: {
      count,
      sinceMs: isWithin ? reverts.sinceMs : nowMs,
      by: reverts?.by ?? '',
      isOpen: true,
    },
  };
  if (count < REVERTS_MAX) return { record: noted, isToGive: true };
  const what = fields.join(', ');
  const message = `another client set ${what} back ${String(count)} times within ten minutes`;
  const failure = { cause: 'Reverted', message, atMs: nowMs, nodes: [] } as const;
  return { record: withFailure(noted, failure), isToGive: false };
}

type NotGiven = Pick<ClusterFailure, 'cause' | 'message'>;

/** Why a cluster is never given the release, whatever stage is open; undefined: it may be. Its mode may have changed since the plan. */
export function whyNotGiven(rendering: Rendering, mode: ClusterMode): NotGiven | undefined {
  if (rendering.kind === 'refused') return notRendered(rendering);
  if (!isUnstaged(rendering, mode)) return undefined;
  return { cause: 'PolicyNotFollowed', message: explainNotFollowed('rolling-update') };
}

/** Overrides left no DaemonSet: the first problem says why. */
export function notRendered({
  problems: [{ field, message }],
}: Extract<Rendering, { readonly kind: 'refused' }>): NotGiven {
  return { cause: 'Refused', message: `${field}: ${message}` };
}
