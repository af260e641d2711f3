/**
 * How a DaemonSet says that Rollcall does nothing for it: a condition in its status, and one Event. Another controller is at
 * work in the cluster, or another client wrote this status. Differs from upstream: it writes no conditions.
 *
 * The condition marks that the notice was given: written once for each text, by a status update with the version that was
 * seen, and taken away when takeover is entered anew, the pause is over, or the cluster is handed back. The rest of the
 * status stays (spec 2.12).
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetStatus } from '@rollcall/base/objects.ts';
import type { PlannedEvent } from '../model/plan.ts';
import type { RivalNote } from '../model/registration.ts';

const PAUSE_CONDITION = 'RollcallPaused';

/** The notice on a DaemonSet: the condition's reason, the Event's, and the words of both. */
export interface PauseNotice {
  readonly reason: 'BuiltInControllerSeen' | 'StatusWrittenByAnother';
  readonly event: 'ConflictingController' | 'StatusWrittenByAnother';
  readonly message: string;
}

/** The counters that a status must have, all zero. */
export const NO_COUNTS: DaemonSetStatus = {
  currentNumberScheduled: 0,
  numberMisscheduled: 0,
  desiredNumberScheduled: 0,
  numberReady: 0,
};

/** True if the status says that Rollcall does nothing for it, and just this where a notice is given. */
export function isPaused(status: DaemonSetStatus | undefined, notice?: PauseNotice): boolean {
  return (status?.conditions ?? []).some(
    (each) =>
      isNotice(each) &&
      (notice === undefined ||
        (each['reason'] === notice.reason && each['message'] === notice.message)),
  );
}

/** The status with the notice; nothing else differs. */
export function withPauseNotice(
  status: DaemonSetStatus | undefined,
  { reason, message }: PauseNotice,
  nowMs: number,
): DaemonSetStatus {
  const { conditions = [], ...rest } = status ?? NO_COUNTS;
  const condition: JsonObject = {
    type: PAUSE_CONDITION,
    status: 'True',
    reason,
    message,
    lastTransitionTime: `${new Date(nowMs).toISOString().slice(0, 19)}Z`,
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

/** The Event of a notice: told once per DaemonSet and text. */
export function noticeEvent({ event, message }: PauseNotice): PlannedEvent {
  return { type: 'Warning', reason: event, message };
}

/** Of a DaemonSet whose status another client wrote; the words are those of its guard. */
export function pauseNotice(message: string): PauseNotice {
  const reason = 'StatusWrittenByAnother';
  return { reason, event: reason, message };
}

/** Of each DaemonSet of a cluster with another controller: what was seen, what that means, and what to do. */
export function rivalNotice({ evidence }: RivalNote): PauseNotice {
  const message =
    `Another DaemonSet controller is at work in this cluster: ${evidence}. ` +
    'Rollcall has stopped here; it creates, deletes and counts no pods. Either switch the other one off ' +
    '(kube-controller-manager --controllers=*,-daemonset-controller) and enter takeover again, ' +
    'or leave the cluster to it (--release).';
  return { reason: 'BuiltInControllerSeen', event: 'ConflictingController', message };
}

function isNotice(condition: JsonObject): boolean {
  return condition['type'] === PAUSE_CONDITION;
}
