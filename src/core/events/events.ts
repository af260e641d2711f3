/**
 * Events on the DaemonSet: reasons and messages exactly as the built-in controller writes them
 * (spec 2.8), because people and tools search for them.
 *
 * An Event is a courtesy: failing to write one never fails a run. Which are written, and which only
 * counted, is decided in event-correlation.ts. Names and times come from outside.
 */
import type { EventWrite } from './event-correlation.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { PlannedEvent } from '../model/plan.ts';

/** Source component of every event (spec 2.1); beside the built-in controller, which bears that name, our own. */
export type EventComponent = 'daemonset-controller' | 'rollcall';

const EVENT_NAME_MAX = 253;
/** A dash and the number of an Event within its run. */
const NUMBER_MAX = 5;

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

/** `RolloutNotStaged`: a policy in a copilot cluster whose DaemonSet the built-in controller rolls by itself. */
export function notStagedEvent(message: string): PlannedEvent {
  return { type: 'Warning', reason: NOT_STAGED, message };
}

/** Reason of notStagedEvent. */
export const NOT_STAGED = 'RolloutNotStaged';

/** The beginning of the names of a run's Events: unique by `uniqueId`, with room for a number. */
export function eventBaseName(daemonSetName: string, uniqueId: string): string {
  const prefix = daemonSetName.slice(0, EVENT_NAME_MAX - uniqueId.length - NUMBER_MAX - 1);
  return `${prefix.replace(/[.-]+$/, '')}.${uniqueId}`;
}

/** The core/v1 Event, whole: for one that is made, or made anew because it had expired. */
export function buildEvent(
  daemonSet: DaemonSetObject,
  write: EventWrite,
  component: EventComponent = 'daemonset-controller',
): JsonObject {
  const { metadata } = daemonSet;
  const namespace = metadata.namespace ?? 'default';
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: write.name, namespace },
    involvedObject: {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      namespace,
      name: metadata.name,
      uid: metadata.uid,
      resourceVersion: metadata.resourceVersion,
    },
    reason: write.reason,
    type: write.type,
    source: { component },
    reportingComponent: component,
    reportingInstance: '',
    firstTimestamp: timestampOf(write.firstAtMs),
    ...buildEventPatch(write),
  };
}

/** What changes about an Event when its count is raised (merge patch). */
export function buildEventPatch({ count, lastAtMs, message }: EventWrite): JsonObject {
  return { count, lastTimestamp: timestampOf(lastAtMs), message };
}

/** RFC 3339 with seconds, as Kubernetes writes times. */
function timestampOf(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}Z`;
}
