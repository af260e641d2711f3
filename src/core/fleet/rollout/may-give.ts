/**
 * What a cluster is never given, whatever stage is open: nothing of it is sent (issue 18, build
 * item 3).
 *
 * The same is told before, when a fleet is planned and applied; a mode may have changed since
 * (render-fleet.ts).
 */
import type { ClusterMode } from '../../model/registration.ts';
import { explainNotFollowed } from '../../takeover/opt-in.ts';
import { isUnstaged, type Rendering } from '../render-fleet.ts';
import type { ClusterFailure } from './fleet-record.ts';

/** Why a cluster is not given it. */
export type NotGiven = Pick<ClusterFailure, 'cause' | 'message'>;

/** Why not; undefined: it may be given. */
export function whyNotGiven(rendering: Rendering, mode: ClusterMode): NotGiven | undefined {
  if (rendering.kind === 'refused') return notRendered(rendering);
  if (isUnstaged(rendering, mode)) {
    return { cause: 'PolicyNotFollowed', message: explainNotFollowed('rolling-update') };
  }
  return undefined;
}

/** What overrides leave there is no DaemonSet: its first problem says why. */
export function notRendered({
  problems: [{ field, message }],
}: Extract<Rendering, { readonly kind: 'refused' }>): NotGiven {
  return { cause: 'Refused', message: `${field}: ${message}` };
}
