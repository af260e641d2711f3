/**
 * Decisions of a fleet, as others are told of them (issue 18).
 *
 * Made with the record that they lead to, kept in it, and published after it was written, at least once, under the same ids.
 */
import type {
  FleetClusterRecord,
  FleetDecisionKind,
  FleetRecord,
  UntoldDecision,
} from './fleet-record.ts';
import { backAtOf } from './way-back.ts';

export type { FleetDecisionKind };

/** A decision, with the record that it made. */
export interface FleetDecision extends UntoldDecision {
  readonly record: FleetRecord;
}

/** Kept in a record, so that it stays small; clusters that failed beyond these are in the status alone. */
export const UNTOLD_MAX = 16;

/** A decision that is told once the record is written, whose version is still that of before. */
export function decisionOf(
  { uid, release, version }: FleetRecord,
  decision: Omit<UntoldDecision, 'id'>,
): UntoldDecision {
  const id = `${uid}/${String(release.generation)}/${String(version + 1)}/${decision.kind}`;
  return { id, ...decision };
}

export interface Told {
  /** Undefined: there was no record. */
  readonly before: FleetRecord | undefined;
  /** As it is to be written: its version is still that of before. */
  readonly after: FleetRecord;
  readonly decision?: { readonly kind: FleetDecisionKind; readonly message: string };
  /** Clusters that were found to have failed. */
  readonly failed: readonly FleetClusterRecord[];
  readonly nowMs: number;
}

/** The decisions of a step, to be published. */
export function untoldOf({
  before,
  after,
  decision,
  failed,
  nowMs,
}: Told): readonly UntoldDecision[] {
  const { release, gate } = after;
  const told = (kind: FleetDecisionKind, message: string): UntoldDecision =>
    decisionOf(after, { kind, atMs: nowMs, message });
  const isNew = before?.release.generation !== release.generation;
  const isBegun = gate.kind === 'returning' && before?.gate.kind !== 'returning';
  const isBack = gate.kind === 'returned' && before?.gate.kind !== 'returned';
  const to = `generation ${String(backAtOf(after)?.generation ?? 0)}`;
  const decisions = [
    ...(isNew ? [told('rollout-started', `generation ${String(release.generation)} began`)] : []),
    ...(decision === undefined ? [] : [told(decision.kind, decision.message)]),
    ...(isBegun ? [told('rollback-started', `clusters go back to ${to}`)] : []),
    ...(isBack ? [told('rolled-back', `every cluster within reach is back at ${to}`)] : []),
    ...failed.map((one): UntoldDecision => {
      const { cause = 'unknown', message = '' } = one.failure ?? {};
      const base = told('cluster-failed', `${one.cluster}: ${cause}: ${message}`);
      return { ...base, id: `${base.id}/${one.cluster}`, cluster: one.cluster };
    }),
  ];
  return decisions.slice(0, UNTOLD_MAX);
}
