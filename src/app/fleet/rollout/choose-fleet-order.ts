/**
 * From what an operator asks for to an order that names what was seen (core/fleet/orders/fleet-orders.ts): once, by the first look.
 *
 * A pause is of whatever comes, so it is given before a first step was made as well. Everything else is of a release that a step
 * has begun: of one that was only applied nobody has seen anything.
 */
import { defined } from '@rollcall/base/defined.ts';
import { formatFleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import { describeHalt } from '../../../core/rollout/gate-words.ts';
import { wayBackOf } from '../../../core/fleet/rollout/way-back.ts';
import type { RolloutOrder } from '../../../core/rollout/orders.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import { refuseFleet } from '../refusals.ts';
import type { FleetRefusal } from '../refusals.ts';
import { isUnseen } from './find-fleet-rollout.ts';
import type { FoundFleetRollout } from './find-fleet-rollout.ts';

/** What somebody asks for. */
export type FleetOrderAsk =
  | { readonly kind: 'pause' | 'undo' }
  /** `overrules`: a halt too, and why. */
  | { readonly kind: 'resume'; readonly overrules?: string }
  /** Absent: the gate that waits. */
  | { readonly kind: 'approve'; readonly stepIndex?: number };

/** The order, or why there is none. */
export function chooseFleetOrder(
  found: FoundFleetRollout,
  ask: FleetOrderAsk,
): RolloutOrder | FleetRefusal {
  if (ask.kind === 'pause') return { kind: 'pause' };
  const { head, record } = found;
  if (record === undefined || isUnseen(found)) return refuseFleet('not-begun', head);
  const release = String(record.release.generation);
  switch (ask.kind) {
    case 'resume':
      return chooseResume(record, ask.overrules);
    case 'approve':
      return chooseApproval(record, ask.stepIndex);
    case 'undo': {
      const back = wayBackOf(record);
      if (back !== undefined) return { kind: 'undo', release, to: String(back.generation) };
      return refuseFleet(record.good.length === 0 ? 'nothing-proven' : 'runs-proven', head);
    }
  }
}

function chooseResume(record: FleetRecord, why: string | undefined): RolloutOrder | FleetRefusal {
  const { breach, release } = record;
  if (breach !== undefined && why === undefined) {
    const command = `rollcall fleet resume ${formatFleetKey(record)} --why '…' --yes`;
    const remedy = `${describeHalt(breach)}. If that is known: ${command}`;
    return { ...refuseFleet('overrules', record), remedy };
  }
  return {
    kind: 'resume',
    release: String(release.generation),
    ...defined({ breachAtMs: breach?.atMs, why }),
  };
}

function chooseApproval(
  record: FleetRecord,
  asked: number | undefined,
): RolloutOrder | FleetRefusal {
  const { gate, orders, stage, breach } = record;
  const release = String(record.release.generation);
  if (asked !== undefined) return { kind: 'approve', release, stepIndex: asked };
  const isWaiting = gate.kind === 'approval' || gate.kind === 'no-evidence';
  if (isWaiting) return { kind: 'approve', release, stepIndex: gate.stepIndex };
  if (breach !== undefined || orders.undo !== undefined) return refuseFleet('halted', record);
  // Approved, and not opened yet: the other one of two operators was a moment faster.
  const { approved } = orders;
  if (approved !== undefined && approved.stepIndex > 2 * stage) {
    return { kind: 'approve', release, stepIndex: approved.stepIndex };
  }
  const next = `See what it waits for: rollcall fleet status ${formatFleetKey(record)}`;
  return { ...refuseFleet('nothing-waits', record), remedy: next };
}
