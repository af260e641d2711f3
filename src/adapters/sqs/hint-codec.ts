/**
 * Codec of hints and timers (being written).
 */
import type { Hint, Timer } from '../../core/model/hint.ts';

/** Why a body was refused. */
export interface RefusedBody {
  readonly kind: 'refused';
  readonly code: 'undecodable' | 'oversized' | 'unsupported-schema' | 'invalid';
  readonly field: string;
}

/** Body of a hint. */
export function encodeHint(_hint: Hint): string {
  throw new Error('not written yet');
}

/** Body of a timer. */
export function encodeTimer(_timer: Timer): string {
  throw new Error('not written yet');
}

/** Parses a body of reconcile.fifo. Never throws. */
export function parseHint(
  _body: string,
): { readonly kind: 'hint'; readonly hint: Hint } | RefusedBody {
  throw new Error('not written yet');
}

/** Parses a body of the delay queue. Never throws. */
export function parseTimer(
  _body: string,
): { readonly kind: 'timer'; readonly timer: Timer } | RefusedBody {
  throw new Error('not written yet');
}
