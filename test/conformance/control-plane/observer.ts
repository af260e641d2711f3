/**
 * An independent witness: watches pods, nodes and DaemonSets over connections of its own, records
 * every event with its time, and checks after each that no node has two pods of one DaemonSet.
 *
 * Waiting is event-driven: a predicate is asked again when something has changed, never on a
 * timer. Several events that arrive together are asked about once, so wait for states that last,
 * and read `events` for what was passed through. Times are when this process saw the event. Each
 * kind has a stream of its own: a DaemonSet's status may be seen before the pods that it counts.
 */
import { createApiClient, type ApiConnection } from './api.ts';
import { createDoublePlacementCheck, type DoublePlacement } from './double-placement.ts';
import {
  readDaemonSet,
  readNode,
  readPod,
  type DaemonSetRecord,
  type NodeRecord,
  type ObservedRecord,
  type PodRecord,
} from './observed-records.ts';
import { startWatch, type Watch, type WatchEvent } from './watch.ts';

/** One event as it was seen. */
export interface ObservedEvent {
  /** Milliseconds since the epoch, with fractions, from a clock that never jumps. */
  readonly atMs: number;
  readonly type: WatchEvent['type'];
  /** True if it was found by listing again: something may have been missed before it. */
  readonly isRelist: boolean;
  readonly record: ObservedRecord;
}

/** How long to wait, and for what (used in the error). */
export interface WaitOptions {
  readonly deadlineMs: number;
  readonly description?: string;
}

/** A running witness. */
export interface Observer {
  readonly events: readonly ObservedEvent[];
  /** Live pods and DaemonSets by UID, live nodes by name. */
  readonly pods: ReadonlyMap<string, PodRecord>;
  readonly daemonSets: ReadonlyMap<string, DaemonSetRecord>;
  readonly nodes: ReadonlyMap<string, NodeRecord>;
  readonly violations: readonly DoublePlacement[];
  /** Live pods that a DaemonSet controls, by node; terminal ones are included. */
  readonly podsByNode: (daemonSetUid: string) => ReadonlyMap<string, readonly PodRecord[]>;
  /** Resolves when the predicate holds; rejects at the deadline. */
  readonly waitUntil: (
    predicate: (observer: Observer) => boolean,
    options: WaitOptions,
  ) => Promise<void>;
  /** Resolves when no relevant event (by default: of any pod) has come for `quietMs`. */
  readonly waitUntilQuiet: (
    options: WaitOptions & {
      readonly quietMs: number;
      readonly isRelevant?: (event: ObservedEvent) => boolean;
    },
  ) => Promise<void>;
  /** When the last pod event was seen. */
  readonly quietSinceMs: () => number;
  /** How often a stream was taken up again, and how often a list was needed, over all watches. */
  readonly counts: () => { readonly resumes: number; readonly lists: number };
  readonly stop: () => Promise<void>;
}

/** Raised when a wait meets its deadline. */
class ObserverDeadlineError extends Error {
  override readonly name = 'ObserverDeadlineError';
}

/** The clock of `ObservedEvent.atMs`. */
export function observerNowMs(): number {
  return performance.timeOrigin + performance.now();
}

interface Sight {
  readonly events: ObservedEvent[];
  readonly pods: Map<string, PodRecord>;
  readonly daemonSets: Map<string, DaemonSetRecord>;
  readonly nodes: Map<string, NodeRecord>;
  readonly violations: DoublePlacement[];
  readonly listeners: Set<(event: ObservedEvent) => void>;
  lastPodEventAtMs: number;
}

/** Without the sentinel that a takeover leaves in the cluster: it is no part of any scenario. */
const DAEMON_SETS = `/apis/apps/v1/daemonsets?labelSelector=${encodeURIComponent('!rollcall.dev/probe')}`;

/** How many nodes have no taint left: those that have started up. */
export function countEligibleNodes({ nodes }: Pick<Observer, 'nodes'>): number {
  let count = 0;
  for (const node of nodes.values()) if (node.taintKeys.length === 0) count += 1;
  return count;
}

/** Starts to observe; resolves when what exists already has been seen. */
export async function startObserver(connection: ApiConnection): Promise<Observer> {
  const client = createApiClient(connection);
  const sight: Sight = {
    events: [],
    pods: new Map(),
    daemonSets: new Map(),
    nodes: new Map(),
    violations: [],
    listeners: new Set(),
    lastPodEventAtMs: observerNowMs(),
  };
  const note = createNote(sight);
  const follow = (path: string, read: (object: WatchEvent['object']) => ObservedRecord): Watch =>
    startWatch({
      client,
      path,
      onEvent: ({ type, object, isRelist }) => {
        note({ atMs: observerNowMs(), type, isRelist, record: read(object) });
      },
    });
  const watches = [
    follow('/api/v1/pods', readPod),
    follow('/api/v1/nodes', readNode),
    follow(DAEMON_SETS, readDaemonSet),
  ];
  try {
    await Promise.all(watches.map((watch) => watch.listed));
  } catch (error) {
    // Whoever tries again begins anew: the watches that did list would follow on for ever.
    await Promise.allSettled(watches.map((watch) => watch.stop()));
    client.close();
    throw error;
  }
  return describeObserver({
    sight,
    watches,
    close: () => {
      client.close();
    },
  });
}

function createNote(sight: Sight): (event: ObservedEvent) => void {
  const check = createDoublePlacementCheck();
  const notePod = (pod: PodRecord, event: ObservedEvent): void => {
    sight.lastPodEventAtMs = event.atMs;
    if (event.type === 'DELETED') {
      sight.pods.delete(pod.uid);
      check.remove(pod.uid);
      return;
    }
    sight.pods.set(pod.uid, pod);
    const violation = check.apply(pod, event.atMs);
    if (violation) sight.violations.push(violation);
  };
  return (event) => {
    sight.events.push(event);
    const { record } = event;
    if (record.kind === 'Pod') notePod(record, event);
    else if (record.kind === 'Node') keep(sight.nodes, record.name, { record, event });
    else keep(sight.daemonSets, record.uid, { record, event });
    for (const listener of sight.listeners) listener(event);
  };
}

function keep<Kept>(
  map: Map<string, Kept>,
  key: string,
  entry: { readonly record: Kept; readonly event: ObservedEvent },
): void {
  if (entry.event.type === 'DELETED') map.delete(key);
  else map.set(key, entry.record);
}

function describeObserver(parts: {
  readonly sight: Sight;
  readonly watches: readonly Watch[];
  readonly close: () => void;
}): Observer {
  const { sight, watches, close } = parts;
  const observer: Observer = {
    events: sight.events,
    pods: sight.pods,
    daemonSets: sight.daemonSets,
    nodes: sight.nodes,
    violations: sight.violations,
    podsByNode: (daemonSetUid) => groupByNode(sight.pods.values(), daemonSetUid),
    waitUntil: (predicate, options) => waitUntil(sight, () => predicate(observer), options),
    waitUntilQuiet: (options) => waitUntilQuiet(sight, options),
    quietSinceMs: () => sight.lastPodEventAtMs,
    counts: () => ({
      resumes: watches.reduce((sum, watch) => sum + watch.counts.resumes, 0),
      lists: watches.reduce((sum, watch) => sum + watch.counts.lists, 0),
    }),
    stop: async () => {
      await Promise.all(watches.map((watch) => watch.stop()));
      close();
    },
  };
  return observer;
}

function groupByNode(
  pods: Iterable<PodRecord>,
  daemonSetUid: string,
): ReadonlyMap<string, readonly PodRecord[]> {
  const groups = new Map<string, PodRecord[]>();
  for (const pod of pods) {
    if (pod.daemonSetUid !== daemonSetUid || pod.node === undefined) continue;
    const group = groups.get(pod.node);
    if (group) group.push(pod);
    else groups.set(pod.node, [pod]);
  }
  return groups;
}

function waitUntil(
  sight: Sight,
  isReached: () => boolean,
  { deadlineMs, description }: WaitOptions,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let isScheduled = false;
    const finish = (outcome: () => void): void => {
      sight.listeners.delete(onEvent);
      clearTimeout(timer);
      outcome();
    };
    const ask = (): void => {
      isScheduled = false;
      try {
        if (isReached()) finish(resolve);
      } catch (error) {
        finish(() => {
          reject(error instanceof Error ? error : new Error('predicate failed', { cause: error }));
        });
      }
    };
    const onEvent = (): void => {
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(ask);
    };
    const timer = setTimeout(() => {
      finish(() => {
        reject(deadlineError(sight, { deadlineMs, ...(description ? { description } : {}) }));
      });
    }, deadlineMs);
    sight.listeners.add(onEvent);
    ask();
  });
}

/** A timer that is this late has not just been rounded. */
const STALL_MS = 150;

function waitUntilQuiet(
  sight: Sight,
  options: Parameters<Observer['waitUntilQuiet']>[0],
): Promise<void> {
  const isRelevant = options.isRelevant ?? ((event) => event.record.kind === 'Pod');
  return new Promise((resolve, reject) => {
    const finish = (outcome: () => void): void => {
      sight.listeners.delete(onEvent);
      clearTimeout(deadline);
      clearTimeout(quiet);
      outcome();
    };
    let quietFromMs = performance.now();
    const onEvent = (event: ObservedEvent): void => {
      if (!isRelevant(event)) return;
      quietFromMs = performance.now();
      quiet.refresh();
    };
    const quiet = setTimeout(() => {
      // A timer that is late means that this process stood still: events may wait to be read. Look once more.
      const isLate = performance.now() - quietFromMs > options.quietMs + STALL_MS;
      quietFromMs = performance.now();
      if (isLate) quiet.refresh();
      else finish(resolve);
    }, options.quietMs);
    const deadline = setTimeout(() => {
      finish(() => {
        reject(deadlineError(sight, { description: 'quiet', ...options }));
      });
    }, options.deadlineMs);
    sight.listeners.add(onEvent);
  });
}

function deadlineError(sight: Sight, { deadlineMs, description }: WaitOptions): Error {
  const pods = [...sight.pods.values()];
  const summary = [
    `${String(pods.length)} pods, ${String(pods.filter((pod) => pod.isReady).length)} ready`,
    `${String(sight.nodes.size)} nodes`,
    `${String(sight.events.length)} events`,
  ].join(', ');
  const what = description ?? 'the awaited state';
  return new ObserverDeadlineError(`${what}: not within ${String(deadlineMs)} ms (${summary})`);
}
