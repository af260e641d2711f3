/**
 * S16 from outside: of a DaemonSet under a policy no revision goes beyond its canary before it was well there for the soak.
 *
 * Judged when one of its pods is made, or a delete of ours takes effect, by the commits of the API server, virtual time and the
 * text of the policy alone. A revision is what its pods run. It is proven once as many pods of it as the canary has nodes were
 * ready for the soak, without a restart, on Ready nodes, while it was the template's or no status tells of the edit that
 * came after it; what runs first is proven. Until then it is on as many nodes as the canary has, and one more for each of them that was
 * not Ready meanwhile: twice as many at most. Nodes that leave a revision that got no further than its canary, and may have been halted, do
 * not count where their pods have not served for as long as a view may be old.
 * A pod that was ready counts for as long as a view may be old: seen late, never early. A soak, and the age of a view, are told by
 * the functions' clock: where that one is set forward a soak is shorter (skew-history.ts). While a pause stands nothing is
 * replaced, but for what was under way (stage-halt-audit.ts). It knows nothing of records, gates and orders.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { RolloutPolicy } from '../../../src/core/policy/rollout-policy.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { controllerUid } from '../simulated-objects.ts';
import type { Commit, SimulatedApiServer } from './api-server.ts';
import { placementOf } from './oracle.ts';
import { ReadyPods } from './ready-pods.ts';
import { HaltAudit } from './stage-halt-audit.ts';
import { SkewHistory } from './skew-history.ts';
import {
  OLD_MS,
  UNDER_WAY_MS,
  isLive,
  isReplacement,
  isServing,
  nameOfContent,
  policyOf,
  readyOf,
  revisionOf,
  templateOf,
} from './staged-pods.ts';

/** One revision of one DaemonSet. */
interface Revision {
  isProven: boolean;
  /** True once it was on more nodes than its canary has: what is not may have been halted, and nobody outside can tell. */
  isSpread: boolean;
  /** True if it had been the template's before: creates of that time may still be under way. */
  readonly isBack: boolean;
  /** Nodes that were given it, or emptied for it, since it is the template's: UIDs by name. */
  readonly touched: Map<string, string>;
  /** Those of them that were seen not Ready since. */
  readonly lost: Set<string>;
  /** Those that we emptied while what was meant for the template before may still have been under way. */
  readonly early: Set<string>;
  /** Names of nodes that left another revision for it that was no further than its canary. */
  readonly halted: Set<string>;
  /** Those of them that we emptied beside its canary. */
  readonly beside: Set<string>;
}

interface SetRecord {
  /** The template's revision, and when it became so. */
  current: string;
  editedAtMs: number;
  /** What the template was before edits that no status tells of: runs that have not heard of them go on with it. */
  former: readonly { readonly key: string; readonly untilGeneration: number }[];
  /** True once every node had a pod: what runs until then is what there is to go back to. */
  isBegun: boolean;
  readonly revisions: Map<string, Revision>;
}

/** Watches one cluster. */
export class StageAudit {
  /** Creates and deletes that were judged while a revision was unproven. */
  judged = 0;
  readonly halts: HaltAudit;
  /** False: who makes the pods makes them of the newest template (copilot), and only what we delete is judged. */
  isStageTrue: () => boolean = () => true;
  readonly #api: SimulatedApiServer;
  readonly #clock: Clock;
  readonly #report: (text: string) => void;
  readonly #sets = new Map<string, SetRecord>();
  readonly #ready: ReadyPods;
  /** How far the functions' clock is off. */
  functionSkewMs: () => number = () => 0;
  readonly #functions: SkewHistory;

  constructor(api: SimulatedApiServer, clock: Clock, report: (text: string) => void) {
    this.#api = api;
    this.#clock = clock;
    this.#report = report;
    this.#functions = new SkewHistory(clock, () => this.functionSkewMs());
    this.#ready = new ReadyPods(api, clock, {
      oldMs: () => OLD_MS + this.#functions.setBackMs(),
    });
    this.halts = new HaltAudit(clock, report);
    api.subscribe((commit) => {
      this.#functions.note();
      if (commit === undefined) this.forget();
      else if (['daemonsets', 'nodes', 'pods'].includes(commit.kind)) this.#note(commit);
    });
  }

  /** What was proven is not known any more to those whom this watches. */
  forget(): void {
    this.#sets.clear();
    this.halts.forget();
  }

  /** True if what this template runs was well for the soak on as many nodes as the canary has, or ran before the policy came. */
  isProven(set: KubernetesObject, revision: string): boolean {
    return this.#sets.get(set.metadata.uid)?.revisions.get(revision)?.isProven === true;
  }

  /** A delete of ours is about to take effect. */
  judge(victim: KubernetesObject): void {
    const set = this.#setOf(victim);
    const found = set === undefined ? undefined : this.#find(set);
    const node = this.#api.find('nodes', nodeOf(victim) ?? '');
    if (set === undefined || found === undefined || node === undefined) return;
    if (!isReplacement(this.#api, { victim, set, node })) return;
    const { record, policy } = found;
    const left = revisionOf(victim);
    if (left === record.current) return;
    this.#prove(set, found);
    const { uid } = set.metadata;
    const former = record.revisions.get(left);
    const isWay = isWayBack(former, policy);
    if (!isWay) this.halts.judge(victim, uid);
    const revision = revisionIn(record, record.current);
    const { name } = node.metadata;
    const mayGoBack = isWay && this.halts.hasHalted(uid);
    if (mayGoFirst(former, victim)) revision.halted.add(name);
    if (this.#goesBeside(revision, { name, victim, mayGoBack })) return;
    this.#judgeTouched(victim, { set, name, record, policy });
  }

  /** It goes for the template of now, and counts. */
  #judgeTouched(
    victim: KubernetesObject,
    at: {
      readonly set: KubernetesObject;
      readonly name: string;
      readonly record: SetRecord;
      readonly policy: RolloutPolicy;
    },
  ): void {
    const { set, name, record, policy } = at;
    const revision = revisionIn(record, record.current);
    // One that was meant for the template before may still be under way.
    const sinceMs = this.#clock.monotonicMs() - record.editedAtMs;
    if (sinceMs <= UNDER_WAY_MS) {
      this.#judgeEarly(revision, { name, policy, set });
      return;
    }
    this.#touch(revision, {
      name,
      policy,
      set,
      key: record.current,
      what: `${victim.metadata.name} goes`,
    });
  }

  /**
   * A halted revision may have been left on the node, with a pod that whoever made the canary need not have seen serve; or the
   * pod may go back, in a rollback.
   */
  #goesBeside(
    { halted, beside }: Revision,
    of: {
      readonly name: string;
      readonly victim: KubernetesObject;
      readonly mayGoBack: boolean;
    },
  ): boolean {
    const { name, victim, mayGoBack } = of;
    const servedMs = this.#ready.lastedMs(victim.metadata.uid);
    const isSeen = servedMs > OLD_MS + this.#functions.setBackMs();
    if (isSeen && !mayGoBack) halted.delete(name);
    if (halted.has(name)) beside.add(name);
    return halted.has(name);
  }

  /** One batch may have been meant for the template before; where others make the pods no create tells more. */
  #judgeEarly(
    revision: Revision,
    at: {
      readonly name: string;
      readonly policy: RolloutPolicy;
      readonly set: KubernetesObject;
    },
  ): void {
    const { name, policy, set } = at;
    // What was meant for it when it stood before may be under way as well; and nodes that a halted one was left on are a canary.
    const isExcused = revision.isBack || this.halts.hasHalted(set.metadata.uid);
    if (this.isStageTrue() || isExcused) return;
    revision.early.add(name);
    const canary = this.#canaryOf(policy, set);
    const { maxUnavailable } = policy;
    if (revision.isProven || canary === undefined || maxUnavailable?.kind !== 'count') return;
    if (revision.early.size <= canary + maxUnavailable.count) return;
    const on = [...revision.early].join(', ');
    this.#report(`S16: ${name} is emptied, beyond the canary of ${canary} and a batch: ${on}`);
  }

  #note(commit: Commit): void {
    const isStaged = this.#api.list('daemonsets').some((set) => policyOf(set) !== undefined);
    if (!isStaged && this.#sets.size === 0) return;
    for (const set of this.#api.list('daemonsets')) {
      const found = this.#find(set);
      if (found !== undefined) this.#prove(set, found);
    }
    this.#ready.note();
    if (commit.kind === 'nodes') this.#noteLost(commit.object);
    for (const set of this.#api.list('daemonsets')) this.#look(set);
    if (commit.kind === 'pods' && commit.type === 'added') this.#judgeCreate(commit.object);
  }

  #isReady(name: string): boolean {
    const node = this.#api.find('nodes', name);
    return node !== undefined && readyOf(node)?.status === 'True';
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

  /** A pod was made by the DaemonSet's controller. */
  #judgeCreate(pod: KubernetesObject): void {
    const set = this.#setOf(pod);
    const found = set === undefined ? undefined : this.#find(set);
    const name = nodeOf(pod);
    if (set === undefined || found === undefined || name === undefined) return;
    const { record, policy } = found;
    const key = revisionOf(pod);
    const revision = revisionIn(record, key);
    if (!record.isBegun) this.#markFirst(set, found);
    if (!this.isStageTrue()) return;
    // After a halt nodes go back; who takes the rollout up again begins anew, where some of them are no canary any more.
    const isBackOn = key !== record.current && this.halts.hasHalted(set.metadata.uid);
    if (isBackOn) revisionIn(record, record.current).touched.delete(name);
    const isLate = revision.isBack && this.#clock.monotonicMs() - record.editedAtMs <= UNDER_WAY_MS;
    if (isLate || revision.halted.has(name)) return;
    this.#touch(revision, { name, policy, set, key, what: `${pod.metadata.name} is made` });
  }

  #touch(
    revision: Revision,
    at: {
      readonly name: string;
      readonly policy: RolloutPolicy;
      readonly set: KubernetesObject;
      /** The revision. */
      readonly key: string;
      readonly what: string;
    },
  ): void {
    const { name, policy, set, what } = at;
    // A node that is gone, or that is to run none by now, is in no canary.
    const nodes = new Map(this.#nodesOf(set).map(({ metadata }) => [metadata.name, metadata.uid]));
    for (const [known, uid] of revision.touched) {
      if (nodes.get(known) !== uid) revision.touched.delete(known);
    }
    revision.touched.set(name, nodes.get(name) ?? '');
    if (!this.#isReady(name)) revision.lost.add(name);
    const most = this.#canaryOf(policy, set);
    const isBeyond = most !== undefined && revision.touched.size > most + addedMax(revision, most);
    if (revision.isProven) {
      revision.isSpread ||= isBeyond;
      return;
    }
    this.judged += 1;
    if (!isBeyond) return;
    const on = [...revision.touched.keys()].join(', ');
    const nowMs = this.#clock.monotonicMs();
    const ready = this.#ready
      .sinceMs(set.metadata.uid, at.key)
      .map((sinceMs) => `${nowMs - sinceMs} ms`);
    this.#report(
      `S16: ${what} on ${name}, beyond the canary of ${most}: it is on ${on}, ready for ${ready.join(', ') || 'none'}`,
    );
  }

  #find(
    set: KubernetesObject,
  ): { readonly record: SetRecord; readonly policy: RolloutPolicy } | undefined {
    const record = this.#sets.get(set.metadata.uid);
    const policy = policyOf(set);
    return record === undefined || policy === undefined ? undefined : { record, policy };
  }

  #look(set: KubernetesObject): void {
    const { uid } = set.metadata;
    const policy = policyOf(set);
    this.halts.noteSet(uid, policy);
    if (policy === undefined) {
      this.#sets.delete(uid);
      return;
    }
    const current = templateOf(set);
    const record = this.#sets.get(uid) ?? this.#begin(set);
    if (record.current !== current) {
      const left = { key: record.current, untilGeneration: set.metadata.generation ?? 0 };
      const former = [...record.former.filter(({ key }) => key !== current), left];
      Object.assign(record, { current, former, editedAtMs: this.#clock.monotonicMs() });
      const isBack = record.revisions.has(current);
      const { isProven, isSpread } = revisionIn(record, current);
      const halted = this.#leftOn(set, record);
      record.revisions.set(current, {
        isProven,
        isSpread,
        isBack,
        touched: new Map(),
        lost: new Set(),
        early: new Set(),
        halted,
        beside: new Set(),
      });
      // Where no pod runs, nothing is replaced: there is no canary, and nothing to go back to.
      if (this.#podsOf(set).length === 0) record.isBegun = false;
    }
    if (!record.isBegun) this.#markFirst(set, { record, policy });
  }

  /** What runs before every node has a pod is what there is to go back to; on so few nodes it may be a canary for all that. */
  #markFirst(
    set: KubernetesObject,
    { record, policy }: { readonly record: SetRecord; readonly policy: RolloutPolicy },
  ): void {
    const pods = this.#podsOf(set);
    const canary = this.#canaryOf(policy, set) ?? 0;
    for (const key of new Set(pods.map(revisionOf))) {
      const revision = revisionIn(record, key);
      revision.isProven = true;
      revision.isSpread ||= pods.filter((pod) => revisionOf(pod) === key).length > canary;
    }
    const on = new Set(pods.map(nodeOf));
    const nodes = this.#nodesOf(set);
    record.isBegun = nodes.length > 0 && nodes.every(({ metadata }) => on.has(metadata.name));
  }

  #begin(set: KubernetesObject): SetRecord {
    const record: SetRecord = {
      current: templateOf(set),
      editedAtMs: this.#clock.monotonicMs(),
      former: [],
      isBegun: false,
      revisions: new Map(),
    };
    this.#sets.set(set.metadata.uid, record);
    return record;
  }

  /** Nodes with a pod of a revision that got no further than its canary; its content may be what was halted (ADR 0061). */
  #leftOn(set: KubernetesObject, { revisions }: SetRecord): Set<string> {
    const policy = policyOf(set);
    const canary = policy?.config === undefined ? 0 : (this.#canaryOf(policy, set) ?? 0);
    const all = this.#podsOf(set);
    const isFew = (of: KubernetesObject): boolean =>
      all.filter(
        (pod) => revisionOf(pod) === revisionOf(of) && nameOfContent(pod) === nameOfContent(of),
      ).length <= canary;
    const pods = all.filter(
      (pod) => revisions.get(revisionOf(pod))?.isSpread !== true || isFew(pod),
    );
    return new Set(pods.map((pod) => nodeOf(pod) ?? ''));
  }

  /** As it is before whatever changes now. */
  #prove(
    set: KubernetesObject,
    { record, policy }: { readonly record: SetRecord; readonly policy: RolloutPolicy },
  ): void {
    record.former = record.former.filter(
      ({ untilGeneration }) => observedGeneration(set) < untilGeneration,
    );
    const canary = this.#canaryOf(policy, set);
    if (canary === undefined) return;
    for (const key of [record.current, ...record.former.map((former) => former.key)]) {
      const revision = revisionIn(record, key);
      const sinceMs = this.#ready.sinceMs(set.metadata.uid, key).at(canary - 1);
      if (revision.isProven || sinceMs === undefined) continue;
      revision.isProven = this.#functions.elapsedMs(sinceMs) >= policy.soakMs;
    }
  }

  /** How many nodes the canary has; undefined where it is not told by a number. */
  #canaryOf({ canary }: RolloutPolicy, set: KubernetesObject): number | undefined {
    if (canary.kind === 'selector') return undefined;
    const nodes = this.#nodesOf(set).length;
    const { share } = canary;
    const count = share.kind === 'count' ? share.count : Math.ceil((share.percent * nodes) / 100);
    return Math.max(1, Math.min(count, nodes));
  }

  #nodesOf(set: KubernetesObject): readonly KubernetesObject[] {
    return this.#api.list('nodes').filter((node) => placementOf(set, node) === 'run');
  }

  #setOf(pod: KubernetesObject): KubernetesObject | undefined {
    const owner = controllerUid(pod);
    return this.#api.list('daemonsets').find(({ metadata }) => metadata.uid === owner);
  }

  #podsOf({ metadata }: KubernetesObject): readonly KubernetesObject[] {
    return this.#api
      .list('pods')
      .filter((pod) => controllerUid(pod) === metadata.uid && isLive(pod));
  }
}

/** How many may have been added in the place of nodes that were lost: they stay in the canary, whatever becomes of those. */
function addedMax({ lost }: Revision, most: number): number {
  return Math.min(most, lost.size);
}

function observedGeneration(set: KubernetesObject): number {
  const status = set['status'] as { readonly observedGeneration?: number } | undefined;
  return status?.observedGeneration ?? 0;
}

function revisionIn({ revisions }: SetRecord, key: string): Revision {
  const found = revisions.get(key) ?? {
    isProven: false,
    isSpread: false,
    isBack: false,
    touched: new Map<string, string>(),
    lost: new Set<string>(),
    early: new Set<string>(),
    halted: new Set<string>(),
    beside: new Set<string>(),
  };
  revisions.set(key, found);
  return found;
}

/**
 * What nothing proved goes back in a rollback, whichever revision was halted. Of one that got no further than its canary nobody
 * outside can tell: it stood there for its soak, and yet no run may have seen it in a fresh view.
 */
function isWayBack(left: Revision | undefined, { onBreach }: RolloutPolicy): boolean {
  return onBreach === 'rollback' && left?.isSpread !== true;
}

/** Of a node with a pod of another revision: one that went no further than a canary, or a pod that serves nobody. */
function mayGoFirst(left: Revision | undefined, victim: KubernetesObject): boolean {
  return left?.isSpread !== true || !isServing(victim);
}
