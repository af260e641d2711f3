/**
 * S16 from outside, of content: a ConfigMap that a policy has in the revision is staged as images are (ADR 0061), and nothing that
 * only is not known restarts a pod.
 *
 * Judged when a delete of ours takes effect on a pod of the template's own image: only content can be its reason then. What a pod was
 * made from is what the object held at that moment. A content is proven once as many pods that were made from it as the canary has
 * nodes were ready for the soak; what stood there first is proven. Until then it is a reason on as many nodes as the canary has, and
 * one more for each of them that was not Ready; a node that got proven content instead is none of these any more. What the object
 * held lately, or while nobody could read it, may still be believed (content-history.ts): where that leaves more than one reason
 * nothing is judged. A pod that is made takes content as it is, so creates are not. Keys do not change in it, nor is anything heard
 * of an hour late.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { RolloutPolicy } from '../../../src/core/policy/rollout-policy.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { controllerUid } from '../simulated-objects.ts';
import type { SimulatedApiServer } from './api-server.ts';
import type { ContentHistory } from './content-history.ts';
import { placementOf } from './oracle.ts';
import { ReadyPods } from './ready-pods.ts';
import {
  UNDER_WAY_MS,
  isLive,
  isReplacement,
  nameOfContent,
  policyOf,
  readyOf,
  revisionOf,
  templateOf,
} from './staged-pods.ts';

/** One content under one image of one DaemonSet. */
interface Touched {
  isProven: boolean;
  /** Nodes that we emptied for it, by name: their UIDs, and when. */
  readonly nodes: Map<string, { readonly uid: string; readonly atMs: number }>;
  readonly lost: Set<string>;
}

/** How many nodes the canary has, where it is told by a number. */
function canaryOf({ canary }: RolloutPolicy): number | undefined {
  return canary.kind === 'share' && canary.share.kind === 'count' ? canary.share.count : undefined;
}

/** Watches one cluster whose DaemonSets all have one ConfigMap in their revisions. */
export class ContentAudit {
  /** Deletes that only content explains. */
  judged = 0;
  readonly #api: SimulatedApiServer;
  readonly #clock: Clock;
  readonly #report: (text: string) => void;
  readonly #isProven: (set: KubernetesObject, template: string) => boolean;
  readonly #history: ContentHistory;
  readonly #ready: ReadyPods;
  /** What each pod was made from, and when, by UID. */
  readonly #made = new Map<string, { readonly content: string; readonly atMs: number }>();
  readonly #touched = new Map<string, Touched>();
  /** Since when each DaemonSet has its template, by UID. */
  readonly #templates = new Map<string, { readonly template: string; readonly sinceMs: number }>();

  constructor(
    api: SimulatedApiServer,
    at: {
      readonly clock: Clock;
      readonly history: ContentHistory;
      readonly report: (text: string) => void;
      /** True for a template that was well on its canary: it is not taken off a node that came late. */
      readonly isProven: (set: KubernetesObject, template: string) => boolean;
    },
  ) {
    this.#api = api;
    this.#clock = at.clock;
    this.#history = at.history;
    this.#report = at.report;
    this.#isProven = at.isProven;
    this.#ready = new ReadyPods(api, at.clock, { keyOf: (pod) => this.#keyOf(pod) });
    api.subscribe((commit) => {
      if (commit === undefined) return;
      this.#proveAll();
      if (commit.kind === 'daemonsets') this.#noteTemplate(commit.object);
      if (commit.kind === 'nodes') this.#noteLost(commit.object);
      if (commit.kind === 'pods' && commit.type === 'added') this.#noteMade(commit.object);
      if (commit.kind === 'pods' || commit.kind === 'nodes') this.#ready.note();
    });
  }

  /** Pods of DaemonSets under a policy that were made from another content than there is, where they could be made anew. */
  findOutdated(): readonly string[] {
    const content = this.#history.last;
    return this.#api.list('pods').flatMap((pod) => {
      const made = this.#made.get(pod.metadata.uid);
      const set = this.#setOf(pod);
      const node = this.#api.find('nodes', nodeOf(pod) ?? '');
      if (made === undefined || set === undefined || node === undefined) return [];
      if (made.content === content || policyOf(set) === undefined) return [];
      // Made before the change was heard of, under the name of what was believed then: if that came back, nobody can tell.
      const isBelieved =
        content !== undefined && this.#history.believedAt(made.atMs).includes(content);
      if (isBelieved && nameOfContent(pod) === this.#history.name) return [];
      const isPlaced = placementOf(set, node) === 'run';
      return isPlaced ? [`${pod.metadata.name} was made from content ${made.content}`] : [];
    });
  }

  #setOf(pod: KubernetesObject): KubernetesObject | undefined {
    const owner = controllerUid(pod);
    return this.#api.list('daemonsets').find(({ metadata }) => metadata.uid === owner);
  }

  /** A delete of ours is about to take effect. */
  judge(victim: KubernetesObject): void {
    const set = this.#setOf(victim);
    const made = this.#made.get(victim.metadata.uid);
    const node = this.#api.find('nodes', nodeOf(victim) ?? '');
    if (set === undefined || made === undefined || node === undefined) return;
    const isOurs =
      revisionOf(victim) === templateOf(set) && isReplacement(this.#api, { victim, set, node });
    if (!isOurs) return;
    const was = this.#history.believedAt(made.atMs);
    const [known] = was;
    if (was.length > 1 || known === undefined) return;
    this.#judgeReasons(set, { name: victim.metadata.name, node, known });
  }

  #judgeReasons(
    set: KubernetesObject,
    at: { readonly name: string; readonly node: KubernetesObject; readonly known: string },
  ): void {
    const { name, node, known } = at;
    const believed = this.#history.believedAt(this.#clock.monotonicMs());
    const reasons = believed.filter((content) => content !== known);
    if (reasons.length === 0) {
      // An image that its canary has not shown goes from a node that is none; and what was meant for another may be under way.
      if (!this.#isProven(set, templateOf(set)) || this.#wasEdited(set)) return;
      this.judged += 1;
      this.#report(`S16: ${name} goes, and neither its image nor its content is another`);
      return;
    }
    const [reason, ...more] = reasons;
    if (reason === undefined || more.length > 0) return;
    this.#touch(set, { reason, node, what: name });
  }

  #noteTemplate(set: KubernetesObject): void {
    const template = templateOf(set);
    const { uid } = set.metadata;
    if (this.#templates.get(uid)?.template === template) return;
    this.#templates.set(uid, { template, sinceMs: this.#clock.monotonicMs() });
  }

  #wasEdited({ metadata }: KubernetesObject): boolean {
    const sinceMs = this.#templates.get(metadata.uid)?.sinceMs ?? Number.NEGATIVE_INFINITY;
    return this.#clock.monotonicMs() - sinceMs <= UNDER_WAY_MS;
  }

  #touch(
    set: KubernetesObject,
    at: { readonly reason: string; readonly node: KubernetesObject; readonly what: string },
  ): void {
    const key = `${templateOf(set)} ${at.reason}`;
    const touched = this.#touchedOf(set, key);
    const policy = policyOf(set);
    const count = policy === undefined ? undefined : canaryOf(policy);
    if (policy === undefined || count === undefined) return;
    this.#forgetMoved(touched, set, key);
    const { name, uid } = at.node.metadata;
    touched.nodes.set(name, { uid, atMs: this.#clock.monotonicMs() });
    if (readyOf(at.node)?.status !== 'True') touched.lost.add(name);
    this.#prove(set, key);
    if (touched.isProven) return;
    this.judged += 1;
    if (touched.nodes.size <= count + Math.min(count, touched.lost.size)) return;
    const on = [...touched.nodes.keys()].join(', ');
    this.#report(
      `S16: ${at.what} goes on ${name} for content ${at.reason}, beyond the canary of ${count}: it was for ${on}`,
    );
  }

  /** As it is before whatever changes now. */
  #proveAll(): void {
    const { contents } = this.#history;
    for (const set of this.#api.list('daemonsets')) {
      for (const content of contents) this.#prove(set, `${templateOf(set)} ${content}`);
    }
  }

  #prove(set: KubernetesObject, key: string): void {
    const policy = policyOf(set);
    const count = policy === undefined ? undefined : canaryOf(policy);
    if (policy === undefined || count === undefined) return;
    const sinceMs = this.#ready.sinceMs(set.metadata.uid, key).at(count - 1) ?? Infinity;
    const isProven = this.#clock.monotonicMs() - sinceMs >= policy.soakMs;
    if (isProven) this.#touchedOf(set, key).isProven = true;
  }

  /** A node that is gone, that is to run none by now, or that got what was proven instead, is in no canary. */
  #forgetMoved({ nodes }: Touched, set: KubernetesObject, key: string): void {
    for (const [name, { uid, atMs }] of nodes) {
      const node = this.#api.find('nodes', name);
      const isThere = node?.metadata.uid === uid && placementOf(set, node) === 'run';
      if (!isThere || this.#hasProven(set, { name, atMs, key })) nodes.delete(name);
    }
  }

  /** True of a node whose pod was made since, from another image or content that is proven. */
  #hasProven(
    set: KubernetesObject,
    at: { readonly name: string; readonly atMs: number; readonly key: string },
  ): boolean {
    return this.#api.list('pods').some((pod) => {
      const isOfSet = controllerUid(pod) === set.metadata.uid && isLive(pod);
      if (!isOfSet || nodeOf(pod) !== at.name) return false;
      const madeAtMs = this.#made.get(pod.metadata.uid)?.atMs ?? Number.NEGATIVE_INFINITY;
      const key = this.#keyOf(pod);
      return madeAtMs > at.atMs && key !== at.key && this.#touchedOf(set, key).isProven;
    });
  }

  #touchedOf({ metadata }: KubernetesObject, key: string): Touched {
    const id = `${metadata.uid} ${key}`;
    const isFirst = this.#history.first === key.slice(key.indexOf(' ') + 1);
    const found = this.#touched.get(id) ?? {
      isProven: isFirst,
      nodes: new Map<string, { readonly uid: string; readonly atMs: number }>(),
      lost: new Set<string>(),
    };
    this.#touched.set(id, found);
    return found;
  }

  #keyOf(pod: KubernetesObject): string {
    return `${revisionOf(pod)} ${this.#made.get(pod.metadata.uid)?.content ?? ''}`;
  }

  #noteMade({ metadata }: KubernetesObject): void {
    const content = this.#history.last;
    if (content === undefined) return;
    this.#made.set(metadata.uid, { content, atMs: this.#clock.monotonicMs() });
  }

  #noteLost(node: KubernetesObject): void {
    if (readyOf(node)?.status === 'True') return;
    const { name } = node.metadata;
    for (const { nodes, lost } of this.#touched.values()) if (nodes.has(name)) lost.add(name);
  }
}
