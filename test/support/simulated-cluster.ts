/**
 * A small API server in memory behind ClusterAccess: what reconcile's effects meet in tests.
 *
 * It keeps resourceVersions, UIDs, preconditions, AlreadyExists, finalizers and terminating states,
 * and answers admission refusals or loses answers when a test says so. It is no kube-apiserver: the
 * conformance suite holds the real one to the same expectations. Everything is deterministic. After
 * each write it checks S1, S4 and S5 itself, as an observer that no fault can reach (`violations`).
 */
import type { AnswerTiming } from '../../src/core/model/projections.ts';
import { resourceVersion, type ClusterUid } from '../../src/core/model/identifiers.ts';
import type { Effect, Outcome, RefusalCode } from '../../src/core/model/effects.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type {
  ClusterAccess,
  DaemonSetRead,
  LiveRead,
  PodMetadata,
} from '../../src/ports/cluster/cluster-access.ts';
import type { FieldManager } from '../../src/ports/cluster/manifest-access.ts';
import type { NamespacedName } from '../../src/ports/stores/view-store.ts';
import {
  readFieldManagers,
  readPodMetadata,
} from '../../src/adapters/kubernetes/api/object-reader.ts';
import { CREATED, isPlainCreate, type PlainCreate } from './simulated-creates.ts';
import type { ClusterHooks, Kind } from './simulated-hooks.ts';
import {
  controllerUid,
  done,
  findDoubles,
  matchesSelectorText,
  mergeMetadata,
  refusal,
  changeNode,
  warningsAbout,
} from './simulated-objects.ts';
import { SimulatedManifests } from './simulated-manifests.ts';
import { askedStatus } from './simulated-status.ts';
import { SortedObjects } from './sorted-objects.ts';

type Listed = LiveRead<readonly KubernetesObject[]>;

const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`;
/** An object as stored, open for writing. */
type Stored = KubernetesObject;

/** What an etcd held when it was backed up. */
export interface ClusterBackup {
  readonly version: number;
  readonly objects: ReadonlyMap<Kind, ReadonlyMap<string, Stored>>;
}

/** An API server in memory. */
export class SimulatedCluster implements ClusterAccess {
  readonly clusterUid: ClusterUid;
  hooks: ClusterHooks = {};
  /** What a test says that the last requests took; requests here take no time. */
  answers: () => readonly AnswerTiming[] = () => [];
  /** Every request, as `VERB kind name`. */
  readonly requests: string[] = [];
  /** The UID of the object that is the how-manieth; readable, unless their size matters. */
  uidOf: (count: number) => string = (count) => `uid-${String(count).padStart(5, '0')}`;
  readonly violations: string[] = [];
  /** True: a deleted pod stays terminating until `finishTermination`. */
  podsLinger = false;
  isNamespaceTerminating = false;
  /** False: a DaemonSet is read by GET, as where the functions' role allows no list. */
  tellsStoreVersion = true;
  readonly snapshotRequests: string[] = [];
  /** Server-side apply, also by others than the functions. */
  readonly manifests: SimulatedManifests;
  readonly #clock: Clock;
  readonly #objects = new Map<Kind, SortedObjects>();
  readonly #stuck: (() => void)[] = [];
  #version = 1000;
  #uids = 0;
  #effects = 0;

  constructor(clusterUid: ClusterUid, clock: Clock) {
    this.clusterUid = clusterUid;
    this.#clock = clock;
    this.manifests = new SimulatedManifests({
      clock,
      hooks: () => this.hooks,
      find: ({ namespace, name }) => this.find('daemonsets', name, namespace),
      create: (it) => this.put('daemonsets', { ...it, metadata: { ...it.metadata } }),
      replace: ({ namespace = '', name }, object) =>
        this.change('daemonsets', { namespace, name }, () => object),
      noteRequest: (text) => this.requests.push(text),
    });
  }

  get answerTimes(): readonly AnswerTiming[] {
    return this.answers();
  }

  /** Highest version given out: what a fully caught-up watcher has read. */
  get version(): string {
    return String(this.#version);
  }

  list(kind: Kind): readonly KubernetesObject[] {
    return this.#of(kind).byName();
  }

  find(kind: Kind, name: string, namespace?: string): KubernetesObject | undefined {
    return this.#of(kind).get(keyOf(namespace, name));
  }

  /** Creates or replaces an object from outside (a user, a kubelet, another controller). */
  put(
    kind: Kind,
    object: {
      readonly metadata: { readonly name: string; readonly [field: string]: unknown };
      readonly [field: string]: unknown;
    },
  ): KubernetesObject {
    const given = object.metadata as unknown as KubernetesObject['metadata']; // completed below
    const former = this.find(kind, given.name, given.namespace);
    const stored: Stored = {
      ...object,
      metadata: {
        ...given,
        uid: former?.metadata.uid ?? this.#nextUid(),
        resourceVersion: this.#nextVersion(),
        creationTimestamp: given.creationTimestamp ?? this.#timestamp(),
      },
    };
    this.#of(kind).set(keyOf(given.namespace, given.name), stored);
    return stored;
  }

  /** Changes an object from outside; a new version each time. */
  change(kind: Kind, key: NamespacedName, edit: (object: Stored) => Stored): KubernetesObject {
    const found = this.find(kind, key.name, key.namespace || undefined);
    if (found === undefined) throw new Error(`no ${kind} ${key.namespace}/${key.name}`);
    const isSet = kind === 'daemonsets';
    const edited = isSet ? this.manifests.noted(found, edit(found)) : edit(found);
    const stored = {
      ...edited,
      metadata: { ...edited.metadata, resourceVersion: this.#nextVersion() },
    };
    this.#of(kind).set(keyOf(found.metadata.namespace, key.name), stored);
    return stored;
  }

  remove(kind: Kind, name: string, namespace?: string): void {
    this.#of(kind).delete(keyOf(namespace, name));
    this.#nextVersion();
  }

  /** All that is stored, as a backup of etcd holds it. */
  backup(): ClusterBackup {
    const objects = new Map([...this.#objects].map(([kind, items]) => [kind, new Map(items)]));
    return { version: this.#version, objects };
  }

  /** Puts a backup back: versions go back with it and will be given out again (row 71). */
  restore(backup: ClusterBackup): void {
    this.#version = backup.version;
    this.#objects.clear();
    for (const [kind, items] of backup.objects) this.#objects.set(kind, SortedObjects.from(items));
  }

  /** The kubelet is done with every terminating pod that no finalizer holds. */
  finishTermination(): void {
    for (const pod of this.list('pods')) {
      if (pod.metadata.deletionTimestamp === undefined) continue;
      if ((pod.metadata.finalizers ?? []).length > 0) continue;
      this.remove('pods', pod.metadata.name, pod.metadata.namespace);
    }
  }

  /** Applies the requests that were stuck on their way. */
  releaseStuck(): void {
    for (const apply of this.#stuck.splice(0)) apply();
  }

  /** Requests that were stuck for too long are dead. */
  dropStuck(): void {
    this.#stuck.length = 0;
  }

  async execute(
    effects: readonly Effect[],
    options: { readonly deadlineMs: number },
  ): Promise<readonly Outcome[]> {
    return Promise.all(effects.map((effect) => this.#send(effect, options.deadlineMs)));
  }

  /** By a LIST, whose version is the store's. */
  async getDaemonSet(key: NamespacedName): Promise<DaemonSetRead> {
    const read = (await this.#get('daemonsets', key, 'LIST')) as LiveRead<DaemonSetObject>;
    const isTold = read.kind === 'found' && this.tellsStoreVersion;
    return isTold ? { ...read, storeVersion: resourceVersion(this.version) } : read;
  }

  applyDaemonSet: ClusterAccess['applyDaemonSet'] = (...input) => this.manifests.apply(...input);

  async readDaemonSetManagers(key: NamespacedName): Promise<LiveRead<readonly FieldManager[]>> {
    const read = await this.getDaemonSet(key);
    if (read.kind !== 'found') return read;
    return { kind: 'found', object: readFieldManagers(read.object) };
  }

  getPod(key: NamespacedName): Promise<LiveRead<KubernetesObject>> {
    return this.#get('pods', key);
  }

  getNode(name: string): Promise<LiveRead<KubernetesObject>> {
    return this.#get('nodes', { namespace: '', name });
  }

  getRevision(key: NamespacedName): Promise<LiveRead<KubernetesObject>> {
    return this.#get('controllerrevisions', key);
  }

  getTemplateCopy(key: NamespacedName): Promise<LiveRead<KubernetesObject>> {
    return this.#get('podtemplates', key);
  }

  getWatcherLease(): Promise<LiveRead<KubernetesObject>> {
    return this.#get('leases', { namespace: 'rollcall-system', name: 'rollcall-watcher' });
  }

  async listPodMetadata(
    namespace: string,
    labelSelector: string,
  ): Promise<LiveRead<readonly PodMetadata[]>> {
    const answer = await this.#read('LIST pods', namespace);
    if (answer !== undefined) return answer;
    const pods = this.#matching('pods', namespace, labelSelector);
    const object = pods.map((pod) => readPodMetadata(pod as unknown as JsonObject)); // raw JSON
    return { kind: 'found', object };
  }

  listPods: ClusterAccess['listPods'] = (...by) => this.#list('pods', 'LIST whole pods', by);
  listPodEvents: ClusterAccess['listPodEvents'] = async (namespace, podUid) => {
    const answer = await this.#read('LIST events', namespace);
    return answer ?? { kind: 'found', object: warningsAbout(podUid, this.list('events')) };
  };

  listRevisions: ClusterAccess['listRevisions'] = (...by) =>
    this.#list('controllerrevisions', 'LIST controllerrevisions', by);

  async requestSnapshot(requestId: string): Promise<LiveRead<JsonObject>> {
    const answer = await this.#read('PATCH leases', 'rollcall-watcher');
    if (answer !== undefined) return answer;
    this.snapshotRequests.push(requestId);
    return { kind: 'found', object: {} };
  }

  async #list(kind: Kind, what: string, by: [string, string]): Promise<Listed> {
    const answer = await this.#read(what, by[0]);
    return answer ?? { kind: 'found', object: this.#matching(kind, ...by) };
  }

  async #read(what: string, name: string): Promise<LiveRead<never> | undefined> {
    this.requests.push(`${what} ${name}`);
    return this.hooks.onRead?.(what, name);
  }

  async #get(kind: Kind, key: NamespacedName, verb = 'GET'): Promise<LiveRead<KubernetesObject>> {
    const answer = await this.#read(`${verb} ${kind}`, key.name);
    if (answer !== undefined) return answer;
    const object = this.find(kind, key.name, key.namespace || undefined);
    return object === undefined ? { kind: 'missing' } : { kind: 'found', object };
  }

  #matching(kind: Kind, namespace: string, selector: string): readonly KubernetesObject[] {
    return this.list(kind).filter(
      (object) =>
        object.metadata.namespace === namespace &&
        matchesSelectorText(selector, object.metadata.labels ?? {}),
    );
  }

  async #send(effect: Effect, deadlineMs: number): Promise<Outcome> {
    if (this.#clock.monotonicMs() >= deadlineMs) return { kind: 'unsent', message: 'deadline' };
    this.#effects += 1;
    const index = this.#effects;
    this.requests.push(`${effect.kind} ${effect.name}`);
    const intervention = await this.hooks.beforeEffect?.(effect, index);
    if (intervention?.kind === 'answer') return intervention.outcome;
    if (intervention?.kind === 'stuck') {
      this.#stuck.push(() => this.#apply(effect));
      return { kind: 'ambiguous', message: 'no answer in time' };
    }
    const outcome = this.#apply(effect);
    await this.hooks.afterEffect?.(effect, index);
    if (intervention?.kind === 'lose-answer') {
      return { kind: 'ambiguous', message: 'connection lost' };
    }
    return outcome;
  }

  #apply(effect: Effect): Outcome {
    const refused = this.hooks.admit?.(effect);
    if (refused !== undefined) return refusal(refused);
    const outcome = isPlainCreate(effect)
      ? this.#create(CREATED[effect.kind], effect)
      : this.#applyOther(effect);
    if (outcome.kind === 'done') this.hooks.onApplied?.(effect);
    return outcome;
  }

  #applyOther(effect: Exclude<Effect, PlainCreate>): Outcome {
    switch (effect.kind) {
      case 'create-pod':
        return this.#createPod(effect);
      case 'delete-pod':
        return this.#deletePod(effect);
      case 'patch':
        return this.#patch(effect);
      case 'replace-copy':
        return this.#replaceCopy(effect);
      case 'restore-template':
        return this.#restoreTemplate(effect);
      case 'delete-revision':
        return this.#deleteRevision(effect);
      case 'patch-event':
        return this.#patchEvent(effect);
      case 'update-status':
        return this.#updateStatus(effect);
      case 'remove-taint':
      case 'set-condition':
        return changeNode(effect, this);
    }
  }

  #createPod(effect: Extract<Effect, { kind: 'create-pod' }>): Outcome {
    const owner = controllerUid(effect.body as unknown as KubernetesObject); // raw JSON of a pod
    const set = this.list('daemonsets').find((item) => item.metadata.uid === owner);
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) {
      this.violations.push(`S5: ${effect.name} created for a DaemonSet that is gone or deleting`);
    }
    const admitted = this.hooks.admitPod?.(effect.body as unknown as KubernetesObject); // as above
    if (admitted !== undefined && 'code' in admitted) {
      return refusal(admitted.code as RefusalCode);
    }
    const body = (admitted ?? effect.body) as JsonObject;
    const outcome = this.#create('pods', {
      ...effect,
      body: { ...body, status: { phase: 'Pending' } },
    });
    this.#checkOnePodPerNode();
    return outcome;
  }

  #create(
    kind: Kind,
    effect: { readonly namespace: string; readonly name: string; readonly body: JsonObject },
  ): Outcome {
    if (this.isNamespaceTerminating) return refusal('namespace-terminating');
    if (this.find(kind, effect.name, effect.namespace) !== undefined) return { kind: 'exists' };
    const metadata = effect.body['metadata'] as JsonObject | undefined;
    const object = this.put(kind, {
      ...effect.body,
      metadata: { ...metadata, namespace: effect.namespace, name: effect.name },
    });
    return done(object);
  }

  #deletePod(effect: Extract<Effect, { kind: 'delete-pod' }>): Outcome {
    const pod = this.find('pods', effect.name, effect.namespace);
    if (pod === undefined) return { kind: 'gone' };
    const { uid, resourceVersion: version, deletionTimestamp, finalizers } = pod.metadata;
    if (uid !== effect.uid || version !== effect.resourceVersion) {
      return { kind: 'conflict', message: 'the precondition does not hold' };
    }
    if (controllerUid(pod) === undefined) this.violations.push(`S4: ${effect.name} is not owned`);
    if (deletionTimestamp !== undefined) return done(pod);
    this.hooks.onPodDelete?.(pod);
    if (!this.podsLinger && (finalizers ?? []).length === 0) {
      this.remove('pods', effect.name, effect.namespace);
      return done(pod);
    }
    return done(
      this.change('pods', effect, (object) => ({
        ...object,
        metadata: { ...object.metadata, deletionTimestamp: this.#timestamp() },
      })),
    );
  }

  #patch(effect: Extract<Effect, { kind: 'patch' }>): Outcome {
    const object = this.find(effect.resource, effect.name, effect.namespace);
    if (object === undefined) return { kind: 'gone' };
    if (object.metadata.uid !== effect.uid) return { kind: 'conflict', message: 'other UID' };
    const { metadata, ...rest } = effect.body;
    const version = (metadata as JsonObject | undefined)?.['resourceVersion'];
    if (version !== undefined && version !== object.metadata.resourceVersion) {
      return { kind: 'conflict', message: 'the object has been modified' };
    }
    const merged = mergeMetadata(object.metadata, metadata as JsonObject, effect.contentType);
    // "Only one reference can have Controller set to true."
    const owners = merged.ownerReferences ?? [];
    if (owners.filter(({ controller }) => controller === true).length > 1)
      return refusal('invalid');
    const patched = this.change(effect.resource, effect, (former) => {
      return { ...former, ...rest, metadata: merged };
    });
    return done(patched);
  }

  #restoreTemplate(effect: Extract<Effect, { kind: 'restore-template' }>): Outcome {
    const found = this.find('daemonsets', effect.name, effect.namespace);
    if (found === undefined) return { kind: 'gone' };
    const { uid, resourceVersion, generation = 0 } = found.metadata;
    if (uid !== effect.uid || resourceVersion !== effect.resourceVersion) {
      return { kind: 'conflict', message: 'the test operation failed' };
    }
    this.hooks.onTemplateRestore?.(found, effect.template);
    const restore = (object: Stored): Stored => ({
      ...object,
      metadata: { ...object.metadata, generation: generation + 1 },
      spec: { ...(object['spec'] as object), template: effect.template },
    });
    return done(
      this.change('daemonsets', effect, (it) => this.manifests.noted(it, restore(it), 'rollcall')),
    );
  }

  #replaceCopy(effect: Extract<Effect, { kind: 'replace-copy' }>): Outcome {
    const found = this.find('podtemplates', effect.name, effect.namespace);
    if (found === undefined) return { kind: 'gone' };
    const { uid, resourceVersion } = effect.body['metadata'] as unknown as Stored['metadata']; // asserted before
    if (uid !== found.metadata.uid || resourceVersion !== found.metadata.resourceVersion) {
      return { kind: 'conflict', message: 'the object has been modified' };
    }
    return done(this.change('podtemplates', effect, () => effect.body as unknown as Stored));
  }

  #deleteRevision(effect: Extract<Effect, { kind: 'delete-revision' }>): Outcome {
    const revision = this.find('controllerrevisions', effect.name, effect.namespace);
    if (revision === undefined) return { kind: 'gone' };
    const { uid, resourceVersion: version } = revision.metadata;
    if (uid !== effect.uid || version !== effect.resourceVersion) {
      return { kind: 'conflict', message: 'the precondition does not hold' };
    }
    if (controllerUid(revision) === undefined) {
      this.violations.push(`S10: revision ${effect.name} is not owned`);
    }
    this.remove('controllerrevisions', effect.name, effect.namespace);
    return done(revision);
  }

  #patchEvent(effect: Extract<Effect, { kind: 'patch-event' }>): Outcome {
    if (this.find('events', effect.name, effect.namespace) === undefined) return { kind: 'gone' };
    return done(this.change('events', effect, (former) => ({ ...former, ...effect.body })));
  }

  #updateStatus(effect: Extract<Effect, { kind: 'update-status' }>): Outcome {
    const object = this.find('daemonsets', effect.name, effect.namespace);
    if (object === undefined) return { kind: 'gone' };
    const asked = askedStatus(object, effect);
    if (asked.kind === 'refused') return asked.outcome;
    const { status } = asked;
    const former = object['status'] as { readonly observedGeneration?: number } | undefined;
    const observed = Number(status['observedGeneration'] ?? 0);
    if (observed < (former?.observedGeneration ?? 0)) this.violations.push('S7: generation fell');
    if (observed > (object.metadata.generation ?? 0)) this.violations.push('S7: generation leads');
    return done(this.change('daemonsets', effect, (item) => ({ ...item, status })));
  }

  #checkOnePodPerNode(): void {
    this.violations.push(...findDoubles(this.list('pods'), this.list('daemonsets'), nodeOf));
  }

  #of(kind: Kind): SortedObjects {
    const found = this.#objects.get(kind) ?? new SortedObjects();
    this.#objects.set(kind, found);
    return found;
  }

  #nextVersion(): string {
    this.#version += 1;
    return String(this.#version);
  }

  #nextUid(): string {
    this.#uids += 1;
    return this.uidOf(this.#uids);
  }

  #timestamp(): string {
    return new Date(this.#clock.nowMs()).toISOString();
  }
}

/** The node a pod is bound to, or aimed at by affinity. */
export function nodeOf(pod: KubernetesObject): string | undefined {
  const spec = pod['spec'] as
    { readonly nodeName?: string; readonly affinity?: unknown } | undefined;
  if (spec?.nodeName !== undefined) return spec.nodeName;
  return /"metadata\.name"[^\]]*"values":\["([^"]+)"\]/.exec(JSON.stringify(spec?.affinity))?.[1];
}
