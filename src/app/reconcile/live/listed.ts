/**
 * For which stretch of history a state says that the DaemonSet's pods were listed (protocol 9; foreign-list.ts).
 *
 * A list counts no more once a create was resolved by time alone: what its request made at its last moment
 * has a name that the next one need not meet, and the view may be older than that moment. The next creates
 * list again, however often it takes until a list finds nobody that the view does not know (S1).
 */
import { isResolvedByTime } from '../../../core/intents/intents.ts';
import type { DaemonSetState, Intent } from '../../../core/model/state.ts';
import type { ForeignListed } from './foreign-list.ts';

/** The state after a run that settled these intents; `foreignListed`: what this very run listed. */
export function withListed(
  state: DaemonSetState,
  { foreignListed }: { readonly foreignListed?: ForeignListed },
  settled: readonly Intent[],
): DaemonSetState {
  if (foreignListed !== undefined) return { ...state, foreignListed };
  if (state.foreignListed === undefined || !settled.some(isResolvedByTime)) return state;
  const { foreignListed: _void, ...rest } = state;
  return rest;
}
