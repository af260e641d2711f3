/**
 * S16 from outside, of copies of proven templates (ADR 0063): a pod that is not of its DaemonSet's template says which copy it is of;
 * a copy holds what was the template when it was written; the copy of the former revision, the only one, is not written over.
 *
 * Where admission is in force a rollback ends: with a copy standing, no node, DaemonSet or record changed meanwhile, no pod taken by
 * others, and functions that hear of the cluster all the while, no Ready node is without a pod, or runs the halted revision, after
 * the bound. Elsewhere what was under way when the template changed may still arrive. Of records it knows what they are of, where they lead back to, and breaches.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Effect } from '../../../src/core/model/effects.ts';
import type { RolloutRecord } from '../../../src/core/model/rollout-record.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { controllerUid } from '../simulated-objects.ts';
import type { Commit, SimulatedApiServer } from './api-server.ts';
import { placementOf } from './oracle.ts';
import { UNDER_WAY_MS, isLive, policyOf, revisionOf, templateOf } from './staged-pods.ts';

/** A rollback of a few nodes, refused creates and functions that die included. */
const ENDS_WITHIN_MS = 20 * 60_000;
const MARKER = 'rollcall.dev/revision';
const HASH = 'rollcall.dev/revision-hash';

interface Template {
  readonly text: string;
  /** When it was the template last; Infinity: it still is. */
  untilMs: number;
  /** When a status told of the edit that came after it; Infinity: none has, and a run may not have heard of it. */
  heardMs: number;
  /** metadata.generation of that edit. */
  endGeneration: number;
}

interface Standing {
  readonly object: KubernetesObject;
  readonly sinceMs: number;
}

/** Watches one cluster. */
export class CopyAudit {
  /** Pods of another revision than the template's, writes of copies, and looks at rollbacks that were judged. */
  readonly judged = { pods: 0, writes: 0, rollbacks: 0 };
  /** True: admission is in force. */
  isGuarded = false;
  /** The record of a DaemonSet as it stands, past all faults; undefined: there is none. */
  recordOf: (uid: string) => RolloutRecord | undefined = () => undefined;
  /** False: what happens in the cluster cannot be heard of, or is not worked off. */
  isHeard: () => boolean = () => true;
  readonly #api: SimulatedApiServer;
  readonly #clock: Clock;
  readonly #report: (text: string) => void;
  /** UIDs of pods that we asked to delete. */
  readonly #taken = new Set<string>();
  readonly #templates = new Map<string, Template[]>();
  readonly #copies = new Map<string, Standing>();
  /** When something last changed that a rollback has to do with, and the breach that it is of, by DaemonSet. */
  readonly #breaches = new Map<string, { readonly text: string; readonly sinceMs: number }>();
  #disturbedAtMs = 0;

  constructor(api: SimulatedApiServer, clock: Clock, report: (text: string) => void) {
    this.#api = api;
    this.#clock = clock;
    this.#report = report;
    api.subscribe((commit) => {
      if (commit === undefined) this.#forget();
      else this.#note(commit);
    });
  }

  /** A request of ours is about to be judged by the API server. */
  judge(effect: Effect): void {
    if (effect.kind === 'delete-pod') this.#taken.add(effect.uid);
    if (effect.kind !== 'create-pod') return;
    const pod = effect.body as unknown as KubernetesObject; // raw JSON of a pod
    const set = this.#setOf(controllerUid(pod));
    if (set === undefined || policyOf(set) === undefined) return;
    const text = revisionOf(pod);
    const nowMs = this.#clock.monotonicMs();
    const former = this.#templatesOf(set).findLast((each) => each.text === text);
    // Made of what was the template until a moment ago, as far as runs have heard, a pod says nothing of copies.
    if (former === undefined || nowMs - former.heardMs <= UNDER_WAY_MS) return;
    const standing = this.#copiesOf(set).filter(
      ({ object, sinceMs }) => copiedBy(object) === text && nowMs - sinceMs > UNDER_WAY_MS,
    );
    if (standing.length === 0) return;
    this.judged.pods += 1;
    const marker = pod.metadata.labels?.[MARKER];
    if (standing.some(({ object }) => object.metadata.labels?.[MARKER] === marker)) return;
    this.#report(`S16: ${effect.name} is of ${text}, and says ${marker ?? 'nothing'} of its copy`);
  }

  /** Looks at rollbacks that should have ended by now. */
  check(): void {
    if (!this.isGuarded) return;
    for (const set of this.#api.list('daemonsets')) this.#judgeRollback(set);
  }

  #judgeRollback(set: KubernetesObject): void {
    const { name, uid } = set.metadata;
    const record = this.recordOf(uid);
    const isBack = record?.breach !== undefined && policyOf(set)?.onHalt === 'rollback';
    if (!isBack || record.former === undefined) {
      this.#breaches.delete(uid);
      return;
    }
    const nowMs = this.#clock.monotonicMs();
    const { hash } = record.former;
    const text = `${record.hash} ${hash}`;
    const known = this.#breaches.get(uid);
    const sinceMs = known?.text === text ? known.sinceMs : nowMs;
    this.#breaches.set(uid, { text, sinceMs });
    const copy = this.#copiesOf(set).find(
      ({ object }) => object.metadata.annotations?.[HASH] === hash,
    );
    if (copy === undefined || nowMs - Math.max(sinceMs, this.#disturbedAtMs) < ENDS_WITHIN_MS)
      return;
    this.judged.rollbacks += 1;
    const left = this.#nodesLeft(set);
    if (left.length === 0) return;
    this.#report(`S16: ${name}: a rollback to ${hash} does not end on ${left.join(', ')}`);
  }

  /** Names of Ready nodes that should run a pod, and run none, or one of the halted revision. */
  #nodesLeft(set: KubernetesObject): readonly string[] {
    const pods = this.#api
      .list('pods')
      .filter((pod) => controllerUid(pod) === set.metadata.uid && isLive(pod));
    const halted = templateOf(set);
    const back = new Set(pods.filter((pod) => revisionOf(pod) !== halted).map(nodeOf));
    return this.#api
      .list('nodes')
      .filter((node) => placementOf(set, node) === 'run' && isReady(node))
      .map(({ metadata }) => metadata.name)
      .filter((name) => !back.has(name));
  }

  #note({ kind, type, object }: Commit): void {
    const nowMs = this.#clock.monotonicMs();
    const isGone = kind === 'pods' && (type === 'deleted' || !isLive(object));
    const isTaken = isGone && !this.#taken.has(object.metadata.uid);
    // A watcher's Lease is renewed all the time: no gap is missed.
    if (kind === 'nodes' || isTaken || !this.isHeard()) this.#disturbedAtMs = nowMs;
    if (kind === 'daemonsets') this.#noteSet(object, nowMs);
    else if (kind === 'podtemplates') {
      if (type === 'deleted') this.#copies.delete(object.metadata.name);
      else this.#noteCopy(object, nowMs);
    }
  }

  #noteSet(set: KubernetesObject, nowMs: number): void {
    const text = templateOf(set);
    const known = this.#templatesOf(set);
    const { observedGeneration = 0 } = (set['status'] ?? {}) as {
      readonly observedGeneration?: number;
    };
    for (const each of known) {
      const isHeard = each.heardMs === Infinity && observedGeneration >= each.endGeneration;
      if (isHeard) each.heardMs = nowMs;
    }
    const last = known.at(-1);
    if (last?.text === text) return;
    this.#disturbedAtMs = nowMs;
    const { generation = 0 } = set.metadata;
    if (last !== undefined) Object.assign(last, { untilMs: nowMs, endGeneration: generation });
    const ended = { untilMs: Infinity, heardMs: Infinity, endGeneration: Infinity };
    this.#templates.set(set.metadata.uid, [...known, { text, ...ended }]);
  }

  #noteCopy(object: KubernetesObject, nowMs: number): void {
    const { name, ownerReferences = [] } = object.metadata;
    const set = this.#setOf(ownerReferences[0]?.uid);
    const before = this.#copies.get(name)?.object;
    this.#copies.set(name, { object, sinceMs: nowMs });
    if (set === undefined) return;
    this.judged.writes += 1;
    const text = copiedBy(object);
    const lateMs = this.isGuarded ? 0 : UNDER_WAY_MS;
    const isTrue = this.#templatesOf(set).some(
      (each) => each.text === text && (each.untilMs === Infinity || nowMs - each.untilMs < lateMs),
    );
    if (!isTrue) this.#report(`S16: ${name} is a copy of ${text}, not of the template`);
    this.#judgeOverwrite(object, before, set);
  }

  #judgeOverwrite(
    { metadata: { name, annotations } }: KubernetesObject,
    before: KubernetesObject | undefined,
    set: KubernetesObject,
  ): void {
    const left = before?.metadata.annotations?.[HASH];
    const record = this.recordOf(set.metadata.uid);
    const isKept = left === undefined || left === annotations?.[HASH];
    if (isKept || record?.former?.hash !== left || record.hash !== annotations?.[HASH]) return;
    const isElsewhere = this.#copiesOf(set).some(
      ({ object }) => object.metadata.annotations?.[HASH] === left,
    );
    if (!isElsewhere)
      this.#report(`S16: ${name} of ${left}, to which a breach leads, is written over`);
  }

  #templatesOf({ metadata }: KubernetesObject): readonly Template[] {
    return this.#templates.get(metadata.uid) ?? [];
  }

  #copiesOf({ metadata }: KubernetesObject): readonly Standing[] {
    return [...this.#copies.values()].filter(
      ({ object }) => object.metadata.ownerReferences?.[0]?.uid === metadata.uid,
    );
  }

  #setOf(uid: string | undefined): KubernetesObject | undefined {
    return this.#api.list('daemonsets').find(({ metadata }) => metadata.uid === uid);
  }

  /** Etcd went back: what stands by now is what counts. */
  #forget(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#disturbedAtMs = nowMs;
    this.#copies.clear();
    for (const object of this.#api.list('podtemplates'))
      this.#copies.set(object.metadata.name, { object, sinceMs: nowMs });
    for (const set of this.#api.list('daemonsets')) this.#noteSet(set, nowMs);
  }
}

function copiedBy(copy: KubernetesObject): string {
  const { spec } = copy['template'] as JsonObject;
  return revisionOf({ ...copy, spec });
}

function isReady(node: KubernetesObject): boolean {
  const { conditions = [] } = (node['status'] ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
  return conditions.every(({ type, status }) => type !== 'Ready' || status === 'True');
}
