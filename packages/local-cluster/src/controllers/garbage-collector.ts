/**
 * The garbage collector: deletes what has lost all its owners, finishes foreground deletions, orphans on request.
 *
 * An index of dependents by their owner's UID says where to look; whether an owner exists is asked of the API server.
 * Differs from Kubernetes: a foreground deletion deletes its dependents in the background, not their dependents first.
 */
import type { ClientOutcome, LocalClient, ObservedChange } from '../client/local-client.ts';
import type { ApiObject, Owner } from '../objects/api-object.ts';
import type { ControllerContext, RunningController } from './shared/controller-context.ts';
import { refOf } from './shared/known-resources.ts';
import type { KnownKinds, KnownResource } from './shared/known-resources.ts';
import { createWorkQueue, DONE, RETRY } from './shared/work-queue.ts';
import type { WorkOutcome, WorkQueue } from './shared/work-queue.ts';

const WORKERS = 20;
/** Its dependents are deleted first. */
const FOREGROUND = 'foregroundDeletion';
/** Its dependents lose their references to it first. */
const ORPHAN = 'orphan';

interface Seen {
  readonly known: KnownResource;
  readonly object: ApiObject;
}

/** `waiting`: being deleted in the foreground. `unanswerable`: of a kind that is not served here, so nothing follows. */
type OwnerState = 'solid' | 'waiting' | 'absent' | 'unanswerable' | 'failed';

/** Starts it. */
export function startGarbageCollector(context: ControllerContext): RunningController {
  return new GarbageCollector(context);
}

class GarbageCollector {
  readonly #client: LocalClient;
  readonly #kinds: KnownKinds;
  readonly #queue: WorkQueue;
  readonly #seen = new Map<string, Seen>();
  /** UIDs of dependents by the UID of their owner, whether or not that exists. */
  readonly #dependents = new Map<string, Set<string>>();

  constructor({ client, kinds, mirrors, clock, log }: ControllerContext) {
    this.#client = client;
    this.#kinds = kinds;
    this.#queue = createWorkQueue({
      name: 'garbage-collector',
      clock,
      log,
      workers: WORKERS,
      process: (uid) => this.#look(uid),
    });
    kinds.onServed((known) => {
      if (known.resource === 'events') return;
      mirrors.of(known.resource).subscribe((change) => {
        this.#observe(known, change);
      });
    });
  }

  readonly stop = (): Promise<void> => this.#queue.stop();

  #observe(known: KnownResource, { type, object, previous }: ObservedChange): void {
    const { uid } = object.metadata;
    // Deleted and made again while the watch was interrupted.
    if (previous !== undefined && previous.metadata.uid !== uid) this.#forget(previous);
    if (type === 'DELETED') {
      this.#forget(object);
      return;
    }
    const ownersBefore = ownersOf(this.#seen.get(uid)?.object);
    this.#seen.set(uid, { known, object });
    if (ownersOf(object) !== ownersBefore) {
      this.#unlink(uid, ownersBefore);
      this.#link(object);
    }
    if (hasFinalizer(object, ORPHAN) || hasFinalizer(object, FOREGROUND)) this.#queue.add(uid);
  }

  #forget(object: ApiObject): void {
    const { uid } = object.metadata;
    this.#seen.delete(uid);
    for (const dependent of this.#dependents.get(uid) ?? []) this.#queue.add(dependent);
    this.#unlink(uid, ownersOf(object));
  }

  #link(object: ApiObject): void {
    const { uid } = object.metadata;
    for (const owner of ownersOf(object)) {
      const dependents = this.#dependents.get(owner.uid) ?? new Set<string>();
      dependents.add(uid);
      this.#dependents.set(owner.uid, dependents);
      if (!this.#isSeenAs(owner, object)) this.#queue.add(uid);
      if (this.#isWaiting(owner.uid)) this.#queue.add(owner.uid);
    }
  }

  #unlink(uid: string, owners: readonly Owner[]): void {
    for (const owner of owners) {
      const dependents = this.#dependents.get(owner.uid);
      dependents?.delete(uid);
      if (dependents?.size === 0) this.#dependents.delete(owner.uid);
      if (this.#isWaiting(owner.uid)) this.#queue.add(owner.uid);
    }
  }

  /** Has the owner been seen where the reference says that it is? Else the API server has to be asked. */
  #isSeenAs(owner: Owner, dependent: ApiObject): boolean {
    const seen = this.#seen.get(owner.uid)?.object;
    if (seen === undefined) return false;
    const { namespace = dependent.metadata.namespace, name } = seen.metadata;
    return (
      name === owner.name &&
      seen.kind === owner.kind &&
      seen.apiVersion === owner.apiVersion &&
      namespace === dependent.metadata.namespace
    );
  }

  #isWaiting(uid: string): boolean {
    const seen = this.#seen.get(uid);
    return seen !== undefined && hasFinalizer(seen.object, FOREGROUND);
  }

  async #look(uid: string): Promise<WorkOutcome> {
    const seen = this.#seen.get(uid);
    if (seen === undefined) return DONE;
    const { object } = seen;
    if (hasFinalizer(object, ORPHAN)) return this.#orphanDependents(seen);
    if (hasFinalizer(object, FOREGROUND)) return this.#finishForeground(seen);
    if (isBeingDeleted(object) || ownersOf(object).length === 0) return DONE;
    return this.#collect(seen);
  }

  /** One living owner keeps the object; without any it is deleted. */
  async #collect({ known, object }: Seen): Promise<WorkOutcome> {
    const ref = refOf(known, object.metadata);
    const found = await this.#client.get(ref);
    if (found.kind === 'refused') return settled(found);
    const { uid, resourceVersion } = found.object.metadata;
    if (uid !== object.metadata.uid) return DONE;
    const owners = ownersOf(found.object);
    const states: OwnerState[] = [];
    for (const owner of owners) states.push(await this.#stateOf(owner, found.object));
    if (states.includes('failed')) return RETRY;
    if (states.includes('unanswerable') || owners.length === 0) return DONE;
    if (states.every((state) => state === 'solid')) {
      // An owner that exists is about to be seen, unless its kind is not watched.
      const areSeen = owners.every((each) => each.kind === 'Event' || this.#seen.has(each.uid));
      return areSeen ? DONE : RETRY;
    }
    if (states.includes('solid')) {
      const gone = owners.filter((_owner, index) => states[index] !== 'solid');
      return this.#dropOwners({ known, object }, gone);
    }
    const options = { uid, resourceVersion, propagation: 'Background' } as const;
    return settled(await this.#client.delete(ref, options));
  }

  async #stateOf(owner: Owner, dependent: ApiObject): Promise<OwnerState> {
    const { namespace } = dependent.metadata;
    const known = this.#kinds.ofKind(owner);
    if (known === undefined || (known.isNamespaced && namespace === undefined)) {
      return 'unanswerable';
    }
    const found = await this.#client.get(refOf(known, { name: owner.name, namespace }));
    if (found.kind === 'refused') return found.status.code === 404 ? 'absent' : 'failed';
    if (found.object.metadata.uid !== owner.uid) return 'absent';
    return hasFinalizer(found.object, FOREGROUND) ? 'waiting' : 'solid';
  }

  /** Its dependents go; those that block it must be gone before it is. */
  async #finishForeground({ known, object }: Seen): Promise<WorkOutcome> {
    const { uid } = object.metadata;
    let isBlocked = false;
    for (const dependentUid of this.#dependents.get(uid) ?? []) {
      const dependent = this.#seen.get(dependentUid)?.object;
      if (dependent === undefined) continue;
      if (!isBeingDeleted(dependent)) this.#queue.add(dependentUid);
      isBlocked ||= ownersOf(dependent).some(
        (owner) => owner.uid === uid && owner.blockOwnerDeletion === true,
      );
    }
    return isBlocked ? DONE : this.#removeFinalizer({ known, object }, FOREGROUND);
  }

  async #orphanDependents(owner: Seen): Promise<WorkOutcome> {
    const { uid } = owner.object.metadata;
    for (const dependentUid of this.#dependents.get(uid) ?? []) {
      const dependent = this.#seen.get(dependentUid);
      if (dependent === undefined) continue;
      const references = ownersOf(dependent.object).filter((each) => each.uid === uid);
      if ((await this.#dropOwners(dependent, references)) !== DONE) return RETRY;
    }
    return this.#removeFinalizer(owner, ORPHAN);
  }

  /** The patch carries the dependent's UID: one that was made again under its name is not touched. */
  async #dropOwners({ known, object }: Seen, owners: readonly Owner[]): Promise<WorkOutcome> {
    const { uid } = object.metadata;
    const ownerReferences = owners.map((owner) => ({ $patch: 'delete', uid: owner.uid }));
    const body = { metadata: { uid, ownerReferences } };
    const ref = refOf(known, object.metadata);
    return settled(await this.#client.patch(ref, { type: 'strategic', body }));
  }

  async #removeFinalizer({ known, object }: Seen, finalizer: string): Promise<WorkOutcome> {
    const ref = refOf(known, object.metadata);
    const live = await this.#client.get(ref);
    if (live.kind === 'refused') return settled(live);
    const { uid, resourceVersion, finalizers = [] } = live.object.metadata;
    if (uid !== object.metadata.uid || !finalizers.includes(finalizer)) return DONE;
    const rest = finalizers.filter((each) => each !== finalizer);
    const body = { metadata: { resourceVersion, finalizers: rest } };
    return settled(await this.#client.patch(ref, { type: 'merge', body }));
  }
}

const NO_OWNERS: readonly Owner[] = [];

function ownersOf(object: ApiObject | undefined): readonly Owner[] {
  return object?.metadata.ownerReferences ?? NO_OWNERS;
}

function isBeingDeleted(object: ApiObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

/** Is its deletion held up by this finalizer? */
function hasFinalizer(object: ApiObject, finalizer: string): boolean {
  return isBeingDeleted(object) && object.metadata.finalizers?.includes(finalizer) === true;
}

/** What is gone needs nothing more. */
function settled(outcome: ClientOutcome): WorkOutcome {
  return outcome.kind === 'ok' || outcome.status.code === 404 ? DONE : RETRY;
}
