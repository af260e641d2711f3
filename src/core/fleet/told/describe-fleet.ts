/**
 * The rollout of a fleet in words, as core/rollout/describe-record.ts says them of nodes. Nothing
 * is decided here.
 *
 * Names and messages come from clusters and operators: the printer takes control
 * characters out.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { FleetRecord } from '../rollout/fleet-record.ts';
import { backAtOf } from '../rollout/way-back.ts';
import { PHASES, describeGate, summarize } from '../../rollout/gate-words.ts';
import type { GateSubject, RolloutPhase } from '../../rollout/gate-words.ts';

/** The phase of a record. */
export function fleetPhaseOf({ gate }: Pick<FleetRecord, 'gate'>): RolloutPhase {
  return PHASES[gate.kind];
}

/** In one line: the stage, its clusters, the gate. */
export function summarizeFleet(record: FleetRecord): string {
  const isAboutStage = record.stage >= 0 && record.stage < record.stages.length;
  const where = [describeStage(record), ...describeCounts(record)].join(', ');
  return summarize(record.gate, subjectOf(record), isAboutStage ? where : undefined);
}

/** What it waits for, as the end of a sentence. */
export function describeFleetGate(record: FleetRecord): string {
  return describeGate(record.gate, subjectOf(record));
}

function subjectOf(record: FleetRecord): GateSubject {
  const { orders, breach, release, counts } = record;
  const target = backAtOf(record);
  return {
    members: 'clusters',
    release: `generation ${String(release.generation)}`,
    back: target === undefined ? 'what was good' : `generation ${String(target.generation)}`,
    failedMembers: counts.failed,
    stepOf: (stepIndex) => describeGateIndex(stepIndex, record),
    orders,
    ...defined({ breach }),
  };
}

/** The stage that is open. */
export function describeStage({ stage, stages }: Pick<FleetRecord, 'stage' | 'stages'>): string {
  if (stage < 0) return 'no stage is open yet';
  const open = stages[stage];
  if (open === undefined) return 'all stages have passed';
  return `stage ${open.name} (${String(stage + 1)} of ${String(stages.length)})`;
}

/** Its clusters, the bad ones first; none is in two of these. Empty once all are back: it has none then. */
export function describeCounts({
  counts,
  gate,
}: Pick<FleetRecord, 'counts' | 'gate'>): readonly string[] {
  const parts = [
    [counts.failed, 'failed'],
    [counts.rolling, 'rolling'],
    [counts.well, 'well'],
    [counts.waiting, 'waiting'],
    [counts.offline, 'offline'],
    [counts.untouched, 'not touched'],
    [counts.returning, 'coming back'],
  ] as const;
  const shown = parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return shown.length === 0 && gate.kind !== 'returned' ? ['no clusters'] : shown;
}

/** Which gate that is: 2k before stage k, 2k + 1 after it. */
function describeGateIndex(index: number, { stages }: Pick<FleetRecord, 'stages'>): string {
  const name = stages[Math.floor(index / 2)]?.name ?? 'the next one';
  return `${index % 2 === 0 ? 'before' : 'after'} stage ${name} (gate ${String(index)})`;
}
