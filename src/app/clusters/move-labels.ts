/**
 * What registrations say of a move between two stacks, in labels, so that any repeat knows where it is.
 *
 * They are written by the very writes that freeze, register and lift, never apart from them. `lift` says
 * whether the freeze is the move's own: it is lifted at the end only then.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';

const TO = 'rollcall.dev/moving-to';
const FROM = 'rollcall.dev/moving-from';
const LIFT = 'rollcall.dev/move-lifts-freeze';
const SILENT_AT = 'rollcall.dev/silent-at-version';
const BACK = 'rollcall.dev/moving-back';
const ALL: ReadonlySet<string> = new Set([TO, FROM, LIFT, SILENT_AT, BACK]);

interface MoveLabels {
  /** In the old stack: where it goes. */
  readonly to?: string;
  /** In the new stack: where it comes from. */
  readonly from?: string;
  /** True if the freeze is to be lifted at the end. */
  readonly isLifting: boolean;
  /** In the new stack: the old registration's version at which nothing was under way any more. */
  readonly silentAtVersion?: string;
  /** In the old stack: the move was called back. */
  readonly isBack: boolean;
}

/** Reads the labels. */
export function readMoveLabels({ labels }: Pick<ClusterRegistration, 'labels'>): MoveLabels {
  const { [TO]: to, [FROM]: from, [SILENT_AT]: silentAtVersion } = labels;
  return {
    ...defined({ to, from, silentAtVersion }),
    isLifting: labels[LIFT] === 'yes',
    isBack: labels[BACK] === 'yes',
  };
}

/** These labels, with what is said of a move, and nothing else of a move. */
export function withMoveLabels(
  labels: ClusterRegistration['labels'],
  move: MoveLabels,
): ClusterRegistration['labels'] {
  return {
    ...withoutMoveLabels(labels),
    ...defined({ [TO]: move.to, [FROM]: move.from, [SILENT_AT]: move.silentAtVersion }),
    ...(move.isBack ? { [BACK]: 'yes' } : {}),
    [LIFT]: move.isLifting ? 'yes' : 'no',
  };
}

/** Labels as they were before the move. */
export function withoutMoveLabels(
  labels: ClusterRegistration['labels'],
): ClusterRegistration['labels'] {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !ALL.has(key)));
}
