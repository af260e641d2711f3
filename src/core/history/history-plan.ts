/**
 * What is to be done about a DaemonSet's revisions (spec 2.10), from live objects; pure.
 *
 * Claimed by the rules of spec 2.4: owned ones that the selector matches, and matching orphans of the
 * same namespace that are not terminating. Those of other owners are left alone (S10). The caller
 * carries it out in the order of the fields, each step fenced; what it cannot finish it begins anew
 * from a new list, so a plan may be carried out in part. A DaemonSet being deleted has no plan.
 */
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import { findCurrentRevisions } from './history-match.ts';
import { claimantOf, claimOf, controllerUidOf, type Claim } from '../pod/owner.ts';
import { compareRevisions, lacksHash, revisionNumberOf } from './revisions.ts';
import type { IntentJudgement, PlanContext, View } from '../model/plan.ts';
import type { PodProjection, RevisionProjection } from '../model/projections.ts';
import { REVISION_HASH_LABEL, revisionHashOfPod } from '../pod/pod-facts.ts';

interface HistoryPlanInput {
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
  const claimant = claimantOf(daemonSet);
  const byClaim: Record<Claim, KubernetesObject[]> = {
    keep: [],
    adopt: [],
    release: [],
    ignore: [],
  };
  for (const revision of uniqueByUid(revisions)) {
    const { namespace = '', labels = {}, deletionTimestamp } = revision.metadata;
    const isTerminating = deletionTimestamp !== undefined;
    const ownerUid = controllerUidOf(revision);
    byClaim[claimOf(claimant, { namespace, labels, isTerminating, ownerUid })].push(revision);
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

function uniqueByUid(revisions: readonly KubernetesObject[]): Iterable<KubernetesObject> {
  return new Map(revisions.map((revision) => [revision.metadata.uid, revision])).values();
}

/** Old revisions that are kept where the DaemonSet does not say how many (API default). */
const HISTORY_LIMIT_DEFAULT = 10;

/**
 * Old revisions that go: the surplus over revisionHistoryLimit (spec 2.11), ascending by number, then by name; at most
 * one burst (S9). Never the current one, one whose hash a claimed pod carries, or one that a staged rollout may give to
 * a node (S10).
 * Differs from upstream: revisions that terminate are no surplus; nothing is trimmed while a create is not resolved.
 */
export function planTrims(
  view: View,
  context: Pick<PlanContext, 'guard' | 'currentRevision' | 'burstPodsMax'> & {
    readonly intents: IntentJudgement;
    /** Hashes that a staged rollout goes back to, or keeps nodes on. */
    readonly kept: ReadonlySet<string>;
  },
): readonly RevisionProjection[] {
  const { currentRevision } = context;
  if (context.guard.kind !== 'act' || currentRevision === undefined) return [];
  // The view has them in this order: by number, then by name.
  const old = view.revisions.filter(({ uid, ownerUid, isTerminating }) => {
    return ownerUid === view.uid && uid !== currentRevision && !isTerminating;
  });
  const limit = view.daemonSet.spec.revisionHistoryLimit ?? HISTORY_LIMIT_DEFAULT;
  const surplus = Math.min(old.length - limit, context.burstPodsMax);
  // Stryker disable next-line EqualityOperator: a surplus of none takes none from the list below, either
  if (surplus <= 0 || hasOpenCreates(context.intents)) return [];
  const live = new Set([...claimedPods(view).map(revisionHashOfPod), ...context.kept]);
  return old.filter((revision) => !live.has(hashOf(revision))).slice(0, surplus);
}

/** A pod may come that the view does not show, of a revision that was current a moment ago. */
function hasOpenCreates({ unseen, unresolved }: IntentJudgement): boolean {
  return [...unseen, ...unresolved].some(({ kind }) => kind === 'create');
}

function claimedPods(view: View): readonly PodProjection[] {
  return [
    ...view.nodes.flatMap(({ pods, held }) => [...pods, ...held]),
    ...view.strays,
    ...view.untargeted,
  ];
}

function hashOf(revision: RevisionProjection): string {
  const hash = revision.labels[REVISION_HASH_LABEL] ?? '';
  return hash === '' ? revision.name : hash;
}
