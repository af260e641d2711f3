/**
 * Positions in a cluster's stream of messages, and the stamps made from them.
 *
 * A position is (era, epoch, incarnation, seq), era compared first (protocol 14). `era` is counted
 * by ingest: it grows when a cluster's etcd went back in time. A stamp is the same position as
 * fixed-width text, so that a table can compare stamps as strings and S8 (nothing regresses) can be
 * a condition on a write.
 */
import type { Epoch, Incarnation } from './identifiers.ts';

export interface Position {
  readonly era: number;
  readonly epoch: Epoch;
  readonly incarnation: Incarnation;
  readonly seq: number;
}

declare const stampBrand: unique symbol;
/** A position as fixed-width text: string order is position order. */
export type Stamp = string & { readonly [stampBrand]: 'Stamp' };

/** Older than every stamp that a message can have. */
export const ZERO_STAMP = stampOf({
  era: 0,
  epoch: '0' as Epoch,
  incarnation: '' as Incarnation,
  seq: 0,
});

/** The stamp of a position: `eeeeee.<39 digits>.<12 digits>.incarnation`. */
export function stampOf(position: Position): Stamp {
  const era = String(position.era).padStart(6, '0');
  const epoch = position.epoch.padStart(39, '0');
  const seq = String(position.seq).padStart(12, '0');
  return `${era}.${epoch}.${seq}.${position.incarnation}` as Stamp;
}

/** The era of a stamp: an era after that of what stands is later than all of it. */
export function eraOfStamp(stamp: Stamp): number {
  return Number.parseInt(stamp, 10);
}

/** Negative, zero or positive as `left` precedes, equals or follows `right`. */
export function compareStamps(left: Stamp, right: Stamp): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The later of two stamps. */
export function laterStamp(left: Stamp, right: Stamp): Stamp {
  // Stryker disable next-line EqualityOperator: of two equal texts either is the later one
  return left >= right ? left : right;
}
