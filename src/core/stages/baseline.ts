/**
 * Finds a revision to go back to before any rollout proved one: the one that nodes run everywhere, once
 * its pods have been available for the soak. That is a first release, which is made on all nodes at
 * once, or what ran when a policy was first seen.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import { GRACE_MS } from '../health/pod-signs.ts';
import type { PodProjection } from '../model/projections.ts';
import type { ProvenRevision, RolloutRecord } from '../model/rollout-record.ts';
import { revisionHashOfPod } from '../pod/pod-facts.ts';
import { unprovenFor } from '../rollout/known-bad.ts';
import { excusedNodesMax } from './excused.ts';
import { isPending, type StageNode } from './stage-node.ts';
import type { StagesInput } from './stages-input.ts';

/** The record, with its own revision as the baseline where that serves by now. */
export function withBaseline(record: RolloutRecord, input: StagesInput): RolloutRecord {
  if (!lacksBaseline(record, input)) return record;
  const proven = servingBaseline(input);
  return proven === undefined ? record : { ...record, proven };
}

/** When its own revision may be the baseline, if nothing happens before: now, where only a view that is too old is in the way. */
export function baselineDueMs(record: RolloutRecord, input: StagesInput): number | undefined {
  if (!lacksBaseline(record, input)) return undefined;
  const dueMs = servesFromMs(input);
  return dueMs === undefined ? undefined : Math.max(dueMs, input.nowMs);
}

function lacksBaseline({ proven, step }: RolloutRecord, { nodes }: StagesInput): boolean {
  return proven === undefined && step.kind === 'done' && !nodes.some(isPending);
}

/** The revision of most nodes that have another one than this; this one, where all have it. Undefined where none serves. */
export function findBaseline(input: StagesInput): ProvenRevision | undefined {
  const { record, nodes, hash, nowMs } = input;
  const pending = nodes.filter(isPending);
  if (pending.length === 0) return servingBaseline(input);
  const unproven = unprovenFor(record, hash);
  const counts = new Map<string, number>();
  for (const { old } of pending) {
    const former = old !== undefined && isServing(old, input) ? revisionHashOfPod(old) : undefined;
    if (former === undefined || unproven.has(former)) continue;
    counts.set(former, (counts.get(former) ?? 0) + 1);
  }
  const [most] = [...counts.entries()].sort(
    ([left, leftCount], [right, rightCount]) => rightCount - leftCount || compareText(left, right),
  );
  return most === undefined ? undefined : { hash: most[0], provenAtMs: nowMs, isBaseline: true };
}

function servingBaseline(input: StagesInput): ProvenRevision | undefined {
  const { hash, nowMs, isViewFresh } = input;
  const serves = isViewFresh && (servesFromMs(input) ?? Infinity) <= nowMs;
  return serves ? { hash, provenAtMs: nowMs, isBaseline: true } : undefined;
}

/** A pod that exits again and again is Ready in between. */
function isServing(pod: PodProjection, { nowMs, policy }: StagesInput): boolean {
  const { restarts = 0 } = pod.trouble ?? {};
  return pod.isReady && (restarts === 0 || readySinceMs(pod) + policy.soakMs <= nowMs);
}

/**
 * When this revision will have been available for the soak; undefined: it is not available. As many nodes may be without it as may
 * fail by themselves, and fewer than have it. Nodes that joined since count only where there is no other, or a cluster that grows
 * would never get there.
 */
function servesFromMs(input: StagesInput): number | undefined {
  const { soakMs } = input.policy;
  const able = input.nodes.filter(({ node, isExcluded }) => node.isReady && !isExcluded);
  const stayed = able.filter((node) => !isNew(node, input));
  const judged = stayed.length > 0 ? stayed : able;
  const sinceMs = judged
    .flatMap(({ isWell, updated }) => (isWell && updated !== undefined ? [updated] : []))
    .map(readySinceMs)
    .sort((left, right) => left - right);
  const most = excusedNodesMax({ then: judged.length, now: judged.length });
  const spared = Math.min(most, Math.floor((judged.length - 1) / 2));
  const lastMs = sinceMs[judged.length - spared - 1];
  return lastMs === undefined ? undefined : lastMs + soakMs;
}

/** It joined too late for its pod to start and be available for the soak. */
function isNew({ node }: StageNode, { nowMs, policy, minReadyMs }: StagesInput): boolean {
  return nowMs - (node.createdAtMs ?? 0) < GRACE_MS + minReadyMs + policy.soakMs;
}

/** Since when a pod that is ready has been so, by its kubelet. */
function readySinceMs({ createdAtMs, readyChangedAtMs = 0 }: PodProjection): number {
  return Math.max(createdAtMs, readyChangedAtMs);
}
