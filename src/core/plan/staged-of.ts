/**
 * What a staged rollout adds to a plan: its record, and which former template is needed.
 *
 * It is read before a pod is made of it, and before the DaemonSet's own is restored to it (copilot).
 */
import { planCopy } from '../admission/plan-copy.ts';
import type { Plan, PlanContext, PlanNeed } from '../model/plan.ts';
import type { Planning } from '../manage-pods/planning.ts';
import type { Staging } from '../rolling-update/plan-stages.ts';
import { mayAskToRestore } from '../rollout/known-bad.ts';

/** How far the stages are, and the revision whose template has to be read before a pod of it is made. */
export function stagedOf(
  staging: Staging,
  { targets, view, context }: Planning,
): Partial<Pick<Plan, 'stages' | 'needs' | 'restores' | 'copy'>> {
  if (staging.kind !== 'staged') return {};
  const { record, gate, strays, former, open, asksEventsOf } = staging.stages;
  const isWanted = view.nodes.some(
    ({ node, pods, placement }) =>
      placement === 'run' && former.has(node.name) && (pods.length === 0 || open.has(node.name)),
  );
  const hash = record.former?.hash;
  const isMissing = isWanted && targets.former === undefined && context.guard.kind === 'act';
  const needs: PlanNeed[] = isMissing && hash !== undefined ? [{ kind: 'template', hash }] : [];
  if (asksEventsOf.length > 0) needs.push({ kind: 'events', pods: asksEventsOf });
  return {
    stages: { record, gate, strays },
    needs,
    ...(hash !== undefined && mayRestore(staging, context, view.nowMs) ? { restores: hash } : {}),
    ...planCopy(record, context, view.nowMs),
  };
}

/** A revision that was halted before and came again is held: its author would apply it a third time. */
function mayRestore(
  { stages: { record }, policy }: Extract<Staging, { kind: 'staged' }>,
  { staging, guard }: PlanContext,
  nowMs: number,
): boolean {
  const isAsked = policy.onHalt === 'rollback' && guard.kind === 'act';
  const { breach } = record;
  if (!isAsked || staging?.mode !== 'copilot' || breach === undefined) return false;
  return breach.cause !== 'KnownBad' && mayAskToRestore(breach, nowMs);
}
