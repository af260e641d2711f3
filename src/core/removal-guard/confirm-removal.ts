/**
 * The confirmation of a held mass removal in the state of its DaemonSet, as `rollcall rollout confirm` gives it.
 *
 * It names the token that stands there, so a run that has not seen it, or that holds another one by then, loses its
 * write or finds a token that is not meant. The memo goes, so that the next look does not skip. Who writes it sends a hint.
 */
import type { OrderNote } from '../model/rollout-record.ts';
import type { DaemonSetState } from '../model/state.ts';

/** The state with the confirmation; the very same one if nothing is held. */
export function confirmRemoval(state: DaemonSetState, { by, atMs }: OrderNote): DaemonSetState {
  const { shrink } = state;
  if (shrink?.held === undefined) return state;
  const { memo: _memo, ...kept } = state;
  return { ...kept, shrink: { ...shrink, order: { token: shrink.held.token, by, atMs } } };
}
