/**
 * The removal guard in a plan: takes deletes of a held mass removal out of what was decided, and says so of each node (ADR 0057).
 *
 * Only deletes that take a pod from a node where it does not belong are touched: what is broken, double, finished or
 * outdated goes on. A delete that was recorded and not answered is repeated while others wait for some seconds, and is not
 * while the mass removal is held. Judged only where the run may act, or where another controller is known to.
 *
 * Differs from upstream: pods of many nodes that lose a label wait for a confirmation; `strict` restores upstream.
 */
import type { NodeName } from '../model/identifiers.ts';
import type { PlanContext, PlannedDelete, RemovalOutcome } from '../model/plan.ts';
import type { HeldRemoval } from '../model/state.ts';
import type { PodDecisions } from '../manage-pods/plan-pods.ts';
import type { Wait } from '../manage-pods/plan-create.ts';
import type { Planning } from '../manage-pods/planning.ts';
import type { RolloutDecisions, RolloutNote } from '../rolling-update/plan-rollout.ts';
import { countRemoval, isRemoval, withoutRemovals } from './count-removal.ts';
import { decideRemoval, isEdited } from './decide-removal.ts';
import type { RemovalDecision, RemovalInput } from './decide-removal.ts';
import { placementHash } from './removal-cause.ts';
import { CONFIRM_ANNOTATION, removalRulesOf } from './removal-rules.ts';

export interface Decided {
  readonly decisions: PodDecisions;
  readonly rollout: RolloutDecisions;
}

/** The same without what is held, and what is to be stored and told. */
export type Guarded = Decided & { readonly shrink?: RemovalOutcome };

/** Puts the removal guard between what was decided and what is sent. */
export function holdRemoval(planning: Planning, decided: Decided): Guarded {
  const { view, context } = planning;
  const stance = stanceOf(context);
  if (stance === undefined) return decided;
  const { daemonSet, nowMs } = view;
  const record = context.state.shrink;
  const placement = placementHash(daemonSet);
  const counted = countRemoval(planning, decided, isEdited(record, placement));
  const decision = decideRemoval({
    daemonSet,
    rules: removalRulesOf(context.staging?.reading),
    removal: counted,
    record,
    placement,
    nowMs,
    stance,
  });
  const { notice } = decision;
  const shrink = { record: decision.record, ...(notice === undefined ? {} : { notice }) };
  const isTaken = decision.kind === 'go' || stance === 'watch';
  if (isTaken) return { ...decided, shrink };
  const leaving = new Set(counted.leaving.map(({ node }) => node.name));
  return { ...withhold(decided, decision, leaving), shrink };
}

/** Whether the run acts, or watches another controller do so; undefined: its view is in doubt, and it judges nothing. */
function stanceOf({ guard, mode }: PlanContext): RemovalInput['stance'] | undefined {
  if (guard.kind === 'status-only') return undefined;
  if (mode === 'copilot') return 'watch';
  if (guard.kind === 'act') return 'act';
  return guard.code === 'observe-mode' ? 'watch' : undefined;
}

function withhold(
  { decisions, rollout }: Decided,
  { kind, record, untilMs }: RemovalDecision,
  leaving: ReadonlySet<NodeName>,
): Decided {
  const isHeld = (planned: PlannedDelete): boolean =>
    isRemoval(planned) && (kind === 'hold' || planned.reason !== 'repeat');
  const message = record.held === undefined ? SETTLING : describeHeld(record.held);
  const until = untilMs === undefined ? {} : { untilMs };
  const waitOf = (pod: string): Wait => ({ code: 'HeldByRemovalGuard', message, pod, ...until });
  const notes = new Map<NodeName, RolloutNote>(rollout.notes);
  const deletes = rollout.deletes.filter(({ planned }) => {
    const { node, name } = planned;
    if (node === undefined || !leaving.has(node) || !isHeld(planned)) return true;
    notes.set(node, { kind: 'blocked', pod: name, wait: waitOf(name) });
    return false;
  });
  const nodes = decisions.nodes.map((decision) => {
    if (!leaving.has(decision.nodeView.node.name)) return decision;
    const [first] = decision.deletes.filter(({ planned }) => isHeld(planned));
    if (first === undefined) return decision;
    return { ...withoutRemovals(decision, isHeld), wait: waitOf(first.planned.name) };
  });
  const untils = untilMs === undefined ? [] : [untilMs];
  return {
    decisions: { ...decisions, nodes },
    rollout: { ...rollout, deletes, notes, untilMs: [...rollout.untilMs, ...untils] },
  };
}

const SETTLING = 'its pod is to go; some seconds show whether many others are to go as well';

function describeHeld({ pods, basePods, token }: HeldRemoval): string {
  return (
    `${pods} of ${basePods} pods would go within ten minutes; its pod stays until annotation ` +
    `${CONFIRM_ANNOTATION}: ${token} confirms it, or the change is taken back`
  );
}
