/**
 * An API server as the watcher sees it, in memory and told what to do: the WatchSource port.
 *
 * One resourceVersion counter for all kinds, as one etcd has; lists are consistent across their pages,
 * streams replay what came after the version they resume from, and the Lease is compare-and-set. Tests
 * make it fail by request (`faults`), drop, hold or silence streams, expire history, and put an older
 * state back (`restore`). It evaluates nothing of what it stores.
 */
import { clusterUid, resourceVersion } from '../../src/core/model/identifiers.ts';
import type { ClusterUid, ResourceVersion } from '../../src/core/model/identifiers.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { WATCHED_KINDS, type WatchedKind } from '../../src/core/model/projections.ts';
import type {
  LeaseWrite,
  ListPage,
  SourceAnswer,
  SourceFailure,
  WatchFrame,
  WatchOptions,
  WatchSource,
} from '../../src/ports/cluster/watch-source.ts';
import { FrameStream } from './frame-stream.ts';

/** An object as a test writes it; uid and versions are filled in. */
export interface ObjectDraft {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** One request that was made. */
export type SourceRequest =
  | { readonly op: 'list'; readonly kind: WatchedKind; readonly continueToken: string | undefined }
  | { readonly op: 'watch'; readonly kind: WatchedKind; readonly options: WatchOptions }
  | { readonly op: 'read-lease' | 'write-lease' | 'cluster-uid' };

/** A failure of one request. Lease writes can also be ambiguous, applied or not. */
export type SourceFault =
  SourceFailure | { readonly kind: 'ambiguous-applied' | 'ambiguous-lost' | 'conflict' };

interface HistoryEntry {
  readonly version: number;
  readonly change: 'added' | 'modified' | 'deleted';
  readonly object: KubernetesObject;
}

interface Contents {
  readonly version: number;
  readonly objects: ReadonlyMap<WatchedKind, ReadonlyMap<string, KubernetesObject>>;
  readonly lease: KubernetesObject | undefined;
}

export class ScriptedWatchSource implements WatchSource {
  readonly requests: SourceRequest[] = [];
  /** Decides about each request before it is served; undefined: it succeeds. */
  faultOf: (request: SourceRequest) => SourceFault | undefined = () => undefined;
  uid: ClusterUid = clusterUid('kube-system-uid');
  hasWatchList = true;
  version = 1000;
  /** Version of each deletion, by uid. */
  readonly deletions = new Map<string, number>();
  #lease: KubernetesObject | undefined;
  #uidCount = 0;
  readonly #objects = new Map<WatchedKind, Map<string, KubernetesObject>>(
    WATCHED_KINDS.map((kind) => [kind, new Map()]),
  );
  readonly #history = new Map<WatchedKind, HistoryEntry[]>(WATCHED_KINDS.map((kind) => [kind, []]));
  /** Streams may not resume from below these versions. */
  readonly #compacted = new Map<WatchedKind, number>();
  readonly #streams = new Map<WatchedKind, Set<FrameStream>>(
    WATCHED_KINDS.map((kind) => [kind, new Set()]),
  );
  readonly #held = new Set<WatchedKind>();
  readonly #pages = new Map<
    string,
    { readonly version: number; readonly rest: KubernetesObject[] }
  >();

  /** Creates or replaces an object; answers it as stored. A given uid of another value re-creates it. */
  put(kind: WatchedKind, draft: ObjectDraft): KubernetesObject {
    const objects = this.#objectsOf(kind);
    const key = keyOf(draft);
    const former = objects.get(key);
    const uid = draft.metadata.uid ?? former?.metadata.uid ?? this.#nextUid(kind);
    if (former !== undefined && former.metadata.uid !== uid) this.remove(kind, draft.metadata);
    this.version += 1;
    const metadata = {
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...draft.metadata,
      uid,
      resourceVersion: String(this.version),
    };
    const object: KubernetesObject = { ...draft, metadata };
    const isNew = former === undefined || former.metadata.uid !== uid;
    objects.set(key, object);
    this.#record(kind, { version: this.version, change: isNew ? 'added' : 'modified', object });
    return object;
  }

  /** Deletes an object, if it is there. */
  remove(kind: WatchedKind, names: { readonly name: string; readonly namespace?: string }): void {
    const objects = this.#objectsOf(kind);
    const key = keyOf({ metadata: names });
    const former = objects.get(key);
    if (former === undefined) return;
    objects.delete(key);
    this.version += 1;
    const metadata = { ...former.metadata, resourceVersion: String(this.version) };
    const object = { ...former, metadata };
    this.deletions.set(former.metadata.uid, this.version);
    this.#record(kind, { version: this.version, change: 'deleted', object });
  }

  /** Live objects of a kind, in key order. */
  objects(kind: WatchedKind): readonly KubernetesObject[] {
    const entries = [...this.#objectsOf(kind)].sort(([left], [right]) => (left < right ? -1 : 1));
    return entries.map(([, object]) => object);
  }

  /** Tells every stream how far it is. */
  bookmark(kind: WatchedKind, version: number = this.version): void {
    this.send(kind, {
      kind: 'bookmark',
      resourceVersion: resourceVersion(String(version)),
      isInitialEventsEnd: false,
    });
  }

  /** Puts a frame of any kind on every stream of a kind. */
  send(kind: WatchedKind, frame: WatchFrame): void {
    for (const stream of this.#streamsOf(kind)) stream.push(frame);
  }

  /** Ends every stream of a kind, as a server does after its time-out, or when it drops a slow watcher. */
  endStreams(kind: WatchedKind): void {
    this.send(kind, { kind: 'ended' });
  }

  /** From now on streams of this kind bring nothing, without an error. */
  silence(kind: WatchedKind): void {
    this.#held.add(kind);
  }

  /** Streams that are opened from now on work again; the silent ones stay silent. */
  unsilence(kind: WatchedKind): void {
    this.#held.delete(kind);
    this.#streamsOf(kind).clear();
  }

  /** Forgets history: streams that resume from below the present version get 410. */
  compact(kind: WatchedKind): void {
    this.#compacted.set(kind, this.version);
    this.#history.set(kind, []);
  }

  /** Streams that are open. */
  openStreams(kind: WatchedKind): number {
    return [...this.#streamsOf(kind)].filter((stream) => !stream.isClosed).length;
  }

  /** The Lease as it stands. */
  get lease(): KubernetesObject | undefined {
    return this.#lease;
  }

  /** Changes the Lease as somebody else would; null deletes it. */
  editLease(edit: (lease: KubernetesObject) => KubernetesObject | null): void {
    const lease = this.#lease ?? leaseDraft();
    const edited = edit(lease);
    this.version += 1;
    this.#lease = edited === null ? undefined : withVersion(edited, this.version);
  }

  /** Everything that etcd holds. */
  backup(): Contents {
    const objects = WATCHED_KINDS.map((kind) => [kind, new Map(this.#objectsOf(kind))] as const);
    return { version: this.version, objects: new Map(objects), lease: this.#lease };
  }

  /** Puts a backup back: versions, objects and Lease return to what they were, streams break. */
  restore(contents: Contents): void {
    this.version = contents.version;
    this.#lease = contents.lease;
    for (const kind of WATCHED_KINDS) {
      this.#objects.set(kind, new Map(contents.objects.get(kind)));
      this.#history.set(kind, []);
      this.endStreams(kind);
    }
  }

  getClusterUid(): Promise<SourceAnswer<ClusterUid>> {
    const failure = this.#failure({ op: 'cluster-uid' });
    return Promise.resolve(failure ?? { kind: 'ok', value: this.uid });
  }

  listPage(
    kind: WatchedKind,
    options: Parameters<WatchSource['listPage']>[1],
  ): Promise<SourceAnswer<ListPage>> {
    const { limit, continueToken } = options;
    const failure = this.#failure({ op: 'list', kind, continueToken });
    if (failure !== undefined) return Promise.resolve(failure);
    const page =
      continueToken === undefined
        ? { version: this.version, rest: [...this.objects(kind)] }
        : this.#pages.get(continueToken);
    if (page === undefined) return Promise.resolve(failed('expired', 'continue token expired'));
    for (const item of page.rest.slice(0, limit)) options.onItem(item);
    const rest = page.rest.slice(limit);
    const token = `page-${String(this.#pages.size)}`;
    if (rest.length > 0) this.#pages.set(token, { version: page.version, rest });
    const value: ListPage = {
      resourceVersion: resourceVersion(String(page.version)),
      ...(rest.length > 0 ? { continueToken: token } : {}),
    };
    return Promise.resolve({ kind: 'ok', value });
  }

  watch(kind: WatchedKind, options: WatchOptions): AsyncIterable<WatchFrame> {
    const stream = new FrameStream(options);
    const failure = this.#failure({ op: 'watch', kind, options });
    if (failure !== undefined) {
      stream.push(failure);
    } else if (options.resourceVersion !== undefined) {
      this.#resume(kind, stream, options.resourceVersion);
    } else if (options.sendInitialEvents && this.hasWatchList) {
      for (const object of this.objects(kind)) stream.push({ kind: 'added', object });
      stream.push({
        kind: 'bookmark',
        resourceVersion: resourceVersion(String(this.version)),
        isInitialEventsEnd: true,
      });
      this.#streamsOf(kind).add(stream);
    } else {
      stream.push(failed('unsupported', 'sendInitialEvents is forbidden'));
    }
    return stream;
  }

  readLease(): Promise<SourceAnswer<KubernetesObject | undefined>> {
    const failure = this.#failure({ op: 'read-lease' });
    return Promise.resolve(failure ?? { kind: 'ok', value: this.#lease });
  }

  writeLease(lease: KubernetesObject): Promise<LeaseWrite> {
    this.requests.push({ op: 'write-lease' });
    const fault = this.faultOf({ op: 'write-lease' });
    if (fault?.kind === 'conflict') return Promise.resolve({ kind: 'conflict' });
    if (fault?.kind === 'ambiguous-lost') return Promise.resolve(AMBIGUOUS);
    if (fault !== undefined && 'message' in fault) {
      return Promise.resolve({ kind: 'failed', failure: fault });
    }
    const expected: string | undefined = lease.metadata.resourceVersion;
    if (expected !== this.#lease?.metadata.resourceVersion) {
      return Promise.resolve({ kind: 'conflict' });
    }
    const isSame = JSON.stringify(lease) === JSON.stringify(this.#lease);
    if (!isSame) {
      this.version += 1;
      this.#lease = withVersion(lease, this.version);
    }
    if (fault !== undefined) return Promise.resolve(AMBIGUOUS);
    return Promise.resolve({ kind: 'written', lease: this.#lease ?? lease });
  }

  #resume(kind: WatchedKind, stream: FrameStream, from: ResourceVersion): void {
    const version = Number(from);
    if (version < (this.#compacted.get(kind) ?? 0)) {
      stream.push(failed('expired', 'too old resource version'));
      return;
    }
    this.#streamsOf(kind).add(stream);
    if (this.#held.has(kind)) return;
    for (const entry of this.#history.get(kind) ?? []) {
      if (entry.version > version) stream.push({ kind: entry.change, object: entry.object });
    }
  }

  #record(kind: WatchedKind, entry: HistoryEntry): void {
    this.#history.get(kind)?.push(entry);
    if (!this.#held.has(kind)) this.send(kind, { kind: entry.change, object: entry.object });
  }

  #failure(request: SourceRequest): ReturnType<typeof failed> | undefined {
    this.requests.push(request);
    const fault = this.faultOf(request);
    if (fault === undefined) return undefined;
    if ('message' in fault) return { kind: 'failed', failure: fault };
    throw new Error(`${request.op} cannot be ${fault.kind}`);
  }

  #objectsOf(kind: WatchedKind): Map<string, KubernetesObject> {
    const objects = this.#objects.get(kind);
    if (objects === undefined) throw new Error(`unknown kind ${kind}`);
    return objects;
  }

  #streamsOf(kind: WatchedKind): Set<FrameStream> {
    const streams = this.#streams.get(kind);
    if (streams === undefined) throw new Error(`unknown kind ${kind}`);
    return streams;
  }

  #nextUid(kind: WatchedKind): string {
    this.#uidCount += 1;
    return `${kind.toLowerCase()}-uid-${String(this.#uidCount)}`;
  }
}

const AMBIGUOUS: LeaseWrite = { kind: 'ambiguous', message: 'time-out' };

function failed(
  kind: SourceFailure['kind'],
  message: string,
): { readonly kind: 'failed'; readonly failure: SourceFailure } {
  return { kind: 'failed', failure: { kind, message } };
}

function leaseDraft(): KubernetesObject {
  const metadata = { namespace: 'rollcall-system', name: 'rollcall-watcher', uid: 'lease-uid' };
  return { metadata: { ...metadata, resourceVersion: '0' }, spec: {} };
}

function withVersion(object: KubernetesObject, version: number): KubernetesObject {
  const uid = (object.metadata as { readonly uid?: string }).uid ?? 'lease-uid';
  return { ...object, metadata: { ...object.metadata, uid, resourceVersion: String(version) } };
}

function keyOf(object: {
  readonly metadata: { readonly name: string; readonly namespace?: string };
}): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
}
