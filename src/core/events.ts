/**
 * Events on the DaemonSet: reasons and messages exactly as the built-in controller writes them
 * (spec 2.8), because people and tools search for them.
 *
 * An Event is a courtesy: failing to write one never fails a run. Many alike are condensed, as the
 * Kubernetes event recorder does. Names and times come from outside: nothing random in here.
 */
import type { NodeName } from './model/identifiers.ts';
import type { JsonObject } from './model/json.ts';
import type { DaemonSetObject } from './model/kubernetes.ts';
import type { PlannedEvent } from './model/plan.ts';

/** Source component of every event (spec 2.1). */
const EVENT_COMPONENT = 'daemonset-controller';

const EVENT_NAME_MAX = 253;
/** The API server refuses longer messages. */
const EVENT_MESSAGE_MAX = 1024;
const EVENTS_PER_REASON_MAX = 10;

/** `SelectingAll`: an empty selector is refused (spec 2.3 step 4). */
export function selectingAllEvent(): PlannedEvent {
  return {
    type: 'Warning',
    reason: 'SelectingAll',
    message: 'This daemon set is selecting all pods. A non-empty selector is required.',
  };
}

/** `FailedDaemonPod`: a failed pod is about to be deleted (spec 2.7). */
export function failedDaemonPodEvent(pod: NamedPod): PlannedEvent {
  const message = `Found failed daemon pod ${pod.namespace}/${pod.name} on node ${pod.node}, will try to kill it`;
  return { type: 'Warning', reason: 'FailedDaemonPod', message };
}

/** `SucceededDaemonPod`: a succeeded pod is about to be deleted (spec 2.7). */
export function succeededDaemonPodEvent(pod: NamedPod): PlannedEvent {
  const message = `Found succeeded daemon pod ${pod.namespace}/${pod.name} on node ${pod.node}, will try to delete it`;
  return { type: 'Normal', reason: 'SucceededDaemonPod', message };
}

/** A pod and its node, as events name them. */
export interface NamedPod {
  readonly namespace: string;
  readonly name: string;
  readonly node: NodeName;
}

/** `SuccessfulCreate` (spec 2.8). */
export function createdEvent(podName: string): PlannedEvent {
  return { type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${podName}` };
}

/** `FailedCreate`; the caller leaves it out while the namespace terminates (spec 2.8). */
export function createFailedEvent(error: string): PlannedEvent {
  return { type: 'Warning', reason: 'FailedCreate', message: `Error creating: ${error}` };
}

/** `SuccessfulDelete` (spec 2.8). */
export function deletedEvent(podName: string): PlannedEvent {
  return { type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${podName}` };
}

/** `FailedDelete`; the caller leaves it out when the pod was already gone (spec 2.8). */
export function deleteFailedEvent(error: string): PlannedEvent {
  return { type: 'Warning', reason: 'FailedDelete', message: `Error deleting: ${error}` };
}

/**
 * At most ten events of each reason; the rest of a reason become one, whose message is the last of
 * them. The order of first occurrence is kept.
 */
export function condenseEvents(events: readonly PlannedEvent[]): readonly PlannedEvent[] {
  const byReason = new Map<string, PlannedEvent[]>();
  for (const event of events) {
    const key = `${event.type}/${event.reason}`;
    const list = byReason.get(key) ?? [];
    if (list.length <= EVENTS_PER_REASON_MAX) list.push(event);
    else list[EVENTS_PER_REASON_MAX] = event;
    byReason.set(key, list);
  }
  return [...byReason.values()].flatMap((list) =>
    list.map((event, index) =>
      index < EVENTS_PER_REASON_MAX
        ? event
        : { ...event, message: `(combined from similar events): ${event.message}` },
    ),
  );
}

/** The core/v1 Event that tells `event` about a DaemonSet. `uniqueId` makes its name unique. */
export function buildEvent(input: {
  readonly daemonSet: DaemonSetObject;
  readonly event: PlannedEvent;
  readonly nowMs: number;
  readonly uniqueId: string;
}): { readonly name: string; readonly body: JsonObject } {
  const { metadata } = input.daemonSet;
  const namespace = metadata.namespace ?? 'default';
  const prefix = metadata.name.slice(0, EVENT_NAME_MAX - input.uniqueId.length - 1);
  const name = `${prefix.replace(/[.-]+$/, '')}.${input.uniqueId}`;
  const at = `${new Date(input.nowMs).toISOString().slice(0, 19)}Z`;
  return {
    name,
    body: {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      involvedObject: {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        namespace,
        name: metadata.name,
        uid: metadata.uid,
        resourceVersion: metadata.resourceVersion,
      },
      reason: input.event.reason,
      message: input.event.message.slice(0, EVENT_MESSAGE_MAX),
      type: input.event.type,
      source: { component: EVENT_COMPONENT },
      reportingComponent: EVENT_COMPONENT,
      reportingInstance: '',
      firstTimestamp: at,
      lastTimestamp: at,
      count: 1,
    },
  };
}
