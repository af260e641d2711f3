/**
 * The WatchSource port over a real API server: list pages, watch streams, the watcher's Lease.
 *
 * Objects stay raw JSON. Lists never ask for resourceVersion=0, which a cache may answer from the past; without a
 * version they are consistent. Streams ask for bookmarks, and for
 * initial events where the caller wants a WatchList. Failures are classified and returned; retrying,
 * resuming and judging silence are the watcher's.
 */
import { CLUSTER_UID_PATH, clusterUidIn } from '../../../core/model/identifiers.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { WatchedKind } from '../../../core/model/projections.ts';
import type {
  LeaseWrite,
  ListPage,
  SourceAnswer,
  SourceFailure,
  WatchFrame,
  WatchOptions,
  WatchSource,
} from '../../../ports/cluster/watch-source.ts';
import { BrokenAnswerError, answerChunks } from '../transport/response-body.ts';
import { ListPageReader, hasMetadata } from './list-page.ts';
import { describeFailure } from '../transport/tls-fault.ts';
import { HttpsTransport, type Transport, type TransportAnswer } from '../transport/transport.ts';
import { createWatchConnection } from './watch-connection.ts';
import type { OpenedStream, WatchConnection, WatchConnectionOptions } from './watch-connection.ts';
import { skimForeignPod } from './skim-pod.ts';
import { LineSplitter, parseWatchFrame, watchFailure } from './watch-frames.ts';

export interface WatchSourceOptions extends WatchConnectionOptions {
  /** Of one list page or Lease request. Default 30,000. */
  readonly requestTimeoutMs?: number;
}

const PATHS: Readonly<Record<WatchedKind, string>> = {
  Node: '/api/v1/nodes',
  Pod: '/api/v1/pods',
  DaemonSet: '/apis/apps/v1/daemonsets',
  ControllerRevision: '/apis/apps/v1/controllerrevisions',
};
const LEASES_PATH = '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases';
const LEASE_PATH = `${LEASES_PATH}/rollcall-watcher`;
const REQUEST_TIMEOUT_MS = 30_000;
/** A page of 500 of the largest objects that etcd usually takes would not fit; of real ones it does. */
const PAGE_BYTES_MAX = 256 * 1024 * 1024;

/** A watch source that holds connections; nothing is opened yet. */
export class ApiWatchSource implements WatchSource {
  readonly #transport: Transport;
  readonly #connection: WatchConnection;

  constructor(options: WatchSourceOptions) {
    this.#connection = createWatchConnection(options);
    this.#transport = new HttpsTransport({
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      ...options,
      socketsMax: 8,
    });
  }

  async getClusterUid(): ReturnType<WatchSource['getClusterUid']> {
    const answer = await this.#transport.send({ method: 'GET', path: CLUSTER_UID_PATH });
    const value = clusterUidIn(okBody(answer));
    if (value !== undefined) return { kind: 'ok', value };
    return { kind: 'failed', failure: failureOf(answer) };
  }

  async listPage(
    kind: WatchedKind,
    options: Parameters<WatchSource['listPage']>[1],
  ): Promise<SourceAnswer<ListPage>> {
    const query = new URLSearchParams({ limit: String(options.limit) });
    if (options.continueToken !== undefined) query.set('continue', options.continueToken);
    const path = `${PATHS[kind]}?${query.toString()}`;
    const stream = await this.#connection.open({ path, signal: options.signal });
    if (stream.kind === 'refused') return { kind: 'failed', failure: watchFailure(stream) };
    if (stream.kind === 'failed') return unavailable(stream.message);
    const reader = new ListPageReader(kind, options.onItem);
    try {
      for await (const chunk of answerChunks(stream.chunks, PAGE_BYTES_MAX)) reader.read(chunk);
    } catch (cause) {
      if (cause instanceof BrokenAnswerError) return unavailable(cause.message);
      throw cause;
    }
    const page = reader.end();
    return page === undefined ? unavailable('the answer is no list') : { kind: 'ok', value: page };
  }

  async *watch(kind: WatchedKind, options: WatchOptions): AsyncGenerator<WatchFrame> {
    const stream = await this.#connection.open({
      path: watchPath(kind, options),
      signal: options.signal,
    });
    if (stream.kind === 'refused') {
      yield { kind: 'failed', failure: watchFailure(stream) };
      return;
    }
    if (stream.kind === 'failed') {
      yield unavailable(stream.message);
      return;
    }
    options.onBytes();
    yield* readFrames(stream, kind, options);
  }

  async readLease(): ReturnType<WatchSource['readLease']> {
    const answer = await this.#transport.send({ method: 'GET', path: LEASE_PATH });
    if (answer.kind === 'answered' && answer.status === 404)
      return { kind: 'ok', value: undefined };
    const lease = readObject(okBody(answer));
    if (lease !== undefined) return { kind: 'ok', value: lease };
    return { kind: 'failed', failure: failureOf(answer) };
  }

  async writeLease(lease: KubernetesObject): Promise<LeaseWrite> {
    const version: string | undefined = lease.metadata.resourceVersion;
    const isCreation = version === undefined;
    const answer = await this.#transport.send({
      method: isCreation ? 'POST' : 'PUT',
      path: isCreation ? LEASES_PATH : LEASE_PATH,
      body: JSON.stringify(lease),
    });
    if (answer.kind === 'ambiguous') return { kind: 'ambiguous', message: answer.message };
    if (answer.kind === 'answered') {
      // The precondition failed: another version, another creator, or deleted meanwhile.
      if (answer.status === 409) return { kind: 'conflict' };
      if (answer.status === 404 && !isCreation) return { kind: 'conflict' };
      // A server that broke down may have written it before.
      if (answer.status >= 500) {
        return { kind: 'ambiguous', message: `HTTP ${String(answer.status)}` };
      }
    }
    const written = readObject(okBody(answer));
    if (written !== undefined) return { kind: 'written', lease: written };
    return { kind: 'failed', failure: failureOf(answer) };
  }

  /** Closes the connections; running requests end first. */
  close(): void {
    this.#transport.retire();
    this.#connection.close();
  }
}

async function* readFrames(
  stream: Extract<OpenedStream, { kind: 'open' }>,
  kind: WatchedKind,
  options: Pick<WatchOptions, 'onBytes' | 'signal'>,
): AsyncGenerator<WatchFrame> {
  const splitter = new LineSplitter();
  try {
    for await (const chunk of stream.chunks) {
      options.onBytes();
      const lines = splitter.split(chunk);
      if (lines === undefined) {
        yield { kind: 'undecodable', message: 'an event is too long' };
        return;
      }
      for (const line of lines) {
        const skimmed = kind === 'Pod' ? skimForeignPod(line) : undefined;
        const frame = skimmed ?? parseWatchFrame(line.toString('utf8'));
        if (frame.kind !== 'failed') {
          yield frame;
          continue;
        }
        const { failure } = frame;
        yield { kind: 'failed', failure: { ...failure, message: stream.conceal(failure.message) } };
        return;
      }
    }
  } catch (cause) {
    if (!options.signal.aborted) {
      yield unavailable(describeFailure(cause));
      return;
    }
  }
  yield { kind: 'ended' };
}

function watchPath(kind: WatchedKind, options: WatchOptions): string {
  const query = new URLSearchParams({
    watch: 'true',
    allowWatchBookmarks: 'true',
    timeoutSeconds: String(options.timeoutSeconds),
  });
  if (options.resourceVersion !== undefined) query.set('resourceVersion', options.resourceVersion);
  if (options.sendInitialEvents) {
    query.set('sendInitialEvents', 'true');
    query.set('resourceVersionMatch', 'NotOlderThan');
  }
  return `${PATHS[kind]}?${query.toString()}`;
}

function unavailable(message: string): Extract<WatchFrame, { kind: 'failed' }> {
  return { kind: 'failed', failure: { kind: 'unavailable', message } };
}

function okBody(answer: TransportAnswer): Json | undefined {
  const isOk = answer.kind === 'answered' && answer.status >= 200 && answer.status < 300;
  return isOk ? answer.body : undefined;
}

function failureOf(answer: TransportAnswer): SourceFailure {
  if (answer.kind !== 'answered') return { kind: 'unavailable', message: answer.message };
  return watchFailure(answer);
}

function readObject(body: Json | undefined): KubernetesObject | undefined {
  return hasMetadata(body) ? (body as unknown as KubernetesObject) : undefined; // metadata was checked
}
