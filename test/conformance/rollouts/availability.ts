/**
 * What a rollout did to the pods of a DaemonSet, read from the witness's events alone: availability
 * at every moment, pods and revisions on each node, every creation and deletion.
 *
 * Independent of src/core on purpose: it must not err in the same way. The events of pods come in
 * the order in which etcd committed them, so each one is a state that really was. Between two events
 * time can only make pods available (minReadySeconds), so the minimum is always met at an event.
 * A pod that is being deleted counts as unavailable, which is stricter than what users feel.
 */
import type { PodRecord } from '../control-plane/observed-records.ts';
import type { ObservedEvent } from '../control-plane/observer.ts';

/** Which rollout, on which nodes, from when on. */
export interface RolloutQuestion {
  readonly daemonSetUid: string;
  /** Nodes that should run a pod all the time; pods elsewhere count in no minimum or maximum. */
  readonly nodes: readonly string[];
  readonly minReadySeconds?: number;
  /** Index of the first event that belongs to the rollout: what was before only sets the stage. */
  readonly fromEvent: number;
}

export interface PodChange {
  readonly atMs: number;
  readonly node: string;
  readonly podUid: string;
  readonly revisionHash: string | undefined;
}

/** A pod that went: marked for deletion, or gone at once. */
export interface PodDeletion extends PodChange {
  /** Whether it was available just before. */
  readonly wasAvailable: boolean;
  /** Nodes without an available pod just before. */
  readonly unavailableNodesBefore: number;
  readonly resourceVersion: string;
}

/** What was seen. Live: neither terminal nor being deleted. */
export interface RolloutReport {
  readonly availableNodesMin: number;
  readonly livePodsPerNodeMax: number;
  readonly revisionsPerNodeMax: number;
  readonly livePodsPerNodeAndRevisionMax: number;
  /**
   * Most nodes at a time on which a live pod waited beside another to become available. Once it is,
   * the old one goes in the run that may already surge the next node (creates precede deletes).
   */
  readonly surgingNodesMax: number;
  readonly creations: readonly PodChange[];
  readonly deletions: readonly PodDeletion[];
  /** From the first deletion or creation to the last event of a pod. */
  readonly tookMs: number;
}

interface Extremes {
  availableNodesMin: number;
  livePodsPerNodeMax: number;
  revisionsPerNodeMax: number;
  livePodsPerNodeAndRevisionMax: number;
  surgingNodesMax: number;
}

interface Replay {
  readonly question: RolloutQuestion;
  readonly podsByNode: Map<string, Map<string, PodRecord>>;
  readonly extremes: Extremes;
  readonly creations: PodChange[];
  readonly deletions: PodDeletion[];
}

/** Replays the events. Cost: events × nodes. */
export function measureRollout(
  events: readonly ObservedEvent[],
  question: RolloutQuestion,
): RolloutReport {
  const replay: Replay = {
    question,
    podsByNode: new Map(),
    extremes: {
      availableNodesMin: Number.POSITIVE_INFINITY,
      livePodsPerNodeMax: 0,
      revisionsPerNodeMax: 0,
      livePodsPerNodeAndRevisionMax: 0,
      surgingNodesMax: 0,
    },
    creations: [],
    deletions: [],
  };
  let lastAtMs = 0;
  for (const [index, event] of events.entries()) {
    const { record } = event;
    if (record.kind !== 'Pod' || record.node === undefined) continue;
    if (!isConcerned(replay, record)) continue;
    const isMeasured = index >= question.fromEvent;
    if (isMeasured) noteChange(replay, record, event);
    apply(replay, record, event);
    if (!isMeasured) continue;
    measure(replay, event.atMs);
    lastAtMs = event.atMs;
  }
  const changes = [...replay.creations, ...replay.deletions].map(({ atMs }) => atMs);
  const firstAtMs = changes.reduce((left, right) => Math.min(left, right), lastAtMs);
  const { extremes, creations, deletions } = replay;
  return { ...extremes, creations, deletions, tookMs: lastAtMs - firstAtMs };
}

type Sight = Pick<Replay, 'question' | 'podsByNode'>;

/** Owned now, or owned until now (an orphaned pod leaves the count). */
function isConcerned({ question, podsByNode }: Sight, pod: PodRecord): boolean {
  if (pod.daemonSetUid === question.daemonSetUid) return true;
  return podsByNode.get(pod.node ?? '')?.has(pod.uid) ?? false;
}

function apply({ question, podsByNode }: Sight, pod: PodRecord, event: ObservedEvent): void {
  const node = pod.node ?? '';
  const pods = podsByNode.get(node) ?? new Map<string, PodRecord>();
  podsByNode.set(node, pods);
  const isGone = event.type === 'DELETED' || pod.daemonSetUid !== question.daemonSetUid;
  if (isGone) pods.delete(pod.uid);
  else pods.set(pod.uid, pod);
}

function noteChange(replay: Replay, pod: PodRecord, event: ObservedEvent): void {
  const { question, podsByNode } = replay;
  const node = pod.node ?? '';
  const { atMs } = event;
  const change = { atMs, node, podUid: pod.uid, revisionHash: pod.revisionHash };
  const before = podsByNode.get(node)?.get(pod.uid);
  if (before === undefined) {
    if (event.type !== 'DELETED') replay.creations.push(change);
    return;
  }
  const isGoing = pod.isDeleting || event.type === 'DELETED';
  if (!isGoing || before.isDeleting) return;
  replay.deletions.push({
    ...change,
    wasAvailable: isAvailable(question, before, atMs),
    unavailableNodesBefore: question.nodes.filter((name) => !isServed(replay, name, atMs)).length,
    resourceVersion: pod.resourceVersion,
  });
}

function measure(replay: Replay, atMs: number): void {
  const { question, podsByNode, extremes } = replay;
  let available = 0;
  let surging = 0;
  for (const node of question.nodes) {
    if (isServed(replay, node, atMs)) available += 1;
    const live = [...(podsByNode.get(node)?.values() ?? [])].filter(isLive);
    const isWaiting = live.some((pod) => !isAvailable(question, pod, atMs));
    if (live.length > 1 && isWaiting) surging += 1;
    raise(extremes, 'livePodsPerNodeMax', live.length);
    if (live.length < 2) continue;
    const byRevision = Map.groupBy(live, ({ revisionHash }) => revisionHash);
    raise(extremes, 'revisionsPerNodeMax', byRevision.size);
    for (const pods of byRevision.values())
      raise(extremes, 'livePodsPerNodeAndRevisionMax', pods.length);
  }
  extremes.availableNodesMin = Math.min(extremes.availableNodesMin, available);
  raise(extremes, 'surgingNodesMax', surging);
}

function raise(extremes: Extremes, name: keyof Extremes, value: number): void {
  extremes[name] = Math.max(extremes[name], value);
}

function isServed({ question, podsByNode }: Sight, node: string, atMs: number): boolean {
  for (const pod of podsByNode.get(node)?.values() ?? []) {
    if (isAvailable(question, pod, atMs)) return true;
  }
  return false;
}

function isAvailable(question: RolloutQuestion, pod: PodRecord, atMs: number): boolean {
  if (!isLive(pod) || !pod.isReady) return false;
  const { minReadySeconds = 0 } = question;
  if (minReadySeconds === 0) return true;
  const { readySinceMs } = pod;
  return readySinceMs !== undefined && readySinceMs + minReadySeconds * 1000 <= atMs;
}

function isLive(pod: PodRecord): boolean {
  return !pod.isTerminal && !pod.isDeleting;
}
