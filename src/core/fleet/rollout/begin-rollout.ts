/**
 * The record with which a release begins (issue 18). Pure.
 *
 * The last good release stays as the way back; a pause outlives the release that it was given under, all other orders end with it. Good
 * content that was left lately is a return. Content that was halted or undone is held from its first moment, however often it is applied:
 * GitOps does so every few minutes. A release of the same content (another strategy, another placement) passes its stages anew, and
 * clusters that have it need not be given it again: what was agreed to was of the gates of before.
 */
import { defined } from '@rollcall/base/defined.ts';
import { judgeRelease, leaveFor, refusedWords } from '../../rollout/good-releases.ts';
import type { FleetDaemonSet } from '../fleet-daemon-set.ts';
import { NO_MEMBERS } from './fleet-record.ts';
import type { FleetBreachNote, FleetRecord, FleetRelease } from './fleet-record.ts';

export interface Beginning {
  readonly fleet: Pick<FleetDaemonSet, 'namespace' | 'name'>;
  readonly uid: string;
  readonly release: FleetRelease;
  /** Absent: there is none. One of a FleetDaemonSet that had the name before is nothing to this one, and has to be gone first. */
  readonly former?: FleetRecord;
  readonly nowMs: number;
}

/** Before a stage is open. */
export const NO_COUNTS = {
  waiting: 0,
  rolling: 0,
  well: 0,
  failed: 0,
  offline: 0,
  untouched: 0,
  returning: 0,
};

const NEVER_ASSIGNED = {
  stages: [],
  ring: NO_MEMBERS,
  registryRevision: 0,
  dealtAtMs: 0,
  untouchedClusters: 0,
  ringDueAtMs: 0,
  driftDueAtMs: 0,
};

/** The release that a head of a FleetDaemonSet stands for: what was applied last. */
export function releaseOf(head: FleetRelease): FleetRelease {
  const { generation, documentId, appliedAtMs, appliedBy, contentHash } = head;
  return { generation, documentId, appliedAtMs, appliedBy, contentHash };
}

/** The record as the release begins it. */
export function beginRollout(beginning: Beginning): FleetRecord {
  const { fleet, uid, release, former, nowMs } = beginning;
  const before = former?.uid === uid ? former : undefined;
  if (before?.release.contentHash === release.contentHash) return beginAgain(before, beginning);
  const { refused = [], version = 0, orders } = before ?? {};
  return {
    namespace: fleet.namespace,
    name: fleet.name,
    uid,
    version,
    release,
    startedAtMs: nowMs,
    ...atStart(nowMs),
    ...NEVER_ASSIGNED,
    ...knownOf(before, beginning),
    refused,
    orders: defined({ paused: orders?.paused }),
    untold: [],
  };
}

/** Judges its content: it is a return, or why it is none, or it is held. */
function knownOf(
  before: FleetRecord | undefined,
  beginning: Beginning,
): Pick<FleetRecord, 'good' | 'isReturn' | 'older' | 'breach'> {
  const { release, nowMs } = beginning;
  if (before === undefined) return { good: [] };
  const to = release.contentHash;
  const judged = judgeRelease(before.good, to, nowMs);
  const good = leaveFor(before.good, { from: before.release.contentHash, to, nowMs });
  if (judged.kind === 'return') return { good, isReturn: true };
  const older = judged.kind === 'older' ? judged.reason : undefined;
  return { good, ...defined({ older, breach: knownBad(before.refused, beginning) }) };
}

/** The same content, whatever else was changed. What lay with clusters alone is tried again there (failure-class.ts). */
function beginAgain(before: FleetRecord, { release, nowMs }: Beginning): FleetRecord {
  const { wellSinceMs: _restarted, drifted: _seen, pool: _compared, breach, ...kept } = before;
  const { approved: _ofFormerGates, ...orders } = before.orders;
  const standing = breach?.grounds === 'place' ? undefined : breach;
  return {
    ...kept,
    ...NEVER_ASSIGNED,
    ...defined({ breach: standing }),
    ...atStart(nowMs),
    release,
    orders,
  };
}

function knownBad(
  refused: FleetRecord['refused'],
  { release, nowMs }: Beginning,
): FleetBreachNote | undefined {
  const known = refused.find(({ contentHash }) => contentHash === release.contentHash);
  if (known === undefined) return undefined;
  const message = `the same content ${refusedWords(known.cause)}`;
  return { cause: 'KnownBad', atMs: nowMs, message, clusters: [] };
}

function atStart(
  nowMs: number,
): Pick<
  FleetRecord,
  'stage' | 'stageOpenedAtMs' | 'progressedAtMs' | 'gate' | 'counts' | 'dueAtMs'
> {
  return {
    stage: -1,
    stageOpenedAtMs: nowMs,
    progressedAtMs: nowMs,
    gate: { kind: 'next' },
    counts: NO_COUNTS,
    dueAtMs: nowMs,
  };
}
