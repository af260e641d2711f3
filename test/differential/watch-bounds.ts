/**
 * Watches, along the way, the bounds that no state at a quiet point can show: pods per node (S1, S2), and
 * that the controller's own deletions never take an available pod beyond maxUnavailable (S3, spec 2.9), nor
 * before one that is not available (rollout-order.ts).
 *
 * What the scenario itself does is no violation: nodes that it touched lately are left out, and nodes that it
 * made unavailable count only after a moment, because a controller decides on what it has seen.
 */
import type { KubernetesObject } from '../conformance/control-plane/api.ts';
import { readPod } from '../conformance/control-plane/observed-records.ts';
import { startAttendedClock } from '../support/machine-pace.ts';
import { isPlacedOn, isPodAvailable, readBudget } from './budget.ts';
import { controllerOf, HASH_LABEL, revisionNumber } from './find-pods.ts';
import type { MirrorEvent } from './mirror.ts';
import type { Pair, Side, SideName } from './pair.ts';
import { nodeNameOf, type Place } from './place.ts';
import { findPassedOver, isOfFormerRevision } from './rollout-order.ts';
import type { Step } from './scenario.ts';

export interface BoundViolation {
  readonly side: SideName;
  readonly bound: 'pods-per-node' | 'availability' | 'order';
  readonly detail: string;
}

export interface BoundsWatch {
  readonly violations: readonly BoundViolation[];
  /** To be told before a step is applied. */
  readonly noteStep: (step: Step) => void;
  readonly stop: () => void;
}

/** How long a step of the scenario explains what is seen. */
const STEP_EXPLAINS_MS = 2500;

interface Context {
  readonly side: Side;
  readonly place: Place;
  readonly violations: BoundViolation[];
  /** When a step last named the node, or something other than a template edit last happened. */
  readonly touchedAtMs: Map<string, number>;
  readonly disturbedAtMs: () => number;
  /** When any step last happened. */
  readonly steppedAtMs: () => number;
  /** Without the time in which this process, and with it Rollcall's engine, stood still. */
  readonly nowMs: () => number;
  /** When a node ("uid node") lost its available pod other than by the controller. */
  readonly lostAtMs: Map<string, number>;
}

/** Starts to watch both sides; violations of the original are for information. */
export function watchBounds(pair: Pick<Pair, 'original' | 'rollcall'>, place: Place): BoundsWatch {
  const violations: BoundViolation[] = [];
  const touchedAtMs = new Map<string, number>();
  const clock = startAttendedClock();
  let disturbedAtMs = Number.NEGATIVE_INFINITY;
  let steppedAtMs = Number.NEGATIVE_INFINITY;
  const ends = [pair.original, pair.rollcall].map((side) => {
    const context: Context = {
      side,
      place,
      violations,
      touchedAtMs,
      disturbedAtMs: () => disturbedAtMs,
      steppedAtMs: () => steppedAtMs,
      nowMs: clock.nowMs,
      lostAtMs: new Map(),
    };
    return side.mirror.follow(place, (event) => {
      judge(context, event);
    });
  });
  return {
    violations,
    noteStep: (step) => {
      const nowMs = clock.nowMs();
      steppedAtMs = nowMs;
      if ('node' in step && !step.op.endsWith('-mark'))
        touchedAtMs.set(nodeNameOf(place, step.node), nowMs);
      if (!isCalm(step)) disturbedAtMs = nowMs;
    },
    stop: () => {
      clock.stop();
      for (const end of ends) end();
    },
  };
}

/** Operations that give no controller an excuse: plain rollouts, and writes that change nothing but metadata. */
const CALM_OPERATIONS: ReadonlySet<string> = new Set([
  'set-undo',
  'set-annotate',
  'set-mark',
  'set-writers',
  'set-apply',
  'set-put',
  'set-status',
  'pod-mark',
  'node-mark',
  'all-annotate',
  'all-rewrite',
]);

function isCalm(step: Step): boolean {
  if (step.op === 'set-flip') return step.field !== 'minReadySeconds';
  if (step.op !== 'set-edit') return CALM_OPERATIONS.has(step.op);
  return step.form.strategy === undefined && step.form.minReadySeconds === undefined;
}

function judge(context: Context, event: MirrorEvent): void {
  if (event.kind !== 'pods') return;
  const owner = ownerOf(context, event.object);
  if (owner === undefined) return;
  if (event.type === 'ADDED') judgeCreate(context, event.object, owner);
  const { before } = event;
  if (before === undefined || readPod(before).isDeleting) return;
  const isGoing = event.type === 'DELETED' || readPod(event.object).isDeleting;
  if (isGoing) judgeDelete(context, before, owner);
  else if (isPodAvailable(before, owner) && !isPodAvailable(event.object, owner)) {
    context.lostAtMs.set(nodeKey(owner, readPod(before).node), context.nowMs());
  }
}

function ownerOf({ side, place }: Context, pod: KubernetesObject): KubernetesObject | undefined {
  const uid = controllerOf(pod)?.uid;
  return side.mirror
    .at(place)
    .daemonSets.find(
      (it) => it.metadata.uid === uid && it.metadata.deletionTimestamp === undefined,
    );
}

function nodeKey(owner: KubernetesObject, node: string | undefined): string {
  return `${owner.metadata.uid ?? ''} ${node ?? ''}`;
}

function isTouched({ touchedAtMs, nowMs }: Context, node: string): boolean {
  return nowMs() - (touchedAtMs.get(node) ?? -Infinity) < STEP_EXPLAINS_MS;
}

function podsOf({ side, place }: Context, owner: KubernetesObject): readonly KubernetesObject[] {
  return side.mirror.at(place).pods.filter((it) => controllerOf(it)?.uid === owner.metadata.uid);
}

/** A pod was made beside others: without surge never; with it, only beside one of another revision. */
function judgeCreate(context: Context, pod: KubernetesObject, owner: KubernetesObject): void {
  const { node = '', uid } = readPod(pod);
  // Pods that the scenario made by hand, or moves between sets, are adopted at any moment.
  if (isTouched(context, node)) return;
  const others = podsOf(context, owner).filter((it) => {
    const record = readPod(it);
    return record.node === node && record.uid !== uid && !record.isTerminal;
  });
  const isExplained = context.nowMs() - context.disturbedAtMs() < STEP_EXPLAINS_MS;
  const isSurging = readBudget(owner, 1).surgeMax > 0;
  const wrong = others.filter((it) => {
    if (!isSurging) return true;
    const isSame = it.metadata.labels?.[HASH_LABEL] === pod.metadata.labels?.[HASH_LABEL];
    return isSame && !readPod(it).isDeleting;
  });
  if (wrong.length === 0 || isExplained) return;
  const names = wrong.map((it) => it.metadata.name).join(', ');
  const detail = `${pod.metadata.name} was made on ${node} beside ${names}`;
  context.violations.push({ side: context.side.name, bound: 'pods-per-node', detail });
}

/**
 * An available old pod goes in a rollout: whatever has been unavailable for a while had to go before it, in the first
 * look after the step (rollout-order.ts).
 */
function judgeOrder(
  context: Context,
  going: {
    readonly pod: KubernetesObject;
    readonly owner: KubernetesObject;
    readonly others: readonly KubernetesObject[];
  },
): void {
  const { pod, owner, others } = going;
  const nowMs = context.nowMs();
  const newestHash = newestHashOf(context, owner);
  const isFirstLook = nowMs - context.steppedAtMs() < STEP_EXPLAINS_MS;
  if (isFirstLook || newestHash === undefined || readBudget(owner, 1).isOnDelete) return;
  if (!isOfFormerRevision(pod, { owner, newestHash })) return;
  const isKnownLost = (node: string): boolean =>
    nowMs - (context.lostAtMs.get(nodeKey(owner, node)) ?? Infinity) > STEP_EXPLAINS_MS;
  const passedOver = findPassedOver({ owner, pods: others, newestHash, isKnownLost });
  if (passedOver.length === 0) return;
  const detail = `${pod.metadata.name} was replaced before ${passedOver.join(', ')}, which ${passedOver.length === 1 ? 'is' : 'are'} not available`;
  context.violations.push({ side: context.side.name, bound: 'order', detail });
}

function newestHashOf({ side, place }: Context, owner: KubernetesObject): string | undefined {
  const revisions = side.mirror
    .at(place)
    .revisions.filter((it) => controllerOf(it)?.uid === owner.metadata.uid);
  const newest = revisions.toSorted((one, other) => revisionNumber(other) - revisionNumber(one))[0];
  return newest?.metadata.labels?.[HASH_LABEL];
}

/** An available pod goes: it must be one that the budget allows, is not wanted, or has been replaced. */
function judgeDelete(context: Context, pod: KubernetesObject, owner: KubernetesObject): void {
  const { node = '', uid } = readPod(pod);
  const key = nodeKey(owner, node);
  if (!isPodAvailable(pod, owner)) return;
  const nowMs = context.nowMs();
  if (isTouched(context, node) || nowMs - context.disturbedAtMs() < STEP_EXPLAINS_MS) {
    context.lostAtMs.set(key, nowMs);
    return;
  }
  const { nodes } = context.side.mirror.at(context.place);
  const placed = nodes.filter((it) => isPlacedOn(owner, it)).map((it) => it.metadata.name);
  if (!placed.includes(node)) return;
  const others = podsOf(context, owner).filter((it) => readPod(it).uid !== uid);
  judgeOrder(context, { pod, owner, others });
  const { unavailableMax, surgeMax, isOnDelete } = readBudget(owner, placed.length);
  // With surge the one that takes its place must be available; without, the elder of two stays, whatever it is.
  const hasOther = others.some(
    (it) =>
      readPod(it).node === node &&
      !readPod(it).isDeleting &&
      (surgeMax === 0 || isPodAvailable(it, owner)),
  );
  if (hasOther) return;
  context.lostAtMs.delete(key);
  const available = new Set(
    others
      .filter((it) => !readPod(it).isDeleting && isPodAvailable(it, owner))
      .map((it) => readPod(it).node),
  );
  const unavailable = placed.filter((it) => {
    if (it === node || available.has(it)) return false;
    const lostAtMs = context.lostAtMs.get(nodeKey(owner, it)) ?? -Infinity;
    return nowMs - lostAtMs > STEP_EXPLAINS_MS;
  });
  if (!isOnDelete && surgeMax === 0 && unavailable.length < unavailableMax) return;
  const detail =
    `${pod.metadata.name} on ${node} was deleted although available, ` +
    `with ${unavailable.length} of at most ${unavailableMax} nodes unavailable (${unavailable.join(', ')})`;
  context.violations.push({ side: context.side.name, bound: 'availability', detail });
}
