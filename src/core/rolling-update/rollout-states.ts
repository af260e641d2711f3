/**
 * What a rolling update finds on each node, computed once per run (spec 2.9); it decides nothing.
 *
 * A *site* is a node that should run a pod or has an entry, or a vanished node that still has pods. Pods that are
 * terminating, or deleted by an accepted delete or by the rest of this run, count as gone. Sites at which this run
 * creates, deletes, waits or claims anyway are `isTouched`: the rolling update leaves them alone.
 */
import type { NodeName, Uid } from '../model/identifiers.ts';
import type { NodeView } from '../model/plan.ts';
import type { PodProjection } from '../model/projections.ts';
import type { RefusalEntry } from '../model/state.ts';
import type { Placement } from '../model/verdict.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import { isGoing, type NodeDecision, type PodDecisions } from '../manage-pods/plan-pods.ts';
import type { Planning } from '../manage-pods/planning.ts';
import { isAvailable, isHeld, nodeOf } from '../pod/pod-facts.ts';

export interface RolloutPod {
  readonly pod: PodProjection;
  /** Available by its own conditions (spec 2.9). */
  readonly isAvailable: boolean;
  /** Its delete was recorded and not answered: it may go at any moment (protocol 4). */
  readonly isDoomed: boolean;
  /** Its delete was refused lately: until when others have their turn. */
  readonly refused?: RefusalEntry;
}

/** The pods of one site by revision; `crowded` is what spec 2.9 calls "not ok". */
export type SiteState =
  | { readonly kind: 'crowded' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'both'; readonly old: RolloutPod; readonly new: RolloutPod }
  | { readonly kind: 'only-new'; readonly new: RolloutPod }
  | { readonly kind: 'only-old'; readonly old: RolloutPod };

export interface Site {
  readonly node: NodeName;
  /** Absent for a vanished node. */
  readonly nodeView?: NodeView;
  readonly placement: Placement | 'vanished';
  readonly state: SiteState;
  readonly isTouched: boolean;
  /** A create that may still add a pod here: decided in this run, unseen, or unresolved. */
  readonly hasOpenCreate: boolean;
}

/** Counts for certain: available, and no delete may be on its way to it. */
export function isSafelyAvailable(each: RolloutPod): boolean {
  return each.isAvailable && !each.isDoomed;
}

/** True if a pod of the site counts for certain. */
export function isSupplied({ state }: Site): boolean {
  switch (state.kind) {
    case 'crowded':
    case 'empty':
      return false;
    case 'only-new':
      return isSafelyAvailable(state.new);
    case 'only-old':
      return isSafelyAvailable(state.old);
    case 'both':
      return isSafelyAvailable(state.old) || isSafelyAvailable(state.new);
  }
}

/** Which of two nodes with an old pod goes first: longest not updated, then by name. */
export function compareSites(
  left: { readonly node: NodeName; readonly old: RolloutPod },
  right: { readonly node: NodeName; readonly old: RolloutPod },
): number {
  const byAge = left.old.pod.createdAtMs - right.old.pod.createdAtMs;
  return byAge === 0 ? compareText(left.node, right.node) : byAge;
}

/** All sites: nodes in the order of the view, then vanished nodes in the order of their pods. */
export function findSites(planning: Planning, decisions: PodDecisions): readonly Site[] {
  const describe = describer(planning);
  const sites: Site[] = [];
  for (const decision of decisions.nodes) {
    const { placement, pods } = decision.nodeView;
    if (placement !== 'run' && pods.length === 0) continue;
    sites.push(nodeSite(planning, decision, describe));
  }
  return [...sites, ...vanishedSites(planning, decisions, describe)];
}

const NOBODY: ReadonlySet<Uid> = new Set();

type Describe = (
  pods: readonly PodProjection[],
  at: { readonly node: NodeName | undefined; readonly leaving: ReadonlySet<Uid> },
) => SiteState;

function nodeSite(planning: Planning, decision: NodeDecision, describe: Describe): Site {
  const { nodeView, deletes } = decision;
  const leaving =
    deletes.length === 0 ? NOBODY : new Set(deletes.map(({ planned }) => planned.uid));
  return {
    node: nodeView.node.name,
    nodeView,
    placement: nodeView.placement,
    state: describe(nodeView.pods, { node: nodeView.node.name, leaving }),
    isTouched: isTouched(planning, decision),
    hasOpenCreate: decision.create !== undefined || hasCreateOnItsWay(planning, nodeView),
  };
}

function isTouched({ acceptedDeletes }: Planning, decision: NodeDecision): boolean {
  // A node whose pods the view shows otherwise than they are is looked at again when it does not.
  const isUnseen = decision.nodeView.pods.some((pod) => acceptedDeletes.has(pod.uid));
  return (
    isUnseen ||
    decision.create !== undefined ||
    decision.deletes.length > 0 ||
    decision.wait !== undefined ||
    decision.withheldUntilMs !== undefined ||
    decision.nodeView.pods.some((pod) => pod.ownerUid === undefined)
  );
}

/** A recorded create whose pod the view does not show; one that is shown adds nothing any more. */
function hasCreateOnItsWay(planning: Planning, nodeView: NodeView): boolean {
  const node = nodeView.node.name;
  if (planning.unseenCreates.has(node)) return true;
  const unresolved = planning.unresolvedCreates.get(node);
  if (unresolved === undefined) return false;
  const names = new Set([...nodeView.pods, ...nodeView.held].map(({ name }) => name));
  return unresolved.some(({ name }) => !names.has(name));
}

function vanishedSites(
  planning: Planning,
  decisions: PodDecisions,
  describe: Describe,
): readonly Site[] {
  const strays = planning.view.strays.filter((pod) => !isHeld(pod));
  const groups = Map.groupBy(strays, nodeOf);
  const leaving = new Set(decisions.strays.map(({ planned }) => planned.uid));
  return [...groups.entries()].flatMap(([node, pods]) =>
    node === undefined
      ? []
      : {
          node,
          placement: 'vanished',
          state: describe(pods, { node, leaving }),
          isTouched: pods.some((pod) => leaving.has(pod.uid) || pod.ownerUid === undefined),
          hasOpenCreate: false,
        },
  );
}

function describer(planning: Planning): Describe {
  const { view, minReadyMs, unresolvedDeletes, refusedDeletes, targets } = planning;
  const at = { minReadyMs, nowMs: view.nowMs };
  const facts = (pod: PodProjection): RolloutPod => {
    const refused = refusedDeletes.get(pod.uid);
    const found = {
      pod,
      isAvailable: isAvailable(pod, at),
      isDoomed: unresolvedDeletes.has(pod.uid),
    };
    // Most pods, of thousands: without a copy.
    return refused === undefined ? found : { ...found, refused };
  };
  return (pods, { node, leaving }) => {
    let old: PodProjection | undefined;
    let updated: PodProjection | undefined;
    for (const pod of pods) {
      if (leaving.has(pod.uid) || isGoing(planning, pod)) continue;
      if (targets.isOnTarget(pod, node)) {
        if (updated !== undefined) return { kind: 'crowded' };
        updated = pod;
      } else {
        if (old !== undefined) return { kind: 'crowded' };
        old = pod;
      }
    }
    if (updated === undefined) {
      return old === undefined ? { kind: 'empty' } : { kind: 'only-old', old: facts(old) };
    }
    return old === undefined
      ? { kind: 'only-new', new: facts(updated) }
      : { kind: 'both', old: facts(old), new: facts(updated) };
  };
}
