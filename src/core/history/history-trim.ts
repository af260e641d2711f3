/**
 * Which old revisions go: the surplus over revisionHistoryLimit, lowest number first (spec 2.11).
 *
 * Never the current one, never one whose hash a claimed pod carries (S10): pods held by finalizers, without a node
 * or about to be adopted count, and so does a create that may still arrive; nor one that a staged rollout may give to a
 * node. Live ones can keep the count above the limit.
 *
 * Differs from upstream: revisions that terminate are no surplus; nothing is trimmed while a create is not
 * resolved (its pod may come, of a revision that was current) or history is not settled.
 */
import type { IntentJudgement, PlanContext, View } from '../model/plan.ts';
import type { PodProjection, RevisionProjection } from '../model/projections.ts';
import { REVISION_HASH_LABEL, revisionHashOfPod } from '../pod/pod-facts.ts';

/** Old revisions that are kept where the DaemonSet does not say how many (API default). */
const HISTORY_LIMIT_DEFAULT = 10;

/** Revisions to delete, ascending by number, then by name; at most one burst (S9). */
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
