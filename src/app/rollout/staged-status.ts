/**
 * How a staged rollout stands: its record with gate and evidence, as values and in one line.
 *
 * Shared by `rollcall rollout status` and the table of `npm start`, so that both say the same.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { NodeName } from '../../core/model/identifiers.ts';
import type {
  Breach,
  CanaryLoss,
  OpenStep,
  ProvenRevision,
  RefusedRevision,
  RolloutOrders,
  RolloutRecord,
} from '../../core/model/rollout-record.ts';
import { toldObject } from '../../core/model/view-items.ts';
import type { StagedProgress } from '../../core/model/staged-progress.ts';
import { describeStep, subjectOf, summarizeRecord } from '../../core/rollout/describe-record.ts';
import { describeGate } from '../../core/rollout/gate-words.ts';
import { gateOf, phaseOf } from '../../core/rollout/gate.ts';
import type { FleetHold, ShownGate } from '../../core/rollout/gate-words.ts';
import { wayBackOf } from '../../core/rollout/good-releases.ts';
import { isRollingBack as isSentBack } from '../../core/stages/former.ts';
import { shownCopies } from '../../core/rollout/shown-copies.ts';
import type { ShownCopies } from '../../core/rollout/shown-copies.ts';
import { evidenceOf } from '../../core/rollout/shown-evidence.ts';
import type { ShownEvidence } from '../../core/rollout/shown-evidence.ts';
import { countsOf, podCountsOf } from '../../core/rollout/pod-counts.ts';
import { endOf } from './plain-status.ts';
import type { EndSource, ToldPhase } from './plain-status.ts';
import type { PolicyReading } from '../../core/policy/rollout-policy.ts';

/** A staged rollout. */
export interface StagedStatus extends ToldPhase {
  /** Its controller-revision-hash. */
  readonly revision: string;
  readonly startedAtMs: number;
  readonly step: OpenStep & { readonly groups?: number };
  readonly gate: ShownGate;
  /** The step and the gate in words. */
  readonly stepText: string;
  readonly gateText: string;
  /** Nodes when it started; percentages are of these or of those of now (policy/share.ts). */
  readonly baseNodes: number;
  readonly canary: readonly string[];
  /** Canary nodes that went NotReady after their turn, and who was added for them; absent: none did. */
  readonly losses?: readonly CanaryLoss[];
  readonly evidence: ShownEvidence;
  readonly breach?: Breach;
  /** Copilot: nodes that run the revision ahead of their step; absent while no plan can be told. */
  readonly strays?: readonly NodeName[];
  readonly proven?: ProvenRevision;
  /** What an undo, or a rollback, leads to. */
  readonly former?: ProvenRevision;
  /** Takeover: copies of proven templates, for admission (ADR 0063). */
  readonly copies?: ShownCopies;
  readonly refused: readonly RefusedRevision[];
  readonly orders: RolloutOrders;
}

/** What it is told from. */
export interface StagedSource extends EndSource {
  readonly policy: PolicyReading;
  /** Of the plan that a run of now would make, where one can be told. */
  readonly stages: StagedProgress | undefined;
  /** Of a fleet that gave it to these nodes alone. */
  readonly hold?: FleetHold;
}

/** Told from what was found; undefined: nothing was ever staged, or its policy is gone. */
export function stagedStatus(source: StagedSource, nowMs: number): StagedStatus | undefined {
  const { registration, state, daemonSet, policy, stages } = source;
  const record = state?.rollout;
  const object = toldObject(daemonSet);
  // Of an object that nobody could tell of the policy is not known, and its record stands all the same.
  if (record === undefined || (policy.kind === 'none' && object !== null)) return undefined;
  const isBehind = isBehindTemplate(record, source);
  const planned = stages?.gate;
  const counts = countsOf(object);
  const known = defined({ planned, counts, hold: source.hold });
  const judged = gateOf({ record, policy, nowMs, isBehind, ...known });
  const isRollingBack =
    policy.kind === 'policy' &&
    isSentBack(record, { policy: policy.policy, isStageTrue: registration.mode === 'takeover' });
  const phase = phaseOf(judged, { isRollingBack, isBack: isBack(object) });
  const gate: ShownGate = phase === 'Returned' ? { kind: 'returned' } : judged;
  const told = { phase, summary: summarizeRecord(record, gate) };
  const end = endOf(told, source);
  return {
    ...partsOf(record),
    ...(registration.mode === 'takeover' ? { copies: shownCopies(record, state?.copies) } : {}),
    ...defined({ strays: stages?.strays }),
    ...end,
    gate,
    stepText: describeStep(record),
    gateText: end === told ? describeGate(gate, subjectOf(record)) : end.summary,
  };
}

function isBack(object: DaemonSetObject | null): boolean {
  const { updated, available, desired } = podCountsOf(object);
  return updated === 0 && available >= desired;
}

/** True if the template that is rolled out next is known to be another one than the record is of. */
function isBehindTemplate(
  { hash }: RolloutRecord,
  { state, daemonSet, stages }: StagedSource,
): boolean {
  if (stages !== undefined) return stages.record.hash !== hash;
  const { history } = state ?? {};
  if (history === undefined) return false;
  const generation = toldObject(daemonSet)?.metadata.generation;
  return history.hash !== hash || (generation !== undefined && history.generation !== generation);
}

function partsOf(
  record: RolloutRecord,
): Omit<
  StagedStatus,
  'phase' | 'summary' | 'gate' | 'stepText' | 'gateText' | 'strays' | 'copies'
> {
  const { hash, startedAtMs, step, groups, baseNodes, canary, refused, orders } = record;
  const { breach, proven, losses } = record;
  return {
    revision: hash,
    startedAtMs,
    step: { ...step, ...defined({ groups }) },
    baseNodes,
    canary,
    evidence: evidenceOf(record),
    ...defined({ breach, proven, former: wayBackOf(record), losses }),
    refused,
    orders,
  };
}
