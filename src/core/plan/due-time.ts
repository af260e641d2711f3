/**
 * When to look again although nothing happens (spec 2.7, 2.12, and its last section).
 *
 * The earliest of: ends of back-offs of nodes with a failed pod, minReadySeconds of *all* pods (the built-in
 * controller loses wake-ups by the oldest per node), waits and retries that end, and open intents (protocol 11).
 * Never within a second, so that a skewed clock cannot spin (#77203). The six-hourly expiry of memos is added by
 * the caller.
 * Differs from upstream: one due time from all pods, replaced in each run.
 */
import type { IntentJudgement, View } from '../model/plan.ts';
import type { PodProjection } from '../model/projections.ts';
import type { BackoffEntry, DaemonSetState } from '../model/state.ts';
import { backoffEndMs, backoffGeneration, indexBackoff } from '../pod/backoff.ts';
import { availableAtMs, isAvailable, minReadyMsOf } from '../pod/pod-facts.ts';
import { resolvedAtMs } from '../pod/request-life.ts';

/** No look is planned sooner than this. */
const SOONEST_MS = 1000;

export interface DueTimeInput {
  readonly view: View;
  /** Back-off as it will stand after this run. */
  readonly backoff: readonly BackoffEntry[];
  readonly intents: IntentJudgement;
  readonly state: DaemonSetState;
  readonly requestTimeoutMs: number;
  /** When nodes that wait for a known time may go on: refusals, names, restrictions (protocol 5, 6). */
  readonly waitsUntilMs: readonly number[];
}

/** The earliest moment at which time alone changes the plan; undefined when none does. */
export function computeDueAt(input: DueTimeInput): number | undefined {
  const soonestMs = input.view.nowMs + SOONEST_MS;
  const moments = [
    ...backoffMoments(input),
    ...readinessMoments(input.view),
    ...intentMoments(input),
    ...input.waitsUntilMs,
    ...retryMoments(input),
  ];
  if (moments.length === 0) return undefined;
  const earliest = moments.reduce((left, right) => Math.min(left, right));
  return Math.max(earliest, soonestMs);
}

function backoffMoments(input: DueTimeInput): number[] {
  const entries = indexBackoff(input.backoff, backoffGeneration(input.view.daemonSet));
  // Stryker disable next-line ConditionalExpression: saves a look at each node where nothing backs off
  if (entries.size === 0) return [];
  return input.view.nodes.flatMap(({ node, pods }) => {
    const entry = entries.get(node.name);
    if (entry === undefined) return [];
    const hasFailed = pods.some((pod) => pod.phase === 'Failed' && !pod.isTerminating);
    return hasFailed ? [backoffEndMs(entry)] : [];
  });
}

function readinessMoments(view: View): number[] {
  const minReadyMs = minReadyMsOf(view.daemonSet);
  // Stryker disable next-line ConditionalExpression: saves a look at each pod, of which none would wait
  if (minReadyMs === 0) return [];
  const waiting = (pod: PodProjection): number[] => {
    const atMs = availableAtMs(pod, minReadyMs);
    const isWaiting = !pod.isTerminating && !isAvailable(pod, { minReadyMs, nowMs: view.nowMs });
    return isWaiting && atMs !== undefined ? [atMs] : [];
  };
  // Pods of vanished nodes count in a rolling update without surge (spec 2.9).
  return [
    ...view.nodes.flatMap(({ pods }) => pods.flatMap(waiting)),
    ...view.strays.flatMap(waiting),
  ];
}

/**
 * An open intent is a due time until time alone resolves it. One that is overdue waits for the view, which comes with
 * a hint; the caller looks at it ever more seldom. A moment that moves with each run would be a timer each (L5).
 */
function intentMoments(input: DueTimeInput): number[] {
  const open = [...input.intents.unseen, ...input.intents.unresolved];
  return open
    .map((intent) => resolvedAtMs(intent, input.requestTimeoutMs))
    .filter((resolvedMs) => resolvedMs > input.view.nowMs);
}

/** The next look of a key that backs off as a whole; one in the past was had. */
function retryMoments(input: DueTimeInput): number[] {
  const { retry } = input.state;
  return retry !== undefined && retry.notBeforeMs > input.view.nowMs ? [retry.notBeforeMs] : [];
}
