/**
 * A rendering as a cluster of this mode may be given it: in copilot none of strategy RollingUpdate. Pure (issue 18, build item 3).
 *
 * There the built-in controller rolls such a DaemonSet by itself, everywhere, at once: a fleet that gave it one would be the unstaged
 * rollout that it is there to prevent. Told when a fleet is planned and applied; a step keeps to the same, since modes change.
 */
import type { ClusterMode } from '../model/registration.ts';
import type { FleetProblem } from './fleet-daemon-set.ts';
import type { Rendering } from './render-fleet.ts';

const UNSTAGED: FleetProblem = {
  field: 'spec.updateStrategy.type',
  message:
    'must be OnDelete in a cluster in copilot, whose built-in controller rolls any other everywhere at once: ' +
    'set it in the manifest, or in an override for these clusters',
};

/** What of it a cluster of this mode is given. */
export function renderForMode(rendering: Rendering, mode: ClusterMode): Rendering {
  if (rendering.kind === 'refused' || !isUnstaged(rendering, mode)) return rendering;
  return { kind: 'refused', problems: [UNSTAGED] };
}

/** True of what the built-in controller of such a cluster would roll by itself. */
export function isUnstaged(
  { manifest }: Extract<Rendering, { readonly kind: 'rendered' }>,
  mode: ClusterMode,
): boolean {
  return mode === 'copilot' && manifest.spec.updateStrategy?.type !== 'OnDelete';
}
