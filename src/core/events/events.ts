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
import { NO_OTHER, describeLosses, hasNewLoss } from '../rollout/gate-words.ts';
import type { RolloutRecord } from '../model/rollout-record.ts';
import { SOAKS_LOST_MAX } from '../rollout/soak.ts';
import type { Gate } from '../model/staged-progress.ts';

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

interface NamedPod {
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

/** Events of the change from one record to the next. */
export function tellStages(change: {
  readonly before: RolloutRecord | undefined;
  readonly after: RolloutRecord;
  readonly gate: Gate;
}): readonly PlannedEvent[] {
  const { after, gate } = change;
  const before = change.before?.hash === after.hash ? change.before : undefined;
  const held = [
    ...tellBreach(before, after),
    ...tellLosses(before, after, gate),
    ...tellSoaks(before, after),
  ];
  const isFirst = change.before === undefined;
  return isFirst || !hasOpened(before, after, gate)
    ? held
    : [...held, { type: 'Normal', ...wordsOf(after) }];
}

function tellBreach(
  before: RolloutRecord | undefined,
  { breach, hash }: RolloutRecord,
): readonly PlannedEvent[] {
  if (breach === undefined || breach.cause === before?.breach?.cause) return [];
  const message = `Rollout of revision ${hash} halted (${breach.cause}): ${breach.message}`;
  return [{ type: 'Warning', reason: 'RolloutHalted', message }];
}

/** Canary nodes that are not Ready any more, once; and again while no other node can show what they do not. */
function tellLosses(
  before: RolloutRecord | undefined,
  { hash, losses = [], step, breach }: RolloutRecord,
  gate: Gate,
): readonly PlannedEvent[] {
  if (step.kind !== 'canary' || breach !== undefined) return [];
  const isStuck = gate.kind === 'lost' && gate.addsAtMs === undefined;
  const isNew = hasNewLoss(before?.losses ?? [], losses);
  if (!isNew && !isStuck) return [];
  const about = `Rollout of revision ${hash} is held on its canary: ${describeLosses(losses)}`;
  const message = isStuck ? `${about}; ${NO_OTHER}` : about;
  const event = { type: 'Warning', reason: 'RolloutCanaryLost', message } as const;
  return [isNew ? event : { ...event, isStanding: true }];
}

/** A soak that began anew so often that waiting is no use, once a step. */
function tellSoaks(
  before: RolloutRecord | undefined,
  { hash, step, breach }: RolloutRecord,
): readonly PlannedEvent[] {
  const { soaksLost = 0 } = step;
  const isNew = (before?.step.soaksLost ?? 0) < SOAKS_LOST_MAX && soaksLost >= SOAKS_LOST_MAX;
  if (!isNew || breach !== undefined) return [];
  const which = step.kind === 'canary' ? 'its canary' : `step ${String(step.index)}`;
  const message = `Rollout of revision ${hash} gets no further: the soak of ${which} was begun anew ${String(soaksLost)} times`;
  return [{ type: 'Warning', reason: 'RolloutSoakLost', message }];
}

/** True if another step is open than before; a return to what all nodes run already is nothing to tell. */
function hasOpened(
  before: RolloutRecord | undefined,
  { step }: RolloutRecord,
  gate: Gate,
): boolean {
  if (step.kind === 'waiting') return false;
  if (before === undefined) return step.kind !== 'done' || gate.kind === 'updating';
  return before.step.kind !== step.kind || before.step.name !== step.name;
}

function wordsOf({
  step,
  hash,
  canary,
  isReturn,
}: RolloutRecord): Pick<PlannedEvent, 'reason' | 'message'> {
  switch (step.kind) {
    case 'waiting':
    case 'canary': {
      const message = `Rollout of revision ${hash} begins with ${canary.length} canary node(s)`;
      return { reason: 'RolloutStep', message };
    }
    case 'group': {
      const name = step.name === '' ? '' : ` ${step.name}`;
      return {
        reason: 'RolloutStep',
        message: `Rollout of revision ${hash} opens step ${step.index}${name}`,
      };
    }
    case 'done': {
      const how = isReturn ? 'goes back to a good release on all nodes' : 'has passed all steps';
      return { reason: 'RolloutComplete', message: `Rollout of revision ${hash} ${how}` };
    }
  }
}
