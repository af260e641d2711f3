/**
 * ClusterAccess over a transport: effects out, outcomes back, and the live reads.
 *
 * Effects of a batch run concurrently over a bounded number of workers, so that a request's start is
 * a moment that is known: none starts after the deadline or while the server asks to be left alone.
 * A 401 is answered once with a fresh credential, since it certainly applied nothing. Reads answer
 * values; a list is whole or `unavailable` (faults 35). It decides nothing and retries nothing else.
 */
import { isJsonObject, type Json, type JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Effect, Outcome } from '../../../core/model/effects.ts';
import type { AnswerTiming, PodEvent } from '../../../core/model/projections.ts';
import type { FleetManifest } from '../../../core/fleet/fleet-daemon-set.ts';
import { isPastDeadline } from '../../../core/pod/request-life.ts';
import { isOfAnother } from '../../../core/may-act/installation.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type {
  ClusterAccess,
  DaemonSetRead,
  ExecuteOptions,
  LiveRead,
  PodMetadata,
  StoreQuestion,
  Unavailable,
} from '../../../ports/cluster/cluster-access.ts';
import type {
  ApplyOptions,
  FieldManager,
  ManifestOutcome,
} from '../../../ports/cluster/manifest-access.ts';
import type { NamespacedName } from '../../../ports/stores/view-store.ts';
import { DaemonSetReads } from './daemon-set-reads.ts';
import { isObjectName, namespacedPath, releaseRequestOf, requestOf } from './effect-request.ts';
import type { Doubt, FleetRequests } from './manifest-apply.ts';
import {
  readDaemonSet,
  readFieldManagers,
  readObject,
  readPodMetadata,
  slimPod,
} from './object-reader.ts';
import { createBackPressure } from '@rollcall/base/wait.ts';
import {
  NOT_A_NAME,
  listPages,
  waiting,
  type ListMeans,
  type ListQuery,
  readPodEvents,
} from './list-pages.ts';
import { classifyRead, classifyWrite } from './status-classifier.ts';
import type { Transport, TransportAnswer, TransportRequest } from '../transport/transport.ts';

export interface ClusterAccessOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Requests of one batch that run at the same time. */
  readonly concurrencyMax: number;
  /** Called on a 401: resolves to true when the next request will carry another credential. */
  readonly refreshCredential: () => boolean;
  /** The installation whose watcher is asked for snapshots; absent: any holder of the Lease. */
  readonly installation?: string;
  /** Absent: manifests are refused. */
  readonly fleetRequests?: FleetRequests;
}

/** The object of a GET; cluster-scoped objects have no namespace. */
interface ReadTarget {
  readonly collection: string;
  readonly namespace?: string;
  readonly name: string;
}

/**
 * Of one object, by its name: an API server in health takes a hundredth of it, and a run that waits for
 * longer holds a place that other clusters wait for (L3). Writes keep the whole time-out: what is given
 * up too soon is ambiguous.
 */
export const OBJECT_READ_TIMEOUT_MS = 5_000;
/** Of a list: by it alone, since whole objects of thousands of pods are what is to be spared. */
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
/** A request without an answer for so long was never answered. */
const HANG_MS = 5_000;

const WATCHER_LEASE = {
  collection: '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases',
  namespace: 'rollcall-system',
  name: 'rollcall-watcher',
};
const SNAPSHOT_ANNOTATION = 'rollcall.dev/snapshot-requested';
/** It waits for a batch of other clusters' records, and is made again anyway. */
const SNAPSHOT_REQUEST_TIMEOUT_MS = 3_000;
/** A holder renews every ten seconds: it does not come between twice in a row. */
const SNAPSHOT_TRIES = 3;

function isOver(limits: ExecuteOptions, clock: Clock): boolean {
  return isPastDeadline(limits, { monotonicMs: clock.monotonicMs(), wallMs: clock.nowMs() });
}

export class HttpsClusterAccess implements ClusterAccess {
  readonly #options: ClusterAccessOptions;
  readonly #pressure;
  readonly #daemonSets: DaemonSetReads;

  constructor(options: ClusterAccessOptions) {
    this.#options = options;
    this.#pressure = createBackPressure(options.clock);
    this.#daemonSets = new DaemonSetReads({
      clock: options.clock,
      send: (request) => this.#send(request),
      beforeRead: (key) => this.#beforeRead({ ...key, collection: '' }),
      get: (key) =>
        this.#read(
          { ...key, collection: namespacedPath('apps', key.namespace, 'daemonsets') },
          readDaemonSet,
        ),
      timeoutMs: OBJECT_READ_TIMEOUT_MS,
    });
  }

  get answerTimes(): readonly AnswerTiming[] {
    return this.#options.transport.answerTimes;
  }

  async execute(effects: readonly Effect[], options: ExecuteOptions): Promise<readonly Outcome[]> {
    const outcomes = new Array<Outcome>(effects.length);
    const remaining = effects.entries();
    const { clock } = this.#options;
    let hasHung = false;
    const work = async (): Promise<void> => {
      for (const [index, effect] of remaining) {
        if (hasHung) {
          outcomes[index] = { kind: 'unsent', message: 'the API server stopped answering' };
          continue;
        }
        const startedMs = clock.monotonicMs();
        const outcome = await this.#executeOne(effect, options);
        outcomes[index] = outcome;
        // The rest of the batch would only wait as long, one after the other (L3).
        const isUnknown = outcome.kind === 'ambiguous';
        hasHung ||= isUnknown && clock.monotonicMs() - startedMs >= HANG_MS;
      }
    };
    const workers = Math.min(this.#options.concurrencyMax, effects.length);
    await Promise.all(Array.from({ length: workers }, work));
    return outcomes;
  }

  async #executeOne(effect: Effect, options: ExecuteOptions): Promise<Outcome> {
    const doubt = this.#beforeWrite(options);
    if (doubt !== undefined) return { kind: 'unsent', ...doubt };
    const prepared = requestOf(effect);
    if (prepared.kind === 'faulty') {
      return { kind: 'refused', code: 'other', status: 0, message: prepared.message };
    }
    const at = this.#daemonSets.now();
    // Limits on Events are their own (EventRateLimit); they must not hold pods back.
    const isOfItsOwn = effect.kind === 'create-event';
    const { request } = prepared;
    const answer = await (isOfItsOwn
      ? this.#exchange(request, options)
      : this.#send(request, options));
    const outcome = classifyWrite(answer, prepared.subject);
    this.#daemonSets.noteWritten(effect, outcome, at);
    const release = outcome.kind === 'done' ? releaseRequestOf(effect, outcome.object) : undefined;
    // Where it fails, the next apply of the DaemonSet has to be forced once (docs/modes.md).
    if (release !== undefined) await this.#send(release, options);
    return outcome;
  }

  /** Why nothing is sent now. */
  #beforeWrite(options: ExecuteOptions): Doubt | undefined {
    if (isOver(options, this.#options.clock)) return { message: 'the deadline has passed' };
    const retryAfterMs = this.#pressure.remainingMs();
    return retryAfterMs > 0 ? { message: 'the API server asked to wait', retryAfterMs } : undefined;
  }

  applyDaemonSet(manifest: FleetManifest, options: ApplyOptions): Promise<ManifestOutcome> {
    const { fleetRequests } = this.#options;
    if (fleetRequests === undefined) {
      const message = 'this program applies no manifests';
      return Promise.resolve({ kind: 'refused', status: 0, message });
    }
    return fleetRequests.applyManifest(manifest, options, {
      beforeWrite: () => this.#beforeWrite(options),
      send: (request) => this.#send(request, options),
    });
  }

  /** A server that asks to be left alone means all that is asked of it: the one place where that is noted. */
  async #send(request: TransportRequest, options?: ExecuteOptions): Promise<TransportAnswer> {
    const answer = await this.#exchange(request, options);
    if (answer.kind === 'answered' && answer.status >= 300)
      this.#pressure.note(answer.retryAfterMs);
    return answer;
  }

  /** A repetition with a new credential is a request that starts, too: none after the deadline (protocol 5). */
  async #exchange(request: TransportRequest, options?: ExecuteOptions): Promise<TransportAnswer> {
    const { transport, clock, refreshCredential } = this.#options;
    const answer = await transport.send(request);
    if (answer.kind !== 'answered' || answer.status !== 401) return answer;
    const isAgain = refreshCredential() && !(options !== undefined && isOver(options, clock));
    return isAgain ? transport.send(request) : answer;
  }

  /** Why an object is not asked for at all. */
  #beforeRead({ namespace, name }: ReadTarget): Unavailable | undefined {
    if (!isObjectName(name) || (namespace !== undefined && !isObjectName(namespace))) {
      return NOT_A_NAME;
    }
    const pauseMs = this.#pressure.remainingMs();
    return pauseMs > 0 ? waiting(pauseMs) : undefined;
  }

  async #read<T>(
    target: ReadTarget,
    read: (body: Json | undefined, target: ReadTarget) => T | undefined,
  ): Promise<LiveRead<T>> {
    const { name } = target;
    const doubt = this.#beforeRead(target);
    if (doubt !== undefined) return doubt;
    const path = `${target.collection}/${name}`;
    const answer = await this.#send({ method: 'GET', path, timeoutMs: OBJECT_READ_TIMEOUT_MS });
    return classifyRead(answer, name, (body) => read(body, target));
  }

  getDaemonSet(key: NamespacedName, question?: StoreQuestion): Promise<DaemonSetRead> {
    return this.#daemonSets.read(key, question);
  }

  async readDaemonSetManagers(key: NamespacedName): Promise<LiveRead<readonly FieldManager[]>> {
    const read = await this.getDaemonSet(key);
    if (read.kind !== 'found') return read;
    return { kind: 'found', object: readFieldManagers(read.object) };
  }

  getPod(key: NamespacedName): Promise<LiveRead<KubernetesObject>> {
    const collection = namespacedPath('core', key.namespace, 'pods');
    return this.#read({ ...key, collection }, readObject);
  }

  getNode(name: string): Promise<LiveRead<KubernetesObject>> {
    return this.#read({ name, collection: '/api/v1/nodes' }, readObject);
  }

  getRevision(key: NamespacedName): Promise<LiveRead<KubernetesObject>> {
    const collection = namespacedPath('apps', key.namespace, 'controllerrevisions');
    return this.#read({ ...key, collection }, readObject);
  }

  getTemplateCopy(key: NamespacedName): Promise<LiveRead<KubernetesObject>> {
    const collection = namespacedPath('core', key.namespace, 'podtemplates');
    return this.#read({ ...key, collection }, readObject);
  }

  getWatcherLease(): Promise<LiveRead<KubernetesObject>> {
    return this.#read(WATCHER_LEASE, readObject);
  }

  async listPodMetadata(
    namespace: string,
    labelSelector: string,
  ): Promise<LiveRead<readonly PodMetadata[]>> {
    const path = namespacedPath('core', namespace, 'pods');
    const listed = await this.#list({ namespace, path, labelSelector, accept: METADATA_LIST });
    if (listed.kind !== 'found') return listed;
    return { kind: 'found', object: listed.object.map(readPodMetadata) };
  }

  listPods(
    namespace: string,
    labelSelector: string,
  ): Promise<LiveRead<readonly KubernetesObject[]>> {
    const path = namespacedPath('core', namespace, 'pods');
    return this.#listObjects({ namespace, path, labelSelector, keep: slimPod });
  }

  listPodEvents(namespace: string, podUid: string): Promise<LiveRead<readonly PodEvent[]>> {
    return readPodEvents({ namespace, uid: podUid }, this.#means());
  }

  listRevisions(
    namespace: string,
    labelSelector: string,
  ): Promise<LiveRead<readonly KubernetesObject[]>> {
    const path = namespacedPath('apps', namespace, 'controllerrevisions');
    return this.#listObjects({ namespace, path, labelSelector });
  }

  async #listObjects(query: ListQuery): Promise<LiveRead<readonly KubernetesObject[]>> {
    // Each item's identity was checked with its page.
    return (await this.#list(query)) as unknown as LiveRead<readonly KubernetesObject[]>;
  }

  #list(query: ListQuery): Promise<LiveRead<readonly JsonObject[]>> {
    return listPages(query, this.#means());
  }

  #means(): ListMeans {
    return { send: (request) => this.#send(request), pressure: this.#pressure };
  }

  /**
   * The annotation is written under the version of the Lease that was read: nothing is written to one that another
   * installation holds, or takes just now (ADR 0024). A conflict is everyday, as the holder renews it: then both are repeated.
   */
  async requestSnapshot(requestId: string): Promise<LiveRead<JsonObject>> {
    const { installation } = this.#options;
    const { collection, name } = WATCHER_LEASE;
    for (let tries = SNAPSHOT_TRIES; ; tries -= 1) {
      const lease = await this.getWatcherLease();
      if (lease.kind !== 'found') return lease;
      if (installation !== undefined && isOfAnother(lease.object, installation))
        return { kind: 'missing' };
      const { resourceVersion } = lease.object.metadata;
      const annotations = { [SNAPSHOT_ANNOTATION]: requestId };
      const answer = await this.#send({
        method: 'PATCH',
        path: `${collection}/${name}`,
        contentType: 'application/merge-patch+json',
        body: JSON.stringify({ metadata: { resourceVersion, annotations } }),
        timeoutMs: SNAPSHOT_REQUEST_TIMEOUT_MS,
      });
      const isConflict = answer.kind === 'answered' && answer.status === 409;
      if (!isConflict || tries === 1)
        return classifyRead(answer, name, (body) => (isJsonObject(body) ? body : undefined));
    }
  }
}
