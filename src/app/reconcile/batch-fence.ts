/**
 * What is looked at again before each batch (protocol 7): deadline, freeze, mode, state version, and
 * the live DaemonSet if the batch creates. So a freeze costs at most one batch more (row 92), and S5
 * reads "confirmed at most one batch earlier".
 */
import type { ClusterAccess } from '../../ports/cluster-access.ts';
import { mayContinue } from './context.ts';
import type { RunContext, Subject } from './context.ts';
import { confirmSubject } from './live-daemon-set.ts';
import type { DeferralCode } from './result.ts';

/** Go on, or why not. */
export type FenceAnswer =
  | { readonly kind: 'go' }
  | { readonly kind: 'stop'; readonly code: DeferralCode; readonly message: string };

/** What a fence compares with. */
export interface Fence {
  readonly context: RunContext;
  readonly subject: Subject;
  readonly access: ClusterAccess;
  /** Version that the state has since the intents of this run were recorded. */
  readonly stateVersion: number;
  /** True if other effects were sent since the live reads: then a first batch is fenced as well. */
  readonly isStale?: boolean;
}

/** The fence of a batch: a first one stands on the live reads that came just before it. */
export async function fenceBatch(
  fence: Fence,
  batch: { readonly isFirst: boolean; readonly isCreating: boolean },
): Promise<FenceAnswer> {
  const isCovered = batch.isFirst && fence.isStale !== true && mayContinue(fence.context);
  return isCovered ? { kind: 'go' } : checkFence(fence, batch);
}

/** Looks again; any doubt stops. */
export async function checkFence(
  fence: Fence,
  batch: { readonly isCreating: boolean },
): Promise<FenceAnswer> {
  const { context, subject, access, stateVersion } = fence;
  const { registry, view } = context.dependencies;
  if (!mayContinue(context)) return stop('interrupted', 'the time of this run is over');
  const [registration, state, daemonSet] = await Promise.all([
    registry.readCluster(context.hint.key.cluster).catch(() => undefined),
    view.readState(subject.basis.ref),
    batch.isCreating ? confirmSubject({ context, subject, access }) : undefined,
  ]);
  // An unreadable registry counts as frozen (protocol 13).
  if (registration === undefined) return stop('registry-unreadable', 'the registry is unreadable');
  if (registration.configVersion !== subject.basis.registration.configVersion) {
    return stop('interrupted', 'freeze, mode, endpoint or rival of the cluster changed');
  }
  if (state?.version !== stateVersion) return stop('lost-race', 'another run took over');
  if (daemonSet?.kind === 'changed') return stop('daemon-set-changed', daemonSet.message);
  if (daemonSet?.kind === 'unavailable') return stop('cluster-unavailable', daemonSet.message);
  if (!mayContinue(context)) return stop('interrupted', 'the time of this run is over');
  return { kind: 'go' };
}

function stop(code: DeferralCode, message: string): FenceAnswer {
  return { kind: 'stop', code, message };
}
