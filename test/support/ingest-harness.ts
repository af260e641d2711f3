/**
 * Ingest over stores in memory: sends messages as a queue would, and answers what came of them.
 */
import { clusterUid, uid } from '../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../src/core/model/registration.ts';
import type { ClusterMeta, DaemonSetPosition, Slice } from '../../src/core/model/view-items.ts';
import type { WatcherMessage } from '../../src/core/model/watcher-message.ts';
import {
  defaultIngestOptions,
  type IngestOptions,
  createIngestProcessCache,
} from '../../src/app/ingest/process/dependencies.ts';
import type { DeadLetterDependencies } from '../../src/app/dead-letter/dead-letter.ts';
import { ingestRecord } from '../../src/app/ingest/ingest-batch.ts';
import type { IngestContext, IngestResult } from '../../src/app/ingest/message/result.ts';
import { readPositionNow } from '../../src/app/reconcile/read/stored-inputs.ts';
import type {
  ClusterAccess,
  ClusterConnector,
  LiveRead,
} from '../../src/ports/cluster/cluster-access.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { SlicedSet } from '../../src/ports/stores/view-store.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { MemoryMetrics } from './memory-metrics.ts';
import { MemoryRegistryStore } from './memory-registry-store.ts';
import { MemoryViewStore } from './memory-view-store.ts';
import { RecordingHintQueue } from './recording-hint-queue.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

/** A registration whose watcher has the role `AROA1`, reachable unless told otherwise. */
export function registrationFor(
  id: string,
  change: Partial<ClusterRegistration> = {},
): ClusterRegistration {
  return {
    id: id as ClusterRegistration['id'],
    clusterUid: clusterUid(`uid-of-${id}`),
    mode: 'observe',
    isFrozen: false,
    configVersion: 1,
    senderRoleId: 'AROA1',
    server: 'https://cluster.example',
    authentication: { kind: 'bearer', token: 'test' },
    labels: {},
    ...change,
  };
}

/** The Lease of a cluster, and the requests that were written into it. */
class FakeLease implements ClusterConnector {
  holder = '';
  isReachable = true;
  reads = 0;
  readonly requests: string[] = [];

  connect(_registration: ClusterRegistration): ReturnType<ClusterConnector['connect']> {
    // Ingest needs two of the calls; the others would be a bug, and fail as one.
    const access = {
      getWatcherLease: () => this.read(),
      requestSnapshot: (requestId: string) => this.request(requestId),
    } as unknown as ClusterAccess; // -- a fake of the part that ingest may use
    return Promise.resolve({ kind: 'connected', access });
  }

  forget(): void {
    this.reads = 0;
  }

  private read(): Promise<LiveRead<KubernetesObject>> {
    this.reads += 1;
    if (!this.isReachable) return Promise.resolve(UNREACHABLE);
    const metadata = { name: 'rollcall-watcher', uid: 'lease', resourceVersion: '1' };
    const object = { metadata, spec: { holderIdentity: this.holder } };
    return Promise.resolve({ kind: 'found', object });
  }

  private request(requestId: string): Promise<LiveRead<JsonObject>> {
    if (!this.isReachable) return Promise.resolve(UNREACHABLE);
    this.requests.push(requestId);
    return Promise.resolve({ kind: 'found', object: {} });
  }
}

const UNREACHABLE = {
  kind: 'unavailable',
  message: 'connection refused',
  isRefused: false,
} as const;

/** Delivers one message that was read. */
export function deliver(
  message: WatcherMessage,
  context: IngestContext,
  dependencies: DeadLetterDependencies,
): Promise<IngestResult> {
  const parsed = { kind: 'message', message } as const;
  return ingestRecord({ context, header: message, parsed }, dependencies);
}

/** Ingest and everything around it. */
export class IngestHarness {
  readonly clock = new VirtualClock();
  readonly view = new MemoryViewStore();
  readonly registry = new MemoryRegistryStore();
  readonly queue = new RecordingHintQueue();
  readonly log = new MemoryLog();
  readonly metrics = new MemoryMetrics();
  readonly lease = new FakeLease();
  private sent = 0;
  private process: DeadLetterDependencies | undefined;
  readonly #options: Partial<IngestOptions>;

  constructor(
    registrations: readonly ClusterRegistration[] = [registrationFor('c1')],
    options: Partial<IngestOptions> = {},
  ) {
    this.#options = options;
    for (const registration of registrations) this.registry.seed(registration);
  }

  /** Dependencies of one process; the same until `restart`. */
  dependencies(): DeadLetterDependencies {
    this.process ??= {
      registry: this.registry,
      view: this.view,
      connector: this.lease,
      queue: this.queue,
      clock: this.clock,
      random: seededRandom(7),
      log: this.log,
      metrics: this.metrics,
      options: { ...defaultIngestOptions, ...this.#options },
      processCache: createIngestProcessCache(),
    };
    return this.process;
  }

  /** Forgets what a warm process remembered. */
  restart(): void {
    this.process = undefined;
  }

  /** How a message arrives now. */
  context(change: Partial<IngestContext> = {}): IngestContext {
    this.sent += 1;
    return {
      sentAtMs: this.clock.nowMs(),
      senderRoleId: 'AROA1',
      messageId: `m${this.sent}`,
      ...change,
    };
  }

  /** Delivers one message. */
  ingest(message: WatcherMessage, change: Partial<IngestContext> = {}): Promise<IngestResult> {
    return deliver(message, this.context(change), this.dependencies());
  }

  /** Delivers messages in order; answers the last result. */
  async ingestAll(messages: readonly WatcherMessage[]): Promise<IngestResult> {
    let last: IngestResult | undefined;
    for (const message of messages) last = await this.ingest(message);
    if (last === undefined) throw new Error('no messages');
    return last;
  }

  /** META of a cluster; throws when there is none. */
  async meta(cluster = 'c1'): Promise<ClusterMeta> {
    const meta = await this.view.readMeta(clusterUid(`uid-of-${cluster}`));
    if (meta === undefined) throw new Error(`no META of ${cluster}`);
    return meta;
  }

  /** A slice, if it exists. */
  slice(set: SlicedSet, index = 0, cluster = 'c1'): Promise<Slice | undefined> {
    return this.view.readSlice({ clusterUid: clusterUid(`uid-of-${cluster}`), set, index });
  }

  /** Where pods and revisions of a DaemonSet last changed, as `reconcile` reads it. */
  position(uidText: string): Promise<DaemonSetPosition> {
    return readPositionNow(this.ref(uidText), this.view);
  }

  /** Names of objects in a slice, sorted. */
  async namesIn(set: SlicedSet, index = 0): Promise<readonly string[]> {
    const slice = await this.slice(set, index);
    return (slice?.objects ?? []).map(({ object }) => object.name).sort();
  }

  /** Everything stored about one DaemonSet. */
  ref(
    uidText: string,
    cluster = 'c1',
  ): { clusterUid: ReturnType<typeof clusterUid>; uid: ReturnType<typeof uid> } {
    return { clusterUid: clusterUid(`uid-of-${cluster}`), uid: uid(uidText) };
  }
}

/**
 * What a view says, without how it came to: objects with their hashes by set, DaemonSets, names, and
 * META without stamps, versions and times. Two histories with the same outcome compare equal.
 */
export function contentOf(view: MemoryViewStore): Readonly<Record<string, unknown>> {
  const content: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(view.dump())) {
    const [kind] = key.split(' ', 1);
    if (kind === 'SLICE') content[key] = sliceContent(value as Slice);
    else if (kind === 'DAEMONSET') content[key] = (value as { object: unknown }).object;
    else if (kind === 'NAME') content[key] = (value as { uid: unknown }).uid;
    else if (kind === 'META') {
      const { isComplete, isCutOpen, sliceCount, marks, hashes, seq } = value as ClusterMeta;
      content[key] = { isComplete, isCutOpen, sliceCount, marks, hashes, seq };
    }
  }
  return content;
}

function sliceContent(slice: Slice): unknown {
  return Object.fromEntries(
    slice.objects
      .map(({ object, hash }): [string, unknown] => [object.uid, { object, hash }])
      .sort(([left], [right]) => (left < right ? -1 : 1)),
  );
}
