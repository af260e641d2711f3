/**
 * The plan of one reconcile: pure result of view and context. (Body follows.)
 */
import type { Plan, PlanContext, View } from './model/plan.ts';

/** Plans one reconcile (design 3.4): effects, events, verdicts, status, back-off, due time. */
export function planReconcile(view: View, context: PlanContext): Plan {
  return {
    creates: [],
    deletes: [],
    adopts: view.toAdopt,
    releases: view.toRelease,
    backoff: context.state.backoff,
    events: [],
    verdicts: [],
    status: undefined,
    dueAtMs: undefined,
    cappedCount: 0,
  };
}
