/**
 * What a cluster is never given, whatever stage is open: nothing of it is sent (issue 18, build item 3).
 *
 * In a copilot cluster the built-in controller rolls a DaemonSet of strategy RollingUpdate by itself, everywhere, at once: a fleet that
 * gave it one would be the unstaged rollout that it is there to prevent.
 */
import type { ClusterMode } from '../../model/registration.ts';
import { explainNotFollowed } from '../../takeover/opt-in.ts';
import type { Rendering } from '../render-fleet.ts';
import type { ClusterFailure } from './fleet-record.ts';

/** Why a cluster is not given it. */
export type NotGiven = Pick<ClusterFailure, 'cause' | 'message'>;

/** Why not; undefined: it may be given. */
export function whyNotGiven(rendering: Rendering, mode: ClusterMode): NotGiven | undefined {
  if (rendering.kind === 'refused') return notRendered(rendering);
  if (mode === 'copilot' && rendering.manifest.spec.updateStrategy?.type !== 'OnDelete') {
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
