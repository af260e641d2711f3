/**
 * The stages of a rolling update, if the DaemonSet asks for any: decided before pods are, because which revision a node is
 * to run follows from them (issue 17).
 *
 * Without the annotation there are none, and the rolling update is upstream's. A policy that cannot be read holds the
 * rollout: nothing is replaced, and nothing is recorded. In copilot only DaemonSets with OnDelete are staged; the
 * built-in controller rolls the others itself.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { IntentJudgement, PlanContext, PlannedEvent, View, NodeView } from '../model/plan.ts';
import type { PolicyProblem, RolloutPolicy } from '../policy/rollout-policy.ts';
import type { Json } from '@rollcall/base/json.ts';
import { revisionHash } from '../history/revisions.ts';
import { demandOf } from '../daemon-set/template-demand.ts';
import { resolveBudget, strategyTypeOf } from '../daemon-set/strategy.ts';
import {
  minReadyMsOf,
  isAvailable,
  isNamedUpdated,
  templateGenerationOf,
} from '../pod/pod-facts.ts';
import { findTargets, type Targets } from '../manage-pods/targets.ts';
import { advanceStages } from '../stages/advance-stages.ts';
import { unprovenBefore } from '../rollout/known-bad.ts';
import type { Stages } from '../stages/stages-input.ts';
import { compileSelector } from '@rollcall/base/label-selector.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { StageNode } from '../stages/stage-node.ts';

/** Stages of one run; `unreadable`: the policy holds everything. */
export type Staging =
  | { readonly kind: 'none' }
  | { readonly kind: 'unreadable'; readonly problems: readonly PolicyProblem[] }
  | { readonly kind: 'staged'; readonly stages: Stages; readonly policy: RolloutPolicy };

const NONE: Staging = { kind: 'none' };

/** Looks at the stages once. */
export function planStages(view: View, context: PlanContext, intents: IntentJudgement): Staging {
  const { staging, currentHash, state } = context;
  if (staging === undefined || staging.reading.kind === 'none') return NONE;
  if (staging.mode === 'copilot' && strategyTypeOf(view.daemonSet) !== 'OnDelete') return NONE;
  if (staging.reading.kind === 'invalid') {
    return { kind: 'unreadable', problems: staging.reading.problems };
  }
  // A run that may not act leaves the record as it is, and so does one that does not know the revision.
  if (currentHash === undefined || context.guard.kind !== 'act') return NONE;
  const { policy } = staging.reading;
  const seen = { intents, hash: currentHash, policy };
  const nodes = findStageNodes(view, { ...seen, placement: 'run' });
  const keptNodes = findStageNodes(view, { ...seen, placement: 'keep' });
  const { generation } = view.daemonSet.metadata;
  const id = revisionHash(view.daemonSet, 0);
  const stages = advanceStages({
    policy,
    record: state.rollout,
    hash: currentHash,
    id,
    nodes,
    keptNodes,
    refusals: (state.refusals ?? []).filter((refusal) => refusal.generation === generation),
    nowMs: view.nowMs,
    seenView: staging.seenView,
    isViewFresh: staging.isViewFresh,
    generation: generation ?? 0,
    unheardMs: staging.unheardMs,
    minReadyMs: minReadyMsOf(view.daemonSet),
    strategyUnavailable: unavailableOf(view, context, nodes.length),
    isStageTrue: staging.mode === 'takeover',
    rolloutId: `${view.uid}/${id}`,
    ...defined({ causes: staging.causes, demand: demandOf(templateOf(view)) }),
  });
  return { kind: 'staged', stages, policy };
}

/** maxUnavailable of the DaemonSet's strategy, of the fewer nodes of when the rollout began and of now. */
function unavailableOf(
  { daemonSet }: View,
  { currentHash, state: { rollout } }: PlanContext,
  nowNodes: number,
): number {
  const thenNodes = rollout?.hash === currentHash ? rollout?.baseNodes : undefined;
  return resolveBudget(daemonSet, Math.min(thenNodes ?? nowNodes, nowNodes)).maxUnavailable;
}

function templateOf({ daemonSet }: View): Json {
  return daemonSet.spec.template as unknown as Json; // as the API server gave it
}

/** Which revision each node is to run. */
export function targetsOf(view: View, context: PlanContext, staging: Staging): Targets {
  if (staging.kind !== 'staged') return findTargets(view, context.currentHash);
  const { record, former } = staging.stages;
  const kept = {
    nodes: former,
    unproven: unprovenBefore(record),
    ...defined({ hash: record.former?.hash, former: context.staging?.former }),
  };
  return findTargets(view, context.currentHash, kept);
}

/**
 * Hashes of the revisions that nodes may yet be given, though no pod carries one now: the good one, and what was good
 * before. A pod of it that another run makes at this moment needs it, too (S10).
 */
export function keptRevisions(staging: Staging, context: PlanContext): ReadonlySet<string> {
  if (context.staging === undefined) return new Set();
  const planned = staging.kind === 'staged' ? [staging.stages.record] : [];
  const records =
    context.state.rollout === undefined ? planned : [context.state.rollout, ...planned];
  return new Set(
    records.flatMap(({ proven, former }) => [proven, former].flatMap((each) => each?.hash ?? [])),
  );
}

/** What the DaemonSet's Events tell of the stages. */
export function stagingEvents(staging: Staging): readonly PlannedEvent[] {
  switch (staging.kind) {
    case 'none':
      return [];
    case 'staged':
      return staging.stages.events;
    case 'unreadable': {
      const [first] = staging.problems;
      const field = first?.field === '' ? '' : `${first?.field ?? ''}: `;
      const more = staging.problems.length > 1 ? ` (and ${staging.problems.length - 1} more)` : '';
      const message = `The annotation rollcall.dev/rollout cannot be used, and the rollout is held: ${field}${first?.message ?? ''}${more}`;
      return [{ type: 'Warning', reason: 'InvalidRolloutPolicy', message, isStanding: true }];
    }
  }
}

/**
 * Nodes that are to run a pod (`run`), or that keep the one that they have (`keep`), in the order of
 * the view. A pod that is terminating, or whose delete was accepted, is gone for a rollout; one
 * whose delete is on its way is not well. Made before pods are planned, because which revision a
 * node is to run follows from it.
 */
function findStageNodes(
  view: View,
  at: {
    readonly intents: IntentJudgement;
    readonly hash: string;
    readonly policy: RolloutPolicy;
    readonly placement: 'run' | 'keep';
  },
): readonly StageNode[] {
  const { intents, hash, policy } = at;
  const deletes = intents.unseen.filter((intent) => intent.kind === 'delete');
  const accepted = new Set(deletes.map(({ uid }) => uid));
  const doomed = new Set(
    intents.unresolved.flatMap((intent) => (intent.kind === 'delete' ? [intent.uid] : [])),
  );
  const templateGeneration = templateGenerationOf(view.daemonSet);
  const current = { hash, templateGeneration };
  const ready = { minReadyMs: minReadyMsOf(view.daemonSet), nowMs: view.nowMs };
  const exclude = policy.exclude === undefined ? undefined : compileSelector(policy.exclude);
  const emptied = newestGone(view);
  const describe = ({ node, pods }: NodeView): StageNode => {
    const staying = pods.filter((pod) => !pod.isTerminating && !accepted.has(pod.uid));
    const updated = staying.find((pod) => isNamedUpdated(pod, current));
    const old = staying.find((pod) => !isNamedUpdated(pod, current));
    const isWell = updated !== undefined && isAvailable(updated, ready) && !doomed.has(updated.uid);
    return {
      node,
      isWell,
      isMoving: old === undefined && !isWell,
      isExcluded: exclude?.matches(node.labels) === true,
      ...defined({
        old,
        updated,
        isLeaving: old !== undefined && doomed.has(old.uid) ? true : undefined,
        emptySinceMs: pods.length === 0 ? emptied.get(node.name) : undefined,
      }),
    };
  };
  const isMeant = ({ placement, pods }: NodeView): boolean =>
    placement === at.placement && (placement === 'run' || pods.length > 0);
  return view.nodes.filter(isMeant).map(describe);
}

/** When the newest pod of each node was told to be gone. */
function newestGone({ gone }: View): ReadonlyMap<NodeName, number> {
  const newest = new Map<NodeName, number>();
  for (const { node, goneAtMs } of gone) {
    newest.set(node, Math.max(goneAtMs, newest.get(node) ?? 0));
  }
  return newest;
}
