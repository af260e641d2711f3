/**
 * What a warm process remembers between runs: decoded slices by their stamps, sets of them by their last change,
 * paces of creates, timers just sent, live lists. Never needed for correctness: a cold process decides the same, only slower.
 *
 * Keys begin with the cluster's UID, so nothing of one cluster can answer for another (spec faults
 * 31). Least recently used sets leave when more than `objectsMax` projections are held, or sets without any.
 */
import type { ResourceVersion, Uid } from '../../../core/model/identifiers.ts';
import type { Stamp } from '../../../core/model/position.ts';
import type { Projection, Tombstone } from '../../../core/model/projections.ts';
import type { OlderTombstones } from '../../../core/model/view-items.ts';
import type { NamespacedName, SliceRef } from '../../../ports/stores/view-store.ts';
import type { PodMetadata } from '../../../ports/cluster/cluster-access.ts';

/** What the slices of a set hold together. */
export interface SetContent {
  readonly objects: readonly Projection[];
  readonly gone: readonly Tombstone[];
}

/** One slice, as its stamp has it; `gone` with the older tombstones beside it. */
export interface WarmSlice extends SetContent {
  readonly stamp: Stamp;
  readonly older?: OlderTombstones;
}

/** A whole set, as it stood when `changed` was its last change. */
export interface WarmSet extends SetContent {
  readonly changed: Stamp;
  /** The same by slices: of a set that changed, most slices did not. */
  readonly slices: readonly WarmSlice[];
}

/** Memory shared by all keys and clusters of one process. */
export interface ProcessCache {
  readonly sets: SetCache;
  /** Loads of node sets that are under way, so that ten keys of a cluster decode them once. */
  readonly loading: Map<string, Promise<WarmSet | undefined>>;
  readonly resends: Resends;
  readonly paces: Paces;
  readonly statusPatches: StatusPatches;
  readonly knownPods: KnownPods;
  /** Which UID a key had when it was read last. */
  readonly uids: Map<string, Uid>;
  /** Keys whose last run told a status and left nothing to do: that status comes back, and is nothing new. */
  readonly toldStatuses: Map<string, true>;
  readonly taintClaims: TaintClaims;
  /** Nodes that wait with their start-up taint, and one DaemonSet each that was found not to serve there. */
  readonly startUpWaits: StartUpWaits;
}

/** What a set takes by itself, in projections: one without pods holds 1.5 KB. */
const SET_WEIGHT = 4;

/** Least recently used sets, bounded by the number of projections they hold, and by their own number. */
export class SetCache {
  readonly #objectsMax: number;
  readonly #sets = new Map<string, WarmSet>();
  #weight = 0;

  constructor(objectsMax: number) {
    this.#objectsMax = objectsMax;
  }

  /** The set if it is held exactly as of `changed`. */
  get(key: string, changed: Stamp): WarmSet | undefined {
    const found = this.#sets.get(key);
    if (found?.changed !== changed) return undefined;
    this.#sets.delete(key);
    this.#sets.set(key, found);
    return found;
  }

  /** The set as it was held last, whenever that was. */
  last(key: string): WarmSet | undefined {
    return this.#sets.get(key);
  }

  /** Holds a set in place of what was held under its key. */
  put(key: string, set: WarmSet): void {
    this.#drop(key);
    this.#sets.set(key, set);
    this.#weight += weightOf(set);
    for (const oldest of this.#sets.keys()) {
      if (this.#weight <= this.#objectsMax) break;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    const found = this.#sets.get(key);
    if (found === undefined) return;
    this.#sets.delete(key);
    this.#weight -= weightOf(found);
  }
}

function weightOf({ objects, gone, slices }: WarmSet): number {
  return SET_WEIGHT + slices.length + objects.length + gone.length;
}

/** Key of a set in this memory. */
export function warmKey(ref: Omit<SliceRef, 'index'>, sliceCount: number): string {
  return `${ref.clusterUid}|${ref.set}|${sliceCount}`;
}

/** A fresh memory; make one per process and share it. */
export function createProcessCache(options: { readonly objectsMax?: number } = {}): ProcessCache {
  return {
    sets: new SetCache(options.objectsMax ?? 200_000),
    loading: new Map(),
    resends: new Resends(),
    paces: new Paces(),
    statusPatches: new StatusPatches(),
    knownPods: new KnownPods(),
    uids: new Map(),
    toldStatuses: new Map(),
    taintClaims: new TaintClaims(),
    startUpWaits: new StartUpWaits(),
  };
}

const KEPT_MS = 10_000;

/** Whose pace it is: other pods may fare differently. */
export interface PaceKey {
  readonly clusterUid: string;
  readonly uid: string;
  readonly generation: number;
}

/**
 * How fast the creates of a DaemonSet went lately, so that the next run need not start at one: a rollout is many
 * runs with some ten creates each. A pace holds for one generation, for a few seconds, and only after a run in
 * which no create failed; the fence before each batch stays (protocol 7). What goes wrong after all went well costs no
 * more requests than one run may send: the burst (spec 2.1). Times are monotonic.
 */
export class Paces {
  readonly #kept = new Map<string, { readonly batchSize: number; readonly atMs: number }>();

  /** Size of the first batch: 1 if nothing is known, or not any more. */
  firstBatchSize(key: PaceKey, monotonicMs: number): number {
    const kept = this.#kept.get(textOf(key));
    return kept !== undefined && monotonicMs - kept.atMs < KEPT_MS ? kept.batchSize : 1;
  }

  /** Notes the batch size that a run ended with; undefined: something went wrong, start anew. */
  note(key: PaceKey, batchSize: number | undefined, monotonicMs: number): void {
    if (batchSize === undefined) this.#kept.delete(textOf(key));
    else remember(this.#kept, textOf(key), { batchSize, atMs: monotonicMs });
  }
}

function textOf({ clusterUid, uid, generation }: PaceKey): string {
  return `${clusterUid}/${uid}/${generation}`;
}

const REPEAT_MS = 1000;

/**
 * Due times that were sent again (protocol 12). A run close before a due time that a timer caused sends it once
 * more, because that timer may have been the one of the due time. Of many timers that arrive together one does so:
 * else each would leave a timer, and chains would never merge (L5). Forgets after a second, so a timer that comes
 * too early is always replaced. Knows the timers of looks that no state records, too.
 */
export class Resends {
  readonly #sent = new Map<string, { readonly dueAtMs: number; readonly atMs: number }>();
  readonly #unrecorded = new Map<string, number>();

  /** Whether to send this due time of this key again; notes that it is sent. */
  take(key: string, dueAtMs: number, monotonicMs: number): boolean {
    const last = this.#sent.get(key);
    if (last?.dueAtMs === dueAtMs && monotonicMs - last.atMs < REPEAT_MS) return false;
    this.note(key, dueAtMs, monotonicMs);
    return true;
  }

  /** Notes that this due time of this key was sent just now. */
  note(key: string, dueAtMs: number, monotonicMs: number): void {
    remember(this.#sent, key, { dueAtMs, atMs: monotonicMs });
  }

  /** How long it takes until a look that nothing recorded, if one is on its way within that delay. */
  unrecordedWithin(
    key: string,
    at: { readonly monotonicMs: number; readonly delayMs: number },
  ): number | undefined {
    const dueMs = this.#unrecorded.get(key);
    if (dueMs === undefined) return undefined;
    const waitingMs = dueMs - at.monotonicMs;
    return waitingMs > 0 && waitingMs <= at.delayMs ? waitingMs : undefined;
  }

  /** Notes a look that nothing records. */
  noteUnrecorded(key: string, dueMonotonicMs: number): void {
    remember(this.#unrecorded, key, dueMonotonicMs);
  }
}

const KEYS_MAX = 10_000;

/** Notes a value under its key, as the newest. */
export function remember<T>(memory: Map<string, T>, key: string, value: T): void {
  memory.delete(key);
  memory.set(key, value);
  if (memory.size <= KEYS_MAX) return;
  const [oldest] = memory.keys();
  if (oldest !== undefined) memory.delete(oldest);
}

// A webhook or a proxy may refuse patches of a status: there it takes a read and a PUT.

const REFUSED_MS = 10 * 60_000;

/** What a warm process knows of that. Times are monotonic. */
export class StatusPatches {
  readonly #refusedUntilMs = new Map<string, number>();

  /** False while the cluster refused one lately. */
  mayPatch(clusterUid: string, monotonicMs: number): boolean {
    return (this.#refusedUntilMs.get(clusterUid) ?? 0) <= monotonicMs;
  }

  /** A patch was refused, by whatever reads who writes: roles, webhooks, proxies. A PUT may be refused as well. */
  noteRefused(clusterUid: string, monotonicMs: number): void {
    remember(this.#refusedUntilMs, clusterUid, monotonicMs + REFUSED_MS);
  }
}

const CLAIMED_MS = 60_000;

interface NodeOfCluster {
  readonly clusterUid: string;
  readonly uid: Uid;
}

export interface ClaimedNode extends NodeOfCluster {
  readonly resourceVersion: ResourceVersion;
}

/**
 * Start-up taints that a run of this process removes, or has removed: the runs that several pods wake at once find the same nodes.
 * A claim holds until the view shows another version of the node, and for a minute at most. Times are monotonic.
 */
export class TaintClaims {
  readonly #claimed = new Map<string, { readonly version: string; readonly atMs: number }>();

  /** True if no other run has it; then it is this one's. */
  take(node: ClaimedNode, monotonicMs: number): boolean {
    if (this.isTaken(node, monotonicMs)) return false;
    const claimed = { version: node.resourceVersion, atMs: monotonicMs };
    remember(this.#claimed, nodeKey(node), claimed);
    return true;
  }

  isTaken(node: ClaimedNode, monotonicMs: number): boolean {
    const claimed = this.#claimed.get(nodeKey(node));
    return claimed?.version === node.resourceVersion && monotonicMs - claimed.atMs < CLAIMED_MS;
  }

  /** It was not removed. */
  release(node: ClaimedNode): void {
    this.#claimed.delete(nodeKey(node));
  }
}

/**
 * Which DaemonSet a node waited for. While that one still does not serve there, no other can end the wait: a node that never becomes
 * whole costs each run that one's item and pods, and not those of all DaemonSets.
 */
export class StartUpWaits {
  readonly #waits = new Map<string, NamespacedName & { readonly uid: Uid }>();

  find(node: NodeOfCluster): (NamespacedName & { readonly uid: Uid }) | undefined {
    return this.#waits.get(nodeKey(node));
  }

  note(node: NodeOfCluster, waitsFor: NamespacedName & { readonly uid: Uid }): void {
    remember(this.#waits, nodeKey(node), waitsFor);
  }
}

function nodeKey({ clusterUid, uid }: NodeOfCluster): string {
  return `${clusterUid}/${uid}`;
}

// Whose a pod is and what it was made of does not change while it lives. It comes from the API server, once for many
// pods: a watcher is trusted to say how its cluster is, not what may be deleted there (ADR 0071, security.md).

/** Labels may be changed after all: not by much, nor for long. */
const KNOWN_MS = 10 * 60_000;
const PODS_MAX = 40_000;

export interface KnownPodsKey {
  readonly clusterUid: string;
  readonly uid: Uid;
}

interface Listed {
  readonly atMs: number;
  readonly pods: ReadonlyMap<Uid, PodMetadata>;
}

export class KnownPods {
  readonly #lists = new Map<string, Listed>();

  /** A pod as it was listed; undefined: not in the last list, or that one is old. */
  find(key: KnownPodsKey, pod: Uid, monotonicMs: number): PodMetadata | undefined {
    const listed = this.#lists.get(podsKey(key));
    return listed !== undefined && monotonicMs - listed.atMs < KNOWN_MS
      ? listed.pods.get(pod)
      : undefined;
  }

  /** Notes a list, in place of the one before; the oldest lists leave for it. */
  note(key: KnownPodsKey, pods: readonly PodMetadata[], monotonicMs: number): void {
    this.#lists.delete(podsKey(key));
    if (pods.length === 0 || pods.length > PODS_MAX) return;
    const byUid = new Map(pods.map((pod) => [pod.uid, pod]));
    this.#lists.set(podsKey(key), { atMs: monotonicMs, pods: byUid });
    let held = 0;
    for (const [text, listed] of [...this.#lists].reverse()) {
      held += listed.pods.size;
      if (held > PODS_MAX) this.#lists.delete(text);
    }
  }
}

function podsKey({ clusterUid, uid }: KnownPodsKey): string {
  return `${clusterUid}/${uid}`;
}
