/**
 * A watcher with simulated ports, and drafts of the objects that its tests put into the cluster.
 */
import { clusterId } from '../../src/core/model/identifiers.ts';
import type { WatcherMessage } from '../../src/core/model/watcher-message.ts';
import { DEFAULT_WATCHER_OPTIONS, type WatcherOptions } from '../../src/watcher/session/options.ts';
import { createWatcher, type Watcher } from '../../src/watcher/session/watcher.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { MemoryMetrics } from './memory-metrics.ts';
import { RecordingEventQueue } from './recording-event-queue.ts';
import { ReferenceIngest } from './reference-ingest.ts';
import { ScriptedWatchSource, type ObjectDraft } from './scripted-watch-source.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

/** Everything a watcher test touches. */
export interface WatcherHarness {
  readonly clock: VirtualClock;
  readonly source: ScriptedWatchSource;
  readonly queue: RecordingEventQueue;
  readonly log: MemoryLog;
  readonly metrics: MemoryMetrics;
  /** Creates another watcher of the same cluster and queue; it is not started. */
  readonly newWatcher: (seed?: number) => Watcher;
  /** Starts a watcher and lets it come to rest with its snapshot closed. */
  readonly startSettled: (seed?: number) => Promise<Watcher>;
  /** What a reader makes of everything accepted so far. */
  readonly ingest: () => ReferenceIngest;
  /** Messages accepted since the last call. */
  readonly news: () => readonly WatcherMessage[];
}

const { flush } = DEFAULT_WATCHER_OPTIONS;
/** What leads to nothing by itself is sent as soon as all else, and as often: a test that is about something else waits for nothing. */
const AT_ONCE: Partial<WatcherOptions> = {
  flush: {
    ...flush,
    intervalMs: 1,
    intervalMsMax: 1,
    waitMs: { ...flush.waitMs, calm: flush.waitMs.normal },
  },
};

/** Creates a harness around an empty cluster. */
export function createWatcherHarness(given: Partial<WatcherOptions> = {}): WatcherHarness {
  const options = { ...AT_ONCE, ...given };
  const clock = new VirtualClock();
  const source = new ScriptedWatchSource();
  const queue = new RecordingEventQueue(clock);
  const log = new MemoryLog();
  const metrics = new MemoryMetrics();
  let seen = 0;
  const newWatcher = (seed = 1): Watcher =>
    createWatcher({
      cluster: clusterId('c1'),
      source,
      queue,
      clock,
      random: seededRandom(seed),
      log,
      metrics,
      options,
    });
  return {
    clock,
    source,
    queue,
    log,
    metrics,
    newWatcher,
    startSettled: async (seed) => {
      const watcher = newWatcher(seed);
      await watcher.start();
      await clock.advanceUntil(() => watcher.status().session?.phase === 'steady', {
        withinMs: 60_000,
      });
      await clock.advance(1000);
      return watcher;
    },
    ingest: () => {
      const ingest = new ReferenceIngest();
      for (const message of queue.accepted) ingest.apply(message);
      return ingest;
    },
    news: () => {
      const fresh = queue.accepted.slice(seen);
      seen = queue.accepted.length;
      return fresh;
    },
  };
}

/** Options with some of the list-watch bounds changed. */
export function listWatchOptions(
  changed: Partial<WatcherOptions['listWatch']>,
): Partial<WatcherOptions> {
  return { listWatch: { ...DEFAULT_WATCHER_OPTIONS.listWatch, ...changed } };
}

/** A ready node. */
export function nodeDraft(name: string, fields: Record<string, unknown> = {}): ObjectDraft {
  return {
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
    spec: {},
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
    ...fields,
  };
}

/** A DaemonSet whose selector is `app: <name>`, and whose rollout is through. */
export function daemonSetDraft(
  name: string,
  fields: { readonly uid?: string; readonly [field: string]: unknown } = {},
): ObjectDraft {
  const { uid, ...rest } = fields;
  return {
    metadata: { name, namespace: 'infra', generation: 1, ...(uid === undefined ? {} : { uid }) },
    spec: { selector: { matchLabels: { app: name } }, template: { spec: { containers: [] } } },
    status: { observedGeneration: 1, desiredNumberScheduled: 0, updatedNumberScheduled: 0 },
    ...rest,
  };
}

/** A pod; with an owner uid it belongs to that DaemonSet, without it is an orphan labelled `app`. */
export function podDraft(
  name: string,
  options: {
    readonly owner?: string;
    readonly app?: string;
    readonly node?: string;
    readonly ready?: boolean;
    readonly uid?: string;
    readonly noise?: number;
  } = {},
): ObjectDraft {
  const { owner, app = 'agent', node, ready = false, uid, noise } = options;
  return {
    metadata: {
      name,
      namespace: 'infra',
      labels: { app },
      ...(uid === undefined ? {} : { uid }),
      ...(owner === undefined ? {} : { ownerReferences: [ownerOf('DaemonSet', owner)] }),
    },
    spec: node === undefined ? {} : { nodeName: node },
    status: {
      phase: ready ? 'Running' : 'Pending',
      podIP: `10.0.0.${String(noise ?? 0)}`,
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  };
}

/** A ControllerRevision of a DaemonSet. */
export function revisionDraft(name: string, owner: string, revision = 1): ObjectDraft {
  return {
    metadata: {
      name,
      namespace: 'infra',
      labels: { app: 'agent', 'controller-revision-hash': name },
      ownerReferences: [ownerOf('DaemonSet', owner)],
    },
    data: { spec: { template: { large: 'x'.repeat(100) } } },
    revision,
  };
}

/** A controlling owner reference. */
export function ownerOf(kind: string, uid: string, apiVersion = 'apps/v1'): object {
  return { apiVersion, kind, name: 'owner', uid, controller: true };
}
