/**
 * What is looked at again before each batch (protocol 7): deadline, freeze of cluster and stack, mode, state version, and
 * the live DaemonSet if the batch creates or goes for the template. So a freeze costs at most one batch
 * more (row 92), and S5 reads "confirmed at most one batch earlier". What stops one of two sequences of
 * batches that run side by side stops the other one, too.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import { describeFreeze, standingFreeze } from '../../../core/may-act/freeze.ts';
import type { Freeze } from '../../../core/may-act/freeze.ts';
import type { DaemonSetState } from '../../../core/model/state.ts';
import type { Effect, Outcome } from '../../../core/model/effects.ts';
import { NO_OUTCOME, mayContinue, send } from '../run/context.ts';
import type { NotedStep, Step } from '../run/context.ts';
import {
  EDITED_MEANWHILE,
  confirmDaemonSet,
  isReplanned,
  unconfirmedCode,
} from './live-daemon-set.ts';
import type { DaemonSetConfirmation } from './live-daemon-set.ts';
import type { DeferralCode } from '../run/result.ts';

export interface FenceStop {
  readonly kind: 'stop';
  readonly code: DeferralCode;
  readonly message: string;
}

/** Go on, or why not. */
export type FenceAnswer = { readonly kind: 'go' } | FenceStop;

/** What a fence compares with. */
export interface Fence extends Step {
  /** Version that the state has since the intents of this run were recorded. */
  readonly stateVersion: number;
  /** True if other effects were sent since the live reads: then a first batch is fenced as well. */
  readonly isStale?: boolean;
  /** Shared by batches that run side by side: the first stop, once there is one. */
  readonly halt?: { stopped?: FenceStop };
}

/** A fence of effects of which it is noted what comes of them. */
export type NotedFence = Fence & NotedStep;

export interface FencedBatch {
  readonly isCreating: boolean;
  /** True if it deletes for the sake of the template: an edit stops it, and only it. */
  readonly isForTemplate?: boolean;
}

/** The fence of a batch: a first one stands on the live reads that came just before it. */
export async function fenceBatch(
  fence: Fence,
  batch: FencedBatch & { readonly isFirst: boolean },
): Promise<FenceAnswer> {
  const isCovered = batch.isFirst && fence.isStale !== true && mayContinue(fence.context);
  return isCovered ? { kind: 'go' } : checkFence(fence, batch);
}

/** False: what is no pod is not sent, and why is noted. A first batch was judged when its run began (protocol 7). */
export async function passesFence(fence: NotedFence): Promise<boolean> {
  const { result } = fence;
  const answer = await fenceBatch(fence, { isFirst: !result.hasActed, isCreating: false });
  if (answer.kind === 'stop') result.addStop(answer);
  return answer.kind === 'go';
}

/** What was sent, in its order, and why not all of it was. */
export interface FencedSending<T> {
  readonly sent: readonly { readonly item: T; readonly outcome: Outcome }[];
  readonly stopped?: FenceStop;
}

/** Sends what creates nothing in fenced batches; `isLast`: the batch with this outcome is the last one. */
export async function sendFenced<T extends { readonly effect: Effect }>(
  items: readonly T[],
  fence: Fence,
  batches: {
    readonly size: number;
    readonly isForTemplate?: (item: T) => boolean;
    readonly isLast?: (outcome: Outcome) => boolean;
  },
): Promise<FencedSending<T>> {
  const { size, isForTemplate = () => false, isLast = () => false } = batches;
  const sent: { item: T; outcome: Outcome }[] = [];
  while (sent.length < items.length && !sent.some(({ outcome }) => isLast(outcome))) {
    const batch = items.slice(sent.length, sent.length + size);
    const answer = await fenceBatch(fence, {
      isFirst: sent.length === 0,
      isCreating: false,
      isForTemplate: batch.some(isForTemplate),
    });
    if (answer.kind === 'stop') return { sent, stopped: answer };
    const outcomes = await send(
      batch.map(({ effect }) => effect),
      fence,
    );
    for (const [index, item] of batch.entries()) {
      sent.push({ item, outcome: outcomes[index] ?? NO_OUTCOME });
    }
  }
  return { sent };
}

/** Looks again; any doubt stops. */
async function checkFence(fence: Fence, batch: FencedBatch): Promise<FenceAnswer> {
  const { context, input, access, halt } = fence;
  const { registry, freezes, view, log } = context.dependencies;
  if (!mayContinue(context)) return OUT_OF_TIME;
  const isForTemplate = batch.isForTemplate === true;
  const unreadable = (cause: unknown): undefined => {
    log.warn('the registry is unreadable', { code: 'registry-unreadable' }, cause);
  };
  const [registration, freeze, state, daemonSet] = await Promise.all([
    registry.readCluster(context.hint.key.cluster).catch(unreadable),
    freezes.readFreeze().catch(unreadable),
    view.readState(input.stored.ref),
    batch.isCreating || isForTemplate ? confirmDaemonSet({ context, input, access }) : undefined,
  ]);
  const stopped = halt?.stopped ?? findStop(fence, { registration, freeze, state, daemonSet });
  if (stopped !== undefined) {
    if (halt !== undefined) halt.stopped = stopped;
    return stopped;
  }
  if (isForTemplate && isEditSeen(daemonSet, input.daemonSet)) {
    return stop('daemon-set-changed', EDITED_MEANWHILE);
  }
  return mayContinue(context) ? { kind: 'go' } : OUT_OF_TIME;
}

function isEditSeen(live: DaemonSetConfirmation | undefined, planned: DaemonSetObject): boolean {
  return live?.kind === 'confirmed' && isReplanned(live.object, planned);
}

function findStop(
  { context, input, stateVersion }: Fence,
  now: {
    readonly registration: ClusterRegistration | undefined;
    readonly freeze: Freeze | undefined;
    readonly state: DaemonSetState | undefined;
    readonly daemonSet: DaemonSetConfirmation | undefined;
  },
): FenceStop | undefined {
  const { registration, freeze, state, daemonSet } = now;
  // An unreadable registry counts as frozen (protocol 13).
  if (registration === undefined || freeze === undefined) {
    return stop('registry-unreadable', 'the registry is unreadable');
  }
  const frozen = standingFreeze(freeze, context.hint.key);
  if (frozen !== undefined) return stop('interrupted', `meanwhile: ${describeFreeze(frozen)}`);
  const { configVersion, rival } = input.stored.registration;
  // A rival is noted beside the registration, and raises no version.
  if (
    registration.configVersion !== configVersion ||
    registration.rival?.seenAtMs !== rival?.seenAtMs
  ) {
    return stop(
      'interrupted',
      'freeze, mode, endpoint or conflicting controller of the cluster changed',
    );
  }
  if (state?.version !== stateVersion) return stop('lost-race', 'another run took over');
  if (daemonSet === undefined || daemonSet.kind === 'confirmed') return undefined;
  return stop(unconfirmedCode(daemonSet), daemonSet.message);
}

const OUT_OF_TIME = stop('interrupted', 'the time of this run is over');

function stop(code: DeferralCode, message: string): FenceStop {
  return { kind: 'stop', code, message };
}
