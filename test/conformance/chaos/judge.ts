/**
 * Judges one history: replays what the witness saw, event by event, beside the deletions that the audit
 * log has under the functions' identity. Nothing here is shared with src/.
 *
 *   S1  two non-terminal pods of a DaemonSet on a node, without surge (double-placement.ts, while it ran)
 *   S2  with surge: two live pods of one revision on a node, or three revisions
 *   S3  a pod that was available is deleted by us beyond the budget, as we had used it up (see below)
 *   S4  a deletion of ours without preconditions, or of a pod that no DaemonSet of the cast controls
 *   S5  a pod made for a DaemonSet that was gone long before
 *   S7  observedGeneration leads, or falls
 *
 * S3 is judged by what we did and must know: nodes that lost their available pod to us and have none yet,
 * or have had none for longer than a view may be old, are at most maxUnavailable; with surge the node had
 * a successor. What users, nodes and kubelets took away a moment ago is not ours (docs/promise.md,
 * *fresh*). Pods that leave because of their node are no rollout: a node counts only if the pod belonged there for a
 * while. How long a moment is, is said by lateness.ts.
 */
import type { DaemonSetRecord, NodeRecord, PodRecord } from '../control-plane/observed-records.ts';
import type { ObservedEvent } from '../control-plane/observer.ts';
import { belongs, mayStay, partOf, PARTS } from './cast.ts';
import type { Lateness } from './lateness.ts';
import type { History } from './witness.ts';

/** A deletion of a pod by the functions' identity that the API server accepted. */
export interface OwnDeletion {
  readonly name: string;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly atMs: number;
}

/** A broken promise. */
export interface Violation {
  readonly promise: 'S1' | 'S2' | 'S3' | 'S4' | 'S5' | 'S7';
  readonly atMs: number;
  readonly what: string;
}

export interface Case {
  readonly history: History;
  /** Those that the audit log has of that time. */
  readonly ownDeletions: readonly OwnDeletion[];
  /** False after a restore: the nodes of the history that was lost may still be acted upon. */
  readonly isFirst: boolean;
  readonly lateness: Lateness;
}

/** Judges a history. */
export function judgeHistory(given: Case): readonly Violation[] {
  const { history } = given;
  const replay = new Replay(given);
  for (const event of history.events) replay.see(event);
  replay.judgeDeletions();
  for (const { atMs, daemonSetUid, node, podNames } of history.doublePlacements) {
    const name = replay.nameOf(daemonSetUid);
    if (name === undefined || partOf(name).maxSurge > 0) continue;
    replay.violations.push({ promise: 'S1', atMs, what: `${name} on ${node}: ${podNames.join()}` });
  }
  return replay.violations;
}

interface SetState {
  readonly name: string;
  /** Its template's, each since when; the last is the present one. */
  readonly versions: { readonly version: string; readonly sinceMs: number }[];
  goneAtMs: number | undefined;
  observedGeneration: number;
  readonly podsByNode: Map<string, Map<string, PodRecord>>;
  /** Nodes whose available pod we deleted, until they have one again. */
  readonly takenByUs: Set<string>;
  /** When a pod of the node was last seen available. */
  readonly servedAtMs: Map<string, number>;
  readonly services: Services;
}

interface PodChange {
  readonly before: PodRecord | undefined;
  readonly pod: PodRecord;
  readonly event: ObservedEvent;
}

interface NodeState {
  record: NodeRecord;
  readonly seenAtMs: number;
  /** By DaemonSet name: since when a pod belongs there without a break, undefined while it does not. */
  readonly belongsSinceMs: Map<string, number>;
}

class Replay {
  readonly violations: Violation[] = [];
  readonly #given: Case;
  readonly #ownUids: ReadonlySet<string | undefined>;
  readonly #sets = new Map<string, SetState>();
  readonly #nodes = new Map<string, NodeState>();
  readonly #nodeNames = new Set<string>();
  readonly #ownedPods = new Set<string>();
  /** Pods are seen before their DaemonSet now and then: each kind has a stream of its own. */
  readonly #early = new Map<string, ObservedEvent[]>();

  constructor(given: Case) {
    this.#given = given;
    this.#ownUids = new Set(given.ownDeletions.map(({ uid }) => uid));
  }

  nameOf(uid: string): string | undefined {
    return this.#sets.get(uid)?.name;
  }

  see(event: ObservedEvent): void {
    const { record } = event;
    if (record.kind === 'DaemonSet') this.#seeDaemonSet(record, event);
    else if (record.kind === 'Node') this.#seeNode(record, event);
    else this.#seePod(record, event);
  }

  judgeDeletions(): void {
    for (const { name, uid, resourceVersion, atMs } of this.#given.ownDeletions) {
      if (uid === undefined || resourceVersion === undefined) {
        this.#add('S4', atMs, `pod ${name} was deleted without preconditions`);
      } else if (!this.#ownedPods.has(uid)) {
        this.#add('S4', atMs, `pod ${name} (${uid}) belongs to no DaemonSet that was seen`);
      }
    }
  }

  #seeDaemonSet(record: DaemonSetRecord, { type, atMs }: ObservedEvent): void {
    if (PARTS[record.name] === undefined) return;
    const version = record.templateLabels['version'] ?? '';
    const known = this.#sets.get(record.uid);
    const state = known ?? newSet(record.name);
    this.#sets.set(record.uid, state);
    noteVersion(state, { version, sinceMs: atMs });
    if (type === 'DELETED' || record.isDeleting) state.goneAtMs ??= atMs;
    const { observedGeneration, generation } = record;
    if (observedGeneration > generation || observedGeneration < state.observedGeneration) {
      const was = `${String(state.observedGeneration)} → ${String(observedGeneration)}`;
      this.#add('S7', atMs, `${record.name}: observedGeneration ${was} of ${String(generation)}`);
    }
    state.observedGeneration = observedGeneration;
    const early = this.#early.get(record.uid) ?? [];
    this.#early.delete(record.uid);
    for (const event of early) this.see(event);
  }

  #seeNode(record: NodeRecord, { type, atMs }: ObservedEvent): void {
    if (type === 'DELETED') {
      this.#nodes.delete(record.name);
      return;
    }
    const known = this.#nodes.get(record.name);
    // Another node under the same name begins anew.
    const isKnown = known?.record.uid === record.uid;
    const state = isKnown
      ? known
      : { record, seenAtMs: atMs, belongsSinceMs: new Map<string, number>() };
    state.record = record;
    // A name that nobody has seen before can have no pod that has to go because of its node.
    const isNew = this.#given.isFirst && !this.#nodeNames.has(record.name);
    const sinceMs = isNew ? Number.NEGATIVE_INFINITY : atMs;
    this.#nodeNames.add(record.name);
    this.#nodes.set(record.name, state);
    for (const name of Object.keys(PARTS)) {
      const isPlace = belongs(name, record) && mayStay(name, record);
      if (!isPlace) state.belongsSinceMs.delete(name);
      else if (!state.belongsSinceMs.has(name)) state.belongsSinceMs.set(name, sinceMs);
    }
  }

  #seePod(pod: PodRecord, event: ObservedEvent): void {
    const { daemonSetUid, node } = pod;
    if (daemonSetUid === undefined || node === undefined) return;
    const set = this.#sets.get(daemonSetUid);
    if (set === undefined) {
      const waiting = this.#early.get(daemonSetUid) ?? [];
      this.#early.set(daemonSetUid, [...waiting, event]);
      return;
    }
    this.#ownedPods.add(pod.uid);
    const pods = set.podsByNode.get(node) ?? new Map<string, PodRecord>();
    set.podsByNode.set(node, pods);
    this.#noteService(set, node, event.atMs);
    this.#judgeChange(set, { before: pods.get(pod.uid), pod, event });
    if (event.type === 'DELETED') pods.delete(pod.uid);
    else pods.set(pod.uid, pod);
    this.#noteService(set, node, event.atMs);
    this.#judgeSurge(set, node, event.atMs);
  }

  #judgeChange(set: SetState, change: PodChange): void {
    const { before, pod, event } = change;
    if (before === undefined) {
      if (event.type !== 'DELETED') this.#judgeCreation(set, pod, event);
      return;
    }
    const isGoing = event.type === 'DELETED' || pod.isDeleting;
    if (!isGoing || before.isDeleting || !this.#ownUids.has(pod.uid)) return;
    this.#judgeOwnDeletion(set, before, event.atMs);
    set.services.forget(before);
  }

  #noteService(set: SetState, node: string, atMs: number): void {
    const pods = [...(set.podsByNode.get(node)?.values() ?? [])];
    const available = pods.filter((pod) => isAvailable(set, pod, { atMs, marginMs: 0 }));
    if (available.length === 0) return;
    for (const pod of available) set.services.note(pod, atMs);
    set.servedAtMs.set(node, atMs);
    set.takenByUs.delete(node);
  }

  #judgeCreation(set: SetState, pod: PodRecord, { atMs }: ObservedEvent): void {
    if (set.goneAtMs === undefined || atMs - set.goneAtMs < this.#given.lateness.effectMs) return;
    this.#add('S5', atMs, `pod ${pod.name} was made for ${set.name}, which is gone`);
  }

  #judgeOwnDeletion(set: SetState, pod: PodRecord, atMs: number): void {
    const node = pod.node ?? '';
    const part = partOf(set.name);
    const { effectMs } = this.#given.lateness;
    const since = this.#nodes.get(node)?.belongsSinceMs.get(set.name);
    // Made available by time alone a moment ago, or not needed there lately: no matter of the budget.
    if (!isAvailable(set, pod, { atMs, marginMs: 2_000 })) return;
    if (since === undefined || atMs - since < effectMs || set.goneAtMs !== undefined) return;
    if (part.maxSurge > 0) {
      this.#judgeSurgeDeletion(set, pod, atMs);
      return;
    }
    const present = presentOf(set);
    const isSettled = present !== undefined && atMs - present.sinceMs > effectMs;
    if (isSettled && pod.labels['version'] === present.version) {
      this.#add('S3', atMs, `${set.name} on ${node}: an available pod of the present version`);
    }
    const without = this.#nodesWithout(set, atMs).filter((name) => name !== node);
    if (without.length >= part.maxUnavailable) {
      this.#add('S3', atMs, `${set.name} on ${node}: deleted while ${without.join()} had no pod`);
    }
    set.takenByUs.add(node);
  }

  /** Nodes that lost their available pod to us, or have had none for so long that we must know. */
  #nodesWithout(set: SetState, atMs: number): readonly string[] {
    const knownFromMs = atMs - this.#given.lateness.viewMs;
    return [...this.#nodes].flatMap(([name, { seenAtMs, belongsSinceMs }]) => {
      const sinceMs = belongsSinceMs.get(set.name);
      // What we took from a node that went, or is no place any more, is nobody's loss.
      if (sinceMs === undefined) return [];
      this.#noteService(set, name, atMs);
      const unservedSinceMs = Math.max(seenAtMs, sinceMs, set.servedAtMs.get(name) ?? 0);
      return set.takenByUs.has(name) || unservedSinceMs < knownFromMs ? [name] : [];
    });
  }

  #judgeSurgeDeletion(set: SetState, pod: PodRecord, atMs: number): void {
    const node = pod.node ?? '';
    const { effectMs, viewMs } = this.#given.lateness;
    const fromMs = atMs - effectMs;
    // Those of which one was the present one at some time since the live read.
    const versions = set.versions.filter((_, index) => {
      const endedAtMs = set.versions[index + 1]?.sinceMs ?? Number.POSITIVE_INFINITY;
      return endedAtMs >= fromMs;
    });
    const rightVersions = new Set(versions.map(({ version }) => version));
    const isExcused = set.services.hasSuccessor(pod, { rightVersions, sinceMs: atMs - viewMs });
    if (isExcused) return;
    const of = `(version ${pod.labels['version'] ?? ''}, of ${[...rightVersions].join()})`;
    const what = `${pod.name} ${of} was deleted with no available successor there`;
    this.#add('S3', atMs, `${set.name} on ${node}: ${what}`);
  }

  #judgeSurge(set: SetState, node: string, atMs: number): void {
    if (partOf(set.name).maxSurge === 0) return;
    const live = [...(set.podsByNode.get(node)?.values() ?? [])].filter(isLive);
    const hashes = new Set(live.map(({ revisionHash }) => revisionHash));
    if (hashes.size === live.length && hashes.size <= 2) return;
    const pods = live.map(({ name, revisionHash = '' }) => `${name} (${revisionHash})`);
    this.#add('S2', atMs, `${set.name} on ${node}: ${pods.join()}`);
  }

  #add(promise: Violation['promise'], atMs: number, what: string): void {
    this.violations.push({ promise, atMs, what });
  }
}

function noteVersion(set: SetState, noted: SetState['versions'][number]): void {
  if (presentOf(set)?.version !== noted.version) set.versions.push(noted);
}

function presentOf({ versions }: SetState): SetState['versions'][number] | undefined {
  return versions.at(-1);
}

function newSet(name: string): SetState {
  return {
    name,
    versions: [],
    goneAtMs: undefined,
    observedGeneration: 0,
    podsByNode: new Map(),
    takenByUs: new Set(),
    servedAtMs: new Map(),
    services: createServices(),
  };
}

function isLive(pod: PodRecord): boolean {
  return !pod.isTerminal && !pod.isDeleting;
}

function isAvailable(
  set: SetState,
  pod: PodRecord,
  at: { readonly atMs: number; readonly marginMs: number },
): boolean {
  if (!isLive(pod) || !pod.isReady || pod.readySinceMs === undefined) return false;
  const { minReadySeconds } = partOf(set.name);
  if (minReadySeconds === 0) return true;
  return pod.readySinceMs + minReadySeconds * 1000 + at.marginMs <= at.atMs;
}

interface Service {
  readonly uid: string;
  readonly version: string | undefined;
  servedAtMs: number;
}

interface SuccessorQuestion {
  /** Versions that were the present one at some time since the live read before the deletion. */
  readonly rightVersions: ReadonlySet<string>;
  /** Who was last available before that is known to be gone. */
  readonly sinceMs: number;
}

/** The pods of one DaemonSet that were available, by node. */
interface Services {
  readonly note: (pod: PodRecord, atMs: number) => void;
  /** We deleted it. */
  readonly forget: (pod: PodRecord) => void;
  readonly hasSuccessor: (victim: PodRecord, question: SuccessorQuestion) => boolean;
}

/** Begins with none. */
function createServices(): Services {
  const byNode = new Map<string, Map<string, Service>>();
  const servicesOn = ({ node = '' }: PodRecord): Map<string, Service> => {
    const found = byNode.get(node) ?? new Map<string, Service>();
    byNode.set(node, found);
    return found;
  };
  return {
    note: (pod, atMs) => {
      const { uid } = pod;
      servicesOn(pod).set(uid, { uid, version: pod.labels['version'], servedAtMs: atMs });
    },
    forget: (pod) => {
      servicesOn(pod).delete(pod.uid);
    },
    hasSuccessor: (victim, { rightVersions, sinceMs }) => {
      const own = victim.labels['version'];
      // Of two former ones either may go: there is no order between them (spec 2.7).
      const isFormer = [...rightVersions].some((version) => version !== own);
      return [...servicesOn(victim).values()].some(
        ({ uid, version = '', servedAtMs }) =>
          uid !== victim.uid && servedAtMs >= sinceMs && (rightVersions.has(version) || isFormer),
      );
    },
  };
}
