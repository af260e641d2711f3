/**
 * The watcher's slim picture of its cluster: the newest slim form of each object, by name, and who stands in which set.
 *
 * An object is one (kind, namespace, name, uid). Another uid under a known name means that the old one
 * was deleted in between (faults rows 38, 39): it is dropped first, whatever the stream said about it.
 * A list replaces a kind as a whole: what it does not name is gone. Older versions of a known object
 * never replace newer ones (S8). What was sent of an object is the outbox's business, kept in `sent`.
 */
import { defined } from '@rollcall/base/defined.ts';
import { compareResourceVersions, type Uid } from '../../core/model/identifiers.ts';
import { WATCHED_KINDS } from '../../core/model/projections.ts';
import type { NodeProjection, WatchedKind } from '../../core/model/projections.ts';
import type { Membership, SetId } from '../../core/model/watcher-message.ts';
import { isSameMembership, membershipsOf, type SelectorIndex } from './membership.ts';
import type { ObjectIdentity } from './project-object.ts';
import { isSameSlim, slimText, type SlimObject } from './projection.ts';

/** One object of the cluster, live or gone but not yet sent as gone. */
export interface Tracked {
  readonly of: WatchedKind;
  readonly uid: Uid;
  readonly name: string;
  readonly namespace?: string;
  /** Newest state; null once it is gone, or does not matter any more. */
  slim: SlimObject | null;
  /** Sets in which it stands now, with hashes of the newest state. */
  sets: readonly Membership[];
  /** Memberships as frozen into messages of this epoch; only the outbox writes this. */
  sent: readonly Membership[];
  /** A node as frozen into a message last; undefined: never, or as gone. Only the outbox writes this. */
  sentNode?: NodeProjection | 'opaque' | undefined;
  /** Length of the newest state's text: what it adds to the size of its sets. */
  chars: number;
}

/** An object before a change. */
export interface FormerState {
  readonly sets: readonly Membership[];
  /** As it was; undefined: it is new here, or stands in other sets as it is. */
  readonly slim?: SlimObject;
}

/** Hears what happened to objects. */
export interface StoreListener {
  /** State or sets of the object changed. */
  onChanged(tracked: Tracked, former: FormerState): void;
  /** An event came, and the projection is what it was. */
  onFiltered(tracked: Tracked): void;
}

interface Standing {
  readonly sets: readonly Membership[];
  readonly chars: number;
  readonly former?: SlimObject;
}

const NONE: readonly Membership[] = [];
/** How many gone objects are remembered before those that were sent as gone are forgotten. */
const GONE_COUNT_MIN = 256;

/** The picture of one cluster. */
export class ObjectStore {
  readonly #byName = new Map(
    WATCHED_KINDS.map((kind): [WatchedKind, NameIndex<Tracked>] => [kind, new NameIndex()]),
  );
  readonly #bySet = new Map<SetId, Set<Tracked>>();
  readonly #setChars = new Map<SetId, number>();
  /** Pods and revisions without controller, by namespace: re-placed when a selector comes or goes. */
  readonly #orphans = new Map<string, Set<Tracked>>();
  readonly #rollouts = new Set<Tracked>();
  /** Objects that are gone but perhaps not yet sent as gone: one that comes back is the same object. */
  readonly #gone = new Map<Uid, Tracked>();
  #goneCountMax = GONE_COUNT_MIN;
  readonly #selectors: SelectorIndex;
  readonly #listener: StoreListener;

  constructor(selectors: SelectorIndex, listener: StoreListener) {
    this.#selectors = selectors;
    this.#listener = listener;
  }

  /** The stored form of that object, if it has the same version; else the given one. */
  sameOr(slim: SlimObject): SlimObject {
    const known = this.#names(slim.of).get(slim)?.slim;
    const isSame =
      known?.uid === slim.uid &&
      known.resourceVersion === slim.resourceVersion &&
      known.projection.kind === slim.projection.kind;
    return isSame ? known : slim;
  }

  /** The newest state of an object, from an event or a list. */
  apply(slim: SlimObject): void {
    let tracked = this.#names(slim.of).get(slim);
    if (tracked !== undefined && tracked.uid !== slim.uid) {
      this.#drop(tracked);
      tracked = undefined;
    }
    if (tracked?.slim === undefined || tracked.slim === null) {
      this.#place(this.#track(slim), slim);
      return;
    }
    const former = tracked.slim;
    if (compareResourceVersions(slim.resourceVersion, former.resourceVersion) < 0) return;
    if (isSameSlim(former, slim)) {
      tracked.slim = slim;
      this.#listener.onFiltered(tracked);
      return;
    }
    this.#place(tracked, slim, former);
  }

  /** The object is gone, or does not matter any more. A deletion of another uid changes nothing. */
  remove(identity: Pick<ObjectIdentity, 'of' | 'uid' | 'name' | 'namespace'>): void {
    const tracked = this.#names(identity.of).get(identity);
    if (tracked?.uid === identity.uid) this.#drop(tracked);
  }

  /** A whole list: applies each object, and drops what the list does not name. */
  replaceKind(kind: WatchedKind, objects: readonly SlimObject[]): void {
    const listed = new Set(objects.map((slim) => slim.uid));
    for (const tracked of [...this.#names(kind).values()]) {
      if (!listed.has(tracked.uid)) this.#drop(tracked);
    }
    for (const slim of objects) this.apply(slim);
  }

  members(set: SetId): Iterable<Tracked> {
    return this.#bySet.get(set) ?? [];
  }

  /** Text of the largest sliced set, in characters: tells when there must be more slices. */
  get largestSetChars(): number {
    let largest = 0;
    for (const [set, chars] of this.#setChars) {
      const isSliced = set !== 'daemonsets' && !set.startsWith('revisions/');
      if (isSliced && chars > largest) largest = chars;
    }
    return largest;
  }

  /** Sets with at least one member, and those of live DaemonSets even if empty. */
  liveSets(): ReadonlySet<SetId> {
    const sets = new Set<SetId>(['nodes', 'daemonsets', ...this.#bySet.keys()]);
    for (const tracked of this.#names('DaemonSet').values()) {
      sets.add(`pods/${tracked.uid}`);
      sets.add(`revisions/${tracked.uid}`);
    }
    return sets;
  }

  objects(kind: WatchedKind): Iterable<Tracked> {
    return this.#names(kind).values();
  }

  count(kind: WatchedKind): number {
    return this.#names(kind).size;
  }

  /** How many stand in it. */
  sizeOf(set: SetId): number {
    return this.#bySet.get(set)?.size ?? 0;
  }

  findNode(name: string): Tracked | undefined {
    return this.#names('Node').get({ name });
  }

  /** True while a rollout runs, or a status lags behind its spec. */
  get hasRollout(): boolean {
    return this.#rollouts.size > 0;
  }

  /** True if one of these sets holds the pods of a DaemonSet of which pods are being replaced. */
  arePodsReplaced(sets: readonly Membership[]): boolean {
    for (const tracked of this.#rollouts) {
      if (sets.some(({ set }) => set === `pods/${tracked.uid}`)) return isReplacing(tracked);
    }
    return false;
  }

  #names(kind: WatchedKind): NameIndex<Tracked> {
    const names = this.#byName.get(kind);
    if (names === undefined) throw new Error(`kind is not watched: ${kind}`);
    return names;
  }

  #track(slim: SlimObject): Tracked {
    const returning = this.#gone.get(slim.uid);
    this.#gone.delete(slim.uid);
    const tracked = returning ?? trackedOf(slim);
    this.#names(slim.of).put(tracked);
    return tracked;
  }

  #rememberGone(tracked: Tracked): void {
    if (this.#gone.size >= this.#goneCountMax) {
      for (const [uid, { sent }] of this.#gone) if (sent.length === 0) this.#gone.delete(uid);
      this.#goneCountMax = Math.max(GONE_COUNT_MIN, this.#gone.size * 2);
    }
    this.#gone.set(tracked.uid, tracked);
  }

  #place(tracked: Tracked, slim: SlimObject, former?: SlimObject): void {
    tracked.slim = slim;
    if (slim.of === 'DaemonSet') this.#trackRollout(tracked, slim.isRollingOut);
    else if (slim.of !== 'Node') this.#trackOrphan(tracked, slim.ownerUid === undefined);
    const text = slimText(slim);
    const sets = membershipsOf(this.#selectors.setsOf(slim), text);
    this.#stand(tracked, { sets, chars: text.length, ...defined({ former }) });
    if (slim.of !== 'DaemonSet') return;
    const namespace = slim.namespace ?? '';
    if (this.#selectors.put(namespace, slim.uid, slim.selector)) this.#replaceOrphans(namespace);
  }

  #drop(tracked: Tracked): void {
    const { slim } = tracked;
    tracked.slim = null;
    this.#names(tracked.of).delete(tracked);
    this.#trackRollout(tracked, false);
    this.#trackOrphan(tracked, false);
    this.#rememberGone(tracked);
    this.#stand(tracked, { sets: NONE, chars: 0, ...(slim === null ? {} : { former: slim }) });
    if (tracked.of !== 'DaemonSet') return;
    const namespace = tracked.namespace ?? '';
    this.#selectors.remove(namespace, tracked.uid);
    this.#replaceOrphans(namespace);
  }

  #stand(tracked: Tracked, { sets, chars, former: slim }: Standing): void {
    const former = tracked.sets;
    for (const { set } of former) {
      this.#setChars.set(set, (this.#setChars.get(set) ?? 0) - tracked.chars);
      if (sets.some((next) => next.set === set)) continue;
      const members = this.#bySet.get(set);
      members?.delete(tracked);
      if (members?.size !== 0) continue;
      this.#bySet.delete(set);
      this.#setChars.delete(set);
    }
    for (const { set } of sets) {
      this.#setChars.set(set, (this.#setChars.get(set) ?? 0) + chars);
      const members = this.#bySet.get(set);
      if (members === undefined) this.#bySet.set(set, new Set([tracked]));
      else members.add(tracked);
    }
    tracked.sets = sets;
    tracked.chars = chars;
    this.#listener.onChanged(tracked, { sets: former, ...defined({ slim }) });
  }

  #trackRollout(tracked: Tracked, isRollingOut: boolean): void {
    if (isRollingOut) this.#rollouts.add(tracked);
    else this.#rollouts.delete(tracked);
  }

  #trackOrphan(tracked: Tracked, isOrphan: boolean): void {
    const namespace = tracked.namespace ?? '';
    const orphans = this.#orphans.get(namespace);
    if (isOrphan && orphans === undefined) this.#orphans.set(namespace, new Set([tracked]));
    else if (isOrphan) orphans?.add(tracked);
    else orphans?.delete(tracked);
  }

  #replaceOrphans(namespace: string): void {
    for (const tracked of this.#orphans.get(namespace) ?? []) {
      if (tracked.slim === null) continue;
      const text = slimText(tracked.slim);
      const sets = membershipsOf(this.#selectors.setsOf(tracked.slim), text);
      if (isSameMembership(sets, tracked.sets)) continue;
      this.#stand(tracked, { sets, chars: text.length });
    }
  }
}

/** As its status has it: nodes have pods of another revision. One whose first pods are made replaces none. */
function isReplacing({ slim }: Tracked): boolean {
  const of = slim?.projection;
  if (of?.kind !== 'DaemonSet') return true;
  const { metadata, status } = of.object;
  if (metadata.generation !== status?.observedGeneration) return true;
  return (status?.updatedNumberScheduled ?? 0) < (status?.currentNumberScheduled ?? 0);
}

/** Its members are written at once: added one by one they take twice the room, and there are ten thousands. */
function trackedOf({ of, uid, name, namespace }: SlimObject): Tracked {
  const sent = NONE;
  return namespace === undefined
    ? { of, uid, name, slim: null, sets: NONE, sent, sentNode: undefined, chars: 0 }
    : { of, uid, name, namespace, slim: null, sets: NONE, sent, chars: 0 };
}

/** As objects are told apart by people; a node has no namespace. */
interface Names {
  readonly name: string;
  readonly namespace?: string;
}

/**
 * The objects of one kind, by namespace and name: with one text of both as their key, ten thousand objects took a tenth more memory.
 */
export class NameIndex<Of extends Names> {
  readonly #namespaces = new Map<string, Map<string, Of>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get({ name, namespace = '' }: Names): Of | undefined {
    return this.#namespaces.get(namespace)?.get(name);
  }

  /** Puts it under its names, in place of what was there. */
  put(object: Of): void {
    const { name, namespace = '' } = object;
    const names = this.#namespaces.get(namespace) ?? new Map<string, Of>();
    this.#namespaces.set(namespace, names);
    if (!names.has(name)) this.#size += 1;
    names.set(name, object);
  }

  delete({ name, namespace = '' }: Names): void {
    const names = this.#namespaces.get(namespace);
    if (names?.delete(name) !== true) return;
    this.#size -= 1;
    if (names.size === 0) this.#namespaces.delete(namespace);
  }

  *values(): Generator<Of, void> {
    for (const names of this.#namespaces.values()) yield* names.values();
  }
}
