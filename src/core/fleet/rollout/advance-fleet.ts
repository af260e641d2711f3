/**
 * One step of a fleet: what its record becomes, and what is to be told of it (issue 18). Pure: the shell has read and judged the
 * clusters, writes the record by compare-and-set, and only then gives clusters anything.
 *
 * One decision a step: a breach, or a stage that opens, or the end. So each is a write of its own, and a step that is done twice does
 * nothing twice. A breach is looked for in the open stage, and before a stage opens in all that passed as well: what breaks
 * after six hours halts a fleet at its next gate, not never; so one opens only once all of them were looked at lately. A fleet that the word of one cluster halted is looked at on: once a second
 * one shows it, that is a breach of its own, which may lead back.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { FreezeNote } from '../../may-act/freeze.ts';
import { nodesRoundedDown, nodesRoundedUp } from '../../policy/share.ts';
import type { FleetStrategy } from '../fleet-daemon-set.ts';
import { noteRefused } from '../../rollout/known-bad.ts';
import { findFleetBreach } from './find-fleet-breach.ts';
import type { FleetBreachNote, FleetGate, FleetRecord } from './fleet-record.ts';
import { gateAfter, isApproved, judgeStage, type StageJudgement } from './judge-stage.ts';
import { tallyStage } from './tally-stage.ts';
import type { ObservedPool, ObservedStage, StageTally } from './tally-stage.ts';
import { withGood, withoutBad } from './way-back.ts';

export interface StepInput {
  readonly record: FleetRecord;
  readonly strategy: FleetStrategy;
  readonly freeze?: FreezeNote;
  /** Clusters of the open stage; absent before the first one, and after the last. */
  readonly open?: ObservedStage;
  /** Small clusters of the open stage; absent: there are none to compare. */
  readonly pool?: ObservedPool;
  /** Of stages that passed, by their index: read once a stage might open. Absent: they were not read. */
  readonly passed?: ReadonlyMap<number, ObservedStage>;
  readonly nowMs: number;
}

/** What it comes to. */
export interface FleetStep {
  readonly record: FleetRecord;
  readonly decision?: {
    readonly kind: 'halted' | 'stage-opened' | 'completed';
    readonly message: string;
  };
  /** Clusters that may be given the release now, beyond those that roll. */
  readonly giveMax: number;
  /** True if passed stages have to be read before this step may open the next one: ask again with them. */
  readonly needsPassed: boolean;
}

/** How often the clusters of a rollout that is over are looked at for drift. */
export const DRIFT_EVERY_MS = 6 * 3_600_000;

/** Makes the step. */
export function advanceFleet(input: StepInput): FleetStep {
  const { record, open, nowMs } = input;
  const tally = open && tallyStage(open, overruledAtMsOf(record));
  const judged = judgeStage({ ...input, ...defined({ tally }) });
  const counts = { ...(tally?.counts ?? record.counts), returning: record.counts.returning };
  const compared = defined({ pool: input.pool?.pool });
  const seen = { ...withTimes(record, { judged, counts, nowMs }), counts, ...compared };
  const breach = isHeld(judged) ? undefined : findBreachIn(input, seen);
  if (breach !== undefined)
    return isOthersToSee(breach, input) ? askAgain(record) : halt(seen, breach);
  if (!judged.isOver) {
    return { record: seen, giveMax: giveMaxOf(input, judged, seen), needsPassed: false };
  }
  if (record.stage > 0 && input.passed === undefined) return askAgain(record);
  const unproven = gateWithoutEvidence(seen, tally, input);
  if (unproven === undefined) return openNext(seen, nowMs);
  return { record: { ...seen, gate: unproven }, giveMax: 0, needsPassed: false };
}

/** True if a cluster was not looked at lately: older knowledge of it opens no stage. */
function isPartlySeen({ record, open, passed }: StepInput): boolean {
  return stagesIn({ record, open, passed }).some(
    ([, { unseenClusters = 0 }]) => unseenClusters > 0,
  );
}

function askAgain(record: FleetRecord): FleetStep {
  return { record, giveMax: 0, needsPassed: true };
}

/** An operator looked at all evidence up to then; 0: at none. */
function overruledAtMsOf({ orders }: FleetRecord): number {
  return orders.resumed?.breach.atMs ?? 0;
}

/**
 * The gate of a stage in which no cluster showed evidence, and none before it does: when all have fallen silent (an
 * outage between them and us, or the release), nothing is known, and nothing opens. Nor does it before all were looked at lately.
 */
function gateWithoutEvidence(
  record: FleetRecord,
  tally: StageTally | undefined,
  input: StepInput,
): FleetGate | undefined {
  if (isPartlySeen(input)) return { kind: 'next' };
  const { passed } = input;
  if (tally === undefined || tally.provenClusters > 0) return undefined;
  const gate = gateAfter(record.stage);
  if (isApproved(record, gate)) return undefined;
  const isShown = [...(passed?.values() ?? [])].some(
    (seen) => tallyStage(seen, 0).provenClusters > 0,
  );
  if (isShown) return undefined;
  return { kind: 'no-evidence', stage: record.stages[record.stage]?.name ?? '', stepIndex: gate };
}

/** No breach is looked for then: nothing is done in any case. */
function isHeld({ gate }: StageJudgement): boolean {
  return gate.kind === 'frozen' || gate.kind === 'returning';
}

/** Whether the cluster is the only one that has the release decides whether it leads back. */
function isOthersToSee(
  { grounds }: FleetBreachNote,
  { record, strategy, passed }: StepInput,
): boolean {
  const mayLeadBack = grounds === 'one-cluster' && strategy.onHalt === 'rollback';
  return mayLeadBack && record.stage > 0 && passed === undefined;
}

/** The weight of a breach: a heavier one takes the place of the one that stands. */
function weightOf(breach: FleetBreachNote | undefined): number {
  if (breach === undefined) return 0;
  if (breach.grounds === undefined) return 3;
  return breach.grounds === 'place' ? 1 : 2;
}

interface Moment {
  readonly judged: StageJudgement;
  readonly counts: FleetRecord['counts'];
  readonly nowMs: number;
}

/** With what moved since the last step: since when it is well, when it got further. */
function withTimes(record: FleetRecord, { judged, counts, nowMs }: Moment): FleetRecord {
  const { wellSinceMs: formerMs, ...rest } = record;
  const wellSinceMs = judged.isSettled ? (formerMs ?? nowMs) : undefined;
  const { gate } = judged;
  const before = record.counts;
  const isFurther = counts.well + counts.failed > before.well + before.failed;
  // A rollout that waits for a person, a window or a soak is not stuck.
  const isStuck = gate.kind === 'updating' && !isFurther;
  return {
    ...rest,
    gate,
    ...(wellSinceMs === undefined ? {} : { wellSinceMs }),
    progressedAtMs: isStuck ? record.progressedAtMs : nowMs,
  };
}

interface Reading {
  readonly record: FleetRecord;
  readonly open: ObservedStage | undefined;
  readonly passed: StepInput['passed'] | undefined;
}

/** The gravest of all stages that were read, if it weighs more than what stands. */
function findBreachIn(
  { strategy, open, pool, passed, nowMs, record: before }: StepInput,
  record: FleetRecord,
): FleetBreachNote | undefined {
  const overruledAtMs = overruledAtMsOf(record);
  const isAlone = isAloneIn({ record: before, open, passed });
  let gravest = before.breach;
  for (const [index, seen] of stagesIn({ record: before, open, passed })) {
    const stage = strategy.stages[index];
    const dealt = record.stages[index];
    if (stage === undefined || dealt === undefined) continue;
    const isOpen = index === before.stage;
    const breach = findFleetBreach({
      stage: dealt.name,
      tally: tallyStage(seen, overruledAtMs),
      given: seen.given,
      isOpen,
      ...(isOpen ? defined({ pool }) : {}),
      failedClustersMax: nodesRoundedDown(stage.maxFailures, dealt.members.count),
      refusedClustersMax: nodesRoundedDown(stage.maxRefusals, dealt.members.count),
      isAlone,
      shownBy: gravest?.grounds === 'one-cluster' ? gravest.clusters : [],
      onHalt: strategy.onHalt,
      overruledAtMs,
      ...(isOpen && record.gate.kind === 'updating' ? { stuckSinceMs: record.progressedAtMs } : {}),
      ...defined({ progressDeadlineMs: strategy.progressDeadlineMs }),
      nowMs,
    });
    if (weightOf(breach) > weightOf(gravest)) gravest = breach;
  }
  return gravest === before.breach ? undefined : gravest;
}

function stagesIn({
  record,
  open,
  passed,
}: Reading): readonly (readonly [number, ObservedStage])[] {
  return [...(passed ?? []), ...(open === undefined ? [] : [[record.stage, open] as const])];
}

/** True where no other cluster was given the release: what one shows takes nothing from any other. */
function isAloneIn(reading: Reading): boolean {
  if (reading.record.stage > 0 && reading.passed === undefined) return false;
  const given = stagesIn(reading).flatMap(([, seen]) => seen.given);
  return new Set(given.map(({ record }) => record.cluster)).size === 1;
}

function halt(record: FleetRecord, breach: FleetBreachNote): FleetStep {
  const { release, good, refused } = record;
  const { contentHash } = release;
  const { cause, atMs, message, grounds } = breach;
  const bad = { contentHash, cause, atMs };
  return {
    record: {
      ...record,
      // A release that was good at the last stage no longer is, unless one cluster alone says so: the ring would take it from all others.
      good: grounds === undefined ? withoutBad(good, contentHash) : good,
      breach,
      refused: grounds === 'place' ? refused : noteRefused(refused, bad, 'contentHash'),
      gate: { kind: 'breach' },
    },
    decision: { kind: 'halted', message },
    giveMax: 0,
    needsPassed: false,
  };
}

function giveMaxOf(
  { strategy }: StepInput,
  { mayGive }: StageJudgement,
  record: FleetRecord,
): number {
  return mayGive ? Math.max(0, rollingMaxOf(record, strategy) - record.counts.rolling) : 0;
}

/** Clusters of the open stage that may roll at the same time; 0 where none is open. */
export function rollingMaxOf({ stage, stages }: FleetRecord, strategy: FleetStrategy): number {
  const open = strategy.stages[stage];
  const dealt = stages[stage];
  if (open === undefined || dealt === undefined) return 0;
  return Math.max(1, nodesRoundedUp(open.maxConcurrency, dealt.members.count));
}

function openNext(record: FleetRecord, nowMs: number): FleetStep {
  const { wellSinceMs: _passed, pool, ...rest } = record;
  const next = record.stage + 1;
  const isDone = next >= record.stages.length;
  const isLast = next >= record.stages.length - 1;
  const opened: FleetRecord = {
    ...rest,
    stage: next,
    stageOpenedAtMs: nowMs,
    progressedAtMs: nowMs,
    driftDueAtMs: nowMs + DRIFT_EVERY_MS,
    // A release in the last stage has passed all others; a fleet of one stage is good at its end.
    ...(isDone || (isLast && next > 0) ? { good: withGood(record, nowMs) } : {}),
    ...(isDone ? {} : defined({ pool })),
    gate: isDone ? { kind: 'done' } : { kind: 'updating' },
  };
  const name = record.stages[next]?.name ?? '';
  return {
    record: opened,
    decision: isDone
      ? { kind: 'completed', message: 'every stage has passed' }
      : { kind: 'stage-opened', message: `stage ${name} opened` },
    giveMax: 0,
    needsPassed: false,
  };
}
