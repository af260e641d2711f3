/**
 * What is to be done about a DaemonSet's revisions (spec 2.10), from live objects; pure.
 *
 * Claimed by the rules of spec 2.4: owned ones that the selector matches, and matching orphans of the
 * same namespace that are not terminating. Nothing is decided about anybody else's (S10). The caller
 * carries it out in the order of the fields, each step fenced; what it cannot finish it begins anew
 * from a new list, so a plan may be carried out in part. A DaemonSet being deleted has no plan.
 */
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import { findCurrentRevisions } from './history-match.ts';
import { compileSelector, type CompiledSelector } from '@rollcall/base/label-selector.ts';
import { controllerUidOf } from '../pod/owner.ts';
import { compareRevisions, lacksHash, revisionNumberOf } from './revisions.ts';

/** What is known about the revisions of one DaemonSet. */
export interface HistoryPlanInput {
  readonly daemonSet: DaemonSetObject;
  /** Live: those that the selector matches, and owned ones that it does not match any more. */
  readonly revisions: readonly KubernetesObject[];
  /** UID of the revision that was current at this generation, where that is known. */
  readonly knownUid: string | undefined;
}

/** The steps, in their order. */
export interface HistoryPlan {
  /** Owned, and not matched by the selector any more: to be let go. */
  readonly releases: readonly KubernetesObject[];
  readonly adopts: readonly KubernetesObject[];
  /** Claimed ones without controller-revision-hash. */
  readonly labels: readonly KubernetesObject[];
  /** The revision that holds the present template, the highest if several do; none: create it. */
  readonly current: KubernetesObject | undefined;
  /** Others that hold it: to be deleted once no pod carries their hash. */
  readonly duplicates: readonly KubernetesObject[];
  /** One more than the highest number of those that hold other templates. */
  readonly nextNumber: number;
  /** True if the current revision's number is lower than that: the template was rolled back. */
  readonly isRenumbered: boolean;
}

/** Plans the history of one DaemonSet. */
export function planHistory({ daemonSet, revisions, knownUid }: HistoryPlanInput): HistoryPlan {
  const selector = compileSelector(daemonSet.spec.selector);
  const byClaim: Record<RevisionClaim, KubernetesObject[]> = {
    keep: [],
    adopt: [],
    release: [],
    ignore: [],
  };
  for (const revision of uniqueByUid(revisions)) {
    byClaim[claimRevision({ daemonSet, selector }, revision)].push(revision);
  }
  const claimed = [...byClaim.keep, ...byClaim.adopt].sort(compareRevisions);
  const matching = findCurrentRevisions(daemonSet, claimed, knownUid);
  const current = matching.at(-1);
  const others = claimed.filter((revision) => !matching.includes(revision));
  const nextNumber = Math.max(0, ...others.map(revisionNumberOf)) + 1;
  return {
    releases: byClaim.release,
    adopts: byClaim.adopt,
    labels: claimed.filter(lacksHash),
    current,
    duplicates: matching.slice(0, -1),
    nextNumber,
    isRenumbered: current !== undefined && revisionNumberOf(current) < nextNumber,
  };
}

/** True if the plan would write anything. */
export function changesHistory(plan: HistoryPlan): boolean {
  return (
    plan.current === undefined ||
    plan.isRenumbered ||
    [plan.releases, plan.adopts, plan.labels, plan.duplicates].some((each) => each.length > 0)
  );
}

type RevisionClaim = 'keep' | 'adopt' | 'release' | 'ignore';

function claimRevision(
  claimant: { readonly daemonSet: DaemonSetObject; readonly selector: CompiledSelector },
  revision: KubernetesObject,
): RevisionClaim {
  const { daemonSet, selector } = claimant;
  const { metadata } = revision;
  const isMatch = selector.matches(metadata.labels ?? {});
  const owner = controllerUidOf(revision);
  if (owner !== undefined) {
    if (owner !== daemonSet.metadata.uid) return 'ignore';
    return isMatch || selector.invalid !== undefined ? 'keep' : 'release';
  }
  const isAdoptable =
    isMatch &&
    metadata.deletionTimestamp === undefined &&
    metadata.namespace === daemonSet.metadata.namespace;
  return isAdoptable ? 'adopt' : 'ignore';
}

function uniqueByUid(revisions: readonly KubernetesObject[]): Iterable<KubernetesObject> {
  return new Map(revisions.map((revision) => [revision.metadata.uid, revision])).values();
}
