/**
 * Whether a cluster's failure speaks against the release, or only about the cluster. Of the
 * release: what was seen of pods and nodes that run it. Of the place: it could not be given there,
 * or did not stay. An editor of one namespace can cause the second kind, so it holds a stage,
 * and takes no other cluster back.
 */
import type { BreachCause } from '../../model/rollout-record.ts';
import { nodesRoundedDown } from '../../policy/share.ts';
import type { FleetStage } from '../fleet-daemon-set.ts';

export type FailureClass = 'release' | 'place';

const CLASSES = {
  'Halted/StartFailure': 'release',
  'Halted/Restarts': 'release',
  'Halted/OOMKilled': 'release',
  'Halted/NotReady': 'release',
  'Halted/Flapping': 'release',
  'Halted/NodesFailed': 'release',
  'Halted/Unexplained': 'release',
  'Halted/ReturnFailed': 'release',
  'Halted/ApiServerSlow': 'release',
  NoNodes: 'release',
  // Quota, PodSecurity, a webhook: no pod of it ran.
  'Halted/CreateRefused': 'place',
  'Halted/NotRecreated': 'place',
  'Halted/ProgressDeadlineExceeded': 'place',
  // That failure was reported then.
  'Halted/KnownBad': 'place',
  'Halted/Undone': 'place',
  Conflict: 'place',
  Refused: 'place',
  Reverted: 'place',
  PolicyNotFollowed: 'place',
  Unreachable: 'place',
} as const satisfies Readonly<Record<`Halted/${BreachCause}`, FailureClass>> &
  Readonly<Record<string, FailureClass>>;

/** Why a cluster failed: a cause of its own rollout, or of giving it the release. */
export type ClusterFailureCause = keyof typeof CLASSES;

/** All of them: what a stored record may hold. */
export const CLUSTER_FAILURE_CAUSES: readonly ClusterFailureCause[] = Object.keys(
  CLASSES,
) as ClusterFailureCause[];

function failureClassOf(cause: ClusterFailureCause): FailureClass {
  return CLASSES[cause];
}

/** A cluster's record (FleetClusterRecord), as far as it tells of a failure. */
interface Failing {
  readonly phase: string;
  readonly failure?: { readonly cause: ClusterFailureCause; readonly atMs: number };
}

interface WithRecord {
  readonly record: Pick<Failing, 'failure'>;
}

export function failedOfClass<T extends WithRecord>(
  failed: readonly T[],
  failureClass: FailureClass,
): readonly T[] {
  return failed.filter(
    ({ record: { failure } }) =>
      failure !== undefined && failureClassOf(failure.cause) === failureClass,
  );
}

/** True once more clusters failed than a stage forgives, of this many: each class has its own bound. */
export function isBeyondForgiven(
  failed: readonly WithRecord[],
  { maxFailures, maxRefusals }: Pick<FleetStage, 'maxFailures' | 'maxRefusals'>,
  clusters: number,
): boolean {
  return (
    failedOfClass(failed, 'release').length > nodesRoundedDown(maxFailures, clusters) ||
    failedOfClass(failed, 'place').length > nodesRoundedDown(maxRefusals, clusters)
  );
}

/** Of a fleet's record: up to when an operator knew the failures. */
interface Known {
  readonly orders: { readonly resumed?: { readonly breach: { readonly atMs: number } } };
  readonly release: { readonly appliedAtMs: number };
}

/** True of a cluster that could not take it when an operator resumed, or applied anew: by then it may. */
export function isToTryAgain({ phase, failure }: Failing, { orders, release }: Known): boolean {
  if (phase !== 'failed' || failure === undefined) return false;
  const knownAtMs = Math.max(orders.resumed?.breach.atMs ?? 0, release.appliedAtMs);
  return failureClassOf(failure.cause) === 'place' && failure.atMs <= knownAtMs;
}
