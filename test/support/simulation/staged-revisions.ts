/**
 * Which nodes are in the canary of each revision, which go beside it, and which revisions are
 * proven: what S16 is judged by.
 *
 * A revision is what its pods run. It is proven once as many pods of it as the canary has nodes
 * were ready for the soak, without a restart, on Ready nodes, while it was the template's or no
 * status tells of the edit that came after it; what runs first is proven. Until then it is on as
 * many nodes as the canary has, and one more for each of them that was not Ready, or gone,
 * meanwhile: twice as many at most. Nodes that leave a revision that got no further than its
 * canary, and may have been halted, do not count where their pods have not served for as long as a
 * view may be old. It assumes to hear of each commit of the API server, and judges nothing: which
 * creates and deletes count, and are reported, is the matter of stage-audit.ts.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { RolloutPolicy } from '../../../src/core/policy/rollout-policy.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { controllerUid } from '../simulated-objects.ts';
import type { Commit, SimulatedApiServer } from './api-server.ts';
import { placementOf } from './oracle.ts';
import type { ReadyPods } from './ready-pods.ts';
import type { SkewHistory } from './skew-history.ts';
import {
  OLD_MS,
  isLive,
  isServing,
  observedGeneration,
  policyOf,
  readyOf,
  revisionOf,
  templateOf,
} from './staged-pods.ts';

/** A release is taken for good after its pods were well for so many soaks, each of its steps having one; what ran first has none. */
const WHOLE_SOAKS = 4;

export interface Revision {
  isProven: boolean;
  /** True where there was nothing to go back to when it came: it has no canary. */
  isBare: boolean;
  /** True once a pod of it was ready on a Ready node: until then it is nothing to go back to. */
  hasServed: boolean;
  /** True once it was on more nodes than its canary has: what is not may have been halted, and nobody outside can tell. */
  isSpread: boolean;
  /** True of what ran before every node had a pod. */
  isFirst: boolean;
  /** When it was seen well on all nodes for so long that it is good; undefined: it was not, or was left for an older one. */
  wholeAtMs?: number;
  /** True once the template left it for an older good one: no node is given it, until the template has it again. */
  isLeft: boolean;
  /** True if it is the template's again after that. */
  readonly isAnew: boolean;
  /** True if it had been the template's before: creates of that time may still be under way. */
  readonly isBack: boolean;
  /** Nodes that were given it, or emptied for it, since it is the template's: UIDs by name. */
  readonly touched: Map<string, string>;
  /** Those of them that were seen not Ready since. */
  readonly lost: Set<string>;
  /** The largest canary that it may have: chosen before its first node, and not made smaller when nodes leave. */
  chosenMax: number;
  /** Those that we emptied while what was meant for the template before may still have been under way. */
  readonly early: Set<string>;
  /** Names of nodes that left another revision for it that was no further than its canary. */
  readonly halted: Set<string>;
  /** Those of them that we emptied beside its canary. */
  readonly beside: Set<string>;
}

interface SetRecord {
  /** The template's revision, and when it became so; and the one before it. */
  current: string;
  before?: string;
  editedAtMs: number;
  /** What the template was before edits that no status tells of: runs that have not heard of them go on with it. */
  former: readonly { readonly key: string; readonly untilGeneration: number }[];
  /** True once every node had a pod: what runs until then is what there is to go back to. */
  isBegun: boolean;
  /** True once something served that is good for certain: what is proven as far as anybody outside can tell may have been halted. */
  hasGood: boolean;
  readonly revisions: Map<string, Revision>;
}

export interface Staged {
  readonly set: KubernetesObject;
  readonly policy: RolloutPolicy;
  readonly record: SetRecord;
}

/** Watches one cluster. */
export class StagedRevisions {
  readonly #api: SimulatedApiServer;
  readonly #clock: Clock;
  readonly #ready: ReadyPods;
  /** The clock that soaks, and the age of a view, are told by. */
  readonly #functions: SkewHistory;
  readonly #sets = new Map<string, SetRecord>();

  constructor(
    api: SimulatedApiServer,
    clock: Clock,
    by: { readonly ready: ReadyPods; readonly functions: SkewHistory },
  ) {
    this.#api = api;
    this.#clock = clock;
    this.#ready = by.ready;
    this.#functions = by.functions;
  }

  forget(): void {
    this.#sets.clear();
  }

  /** True while no DaemonSet is known to be under a policy. */
  isEmpty(): boolean {
    return this.#sets.size === 0;
  }

  isProven(set: KubernetesObject, revision: string): boolean {
    return this.#sets.get(set.metadata.uid)?.revisions.get(revision)?.isProven === true;
  }

  /** Its pods go back whatever the next template is: it is as if it had been halted. */
  noteUndone(set: KubernetesObject): void {
    const undone = this.#sets.get(set.metadata.uid)?.revisions.get(templateOf(set));
    if (undone !== undefined) undone.isSpread = false;
  }

  /** What the template was before what it is. */
  before({ metadata }: KubernetesObject): string | undefined {
    return this.#sets.get(metadata.uid)?.before;
  }

  /** The DaemonSet that a pod is of, if it is under a policy. */
  of(pod: KubernetesObject): Staged | undefined {
    const owner = controllerUid(pod);
    const set = this.#api.list('daemonsets').find(({ metadata }) => metadata.uid === owner);
    return set === undefined ? undefined : this.#find(set);
  }

  /** Looks at everything as it is after a commit. */
  note({ kind, object }: Commit): void {
    for (const set of this.#api.list('daemonsets')) {
      const staged = this.#find(set);
      if (staged !== undefined) this.prove(staged);
    }
    this.#ready.note();
    if (kind === 'nodes') this.#noteLost(object);
    for (const set of this.#api.list('daemonsets')) this.#look(set);
  }

  /** As it is before whatever changes now. */
  prove({ set, record, policy }: Staged): void {
    record.former = record.former.filter(
      ({ untilGeneration }) => observedGeneration(set) < untilGeneration,
    );
    const canary = this.canaryOf(policy, set);
    if (canary === undefined) return;
    for (const key of [record.current, ...record.former.map((former) => former.key)]) {
      const revision = revisionIn(record, key);
      const sinceMs = this.#ready.sinceMs(set.metadata.uid, key).at(canary - 1);
      if (revision.isProven || revision.isLeft || sinceMs === undefined) continue;
      // What was left for an older one is tried anew, whatever of it still stands.
      const isAnew = revision.isAnew && key === record.current;
      const fromMs = isAnew ? Math.max(sinceMs, record.editedAtMs) : sinceMs;
      revision.isProven = this.#functions.elapsedMs(fromMs) >= policy.soakMs;
    }
  }

  /** What all nodes ran well is good: seen late, so that whoever decides has seen it before. */
  #markWhole({ set, record, policy }: Staged): void {
    const revision = revisionIn(record, record.current);
    const nodes = this.#nodesOf(set).length;
    const sinceMs = this.#ready.sinceMs(set.metadata.uid, record.current).at(nodes - 1);
    if (nodes === 0 || sinceMs === undefined || revision.wholeAtMs !== undefined) return;
    const heldMs = this.#functions.elapsedMs(Math.max(sinceMs, record.editedAtMs));
    const soaks = revision.isFirst ? 0 : WHOLE_SOAKS;
    if (heldMs >= soaks * policy.soakMs + OLD_MS) {
      revision.wholeAtMs = this.#clock.monotonicMs();
    }
  }

  #markServing({ set, record }: Staged): void {
    for (const [key, revision] of record.revisions) {
      revision.hasServed ||= this.#ready.sinceMs(set.metadata.uid, key).length > 0;
      const isGood = revision.wholeAtMs !== undefined || (revision.isFirst && revision.hasServed);
      record.hasGood ||= isGood;
    }
  }

  /** A template that goes back to a good revision leaves all newer ones. */
  #leaveNewer({ revisions, current }: SetRecord, from: string): void {
    const back = revisions.get(current);
    if (back === undefined) return;
    const { wholeAtMs } = back;
    // It may be good by now: whether the others still are, nobody outside can tell.
    if (wholeAtMs === undefined) {
      for (const each of revisions.values()) delete each.wholeAtMs;
      return;
    }
    const newer = [...revisions.entries()].filter(
      ([key, each]) => key === from || (each.wholeAtMs ?? -1) > wholeAtMs,
    );
    const isFar = newer.filter(([, each]) => each.wholeAtMs !== undefined).length > 1;
    for (const [, each] of isFar ? [] : newer) {
      each.isProven = false;
      each.isLeft = true;
      delete each.wholeAtMs;
    }
  }

  /** What runs before every node has a pod is what there is to go back to; on so few nodes it may be a canary for all that. */
  markFirst({ set, record, policy }: Staged): void {
    if (record.isBegun) return;
    const pods = this.#podsOf(set);
    const canary = this.canaryOf(policy, set) ?? 0;
    for (const key of new Set(pods.map(revisionOf))) {
      const revision = revisionIn(record, key);
      Object.assign(revision, { isProven: true, isFirst: true });
      revision.isSpread ||= pods.filter((pod) => revisionOf(pod) === key).length > canary;
    }
    const on = new Set(pods.map(nodeOf));
    const nodes = this.#nodesOf(set);
    record.isBegun = nodes.length > 0 && nodes.every(({ metadata }) => on.has(metadata.name));
  }

  /**
   * True if a node is emptied for a revision beside its canary. A halted revision may have been left on the node, with a pod
   * that whoever made the canary need not have seen serve; or the pod may go back, in a rollback.
   */
  goesBeside(
    { halted, beside }: Revision,
    of: {
      readonly name: string;
      readonly victim: KubernetesObject;
      /** The revision that the node leaves. */
      readonly left: Revision | undefined;
      readonly mayGoBack: boolean;
    },
  ): boolean {
    const { name, victim, left, mayGoBack } = of;
    // What it leaves went no further than a canary, or its pod serves nobody.
    if (left?.isSpread !== true || !isServing(victim)) halted.add(name);
    const servedMs = this.#ready.lastedMs(victim.metadata.uid);
    const isSeen = servedMs > OLD_MS + this.#functions.setBackMs();
    if (isSeen && !mayGoBack) halted.delete(name);
    if (halted.has(name)) beside.add(name);
    return halted.has(name);
  }

  /** Takes a node into the canary of a revision; how many nodes that one has, if the revision is beyond it now. */
  enter(revision: Revision, name: string, { set, policy }: Staged): number | undefined {
    // A node that is gone, or that is to run none by now, is in no canary.
    const nodes = new Map(this.#nodesOf(set).map(({ metadata }) => [metadata.name, metadata.uid]));
    for (const [known, uid] of revision.touched) {
      if (nodes.get(known) === uid) continue;
      revision.touched.delete(known);
      // Another one may have gone in its place, and one of its name may be back.
      revision.lost.add(known);
    }
    revision.touched.set(name, nodes.get(name) ?? '');
    const node = this.#api.find('nodes', name);
    if (node === undefined || readyOf(node)?.status !== 'True') revision.lost.add(name);
    const mostNow = this.canaryOf(policy, set);
    const most = mostNow && Math.max(mostNow, revision.chosenMax);
    const isBeyond = most !== undefined && revision.touched.size > most + addedMax(revision, most);
    if (revision.isProven) revision.isSpread ||= isBeyond;
    return isBeyond ? most : undefined;
  }

  /** How many nodes the canary has; undefined where it is not told by a number. */
  canaryOf({ canary }: RolloutPolicy, set: KubernetesObject): number | undefined {
    if (canary.kind === 'selector') return undefined;
    const nodes = this.#nodesOf(set).length;
    const { share } = canary;
    const count = share.kind === 'count' ? share.count : Math.ceil((share.percent * nodes) / 100);
    return Math.max(1, Math.min(count, nodes));
  }

  #find(set: KubernetesObject): Staged | undefined {
    const record = this.#sets.get(set.metadata.uid);
    const policy = policyOf(set);
    return record === undefined || policy === undefined ? undefined : { set, policy, record };
  }

  /** A node that is not Ready shows nothing, and another one may go in its place. */
  #noteLost(node: KubernetesObject): void {
    if (readyOf(node)?.status === 'True') return;
    const { name } = node.metadata;
    for (const { revisions } of this.#sets.values()) {
      for (const { touched, beside, lost } of revisions.values()) {
        if (touched.has(name) || beside.has(name)) lost.add(name);
      }
    }
  }

  #look(set: KubernetesObject): void {
    const policy = policyOf(set);
    if (policy === undefined) {
      this.#sets.delete(set.metadata.uid);
      return;
    }
    const current = templateOf(set);
    const record = this.#sets.get(set.metadata.uid) ?? this.#begin(set);
    const staged = { set, policy, record };
    this.#markWhole(staged);
    this.#markServing(staged);
    if (record.current !== current) {
      const left = { key: record.current, untilGeneration: set.metadata.generation ?? 0 };
      const former = [...record.former.filter(({ key }) => key !== current), left];
      const before = record.current;
      const editedAtMs = this.#clock.monotonicMs();
      Object.assign(record, { current, before, former, editedAtMs });
      this.#leaveNewer(record, before);
      const isBack = record.revisions.has(current);
      const { isProven, hasServed, isSpread, isLeft, wholeAtMs } = revisionIn(record, current);
      const whole = wholeAtMs === undefined ? {} : { wholeAtMs };
      const halted = this.#leftOn(staged);
      record.revisions.set(current, {
        ...{ ...newRevision(), ...whole },
        ...{ isProven, hasServed, isSpread, isBack, isAnew: isLeft, halted },
      });
      // Where no pod serves, or only what nothing proved, there is nothing to go back to; where none runs, nothing is replaced.
      const pods = this.#podsOf(set);
      revisionIn(record, current).isBare = !pods.some(isServing) || !record.hasGood;
      if (pods.length === 0) record.isBegun = false;
    }
    const revision = revisionIn(record, current);
    if (revision.touched.size === 0) {
      revision.chosenMax = Math.max(revision.chosenMax, this.canaryOf(policy, set) ?? 0);
    }
    this.markFirst(staged);
  }

  #begin(set: KubernetesObject): SetRecord {
    const record: SetRecord = {
      current: templateOf(set),
      editedAtMs: this.#clock.monotonicMs(),
      former: [],
      isBegun: false,
      hasGood: false,
      revisions: new Map(),
    };
    this.#sets.set(set.metadata.uid, record);
    return record;
  }

  /** Nodes with a pod of a revision that got no further than its canary. */
  #leftOn({ set, record }: Staged): Set<string> {
    const pods = this.#podsOf(set).filter(
      (pod) => record.revisions.get(revisionOf(pod))?.isSpread !== true,
    );
    return new Set(pods.map((pod) => nodeOf(pod) ?? ''));
  }

  #nodesOf(set: KubernetesObject): readonly KubernetesObject[] {
    return this.#api.list('nodes').filter((node) => placementOf(set, node) === 'run');
  }

  #podsOf({ metadata }: KubernetesObject): readonly KubernetesObject[] {
    return this.#api
      .list('pods')
      .filter((pod) => controllerUid(pod) === metadata.uid && isLive(pod));
  }
}

/** A revision of a DaemonSet, which is known from now on. */
export function revisionIn({ revisions }: SetRecord, key: string): Revision {
  const found = revisions.get(key) ?? newRevision();
  revisions.set(key, found);
  return found;
}

function newRevision(): Revision {
  return {
    isProven: false,
    isBare: false,
    hasServed: false,
    isSpread: false,
    isFirst: false,
    isLeft: false,
    isAnew: false,
    isBack: false,
    touched: new Map(),
    lost: new Set(),
    chosenMax: 0,
    early: new Set(),
    halted: new Set(),
    beside: new Set(),
  };
}

/** How many may have been added in the place of nodes that were lost: they stay in the canary, whatever becomes of those. */
function addedMax({ lost }: Revision, most: number): number {
  return Math.min(most, lost.size);
}
