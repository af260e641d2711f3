/**
 * How a DaemonSet says that Rollcall has stopped because another controller is at work: a condition in its status,
 * and one Event. Differs from upstream: it writes no conditions.
 *
 * The condition marks that the notice was given: written once, by a status update with the version that was seen,
 * and taken away when takeover is entered anew or the cluster is handed back. The rest of the status stays (spec
 * 2.12).
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetStatus } from '@rollcall/base/objects.ts';
import type { PlannedEvent } from '../model/plan.ts';
import type { RivalNote } from '../model/registration.ts';

/** Type of the condition. */
const PAUSE_CONDITION = 'RollcallPaused';
/** Reason of the condition. */
const PAUSE_REASON = 'BuiltInControllerSeen';

/** The counters that a status must have, all zero. */
export const NO_COUNTS: DaemonSetStatus = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
};

/** True if the status says that Rollcall has stopped. */
export function isPaused(status: DaemonSetStatus | undefined): boolean {
  return (status?.conditions ?? []).some(isNotice);
}

/** The status with the notice; nothing else differs. */
export function withPauseNotice(
  status: DaemonSetStatus | undefined,
  notice: { readonly rival: RivalNote; readonly nowMs: number },
): DaemonSetStatus {
  const { conditions = [], ...rest } = status ?? NO_COUNTS;
  const condition: JsonObject = {
    type: PAUSE_CONDITION,
    status: 'True',
    reason: PAUSE_REASON,
    message: pauseMessage(notice.rival),
    lastTransitionTime: `${new Date(notice.nowMs).toISOString().slice(0, 19)}Z`,
  };
  const others = conditions.filter((each) => !isNotice(each));
  return { ...NO_COUNTS, ...rest, conditions: [...others, condition] };
}

/** The status without the notice; the very same object when it has none. */
export function withoutPauseNotice<T extends DaemonSetStatus>(status: T): T {
  const { conditions = [] } = status;
  const others = conditions.filter((each) => !isNotice(each));
  if (others.length === conditions.length) return status;
  if (others.length > 0) return { ...status, conditions: others };
  const { conditions: _none, ...rest } = status;
  return rest as T; // conditions is optional in every status
}

/** `RivalController`: told once per DaemonSet. */
export function rivalControllerEvent(rival: RivalNote): PlannedEvent {
  return { type: 'Warning', reason: 'RivalController', message: pauseMessage(rival) };
}

/** What was seen, what that means, and what to do. */
function pauseMessage({ evidence }: RivalNote): string {
  return (
    `Another DaemonSet controller is at work in this cluster: ${evidence}. ` +
    'Rollcall has stopped here; it creates, deletes and counts no pods. Either switch the other one off ' +
    '(kube-controller-manager --controllers=*,-daemonset-controller) and enter takeover again, ' +
    'or leave the cluster to it (--release).'
  );
}

function isNotice(condition: JsonObject): boolean {
  return condition['type'] === PAUSE_CONDITION;
}
