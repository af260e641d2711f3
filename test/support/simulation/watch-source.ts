/**
 * The watcher's side of the simulated API server: pages, streams with bookmarks, the Lease.
 *
 * Streams resume from a version and see every commit after it, in order; a compacted version is
 * expired. A kind can lag or be frozen (nothing arrives, not even bytes), and requests can fail, as
 * the test's `faults` say. After a restore of etcd all streams end, and a version from the future is
 * not refused: it is just never reached, as with a real watch cache. Everything is deterministic.
 */
import { canonicalJson, type JsonObject } from '@rollcall/base/json.ts';
import { resourceVersion, type ClusterUid } from '../../../src/core/model/identifiers.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { WatchedKind } from '../../../src/core/model/projections.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type {
  LeaseWrite,
  ListPage,
  SourceAnswer,
  SourceFailure,
  WatchFrame,
  WatchOptions,
  WatchSource,
} from '../../../src/ports/cluster/watch-source.ts';
import { WATCHER_LEASE } from '../../../src/watcher/lease/lease-object.ts';
import type { Kind } from '../simulated-hooks.ts';
import type { Commit, SimulatedApiServer } from './api-server.ts';

/** How often the simulated API server sends a bookmark. */
const BOOKMARK_MS = 60_000;

const STORED_KINDS: Readonly<Record<WatchedKind, Kind>> = {
  Node: 'nodes',
  Pod: 'pods',
  DaemonSet: 'daemonsets',
  ControllerRevision: 'controllerrevisions',
};

export interface WatchFaults {
  supportsWatchList: boolean;
  /** Delay of every frame; frames never overtake each other. */
  lagMs: () => number;
  /** Delay of everything on a stream that opens now: it ended up at a replica that lags (row 3). */
  streamLagMs: (kind: WatchedKind) => number;
  /** Kinds whose streams carry nothing. */
  readonly frozen: Set<WatchedKind>;
  /** Failure of the next request, by what it is for. */
  failure: (what: string) => SourceFailure | undefined;
  /** True: the Lease write is applied and its answer lost. */
  losesLeaseAnswer: () => boolean;
}

/** No faults. */
export function noWatchFaults(): WatchFaults {
  return {
    supportsWatchList: true,
    lagMs: () => 1,
    streamLagMs: () => 0,
    frozen: new Set(),
    failure: () => undefined,
    losesLeaseAnswer: () => false,
  };
}

class Stream {
  readonly #source: SimulatedWatchSource;
  readonly #kind: WatchedKind;
  readonly #options: WatchOptions;
  readonly #ready: WatchFrame[] = [];
  readonly #held: WatchFrame[] = [];
  readonly #cleanups: (() => void)[] = [];
  readonly #lagMs: number;
  #isSilent = false;
  #wake: (() => void) | undefined;
  #lastDueMs = 0;
  #isBroken = false;

  constructor(source: SimulatedWatchSource, kind: WatchedKind, options: WatchOptions) {
    this.#source = source;
    this.#kind = kind;
    this.#options = options;
    this.#lagMs = source.faults.streamLagMs(kind);
    const end = (): void => {
      this.#push({ kind: 'ended' });
    };
    options.signal.addEventListener('abort', end);
    this.#cleanups.push(() => {
      options.signal.removeEventListener('abort', end);
    });
    const timeOut = (): void => {
      if (!this.#isSilent) end();
    };
    this.#cleanups.push(source.clock.after(options.timeoutSeconds * 1000, timeOut));
    this.#open();
    this.#scheduleBookmark();
  }

  /** Frames until the stream ended. */
  async *frames(): AsyncGenerator<WatchFrame> {
    try {
      for (;;) {
        const frame = this.#ready.shift();
        if (frame === undefined) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
          continue;
        }
        yield frame;
        if (frame.kind === 'ended' || frame.kind === 'failed') return;
      }
    } finally {
      for (const cleanup of this.#cleanups) cleanup();
    }
  }

  /** From now on nothing arrives here any more, not even the end (row 36). */
  silence(): void {
    this.#isSilent = true;
  }

  /** Lets go what was held while the kind was frozen. */
  thaw(): void {
    for (const frame of this.#held.splice(0)) this.#push(frame);
  }

  /** The connection is gone, and with it all that was held or is on its way. */
  break(): void {
    this.#isBroken = true;
    this.#held.length = 0;
    this.#push({ kind: 'ended' });
  }

  #open(): void {
    const { api } = this.#source;
    const from = this.#options.resourceVersion;
    const stored = STORED_KINDS[this.#kind];
    if (this.#options.sendInitialEvents) {
      for (const object of api.list(stored)) this.#send({ kind: 'added', object });
      const version = resourceVersion(api.version);
      this.#send({ kind: 'bookmark', resourceVersion: version, isInitialEventsEnd: true });
    } else if (Number(from) < api.compactedVersion) {
      const message = 'too old resource version';
      this.#send({ kind: 'failed', failure: { kind: 'expired', message } });
      return;
    }
    const after = this.#options.sendInitialEvents ? Number(api.version) : Number(from);
    const follow = (commit: Commit | undefined): void => {
      if (commit === undefined) this.#send({ kind: 'ended' });
      else if (commit.kind === stored && commit.version > after) {
        this.#send({ kind: commit.type, object: commit.object });
      }
    };
    for (const commit of api.commits) follow(commit);
    this.#cleanups.push(api.subscribe(follow));
  }

  #scheduleBookmark(): void {
    const { clock, api } = this.#source;
    const cancel = clock.after(BOOKMARK_MS, () => {
      const version = resourceVersion(api.version);
      this.#send({ kind: 'bookmark', resourceVersion: version, isInitialEventsEnd: false });
      this.#scheduleBookmark();
    });
    this.#cleanups.push(cancel);
  }

  #send(frame: WatchFrame): void {
    const { clock, faults } = this.#source;
    const dueMs = Math.max(this.#lastDueMs, clock.monotonicMs() + this.#lagMs + faults.lagMs());
    this.#lastDueMs = dueMs;
    clock.after(dueMs - clock.monotonicMs(), () => {
      if (this.#isSilent) return;
      if (faults.frozen.has(this.#kind)) this.#held.push(frame);
      else this.#push(frame);
    });
  }

  #push(frame: WatchFrame): void {
    if (frame.kind !== 'ended') this.#options.onBytes();
    this.#ready.push(frame);
    this.#wake?.();
  }
}

/** WatchSource over a simulated API server. */
export class SimulatedWatchSource implements WatchSource {
  readonly api: SimulatedApiServer;
  readonly clock: Clock;
  readonly faults: WatchFaults;
  readonly #streams = new Set<Stream>();
  readonly #pages = new Map<
    string,
    { readonly version: string; readonly rest: readonly KubernetesObject[] }
  >();
  #tokens = 0;

  constructor(api: SimulatedApiServer, clock: Clock, faults: WatchFaults) {
    this.api = api;
    this.clock = clock;
    this.faults = faults;
  }

  async getClusterUid(): Promise<SourceAnswer<ClusterUid>> {
    await this.clock.sleep(1);
    const failure = this.#failureOf('get kube-system');
    if (failure !== undefined) return { kind: 'failed', failure };
    return { kind: 'ok', value: this.api.clusterUid };
  }

  async listPage(
    kind: WatchedKind,
    options: Parameters<WatchSource['listPage']>[1],
  ): Promise<SourceAnswer<ListPage>> {
    await this.clock.sleep(1);
    const token = options.continueToken;
    const failure = this.#failureOf(`list ${kind}${token === undefined ? '' : ' further'}`);
    if (failure !== undefined) return { kind: 'failed', failure };
    const page =
      token === undefined
        ? { version: this.api.version, rest: this.api.list(STORED_KINDS[kind]) }
        : this.#pages.get(token);
    if (page === undefined || Number(page.version) < this.api.compactedVersion) {
      return { kind: 'failed', failure: { kind: 'expired', message: 'continue token expired' } };
    }
    for (const item of page.rest.slice(0, options.limit)) options.onItem(item);
    const rest = page.rest.slice(options.limit);
    const value = { resourceVersion: resourceVersion(page.version) };
    if (rest.length === 0) return { kind: 'ok', value };
    this.#tokens += 1;
    const continueToken = `page-${this.#tokens}`;
    this.#pages.set(continueToken, { version: page.version, rest });
    return { kind: 'ok', value: { ...value, continueToken } };
  }

  async *watch(kind: WatchedKind, options: WatchOptions): AsyncIterable<WatchFrame> {
    await this.clock.sleep(1);
    const isUnsupported = options.sendInitialEvents && !this.faults.supportsWatchList;
    const failure = isUnsupported
      ? { kind: 'unsupported' as const, message: 'no WatchList here' }
      : this.#failureOf(`watch ${kind}`);
    if (failure !== undefined) {
      yield { kind: 'failed', failure };
      return;
    }
    const stream = new Stream(this, kind, options);
    this.#streams.add(stream);
    try {
      yield* stream.frames();
    } finally {
      this.#streams.delete(stream);
    }
  }

  /** All streams that are open now die without a word; new ones are well. */
  silence(): void {
    for (const stream of this.#streams) stream.silence();
  }

  /** Ends a freeze; what was held arrives now, in order. */
  thaw(): void {
    this.faults.frozen.clear();
    for (const stream of this.#streams) stream.thaw();
  }

  /** Every stream ends, and what was held while a kind was frozen is lost with it. */
  breakStreams(): void {
    this.faults.frozen.clear();
    for (const stream of this.#streams) stream.break();
  }

  async readLease(): Promise<SourceAnswer<KubernetesObject | undefined>> {
    await this.clock.sleep(1);
    const failure = this.#failureOf('get lease');
    if (failure !== undefined) return { kind: 'failed', failure };
    const value = this.api.find('leases', WATCHER_LEASE.name, WATCHER_LEASE.namespace);
    return { kind: 'ok', value };
  }

  async writeLease(lease: KubernetesObject): Promise<LeaseWrite> {
    await this.clock.sleep(1);
    const failure = this.#failureOf('write lease');
    if (failure !== undefined) return { kind: 'failed', failure };
    const written = this.#applyLease(lease);
    if (written === undefined) return { kind: 'conflict' };
    if (this.faults.losesLeaseAnswer()) return { kind: 'ambiguous', message: 'connection lost' };
    return { kind: 'written', lease: written };
  }

  #failureOf(what: string): SourceFailure | undefined {
    if (this.api.isAway()) return { kind: 'unavailable', message: 'nobody answers' };
    return this.faults.failure(what);
  }

  #applyLease(lease: KubernetesObject): KubernetesObject | undefined {
    const { namespace, name } = WATCHER_LEASE;
    const stored = this.api.find('leases', name, namespace);
    const given = lease.metadata.resourceVersion as string | undefined;
    if (given === undefined && stored === undefined) return this.api.put('leases', lease);
    if (stored === undefined || given !== stored.metadata.resourceVersion) return undefined;
    const text = (object: KubernetesObject): string =>
      canonicalJson(object as unknown as JsonObject); // raw JSON
    // An update that changes nothing is no write: the version stays (protocol 14).
    return text(lease) === text(stored)
      ? stored
      : this.api.change('leases', WATCHER_LEASE, () => lease);
  }
}
