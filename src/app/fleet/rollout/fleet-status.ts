/**
 * How the rollout of a fleet stands, as values: what `rollcall fleet status` prints, and its JSON (docs/reference/json.md).
 *
 * Made of the record alone, so that a look costs two reads however large the fleet is; it is as new as the last step, which is a minute
 * old at most while clusters roll. Nothing is decided.
 */
import { defined } from '@rollcall/base/defined.ts';
import { gateAfter, gateBefore } from '../../../core/fleet/rollout/judge-stage.ts';
import {
  describeFleetGate,
  describeStage,
  fleetPhaseOf,
  summarizeFleet,
} from '../../../core/fleet/told/describe-fleet.ts';
import { tellRollout } from '../../../core/rollout/describe-record.ts';
import type { OpenStep, StepKind } from '../../../core/model/rollout-record.ts';
import { standstillOf } from '../../../core/status/outages.ts';
import type { StackStanding, Watched } from '../../../core/status/outages.ts';
import type { Freeze } from '../../../core/may-act/freeze.ts';
import { wayBackOf } from '../../../core/fleet/rollout/way-back.ts';
import { olderWords } from '../../../core/rollout/good-releases.ts';
import type {
  StageAssignment,
  FleetBreachNote,
  FleetOrders,
  FleetRecord,
  GoodFleetRelease,
  RefusedContent,
} from '../../../core/fleet/rollout/fleet-record.ts';
import { outagesOfSubject } from '../../why/standing.ts';
import { isUnseen, missedStepSinceMs } from './find-fleet-rollout.ts';
import type { FoundFleetRollout } from './find-fleet-rollout.ts';
import type { ToldRollout } from '../../../core/rollout/describe-record.ts';

/** A stage, and where the rollout is to it. */
export interface ShownStage {
  readonly name: string;
  /** Of a second stage, those of a first one with `nodes` among them. */
  readonly clusters: number;
  readonly state: 'passed' | 'open' | 'waits';
  /** Gates before and after it, as `rollcall fleet approve --gate` takes them. */
  readonly gates: readonly [before: number, after: number];
}

/** With the keys of the rollout of a cluster (app/rollout/rollout-status.ts). */
interface StagedFleet extends ToldRollout<FleetBreachNote, RefusedContent, FleetOrders> {
  readonly step: Omit<OpenStep, 'updatedNodes'> & { readonly groups: number };
}

/** One rollout. */
export interface FleetStatus extends Watched {
  readonly namespace: string;
  readonly name: string;
  /** Of what was applied last. */
  readonly generation: number;
  readonly appliedAtMs: number;
  readonly appliedBy: string;
  /** Absent: no step was made yet. */
  readonly staged?: StagedFleet;
  readonly stages: readonly ShownStage[];
  /** As the last step left it; absent: no step was made yet. */
  readonly record?: FleetRecord;
  /** The target of an undo, or a rollback; absent: nothing else was good. */
  readonly former?: GoodFleetRelease;
}

const UNSEEN = 'the function fleet begins with it within a minute';

/** Tells how it stands; while no function steps it, as of the last step. */
export function fleetStatusOf(
  found: Pick<FoundFleetRollout, 'head' | 'record'>,
  { standing, freeze, nowMs }: FleetQuestion,
): FleetStatus {
  const told = toldOf(found);
  const missedSinceMs = missedStepSinceMs(found, nowMs);
  const outages = outagesOfSubject(found.head, { standing, freeze, nowMs, missedSinceMs });
  if (standstillOf(outages) === undefined) return { ...told, outages };
  const summary = `as of the last step: ${told.summary}`;
  return { ...told, phase: 'Stopped', summary, outages };
}

interface FleetQuestion {
  readonly standing: StackStanding;
  readonly freeze: Freeze | 'unreadable';
  readonly nowMs: number;
}

function toldOf(found: Pick<FoundFleetRollout, 'head' | 'record'>): Omit<FleetStatus, 'outages'> {
  const { head, record } = found;
  const { namespace, name, generation, appliedAtMs, appliedBy } = head;
  const base = { namespace, name, generation, appliedAtMs, appliedBy };
  if (record === undefined) {
    const summary = `generation ${String(generation)} was applied: ${UNSEEN}`;
    return { ...base, phase: 'Progressing', summary, stages: [], notes: [] };
  }
  const newer = isUnseen(found)
    ? [`Generation ${String(generation)} was applied since: ${UNSEEN}.`]
    : [];
  const isAboutFormer = newer.length > 0 && !OUTLIVES.has(record.gate.kind);
  return {
    ...base,
    // A caller that waits for a release just applied must not see the end of the one before it.
    phase: isAboutFormer ? 'Progressing' : fleetPhaseOf(record),
    summary: summarizeFleet(record),
    staged: stagedOf(record),
    stages: shownStages(record),
    record,
    ...defined({ former: wayBackOf(record) }),
    notes: [...newer, ...olderNotes(record), ...breachNotes(record), ...driftNotes(record)],
  };
}

function stagedOf(record: FleetRecord): StagedFleet {
  const { gate, stage, stages, stageOpenedAtMs, wellSinceMs, progressedAtMs } = record;
  const words = { stepText: describeStage(record), gateText: describeFleetGate(record) };
  return {
    ...tellRollout(record, { gate, ...words }),
    step: {
      kind: stepKindOf(stage, stages.length),
      name: stages[stage]?.name ?? '',
      index: stage,
      groups: stages.length - 1,
      openedAtMs: stageOpenedAtMs,
      ...defined({ wellSinceMs }),
      progressedAtMs,
    },
  };
}

function stepKindOf(stage: number, stages: number): StepKind {
  if (stage < 0) return 'waiting';
  if (stage >= stages) return 'done';
  return stage === 0 ? 'canary' : 'group';
}

/** Gates that hold the next generation as well. */
const OUTLIVES: ReadonlySet<string> = new Set(['paused', 'frozen']);

function shownStages(record: FleetRecord): readonly ShownStage[] {
  return record.stages.map((stage, index) => shownStage(stage, index, record));
}

function shownStage(
  { name, members }: StageAssignment,
  index: number,
  { stage }: FleetRecord,
): ShownStage {
  const state = index < stage ? 'passed' : index === stage ? 'open' : 'waits';
  return { name, clusters: members.count, state, gates: [gateBefore(index), gateAfter(index)] };
}

/** Why what was good before is no way back. */
function olderNotes({ older }: FleetRecord): readonly string[] {
  if (older === undefined) return [];
  return [`Its content goes by stages like a new one: ${olderWords(older)}.`];
}

/** The grounds of a halt that takes no cluster back; next steps are told beside it. */
function breachNotes(record: FleetRecord): readonly string[] {
  const { breach, gate } = record;
  if (breach?.cause === 'ReturnFailed') return ['Clusters that are not back stay as they are.'];
  if (breach?.grounds === undefined || gate.kind !== 'breach') return [];
  const names = breach.clusters.join(', ');
  if (breach.grounds === 'place') {
    return [
      `Nothing speaks against the release: it may be applied again, and no cluster goes back. Mend what keeps it from ${names}, then resume it: it is tried there again.`,
    ];
  }
  return [
    `One cluster alone shows it, so no other one goes back by itself. If it lies with ${names} and not with the release, resume it.`,
  ];
}

function driftNotes({ drifted }: FleetRecord): readonly string[] {
  if (drifted === undefined || drifted.count === 0) return [];
  const more = drifted.count - drifted.clusters.length;
  const names = `${drifted.clusters.join(', ')}${more > 0 ? ` and ${String(more)} more` : ''}`;
  return [`Another client changed it after the rollout in ${names}.`];
}
