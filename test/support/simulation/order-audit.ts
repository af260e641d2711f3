/**
 * The order of rollouts from outside: between groups of nodes (`order`, S16).
 *
 * Judged when a delete of ours takes a live, outdated pod from where it belongs, by the commits of the API server alone, and only where
 * nothing that a view may not show yet explains it. A node has to wait for one of an earlier group that nothing happened to since
 * before the edit, and that still has the same pod. Exempt from groups are as many nodes as the canary has, without those that are
 * gone, one more for each of these that was not Ready, a node of which something was written lately, pods that serve nobody, and
 * templates that were there before: back to them all steps are open.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { comparePlaces, placesBy } from '../../../src/core/policy/sort-by-rules.ts';
import type { RolloutPolicy } from '../../../src/core/policy/rollout-policy.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { controllerUid } from '../simulated-objects.ts';
import type { Commit, SimulatedApiServer } from './api-server.ts';
import { placementOf } from './oracle.ts';
import {
  OLD_MS,
  isLive,
  isServing,
  policyOf,
  readyOf,
  revisionOf,
  templateOf,
} from './staged-pods.ts';

interface Roll {
  readonly template: string;
  readonly editedAtMs: number;
  /** True of one that was there before. */
  readonly isBack: boolean;
  /** Nodes that we emptied for it: UIDs by name; and those of them that were not Ready since. */
  readonly emptied: Map<string, string>;
  readonly lost: Set<string>;
}

/** A pod that goes, and where. */
interface Leaving {
  readonly victim: KubernetesObject;
  readonly set: KubernetesObject;
  readonly node: KubernetesObject;
  readonly policy: RolloutPolicy;
}

/** Watches one cluster. */
export class OrderAudit {
  /** Deletes that a group in front might have held up. */
  judged = 0;
  readonly #api: SimulatedApiServer;
  readonly #clock: Clock;
  readonly #report: (text: string) => void;
  readonly #rolls = new Map<string, Roll>();
  readonly #templates = new Map<string, Set<string>>();
  /** When something was written of a node, and when a pod was made, by name and by UID. */
  readonly #touchedAtMs = new Map<string, number>();

  constructor(api: SimulatedApiServer, clock: Clock, report: (text: string) => void) {
    this.#api = api;
    this.#clock = clock;
    this.#report = report;
    api.subscribe((commit) => {
      if (commit !== undefined && ['daemonsets', 'nodes', 'pods'].includes(commit.kind))
        this.#note(commit);
    });
  }

  /** A delete of ours is about to take effect. */
  judge(victim: KubernetesObject): void {
    const set = this.#sets().find(({ metadata }) => metadata.uid === controllerUid(victim));
    const node = this.#api.find('nodes', nodeOf(victim) ?? '');
    const policy = set === undefined ? undefined : policyOf(set);
    if (set === undefined || node === undefined || policy === undefined) return;
    const isOutdated = isLive(victim) && revisionOf(victim) !== templateOf(set);
    if (!isOutdated || placementOf(set, node) !== 'run') return;
    const leaving = { victim, set, node, policy };
    // One that serves nobody may go beside the canary's number.
    if (!isServing(victim)) return;
    this.#judgeGroups(leaving);
  }

  #judgeGroups({ victim, set, node, policy }: Leaving): void {
    const roll = this.#rolls.get(set.metadata.uid);
    const { canary, order } = policy;
    if (roll === undefined || order.length === 0 || canary.kind !== 'share') return;
    const { name, uid } = node.metadata;
    this.#forgetMoved(roll, set);
    roll.emptied.set(name, uid);
    if (readyOf(node)?.status !== 'True') roll.lost.add(name);
    const count = canary.share.kind === 'count' ? canary.share.count : Infinity;
    const isCanary = roll.emptied.size <= count + Math.min(count, roll.lost.size);
    if (isCanary || roll.isBack || !this.#isInTurn(name)) return;
    this.judged += 1;
    const placeOf = placesBy(order);
    const place = placeOf(node.metadata.labels ?? {});
    const before = this.#api
      .list('nodes')
      .find(
        (each) =>
          comparePlaces(placeOf(each.metadata.labels ?? {}), place) < 0 &&
          this.#isUndisturbed(each, { victim, set, roll }),
      );
    if (before === undefined) return;
    this.#report(
      `S16: ${victim.metadata.name} goes from ${name}, before ${before.metadata.name} of an earlier group`,
    );
  }

  /** A node that is gone, or that is to run none by now, is in no canary. */
  #forgetMoved({ emptied }: Roll, set: KubernetesObject): void {
    for (const [name, uid] of emptied) {
      const node = this.#api.find('nodes', name);
      if (node?.metadata.uid !== uid || placementOf(set, node) !== 'run') emptied.delete(name);
    }
  }

  /** True of a node that no view may still show in another group. */
  #isInTurn(name: string): boolean {
    const touchedAtMs = this.#touchedAtMs.get(name) ?? Number.NEGATIVE_INFINITY;
    return this.#clock.monotonicMs() - touchedAtMs > OLD_MS;
  }

  /** A node that waits with the pod that it had, and of which nothing was written since long before the edit. */
  #isUndisturbed(
    node: KubernetesObject,
    {
      victim,
      set,
      roll,
    }: {
      readonly victim: KubernetesObject;
      readonly set: KubernetesObject;
      readonly roll: Roll;
    },
  ): boolean {
    const { name } = node.metadata;
    const isOld = (id: string, byMs: number): boolean =>
      (this.#touchedAtMs.get(id) ?? -Infinity) < byMs;
    if (!isOld(name, roll.editedAtMs - OLD_MS) || placementOf(set, node) !== 'run') return false;
    if (readyOf(node)?.status !== 'True') return false;
    return this.#api.list('pods').some((pod) => {
      const isOf = controllerUid(pod) === set.metadata.uid && nodeOf(pod) === name;
      const isSame = revisionOf(pod) === revisionOf(victim) && isLive(pod);
      return isOf && isSame && isOld(pod.metadata.uid, roll.editedAtMs - OLD_MS);
    });
  }

  #note(commit: Commit): void {
    const sets = this.#sets();
    if (sets.length === 0) return;
    const nowMs = this.#clock.monotonicMs();
    const { name, uid } = commit.object.metadata;
    if (commit.kind === 'pods' && commit.type === 'added') this.#touchedAtMs.set(uid, nowMs);
    if (commit.kind === 'nodes') {
      this.#touchedAtMs.set(name, nowMs);
      this.#noteLost(commit.object);
    }
    for (const set of sets) this.#noteTemplate(set, nowMs);
  }

  #noteLost(node: KubernetesObject): void {
    if (readyOf(node)?.status === 'True') return;
    const { name } = node.metadata;
    for (const { emptied, lost } of this.#rolls.values()) if (emptied.has(name)) lost.add(name);
  }

  #noteTemplate(set: KubernetesObject, nowMs: number): void {
    const { uid } = set.metadata;
    const template = templateOf(set);
    if (this.#rolls.get(uid)?.template === template) return;
    const seen = this.#templates.get(uid) ?? new Set();
    const isBack = seen.has(template);
    this.#templates.set(uid, seen.add(template));
    this.#rolls.set(uid, {
      template,
      editedAtMs: nowMs,
      isBack,
      emptied: new Map(),
      lost: new Set(),
    });
  }

  /** Under policies that say an order. */
  #sets(): readonly KubernetesObject[] {
    return this.#api.list('daemonsets').filter((set) => (policyOf(set)?.order ?? []).length > 0);
  }
}
