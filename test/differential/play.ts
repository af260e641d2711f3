/**
 * Plays one scenario on both clusters: each step to both at once, then the quiet point, until the first
 * difference. Several scenarios play side by side, each at a place of its own.
 */
import type { KubernetesObject } from '../conformance/control-plane/api.ts';
import { readDaemonSet, readPod } from '../conformance/control-plane/observed-records.ts';
import { pollUntil } from '../conformance/control-plane/poll.ts';
import { liftAdmission } from './admission.ts';
import { isWithoutAvailability } from './at-rest.ts';
import { isOrderDependent } from './order-dependent.ts';
import { applyStep } from './apply-step.ts';
import type { StepOutcome } from './step-target.ts';
import type { Difference } from './compare.ts';
import { controllerOf, findSubjects } from './find-pods.ts';
import { isBackingOff, isForgetful, lateReason, starvedNodes } from './known-differences.ts';
import { appsOfNew } from './overlap.ts';
import type { Settling } from './lateness.ts';
import type { Pair, Side } from './pair.ts';
import { placeOf, type Place, nodeNameOf, roleOfNode } from './place.ts';
import { describeStep, type Scenario, type Step } from './scenario.ts';
import { countKinds, type StepKind } from './step-kinds.ts';
import { LAST_PATIENCE, memoryDuring, PATIENCE, settle } from './settle.ts';
import type { Memory, Patience, QuietPoint } from './settle.ts';
import { waitForChange } from './wait-for-change.ts';
import { watchBounds, type BoundViolation } from './watch-bounds.ts';

/** Something worth counting that is no disagreement, by the name of its reason. */
export interface PlayNote {
  readonly reason: string;
  readonly step: number;
  readonly detail: string;
}

/** How a scenario ended. */
export interface PlayResult {
  readonly scenario: Scenario;
  readonly placeId: string;
  readonly stepsPlayed: number;
  /** Index of the step after which they disagreed; undefined where they agree to the end. */
  readonly failedStep: number | undefined;
  readonly differences: readonly Difference[];
  readonly violations: readonly BoundViolation[];
  readonly notes: readonly PlayNote[];
  /** How long each side needed, where that can be measured. */
  readonly settlings: readonly Settling[];
  /** How often a step of each kind was applied, not left out, skipped or refused. */
  readonly kinds: Readonly<Record<StepKind, number>>;
  readonly durationMs: number;
  /** What Rollcall's engine logged about the place last; only of a disagreement. */
  readonly activity: readonly string[];
}

interface Play {
  readonly pair: Pair;
  readonly place: Place;
  readonly notes: PlayNote[];
  readonly settlings: Settling[];
  readonly applied: Step[];
  readonly differenceMs: number;
  readonly isEnough: () => boolean;
  memory: Memory;
  unalignedNodes: ReadonlySet<string>;
  isRefusing: boolean;
  /** When admission last began or ceased to refuse pods. */
  refusedAtMs: number;
  /** When a DaemonSet was last made over orphans. */
  adoptedAtMs: number;
}

const READY_DEADLINE_MS = 120_000;
const OBSERVED_DEADLINE_MS = 120_000;
const ASK_PERIOD_MS = 250;
/** Two edits in a hurry must not bring history to its limit. */
const REVISIONS_SPARE = 2;
const REFUSED_DIFFERENCE_MS = 12_000;
const BACK_OFF_PATIENCE = { differenceMs: 100_000, deadlineMs: 180_000 };
const FORGETFUL_PATIENCE = { differenceMs: 75_000, deadlineMs: 180_000 };
const ACTIVITY_LINES_MAX = 12;
const NOTHING: ReadonlySet<string> = new Set();

export interface PlayOptions {
  readonly placeId: string;
  /** How long both must be quiet before a difference is believed; default: that of `PATIENCE`. */
  readonly differenceMs?: number | undefined;
  /** Asked before each step; the rest is left out when it answers true. */
  readonly isEnough?: (() => boolean) | undefined;
}

/** Plays the scenario at the place of that id, and leaves the place empty. */
export async function playScenario(
  pair: Pair,
  scenario: Scenario,
  options: PlayOptions,
): Promise<PlayResult> {
  const { placeId, differenceMs = PATIENCE.differenceMs } = options;
  const startedAtMs = performance.now();
  const place = placeOf(placeId);
  const sides = [pair.original, pair.rollcall];
  await Promise.all(sides.map((side) => openPlace(side, place)));
  const bounds = watchBounds(pair, place);
  const play: Play = {
    pair,
    place,
    notes: [],
    settlings: [],
    applied: [],
    memory: {
      original: NOTHING,
      rollcall: NOTHING,
      isKeptCompared: false,
      isAgeCompared: true,
      spoiltHistories: NOTHING,
    },
    unalignedNodes: NOTHING,
    isRefusing: false,
    refusedAtMs: Number.NEGATIVE_INFINITY,
    adoptedAtMs: Number.NEGATIVE_INFINITY,
    differenceMs,
    isEnough: options.isEnough ?? (() => false),
  };
  try {
    const outcome = await playSteps(play, scenario.steps, bounds.noteStep);
    return {
      scenario,
      placeId,
      ...outcome,
      violations: bounds.violations,
      notes: play.notes,
      settlings: play.settlings,
      kinds: countKinds(play.applied),
      durationMs: performance.now() - startedAtMs,
      activity: outcome.differences.length === 0 ? [] : await activityAt(pair, place),
    };
  } finally {
    bounds.stop();
    await Promise.all(sides.map((side) => clearPlace(side, place)));
  }
}

async function playSteps(
  play: Play,
  steps: readonly Step[],
  noteStep: (step: Step) => void,
): Promise<Pick<PlayResult, 'stepsPlayed' | 'failedStep' | 'differences'>> {
  for (const [index, written] of steps.entries()) {
    if (play.isEnough()) return { stepsPlayed: index, failedStep: undefined, differences: [] };
    const step = resolveStep(play.pair, play.place, written);
    const { spoiltHistories } = play.memory;
    if (isOrderDependent(step, { ...play, spoiltHistories })) {
      play.notes.push({ reason: 'order-dependent', step: index, detail: describeStep(step) });
      continue;
    }
    noteStep(step);
    const isLast = index === steps.length - 1;
    const differences = await playStep(play, { index, step, isLast });
    if (differences.length > 0) return { stepsPlayed: index + 1, failedStep: index, differences };
  }
  return { stepsPlayed: steps.length, failedStep: undefined, differences: [] };
}

async function playStep(
  play: Play,
  entry: { readonly index: number; readonly step: Step; readonly isLast: boolean },
): Promise<readonly Difference[]> {
  const { index, step, isLast } = entry;
  const { pair, place } = play;
  const [original, rollcall] = await Promise.all([
    applyTo(pair.original, { place, index, step }),
    applyTo(pair.rollcall, { place, index, step }),
  ]);
  noteStart(play, step);
  const outcomes = { original: original.outcome, rollcall: rollcall.outcome };
  noteOutcome(play, { index, step, outcomes });
  if (outcomes.original !== outcomes.rollcall) {
    return [{ comparison: 'step-outcome', subject: describeStep(step), ...outcomes }];
  }
  if (step.isHurried === true && !isLast && mayHurry(play)) {
    await waitUntilObserved(pair, place);
    play.memory = { ...play.memory, isKeptCompared: false, isAgeCompared: false };
    return [];
  }
  const { memory, isRefusing } = play;
  const isMeasured = !isRefusing && !isBackingOff(play) && !isForgetful(play);
  const patience = patienceOf(play, { isLast });
  const point = await settle(pair, place, { memory, patience, isRefusing });
  const starved = isRefusing ? starvedNodes(point.differences) : undefined;
  notePoint(play, { index, point, starved });
  if (isMeasured && point.early.length === 0) {
    const originalMs = settledMs(pair.original, place, original);
    const rollcallMs = settledMs(pair.rollcall, place, rollcall);
    play.settlings.push({ step: index, originalMs, rollcallMs });
  }
  return starved === undefined ? [...point.differences, ...lateWithoutEnd(step, point)] : [];
}

interface Applied {
  readonly outcome: StepOutcome;
  readonly appliedAtMs: number;
}

async function applyTo(
  side: Side,
  entry: { readonly place: Place; readonly index: number; readonly step: Step },
): Promise<Applied> {
  const { place, index, step } = entry;
  const outcome = await applyStep({ side, place, index }, step);
  return { outcome, appliedAtMs: performance.now() };
}

/** From the step to the last change that it brought. */
function settledMs({ mirror }: Side, place: Place, { appliedAtMs }: Applied): number {
  return Math.max(0, mirror.changedAtMs(place) - appliedAtMs);
}

/** What looks alike, but is still under way on Rollcall's side when the original has long been done. */
function lateWithoutEnd(step: Step, { lateUnrest }: QuietPoint): readonly Difference[] {
  if (lateUnrest.length === 0) return [];
  return [{ comparison: 'late', subject: describeStep(step), original: [], rollcall: lateUnrest }];
}

/**
 * False where a rollout that is cut short leaves what chance and speed decide: a pod on a node that does not want
 * it does not come back once deleted, and which revision is trimmed hangs on which one was in use just then.
 */
function mayHurry({ pair, place }: Play): boolean {
  return [pair.original, pair.rollcall].every(({ mirror }) => {
    const { daemonSets, revisions } = mirror.at(place);
    return daemonSets.every((daemonSet) => {
      const { revisionHistoryLimit = 0 } = daemonSet['spec'] as { revisionHistoryLimit?: number };
      const { numberMisscheduled = 0 } = readDaemonSet(daemonSet).status;
      const { uid } = daemonSet.metadata;
      const owned = revisions.filter((it) => controllerOf(it)?.uid === uid).length;
      const isSpared = numberMisscheduled === 0 && owned + REVISIONS_SPARE <= revisionHistoryLimit;
      return isSpared && !isWithoutAvailability(daemonSet);
    });
  });
}

/**
 * Each edit leaves a revision only if both controllers see it before the next one. Asked of the API servers: the
 * mirrors may not have seen the edit itself yet.
 */
async function waitUntilObserved({ original, rollcall }: Pair, place: Place): Promise<void> {
  const isObserved = (daemonSet: KubernetesObject): boolean => {
    const { generation, observedGeneration } = readDaemonSet(daemonSet);
    return observedGeneration >= generation || daemonSet.metadata.deletionTimestamp !== undefined;
  };
  const path = `/apis/apps/v1/namespaces/${place.namespace}/daemonsets`;
  const endsAtMs = performance.now() + OBSERVED_DEADLINE_MS;
  while (performance.now() < endsAtMs) {
    const lists = await Promise.all([original, rollcall].map(({ admin }) => admin.list(path)));
    if (lists.every(({ items }) => items.every(isObserved))) return;
    await waitForChange([original.mirror, rollcall.mirror], { place, timeoutMs: ASK_PERIOD_MS });
  }
}

function noteStart(play: Play, step: Step): void {
  if (isMadeOverOrphans(play, step)) play.adoptedAtMs = performance.now();
  play.memory = memoryDuring(play.memory, step);
  if (step.op !== 'admission') return;
  play.isRefusing = step.refusedNodes.length > 0;
  play.refusedAtMs = performance.now();
}

/** True where a new DaemonSet finds pods of a former one, and takes them over. */
function isMadeOverOrphans({ pair, place }: Play, step: Step): boolean {
  if (step.op === 'set-remake') return step.propagation === 'Orphan';
  if (step.op !== 'set-create') return false;
  const apps = appsOfNew(step);
  return pair.rollcall.mirror
    .at(place)
    .pods.some((pod) => apps.includes(pod.metadata.labels?.['app'] ?? '') && !controllerOf(pod));
}

function patienceOf(play: Play, { isLast }: { readonly isLast: boolean }): Patience {
  const patience = { ...(isLast ? LAST_PATIENCE : PATIENCE), differenceMs: play.differenceMs };
  if (play.isRefusing) return { ...patience, differenceMs: REFUSED_DIFFERENCE_MS };
  if (isBackingOff(play)) return { ...patience, ...BACK_OFF_PATIENCE };
  return isForgetful(play) ? { ...patience, ...FORGETFUL_PATIENCE } : patience;
}

function noteOutcome(
  play: Play,
  entry: {
    readonly index: number;
    readonly step: Step;
    readonly outcomes: { readonly original: StepOutcome; readonly rollcall: StepOutcome };
  },
): void {
  const { original, rollcall } = entry.outcomes;
  if (original === 'done' && rollcall === 'done') play.applied.push(entry.step);
  if (original !== 'done' && original === rollcall) {
    const detail = `${describeStep(entry.step)}: ${original}`;
    play.notes.push({ reason: 'no-op', step: entry.index, detail });
  }
}

function notePoint(
  play: Play,
  entry: {
    readonly index: number;
    readonly point: QuietPoint;
    readonly starved: ReadonlySet<string> | undefined;
  },
): void {
  const { index, point, starved } = entry;
  const note = (reason: string, detail: string): void => {
    play.notes.push({ reason, step: index, detail });
  };
  if (starved !== undefined) note('refusal-starves-original', [...starved].join(', '));
  else if (point.differences.length === 0 && point.early.length > 0) {
    const seconds = (point.longestQuietMs / 1000).toFixed(1);
    const who = point.changedByNudge.join(' and ');
    note(lateReason(point, play), `${who} changed after ${seconds} s: ${point.early.join(', ')}`);
  }
  if (point.unrest.length > 0) note('unrest', point.unrest.join('; '));
  play.unalignedNodes = new Set([...point.unalignedNodes, ...(starved ?? [])]);
  play.memory = {
    ...play.memory,
    original: point.original.podUids,
    rollcall: point.rollcall.podUids,
    isKeptCompared: play.unalignedNodes.size === 0,
    isAgeCompared: play.memory.isAgeCompared && play.unalignedNodes.size === 0,
  };
}

async function activityAt(pair: Pair, place: Place): Promise<readonly string[]> {
  const lines = pair.activity.lines
    .filter(({ fields }) => fields['namespace'] === place.namespace)
    .map(({ level, message, fields }) => `${level} ${message} ${JSON.stringify(fields)}`)
    .slice(-ACTIVITY_LINES_MAX);
  return [...lines, ...(await pair.explain(place))];
}

async function openPlace({ admin }: Side, place: Place): Promise<void> {
  await admin.post('/api/v1/namespaces', { metadata: { name: place.namespace } });
  const path = `/api/v1/namespaces/${place.namespace}/serviceaccounts/default`;
  await pollUntil({ deadlineMs: READY_DEADLINE_MS, description: 'service account' }, async () => {
    const response = await admin.request({ method: 'GET', path });
    return response.status === 200 ? true : undefined;
  });
}

/** Everything goes at once; the namespace ends by itself. */
async function clearPlace({ admin, mirror }: Side, place: Place): Promise<void> {
  const { nodes, pods } = mirror.at(place);
  for (const pod of pods) {
    const path = `/api/v1/namespaces/${place.namespace}/pods/${pod.metadata.name}`;
    if ((pod.metadata.finalizers ?? []).length === 0) continue;
    await admin.request({ method: 'PATCH', path, body: { metadata: { finalizers: null } } });
  }
  await liftAdmission(admin, place);
  await admin.request({ method: 'DELETE', path: `/api/v1/namespaces/${place.namespace}` });
  for (const node of nodes) {
    await admin.request({ method: 'DELETE', path: `/api/v1/nodes/${node.metadata.name}` });
  }
  const collection = `/api/v1/namespaces/${place.namespace}/pods`;
  await admin.request({ method: 'DELETE', path: collection, body: { gracePeriodSeconds: 0 } });
}

/** The step on a node that has what it is about; unchanged where none has. */
function resolveStep(pair: Pair, place: Place, step: Step): Step {
  if (!step.op.startsWith('pod-') || step.op === 'pod-orphan' || !('set' in step)) return step;
  if (!('node' in step)) return step;
  const { op, set } = step;
  const [original = new Set<string>(), rollcall = new Set<string>()] = [
    pair.original,
    pair.rollcall,
  ].map(({ mirror }) => {
    const pods = findSubjects(mirror.at(place), { op, set });
    return new Set(pods.map((pod) => readPod(pod).node ?? ''));
  });
  const nodes = [...original].filter((it) => rollcall.has(it)).sort();
  const written = nodeNameOf(place, step.node);
  const node = nodes.find((it) => it >= written) ?? nodes[0];
  return node === undefined ? step : { ...step, node: roleOfNode(place, node) };
}
