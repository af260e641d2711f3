/**
 * What a run leaves undone, and when that is looked at next: back-off of the key, refused nodes, and looks
 * at what is about to change by itself.
 *
 * A wait that lasts is kept as it is, whatever made this run look: hints neither shorten nor lengthen it, so
 * they start no timers of their own (L5). What never gets any further waits longer each time, up to the
 * longest wait, and is then told of.
 */
import { RETRY_TABLE } from '../../../core/retry/retry-table.ts';
import { retryClock } from './timers.ts';
import { formatKey } from '../../../core/model/identifiers.ts';
import type { NodeName } from '../../../core/model/identifiers.ts';
import type {
  DaemonSetState,
  LookEntry,
  RetryEntry,
  StatusPause,
} from '../../../core/model/state.ts';
import { guardOfPause } from '../../../core/status/status-writers.ts';
import { revisionHashOfPod } from '../../../core/pod/pod-facts.ts';
import { generationOf } from '../../../core/daemon-set/generation.ts';
import { allowsSurge } from '../../../core/daemon-set/strategy.ts';
import type { RunContext } from '../run/context.ts';
import type { CarriedOut } from '../run/exit.ts';
import type { Problem } from '../run/result.ts';
import {
  isRefusedWrite,
  nextRefusedWrites,
  nextRefusals,
  nextRetry,
  nextLook,
} from '../../../core/retry/retry.ts';
import type { RetryClock, RetryReason } from '../../../core/retry/retry.ts';

/** Nodes whose pods were refused. */
type Refusals = NonNullable<DaemonSetState['refusals']>;

export interface WaitsStep extends CarriedOut {
  readonly context: RunContext;
}

export interface Waits {
  readonly retry: RetryEntry | undefined;
  readonly refusedWrites: readonly RetryEntry[];
  readonly refusals: Refusals;
  readonly look: LookEntry | undefined;
  /** The earliest need to look again; undefined: nothing but the expiry of the memo. */
  readonly nearAtMs: number | undefined;
}

export function decideWaits(step: WaitsStep): Waits {
  const retry = decideRetry(step);
  const refusedWrites = decideRefusedWrites(step);
  const refusals = decideRefusals(step);
  const look = decideLook(step);
  const decided = { retry, refusedWrites, refusals, look };
  tellOfPatience(step, decided);
  return { ...decided, nearAtMs: findNear(step, decided) };
}

function decideRefusedWrites({
  context,
  input,
  result,
  recorded,
}: WaitsStep): readonly RetryEntry[] {
  const { nowMs, daemonSet } = input;
  const refused = result.problems.filter(({ code }) => isRefusedWrite(code)).map(retryReasonOf);
  const generation = generationOf(daemonSet);
  return nextRefusedWrites(recorded, refused, { ...retryClock(context, nowMs), generation });
}

function decideRetry({ context, input, result, recorded }: WaitsStep): RetryEntry | undefined {
  const at = retryClock(context, input.nowMs);
  const problem = result.problems.find(
    ({ pace, code }) => pace === 'backoff' && !isRefusedWrite(code),
  );
  const { retry } = recorded;
  if (problem !== undefined) {
    // A hint that comes while it waits neither shortens nor lengthens the wait (L5).
    return isWaitingFor(retry, problem, at) ? retry : nextRetry(retry, retryReasonOf(problem), at);
  }
  return retry !== undefined && retry.holdsCreates && retry.notBeforeMs > input.nowMs
    ? retry
    : undefined;
}

function isWaitingFor(
  retry: RetryEntry | undefined,
  { code }: Problem,
  { nowMs, askedMs = 0 }: RetryClock,
): retry is RetryEntry {
  if (retry?.code !== code) return false;
  return retry.notBeforeMs > nowMs && retry.notBeforeMs >= nowMs + askedMs;
}

function retryReasonOf({ code, holdsCreates = false }: Problem): RetryReason {
  return { code, holdsCreates };
}

function decideRefusals(step: WaitsStep): Refusals {
  const { context, input, result, recorded } = step;
  if (result.refused.length === 0 && (recorded.refusals ?? []).length === 0) return [];
  return nextRefusals(
    recorded,
    {
      generation: generationOf(input.daemonSet),
      refused: result.refused,
      clearedNodes: result.clearedNodes,
      lackingNodes: lackingNodesOf(step),
    },
    retryClock(context, input.nowMs),
  );
}

/**
 * Nodes that should have a pod and have none: only for these a refusal is still of interest. With surge the
 * pod is one of the current revision: an older one beside it says nothing about names.
 */
function lackingNodesOf({ input }: WaitsStep): ReadonlySet<NodeName> {
  const { answers, view } = input;
  const hash = allowsSurge(view.daemonSet) ? answers.history?.entry?.hash : undefined;
  const lacking = view.nodes.filter(
    ({ placement, pods }) =>
      placement === 'run' &&
      pods.every(
        (pod) => pod.isTerminating || (hash !== undefined && revisionHashOfPod(pod) !== hash),
      ),
  );
  return new Set(lacking.map(({ node }) => node.name));
}

/**
 * The look at what is about to change by itself, if there is such a thing. Touched pods are looked at in a
 * moment; what a run left undone without getting anywhere waits longer each time (L5).
 */
function decideLook(step: WaitsStep): LookEntry | undefined {
  const { input, result, plan, recorded } = step;
  const { nowMs } = input;
  const { hasEffects, isStatusWritten, isStatusPostponed, problems } = result;
  const soon = problems.find(({ pace }) => pace === 'soon')?.code;
  // An own pod that lives and is never shown is waited for, as any other own write (protocol 11).
  const isUnseen = isStatusPostponed || input.intents.unseen.length > 0;
  const isOpen = hasEffects || isUnseen || plan.cappedCount > 0;
  const code = soon ?? (isUnseen ? 'own-writes-unseen' : 'capped');
  if (soon === undefined && !isOpen) return undefined;
  return nextLook(recorded.look, {
    code,
    nowMs,
    hasProgressed: hasEffects || isStatusWritten,
    row: soon === undefined ? 'after-effects' : 'soon',
  });
}

/** What has reached the longest wait will not succeed by itself: an operator has to know. */
function tellOfPatience(
  { context, result, recorded }: WaitsStep,
  { retry, refusedWrites, look }: Omit<Waits, 'nearAtMs'>,
): void {
  const { log, metrics } = context.dependencies;
  const known = new Set([recorded.retry, recorded.look, ...(recorded.refusedWrites ?? [])]);
  for (const wait of [retry, look, ...refusedWrites]) {
    if (wait === undefined || wait.delayMs < RETRY_TABLE.key.maxMs || known.has(wait)) continue;
    metrics.count('ReconcileStuck', { outcome: wait.code });
    const detail = result.problems.find(({ code }) => code === wait.code)?.message;
    log.warn('reconcile is backing off: no progress in repeated attempts', {
      key: formatKey(context.hint.key),
      code: wait.code,
      ...(detail === undefined ? {} : { detail }),
    });
  }
}

/** The pause that stands after a run: found by it, or not over. */
export function pausedAfter({ context, input, recorded }: WaitsStep): StatusPause | undefined {
  const { registration } = input.stored;
  const isHeld = guardOfPause(recorded.paused, registration, input.nowMs) !== undefined;
  return context.note.paused ?? (isHeld ? recorded.paused : undefined);
}

/** The earliest need to look, if time or this run gives one. */
function findNear(step: WaitsStep, decided: Omit<Waits, 'nearAtMs'>): number | undefined {
  const { input, plan, result } = step;
  const isOpen = new Set<string>(result.problems.map(({ code }) => code));
  const moments = [
    plan.dueAtMs,
    pausedAfter(step)?.untilMs,
    decided.retry?.notBeforeMs,
    decided.look?.atMs,
    ...decided.refusedWrites
      .filter(({ code }) => isOpen.has(code))
      .map(({ notBeforeMs }) => notBeforeMs),
    // One that expired was tried again in this run, or waits for something else that has its time.
    ...decided.refusals.map(({ notBeforeMs }) => notBeforeMs).filter((atMs) => atMs > input.nowMs),
  ].filter((moment) => moment !== undefined);
  return moments.length === 0 ? undefined : Math.min(...moments);
}
