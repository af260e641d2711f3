/**
 * Where clusters of a fleet go back to, and what becomes of its good releases on the way
 * (core/rollout/good-releases.ts). Pure.
 *
 * An undo, and a rollback, lead to the newest good release of other content. Good content that is
 * applied again soon after it was left is a way back by itself. Nothing soaks there, and no stage,
 * approval or window holds it; what fails on it stops the rest.
 */
import { counted } from '@rollcall/base/counted.ts';
import { nodesRoundedDown } from '../../policy/share.ts';
import { noteGood } from '../../rollout/good-releases.ts';
import type { FleetStage, FleetStrategy } from '../fleet-daemon-set.ts';
import { failedOfClass } from './failure-class.ts';
import type {
  StageAssignment,
  FleetBreachNote,
  FleetClusterRecord,
  FleetRecord,
  FleetRelease,
  GoodFleetRelease,
} from './fleet-record.ts';
import type { GivenCluster } from './tally-stage.ts';

/** Clusters that a breach names. */
const CLUSTERS_MAX = 16;

/** The release that an undo, or a rollback, leads to; undefined: nothing else was good. */
export function wayBackOf({
  release,
  good,
}: Pick<FleetRecord, 'release' | 'good'>): GoodFleetRelease | undefined {
  return good.find(({ id }) => id !== release.contentHash);
}

/** The release that clusters go back to, or went back to last; undefined: none is known. */
export function backAtOf(record: FleetRecord): FleetRelease | undefined {
  return record.isReturn === true && record.orders.undo === undefined
    ? record.release
    : wayBackOf(record);
}

/**
 * The release that clusters go back to now; undefined: none do. An order asks for it, or the strategy at a breach that still stands
 * and that rests on more than the word of one cluster among several; or the applied release is a return, which nothing holds.
 */
export function returnTargetOf(
  record: FleetRecord,
  { onHalt }: Pick<FleetStrategy, 'onHalt'>,
): FleetRelease | undefined {
  const { orders, breach, isReturn, release } = record;
  if (breach?.cause === 'ReturnFailed') return undefined;
  const isAsked = breach !== undefined && breach.grounds === undefined && onHalt === 'rollback';
  if (orders.undo !== undefined || isAsked) return wayBackOf(record);
  const isHeld = breach !== undefined || orders.paused !== undefined;
  return isReturn === true && !isHeld ? release : undefined;
}

/** With this release as the newest good one. */
export function withGood(
  { good, release }: Pick<FleetRecord, 'good' | 'release'>,
  nowMs: number,
): readonly GoodFleetRelease[] {
  const id = release.contentHash;
  const others = good.filter((one) => one.id !== id);
  return noteGood(others, { ...release, id, goodAtMs: nowMs, isBaseline: false });
}

/** Without content that turned out bad; what it took the place of is in force again. */
export function withoutBad(
  good: readonly GoodFleetRelease[],
  contentHash: string,
): readonly GoodFleetRelease[] {
  const [newest, ...others] = good.filter(({ id }) => id !== contentHash);
  if (newest === undefined) return [];
  const { leftAtMs: _inForce, ...present } = newest;
  return [present, ...others];
}

export type ReturnPlace =
  /** It has to be given what others go back to. */
  | 'to-give'
  /** It was given that on this way. */
  | 'given'
  | 'not-concerned';

/** What it is, by its record. */
export function returnPlaceOf(
  cluster: FleetClusterRecord,
  record: FleetRecord,
  target: FleetRelease,
): ReturnPlace {
  const { contentHash, phase } = cluster;
  const { release } = record;
  const isOwn = target.contentHash === release.contentHash;
  if (contentHash !== target.contentHash) {
    return isOwn || contentHash === release.contentHash ? 'to-give' : 'not-concerned';
  }
  if (phase === 'returning' || phase === 'returned') return 'given';
  if (phase !== 'failed') return isOwn && phase !== 'well' ? 'to-give' : 'not-concerned';
  return placeOfFailed(cluster, record, isOwn);
}

/** One that failed with it before the rollout began never had what is left; on the way, it is tried again once an operator asks anew. */
function placeOfFailed(
  { openedAtMs, failure }: FleetClusterRecord,
  { startedAtMs, orders: { undo, resumed } }: FleetRecord,
  isOwn: boolean,
): ReturnPlace {
  if (!isOwn && openedAtMs < startedAtMs) return 'not-concerned';
  const askedAtMs = Math.max(startedAtMs, undo?.atMs ?? 0, resumed?.breach.atMs ?? 0);
  return (failure?.atMs ?? 0) > askedAtMs ? 'given' : 'to-give';
}

/** A stage whose clusters go back. */
export interface ReturningStage {
  readonly stage: Pick<FleetStage, 'maxFailures'>;
  readonly dealt: StageAssignment;
  readonly given: readonly GivenCluster[];
}

/** The failure that stops the way back; undefined: none. A failure of a place (failure-class.ts) stops no other cluster. */
export function findReturnFailure(
  stages: readonly ReturningStage[],
  { generation }: FleetRelease,
  nowMs: number,
): FleetBreachNote | undefined {
  for (const { stage, dealt, given } of stages) {
    const inPlace = given.filter(({ record }) => record.phase === 'failed');
    const failed = failedOfClass(inPlace, 'release');
    const failuresMax = nodesRoundedDown(stage.maxFailures, dealt.members.count);
    const [first] = failed;
    if (first === undefined || failed.length <= failuresMax) continue;
    const { cluster, failure } = first.record;
    const message =
      `${counted(failed.length, 'cluster')} of stage ${dealt.name} failed on the way back to generation ${String(generation)}, ` +
      `${String(failuresMax)} may; ${cluster}: ${failure?.cause ?? 'unknown'}: ${failure?.message ?? ''}`;
    const clusters = failed.map(({ record }) => record.cluster).slice(0, CLUSTERS_MAX);
    return { cause: 'ReturnFailed', atMs: nowMs, message, clusters };
  }
  return undefined;
}
