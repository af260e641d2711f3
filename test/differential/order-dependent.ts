/**
 * Steps whose outcome hangs on which node the original picked: its order is random (spec 2.9), so they are left
 * out where the two sides are not alike. That is noted, never silent.
 */
import { readDaemonSet, readPod } from '../conformance/control-plane/observed-records.ts';
import { isWithoutAvailability } from './at-rest.ts';
import { controllerOf, HASH_LABEL } from './find-pods.ts';
import type { Mirror } from './mirror.ts';
import { leavesToWhoeverIsFirst } from './overlap.ts';
import type { Pair } from './pair.ts';
import type { Place } from './place.ts';
import type { Step } from './scenario.ts';

/** What a controller puts on its pods. */
const PUT_LABELS = [HASH_LABEL, 'pod-template-generation'];

export interface Standing {
  readonly pair: Pair;
  readonly place: Place;
  /** Roles of nodes whose pods differ by chance. */
  readonly unalignedNodes: ReadonlySet<string>;
  /** DaemonSets whose revisions differ by chance. */
  readonly spoiltHistories: ReadonlySet<string>;
}

/** True if chance would decide what the step means. */
export function isOrderDependent(step: Step, standing: Standing): boolean {
  const { pair, place, unalignedNodes } = standing;
  if (step.op === 'set-undo' && standing.spoiltHistories.has(step.set)) return true;
  if (leavesToWhoeverIsFirst(step, pair.original.mirror.at(place).daemonSets)) return true;
  if (changesTemplate(step)) {
    if (step.op === 'set-edit' && unalignedNodes.size > 0 && changesPlacement(step)) return true;
    const mirrors = [pair.original.mirror, pair.rollcall.mirror];
    const mayStick = step.op !== 'set-edit' || step.form.isUnhealthy === true;
    const isInterrupted = step.op === 'set-flip';
    return mirrors.some((mirror) => {
      const subject = { place, set: step.set };
      const isSlow = waitsForEver(mirror, subject);
      if (isInterrupted && (isSlow || hasTouchedPod(mirror, subject))) return true;
      return hasTrap(mirror, subject) || ((mayStick || isSlow) && hasLeftovers(mirror, subject));
    });
  }
  return 'node' in step && unalignedNodes.has(step.node);
}

type TemplateStep = Extract<
  Step,
  { readonly op: 'set-edit' | 'set-undo' | 'set-apply' | 'set-flip' | 'set-writers' }
>;

function changesTemplate(step: Step): step is TemplateStep {
  if (step.op === 'set-apply') return step.version !== undefined;
  if (step.op === 'set-flip') return step.field === 'template';
  return step.op === 'set-edit' || step.op === 'set-undo' || step.op === 'set-writers';
}

function changesPlacement({ form }: Extract<Step, { readonly op: 'set-edit' }>): boolean {
  const { pool, disk, cores, fields, nodeName, tolerations } = form;
  return [pool, disk, cores, fields, nodeName, tolerations].some((it) => it !== undefined);
}

interface Subject {
  readonly place: Place;
  readonly set: string;
}

/** A pod on a node that does not want it: it is gone for good if a rollout that gets stuck picks it early. */
function hasLeftovers(mirror: Mirror, { place, set }: Subject): boolean {
  const found = mirror.at(place).daemonSets.find(({ metadata }) => metadata.name === set);
  return found !== undefined && (readDaemonSet(found).status['numberMisscheduled'] ?? 0) > 0;
}

/**
 * With surge, a pod that never becomes available never takes the place of the one before: what an interrupted rollout
 * made stays beside it.
 */
function waitsForEver(mirror: Mirror, { place, set }: Subject): boolean {
  const found = mirror.at(place).daemonSets.find(({ metadata }) => metadata.name === set);
  return found !== undefined && isWithoutAvailability(found);
}

/**
 * A pod that a step made unready, or took a label from: an edit that is put back replaces it only where it was seen
 * meanwhile.
 */
function hasTouchedPod(mirror: Mirror, { place, set }: Subject): boolean {
  const { daemonSets, pods } = mirror.at(place);
  const uid = daemonSets.find(({ metadata }) => metadata.name === set)?.metadata.uid;
  return pods
    .filter((pod) => controllerOf(pod)?.uid === uid)
    .map(readPod)
    .some(
      ({ isReady, isDeleting, labels }) =>
        !isReady || isDeleting || PUT_LABELS.some((label) => labels[label] === undefined),
    );
}

/**
 * A node with a live pod beside one that never goes: a rollout that picks it early comes to a stand there, with
 * the whole budget; one that picks it last does all the others first.
 */
function hasTrap(mirror: Mirror, { place, set }: Subject): boolean {
  const { daemonSets, pods } = mirror.at(place);
  const uid = daemonSets.find(({ metadata }) => metadata.name === set)?.metadata.uid;
  const owned = pods.filter((pod) => controllerOf(pod)?.uid === uid).map(readPod);
  const going = new Set(owned.filter((pod) => pod.isDeleting).map(({ node }) => node));
  return owned.some((pod) => !pod.isDeleting && going.has(pod.node));
}
