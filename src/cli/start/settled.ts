/**
 * When is there nothing left to do? A pure answer from one overview and how long it has been quiet.
 *
 * Settled means: the view is whole, every DaemonSet's last run was complete with no effect open, its
 * status is written, and nothing has changed for a while. Pods that cannot become ready (their node is
 * down) do not hold it up for ever: a longer quiet time stands for "nothing more is coming".
 */
import { counted } from '@rollcall/base/counted.ts';
import type { ClusterOverview, DaemonSetOverview } from '../../engine/overview.ts';

/** Quiet time that suffices when every desired pod is available. */
const QUIET_WHEN_AVAILABLE_MS = 2000;
/** Quiet time that suffices when some pods are not available. */
const QUIET_WHEN_WAITING_MS = 10_000;

/** Whether everything settled, and if not, the first thing that is missing. */
export type Settled =
  { readonly kind: 'settled' } | { readonly kind: 'busy'; readonly waitingFor: string };

/** Judges one cluster; `quietMs` is how long its overview has not changed. */
export function judgeSettled(overview: ClusterOverview, quietMs: number): Settled {
  if (!overview.isViewComplete) {
    const reason = overview.incompleteReason ?? 'the first snapshot';
    return { kind: 'busy', waitingFor: `the view of the cluster (${reason})` };
  }
  for (const daemonSet of overview.daemonSets) {
    const waitingFor = whatIsMissing(daemonSet, overview.mode);
    if (waitingFor !== undefined) {
      return {
        kind: 'busy',
        waitingFor: `${daemonSet.namespace}/${daemonSet.name}: ${waitingFor}`,
      };
    }
  }
  const isAvailable = overview.daemonSets.every((one) => one.available >= one.desired);
  const needMs = isAvailable ? QUIET_WHEN_AVAILABLE_MS : QUIET_WHEN_WAITING_MS;
  if (quietMs < needMs) return { kind: 'busy', waitingFor: 'quiet' };
  return { kind: 'settled' };
}

function whatIsMissing(daemonSet: DaemonSetOverview, mode: string): string | undefined {
  if (!daemonSet.isComplete) return 'a complete run';
  if (mode === 'observe') return undefined;
  if (daemonSet.openIntents > 0) return counted(daemonSet.openIntents, 'open effect');
  // Status and pods are the built-in controller's.
  if (mode === 'copilot') return undefined;
  if (daemonSet.observedGeneration < daemonSet.generation) return 'its status';
  if (daemonSet.current < daemonSet.desired) {
    return `${counted(daemonSet.desired - daemonSet.current, 'pod')} to be created`;
  }
  return undefined;
}
