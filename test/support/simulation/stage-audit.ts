/**
 * S16 from outside: of a DaemonSet under a policy no revision goes beyond its canary before it was well there for the soak.
 *
 * Judged when one of its pods is made, or a delete of ours takes effect, by the commits of the API server, virtual time and the
 * text of the policy alone. Here is which creates and deletes count; what is proven, and which nodes are in a canary or beside
 * it, is told by staged-revisions.ts. A pod that was ready counts for as long as a view may be old: seen late, never early. A
 * soak, and the age of a view, are told by the functions' clock: where that one is set forward a soak is shorter
 * (skew-history.ts). Nor is a node given a revision that the template has left for an older good one. While a pause stands nothing is replaced, but for what was under way. It knows nothing
 * of records, gates and orders.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { RolloutPolicy } from '../../../src/core/policy/rollout-policy.ts';
import { nodeOf } from '../simulated-cluster.ts';
import type { Commit, SimulatedApiServer } from './api-server.ts';
import { ReadyPods } from './ready-pods.ts';
import { SkewHistory } from './skew-history.ts';
import { OLD_MS, UNDER_WAY_MS, isReplacement, policyOf, revisionOf } from './staged-pods.ts';
import { StagedRevisions, revisionIn, type Revision, type Staged } from './staged-revisions.ts';
import type { RolloutRecord } from '../../../src/core/model/rollout-record.ts';
import type { DaemonSetState } from '../../../src/core/model/state.ts';
import type { DaemonSetRef } from '../../../src/ports/stores/view-store.ts';

interface Pause {
  readonly atMs: number;
  /** UIDs of pods that went since. */
  readonly gone: Set<string>;
}

interface Breached extends Pause {
  readonly hash: string;
}

/** Watches one cluster. */
class HaltAudit {
  /** Replacements that met a pause. */
  judged = 0;
  readonly #clock: Clock;
  readonly #report: (text: string) => void;
  readonly #ordered = new Map<string, Pause>();
  readonly #written = new Map<string, Pause>();
  /** The record of a DaemonSet as it stands, past all faults; undefined: there is none. */
  recordOf: (uid: string) => RolloutRecord | undefined = () => undefined;
  readonly #breached = new Map<string, Breached>();
  readonly #everBreached = new Set<string>();
  readonly #resumedAtMs = new Map<string, number>();
  readonly #unavailableMax = new Map<string, number>();

  constructor(clock: Clock, report: (text: string) => void) {
    this.#clock = clock;
    this.#report = report;
  }

  /** An operator paused the rollouts of a DaemonSet, and was told so. */
  notePause(uid: string): void {
    if (!this.#ordered.has(uid)) this.#ordered.set(uid, this.#pauseNow());
  }

  /** He is about to take them up again. */
  noteResume(uid: string): void {
    this.#ordered.delete(uid);
    this.#resumedAtMs.set(uid, this.#clock.monotonicMs());
  }

  /** True if a breach of it was ever recorded. */
  hasHalted(uid: string): boolean {
    return this.#everBreached.has(uid);
  }

  /** What runs had recorded is lost. */
  forget(): void {
    this.#breached.clear();
  }

  /** A run wrote a state: the arguments of that write. */
  noteWrite(input: readonly unknown[]): void {
    const [{ uid }, { rollout }] = input as [DaemonSetRef, DaemonSetState];
    const former = this.#breached.get(uid);
    if (rollout?.breach !== undefined) {
      if (former?.hash === rollout.hash) return;
      this.#everBreached.add(uid);
      const { cause, nodes } = rollout.breach;
      if (cause === 'NodesFailed' && new Set(nodes).size < 2)
        this.#report(`S16: revision ${rollout.hash} is halted for ${nodes.join()} alone`);
      this.#breached.set(uid, { ...this.#pauseNow(), hash: rollout.hash });
      return;
    }
    this.#breached.delete(uid);
    if (former === undefined || former.hash !== rollout?.hash) return;
    if ((this.#resumedAtMs.get(uid) ?? -Infinity) >= former.atMs) return;
    this.#report(`S16: the halt of revision ${former.hash} is forgotten, and nobody resumed it`);
  }

  /** How the policy of a DaemonSet stands; undefined: there is none. */
  noteSet(uid: string, policy: RolloutPolicy | undefined): void {
    const share = policy?.maxUnavailable;
    if (share?.kind === 'count') this.#unavailableMax.set(uid, share.count);
    else this.#unavailableMax.delete(uid);
    if (policy?.isPaused !== true) this.#written.delete(uid);
    else if (!this.#written.has(uid)) this.#written.set(uid, this.#pauseNow());
  }

  /** A delete of ours takes a live pod from where it belongs, for the template's revision. */
  judge(victim: KubernetesObject, uid: string): void {
    const { name } = victim.metadata;
    const nowMs = this.#clock.monotonicMs();
    const written = this.#written.get(uid);
    if (written !== undefined) {
      this.judged += 1;
      const sinceMs = nowMs - written.atMs;
      if (sinceMs > OLD_MS)
        this.#report(`S16: ${name} goes ${sinceMs} ms after a pause in the annotation`);
    }
    const ordered = this.#ordered.get(uid);
    if (ordered !== undefined) this.#judgeHalt(victim, { uid, halt: ordered, what: 'pause' });
    const breached = this.#breached.get(uid);
    const isStanding = this.recordOf(uid)?.breach !== undefined;
    if (breached !== undefined && isStanding) {
      this.#judgeHalt(victim, { uid, halt: breached, what: 'breach' });
    }
  }

  #judgeHalt(
    { metadata }: KubernetesObject,
    { uid, halt, what }: { readonly uid: string; readonly halt: Pause; readonly what: string },
  ): void {
    this.judged += 1;
    halt.gone.add(metadata.uid);
    const sinceMs = this.#clock.monotonicMs() - halt.atMs;
    const most = this.#unavailableMax.get(uid) ?? Infinity;
    if (sinceMs <= UNDER_WAY_MS && halt.gone.size <= most) return;
    const { size } = halt.gone;
    this.#report(`S16: ${metadata.name} goes as number ${size}, ${sinceMs} ms after a ${what}`);
  }

  #pauseNow(): Pause {
    return { atMs: this.#clock.monotonicMs(), gone: new Set() };
  }
}

/** A node that is given a revision, or emptied for it. */
interface Touch {
  readonly name: string;
  readonly staged: Staged;
  /** The revision. */
  readonly key: string;
  readonly what: string;
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
  readonly #revisions: StagedRevisions;
  readonly #ready: ReadyPods;
  /** How far the functions' clock is off. */
  functionSkewMs: () => number = () => 0;

  constructor(api: SimulatedApiServer, clock: Clock, report: (text: string) => void) {
    this.#api = api;
    this.#clock = clock;
    this.#report = report;
    const functions = new SkewHistory(clock, () => this.functionSkewMs());
    this.#ready = new ReadyPods(api, clock, { oldMs: () => OLD_MS + functions.setBackMs() });
    this.#revisions = new StagedRevisions(api, clock, { ready: this.#ready, functions });
    this.halts = new HaltAudit(clock, report);
    api.subscribe((commit) => {
      functions.note();
      if (commit === undefined) this.forget();
      else if (['daemonsets', 'nodes', 'pods'].includes(commit.kind)) this.#note(commit);
    });
  }

  /** What was proven is not known any more to those whom this watches. */
  forget(): void {
    this.#revisions.forget();
    this.halts.forget();
  }

  /** True if what this template runs was well for the soak on as many nodes as the canary has, or ran before the policy came. */
  isProven(set: KubernetesObject, revision: string): boolean {
    return this.#revisions.isProven(set, revision);
  }

  /** What the template was before what it is. */
  before(set: KubernetesObject): string | undefined {
    return this.#revisions.before(set);
  }

  /** An operator was told that what this template runs is undone. */
  noteUndone(set: KubernetesObject): void {
    this.#revisions.noteUndone(set);
  }

  /** A delete of ours is about to take effect. */
  judge(victim: KubernetesObject): void {
    const staged = this.#revisions.of(victim);
    const node = this.#api.find('nodes', nodeOf(victim) ?? '');
    if (staged === undefined || node === undefined) return;
    const { set, record, policy } = staged;
    if (!isReplacement(this.#api, { victim, set, node })) return;
    const key = record.current;
    if (revisionOf(victim) === key) return;
    this.#revisions.prove(staged);
    const { uid } = set.metadata;
    const left = record.revisions.get(revisionOf(victim));
    const isWay = this.#isGoingBack(uid, policy) && left?.isSpread !== true;
    if (!isWay) this.halts.judge(victim, uid);
    const revision = revisionIn(record, key);
    const { name } = node.metadata;
    const mayGoBack = isWay && this.halts.hasHalted(uid);
    if (this.#revisions.goesBeside(revision, { name, victim, left, mayGoBack })) return;
    this.#judgeTouched(revision, { name, staged, key, what: `${victim.metadata.name} goes` });
  }

  /**
   * What nothing proved goes back in a rollback and at an undo, whichever revision was halted. Of one that got no further than its
   * canary nobody outside can tell: it stood there for its soak, and yet no run may have seen it in a fresh view.
   */
  #isGoingBack(uid: string, { onHalt }: RolloutPolicy): boolean {
    return onHalt === 'rollback' || this.halts.recordOf(uid)?.orders.undo !== undefined;
  }

  /** It goes for the template of now, and counts. */
  #judgeTouched(revision: Revision, at: Touch): void {
    // One that was meant for the template before may still be under way.
    if (this.#isUnderWay(at.staged)) this.#judgeEarly(revision, at);
    else this.#touch(revision, at);
  }

  /** One batch may have been meant for the template before; where others make the pods no create tells more. */
  #judgeEarly(revision: Revision, { name, staged: { set, policy } }: Touch): void {
    // What was meant for it when it stood before may be under way as well; and nodes that a halted one was left on are a canary.
    const isExcused = revision.isBack || this.halts.hasHalted(set.metadata.uid);
    if (this.isStageTrue() || isExcused) return;
    revision.early.add(name);
    const canary = this.#revisions.canaryOf(policy, set);
    const { maxUnavailable } = policy;
    if (
      revision.isProven ||
      revision.isBare ||
      canary === undefined ||
      maxUnavailable?.kind !== 'count'
    )
      return;
    if (revision.early.size <= canary + maxUnavailable.count) return;
    const on = [...revision.early].join(', ');
    this.#report(`S16: ${name} is emptied, beyond the canary of ${canary} and a batch: ${on}`);
  }

  #note(commit: Commit): void {
    const sets = this.#api.list('daemonsets');
    const isStaged = sets.some((set) => policyOf(set) !== undefined);
    if (!isStaged && this.#revisions.isEmpty()) return;
    this.#revisions.note(commit);
    for (const set of sets) this.halts.noteSet(set.metadata.uid, policyOf(set));
    if (commit.kind === 'pods' && commit.type === 'added') this.#judgeCreate(commit.object);
  }

  /** A pod was made by the DaemonSet's controller. */
  #judgeCreate(pod: KubernetesObject): void {
    const staged = this.#revisions.of(pod);
    const name = nodeOf(pod);
    if (staged === undefined || name === undefined) return;
    const { set, record } = staged;
    const key = revisionOf(pod);
    const revision = revisionIn(record, key);
    this.#revisions.markFirst(staged);
    if (!this.isStageTrue()) return;
    const isUnheard = record.former.some((each) => each.key === key) || this.#isUnderWay(staged);
    if (!isUnheard) this.#judgeWayBack(pod, revision, record.current);
    // After a halt nodes go back; who takes the rollout up again begins anew, where some of them are no canary any more.
    const isBackOn = key !== record.current && this.halts.hasHalted(set.metadata.uid);
    if (isBackOn) revisionIn(record, record.current).touched.delete(name);
    const isLate = revision.isBack && this.#isUnderWay(staged);
    if (isLate || revision.halted.has(name)) return;
    this.#touch(revision, { name, staged, key, what: `${pod.metadata.name} is made` });
  }

  /** It is made of what nobody goes back to. */
  #judgeWayBack(pod: KubernetesObject, { isLeft, hasServed }: Revision, current: string): void {
    const key = revisionOf(pod);
    const made = `S16: ${pod.metadata.name} is made of ${key}`;
    if (isLeft) this.#report(`${made}, which was left for ${current}`);
    else if (!hasServed && key !== current) {
      this.#report(`${made}, of which no pod ever ran, and not of ${current}`);
    }
  }

  /** True while what was meant for the template before may still take effect. */
  #isUnderWay({ record }: Staged): boolean {
    return this.#clock.monotonicMs() - record.editedAtMs <= UNDER_WAY_MS;
  }

  #touch(revision: Revision, { name, staged, key, what }: Touch): void {
    const most = this.#revisions.enter(revision, name, staged);
    if (revision.isProven || revision.isBare) return;
    this.judged += 1;
    if (most === undefined) return;
    const on = [...revision.touched.keys()].join(', ');
    const nowMs = this.#clock.monotonicMs();
    const ready = this.#ready
      .sinceMs(staged.set.metadata.uid, key)
      .map((sinceMs) => `${nowMs - sinceMs} ms`);
    this.#report(
      `S16: ${what} on ${name}, beyond the canary of ${most}: it is on ${on}, ready for ${ready.join(', ') || 'none'}`,
    );
  }
}
