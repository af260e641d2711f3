/**
 * One run's look at a staged rollout: what became of the open step, what may be updated now, what
 * comes next.
 *
 * Pure: the same record, nodes and moment give the same answer, so two runs that look at once write
 * the same, and the compare-and-set of the state lets one of them. A step is opened in the record
 * that is written with the first deletes it allows. Nothing here counts pods against the budget, or
 * chooses victims: rolling-update/walk-stages.ts does.
 *
 * Invariants: nothing is open while a breach or a pause stands; a step opens only through
 * rollout/judge-step.ts; the record is bounded.
 */
import type { NodeName } from '../model/identifiers.ts';
import type { Breach, OpenStep, RolloutRecord } from '../model/rollout-record.ts';
import { withCause } from '../health/event-causes.ts';
import { advanceTurns } from '../health/flapping.ts';
import { advanceTrial } from '../health/trial.ts';
import { isSoakLost, soakAfter, type Wellness } from '../rollout/soak.ts';
import { defined } from '@rollcall/base/defined.ts';
import { tellStages } from '../events/events.ts';
import { keptNodesOf } from '../policy/share.ts';
import {
  findReturnBreach,
  findShared,
  findSilentPods,
  findStagesBreach,
  judgingMoments,
  lookAt,
} from './find-breach.ts';
import type { Look } from './find-breach.ts';
import { excuseNodes, markPlaceless, withPlaceless } from './excused.ts';
import { standingOf, withLosses, withReplacements } from './replace-canaries.ts';
import { gateMoments, judgeGate, noteSoaked, wellnessOf } from './judge-gate.ts';
import {
  findAhead,
  findFormer,
  findStrays,
  isRollingBack,
  neverRanOn,
  withGood,
} from './former.ts';
import {
  awaitedAfter,
  countRestarts,
  evidenceNodes,
  isWatchedReturn,
  momentsIn,
  trialNodes,
  watchedPod,
} from './observe.ts';
import { recordFor } from './start-record.ts';
import { isPending, nameOf, servesNobody, type StageNode } from './stage-node.ts';
import type { Gate, StepsEnd } from '../model/staged-progress.ts';
import type { Stages, StagesInput } from './stages-input.ts';
import { budgetOf, canaryOfNow, findSteps, type Steps } from './steps.ts';

/** Looks once. */
export function advanceStages(given: StagesInput): Stages {
  const input = markPlaceless(given);
  const started = withPlaceless(recordFor(input), input);
  const seen = observe(withoutReplaced(started, input.nodes), input);
  const opened = openWhatMay(withReplacements(seen.record, input), seen);
  const { gate, turns, excused } = opened;
  const record = withGood(noteSoaked(opened.record, gate, input.nowMs), gate, input);
  const look = { ...seen, record };
  const former = findFormer(record, input);
  const ahead = gate.kind === 'paused' ? [] : findAhead({ record, former }, input);
  return {
    record,
    gate,
    strays: input.isStageTrue ? [] : findStrays(record, input),
    open: new Set(
      [...(isHeld(gate) ? [] : withinFirstPod(turns, record, input)), ...ahead].map(nameOf),
    ),
    former,
    last: record.isReturn ? neverRanOn(record, input.nodes) : NONE,
    maxUnavailable: budgetOf(record, input),
    excused,
    untilMs: [...gateMoments(gate, record, input), ...judgingMoments(look)],
    asksEventsOf: findSilentPods(started, look),
    events: tellStages({ before: input.record, after: record, gate }),
  };
}

const NONE: ReadonlySet<NodeName> = new Set();

/** Steps that open in one run: the canary and, where nothing of it is left to do, what follows. Never a loop without end. */
const OPENINGS_MAX = 3;

/** Groups that were opened, as the record keeps their names. */
const OPENED_NAMES_MAX = 32;

interface Judged {
  readonly record: RolloutRecord;
  readonly gate: Gate;
  readonly turns: readonly StageNode[];
  readonly excused: ReadonlySet<NodeName>;
}

function openWhatMay(observed: RolloutRecord, seen: Look): Judged {
  const { input } = seen;
  let record = observed;
  for (let opening = 0; ; opening += 1) {
    const steps = findSteps(record, input);
    const judged = judge({ ...seen, record }, steps);
    if (judged.gate.kind !== 'next') return judged;
    const pendingNodes = judged.turns.length;
    if (opening === OPENINGS_MAX) return { ...judged, gate: { kind: 'updating', pendingNodes } };
    record = openNext(judged.record, steps, input);
  }
}

function judge(look: Look, steps: Steps): Judged {
  const { record: before, input } = look;
  const { nodes, policy } = input;
  const excused = excuseNodes(before, nodes, policy);
  const roomNodes = roomOf(before, input);
  const turns = steps.open
    .filter((node) => isPending(node) && node.node.isReady)
    .slice(0, roomNodes);
  const shared = turns.length > 0 ? undefined : findShared(look);
  const facts = {
    ...{ input, steps, turns, excused, roomNodes },
    ...{ canary: standingOf(before, input), end: endOf(nodes, roomNodes) },
    ...defined({ shared }),
  };
  const well = wellnessOf(before, facts);
  const record = watchStep(before, { steps, well }, input);
  return { record, gate: judgeGate({ ...facts, record, well }), turns, excused };
}

/** The rest after all steps: a node that is not Ready is only awaited, as far as the partition has room for it. */
function endOf(nodes: readonly StageNode[], roomNodes: number): StepsEnd {
  const pending = nodes.filter(isPending);
  const away = pending.filter(({ isExcluded, node }) => !isExcluded && !node.isReady);
  const notReadyNodes = Math.min(away.length, roomNodes);
  const unwell = nodes.filter((node) => !isPending(node) && !node.isExcluded && !node.isWell);
  const placelessNodes = unwell.filter(({ hasNoPlace }) => hasNoPlace).length;
  return {
    keptNodes: pending.length - notReadyNodes,
    notReadyNodes,
    unwellNodes: unwell.length - placelessNodes,
    ...(placelessNodes === 0 ? {} : { placelessNodes }),
  };
}

/** Evidence of this run, added to the record; a breach that is found stays until an operator resumes the rollout. */
function observe(record: RolloutRecord, input: StagesInput): Look {
  const { kind } = record.step;
  if (record.isReturn) return observeReturn(record, input);
  if (kind === 'waiting' || kind === 'done') return lookAt(record, input);
  const trial = input.isViewFresh
    ? advanceTrial(
        record.trial,
        trialNodes(evidenceNodes(input), momentsIn(record, input)),
        input.nowMs,
      )
    : record.trial;
  const turns = advanceTurns(
    record.turns ?? [],
    input.nodes.flatMap(({ updated, node }) =>
      updated === undefined ? [] : [watchedPod(updated, node)],
    ),
    { nowMs: input.nowMs, soakMs: input.policy.soakMs },
  );
  const awaited = awaitedAfter(record, input);
  const watched = { ...record, trial, ...awaited, ...(turns.length === 0 ? {} : { turns }) };
  const look = lookAt(withLosses(watched, input), input);
  const breach = record.breach === undefined ? findStagesBreach(look) : undefined;
  if (breach === undefined) return look;
  const { causes } = input;
  const told = causes === undefined ? breach : withCause(breach, causes);
  return { ...look, record: withBreach(look.record, told) };
}

/** Nothing of a good release is on trial: only what keeps its pods from running stops the way back. */
function observeReturn(record: RolloutRecord, input: StagesInput): Look {
  if (!isWatchedReturn(record)) return lookAt(record, input);
  const watched = { ...record, ...awaitedAfter(record, input) };
  const look = lookAt(watched, input);
  return { ...look, record: { ...watched, ...defined({ breach: findReturnBreach(look) }) } };
}

/**
 * A pod that came in the place of another one has shown nothing yet, also where no run saw the node without one. Of the pods
 * that are watched (`turns`); of a later step a pod that comes up shuts the gate, and loses no soak.
 */
function withoutReplaced(record: RolloutRecord, nodes: readonly StageNode[]): RolloutRecord {
  const { step, turns = [] } = record;
  if (step.kind !== 'canary') return record;
  const before = new Map(turns.map(({ node, uid }) => [node, uid]));
  const isReplaced = nodes.some((node) => {
    const known = before.get(nameOf(node));
    return known !== undefined && node.updated !== undefined && node.updated.uid !== known;
  });
  if (!isReplaced) return record;
  const { wellSinceMs: _before, ...rest } = step;
  return { ...record, step: rest };
}

/** A revision that was halted is not proven any more, and no good release. */
function withBreach(record: RolloutRecord, breach: Breach): RolloutRecord {
  const { proven, ...rest } = record;
  const left = proven?.hash === record.hash ? record.former : proven;
  const good = record.good.filter(({ id }) => id !== record.id);
  return { ...rest, good, ...defined({ proven: left }), breach };
}

/** Since when the open step is well, by our clock; progress for the deadline. */
function watchStep(
  record: RolloutRecord,
  { steps, well }: { readonly steps: Steps; readonly well: Wellness },
  input: StagesInput,
): RolloutRecord {
  const { nowMs, seenView } = input;
  const { step } = record;
  if (step.kind === 'waiting') return { ...record, seenView };
  const updatedNodes = evidenceNodes(input).filter((node) => !isPending(node)).length;
  // Of those that go back, fewer have it with each run.
  if (isRollingBack(record, input)) return { ...record, seenView, step: { ...step, updatedNodes } };
  if (step.kind === 'done') return { ...record, seenView };
  const moment = { ...input, soakMs: input.policy.soakMs, well };
  const { soak, restarts } = soakAfter(record, { ...moment, restarts: countRestarts(input.nodes) });
  const isHeld = isPausedBy(record, input);
  const isFreed = (step.isHeld === true && !isHeld) || isSoakLost(step, soak, moment);
  const hasProgressed = updatedNodes > step.updatedNodes || isFreed;
  const progressedAtMs = hasProgressed ? nowMs : step.progressedAtMs;
  const { wellSinceMs: _before, unheardMs: _dark, isHeld: _held, ...rest } = step;
  const watched: OpenStep = {
    ...rest,
    progressedAtMs,
    updatedNodes: Math.max(updatedNodes, step.updatedNodes),
    ...soak,
    ...(isHeld ? { isHeld } : {}),
  };
  return {
    ...record,
    step: watched,
    groups: Math.max(step.index, 0) + steps.left,
    restarts,
    seenView,
  };
}

function isPausedBy({ orders }: RolloutRecord, { policy }: StagesInput): boolean {
  return policy.isPaused || orders.paused !== undefined;
}

/** The next step, opened now; a canary that is passed proves the revision. */
function openNext(record: RolloutRecord, { next }: Steps, input: StagesInput): RolloutRecord {
  const { nowMs, hash } = input;
  const { step } = record;
  const base = {
    openedAtMs: nowMs,
    progressedAtMs: nowMs,
    updatedNodes: evidenceNodes(input).filter((node) => !isPending(node)).length,
  };
  const tried = step.kind === 'waiting' ? { triedAtMs: nowMs } : {};
  if (step.kind === 'waiting' && record.canary.length > 0) {
    return { ...record, ...tried, step: { ...base, kind: 'canary', name: '', index: 0 } };
  }
  const isProven = step.kind === 'canary';
  const proven = isProven ? { proven: { hash, provenAtMs: nowMs, isBaseline: false } } : {};
  const index = Math.max(step.index, 0) + 1;
  const opened: OpenStep =
    next === undefined
      ? { ...base, kind: 'done', name: '', index: step.index }
      : { ...base, kind: 'group', name: next.name, index };
  const names = [...(record.opened ?? []), ...(next === undefined ? [] : [next.name])];
  const canary = canaryOfNow(record, input);
  return {
    ...record,
    canary,
    opened: names.slice(-OPENED_NAMES_MAX),
    ...tried,
    ...proven,
    step: opened,
  };
}

/** How many more nodes the partition lets be updated. */
function roomOf(record: RolloutRecord, { policy, nodes }: StagesInput): number {
  if (policy.partition === undefined || record.isReturn) return nodes.length;
  const kept = keptNodesOf(policy.partition, { then: record.baseNodes, now: nodes.length });
  const updated = nodes.filter((node) => !isPending(node)).length;
  return Math.max(0, nodes.length - kept - updated);
}

/**
 * Deleting the first old pod is a one-way door if no new one is let in: it goes alone until its successor is there. One that
 * does not serve goes first: such pods may use up the budget that any other one waits for.
 */
function withinFirstPod(
  turns: readonly StageNode[],
  { isReturn, canary }: RolloutRecord,
  { nodes }: StagesInput,
): readonly StageNode[] {
  if (isReturn || nodes.some(({ updated }) => updated !== undefined)) return turns;
  const first = new Set(canary);
  const isTried = nodes.some(
    (node) => node.isMoving && (first.size === 0 || first.has(nameOf(node))),
  );
  const [next] = turns;
  const chosen = turns.find(servesNobody) ?? next;
  return isTried || chosen === undefined ? [] : [chosen];
}

function isHeld({ kind }: Gate): boolean {
  return kind !== 'updating';
}
