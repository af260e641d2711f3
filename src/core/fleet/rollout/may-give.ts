/**
 * What a cluster is never given, whatever stage is open: nothing of it is sent (issue 18, build item 3).
 *
 * In a copilot cluster the built-in controller rolls a DaemonSet of strategy RollingUpdate by itself, everywhere, at once: a fleet that
 * gave it one would be the unstaged rollout that it is there to prevent.
 */
import type { ClusterMode } from '../../model/registration.ts';
import { explainNotFollowed } from '../../takeover/opt-in.ts';
import type { Rendering } from '../render-fleet.ts';

/** Why not; undefined: it may be given. */
export function whyNotGiven(
  rendering: Rendering,
  mode: ClusterMode,
): { readonly cause: string; readonly message: string } | undefined {
  if (rendering.kind === 'refused') {
    const [{ field, message }] = rendering.problems;
    return { cause: 'Refused', message: `${field}: ${message}` };
  }
  if (mode === 'copilot' && rendering.manifest.spec.updateStrategy?.type !== 'OnDelete') {
    return { cause: 'PolicyNotFollowed', message: explainNotFollowed('rolling-update') };
  }
  return undefined;
}
