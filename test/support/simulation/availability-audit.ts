/**
 * S3 from outside of all faults: no available pod is deleted by Rollcall beyond the availability budget.
 *
 * Judged when a delete of ours takes effect, on the API server's own state, with the assumptions that are published
 * (docs/promise.md). Pods were heard of within 90 seconds, or listed, and own writes are seen: so nodes count that our own
 * deletes left without an available pod and that have none yet, whenever that was, and nodes that were without one for
 * longer than a view may be old. Everything else (the DaemonSet's budget, where it is to run, the pod that replaces another)
 * was read live: so it is excused only if it was otherwise while a delete may have been under way. Nothing is excused for
 * having been otherwise earlier than that: there is no window outside of which a delete is not judged. A node counts while
 * the DaemonSet should run there. It shares no code with the core.
 *
 * With surge the pod that replaces another counts as there for as long as a delete may be under way, unless we ended it
 * too. Where a strategy without surge is in force, the younger of two pods is a duplicate (spec 2.7).
 *
 * With minReadySeconds a pod is available by the clock of the functions (docs/promise.md): such a DaemonSet is judged
 * only while no clock is off, and a pod counts as one that was available to lose only some time after it became so:
 * unlike readiness, that moment changes no resourceVersion, which a delete could have as its precondition.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { RolloutPolicy } from '../../../src/core/policy/rollout-policy.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { controllerUid } from '../simulated-objects.ts';
import type { SimulatedApiServer } from './api-server.ts';
import { phaseOf } from './controllers.ts';
import { placementOf } from './oracle.ts';
import { policyOf, readyOf } from './staged-pods.ts';

/** How long a delete may be under way after its live reads: a function's time-out, and a frozen one. */
const UNDER_WAY_MS = 2 * 60_000;

/** How old pods may be by which a budget is counted (docs/promise.md), until the delete takes effect. */
const BOUND_MS = 90_000 + UNDER_WAY_MS;

/** How old nodes may be: how many a DaemonSet has, and that there is one more (protocol 1). */
const NODES_MS = 15 * 60_000 + UNDER_WAY_MS;

/** So much younger they may look where the machines disagree about the hour. */
const DISAGREEMENT_MS = 10 * 60_000;

interface NodeRecord {
  isRunning: boolean;
  isAvailable: boolean;
  /** Since when it has been without an available pod. */
  unavailableSinceMs: number;
  /** True while it has none because of a delete of ours. */
  isOurs: boolean;
  /** When the DaemonSet last was not to run there, and whether it had an available pod there since. */
  lastNotRunMs: number;
  wasAvailable: boolean;
}

/** What was so from a moment on, newest last. */
type History<T> = { readonly fromMs: number; readonly value: T }[];

interface SetRecord {
  readonly nodes: Map<string, NodeRecord>;
  /** Strategies, as text. */
  readonly strategies: History<string>;
  /** How many nodes it was to run on. */
  readonly desired: History<number>;
}

/** How many nodes may be without an available pod. */
interface Budget {
  readonly max: number;
  readonly surges: boolean;
}

interface Strategy {
  readonly type?: string;
  /** maxUnavailable of the policy, under which Rollcall replaces pods with OnDelete as well. */
  readonly staged?: { readonly max?: number | string };
  readonly rollingUpdate?: {
    readonly maxUnavailable?: number | string;
    readonly maxSurge?: number | string;
  };
}

/** Watches one cluster. */
export class AvailabilityAudit {
  /** Deletes of available pods that were judged: none means that a test looked at nothing. */
  judged = 0;
  /** How old a view may be, and how long a delete may be under way, if a test without lag says less than is published. */
  boundMs: number | undefined;
  /** False: the machines disagree about the hour, or did; not to be trusted with minReadySeconds. */
  areClocksTrue: () => boolean = () => true;
  readonly #api: SimulatedApiServer;
  readonly #clock: Clock;
  readonly #report: (text: string) => void;
  readonly #sets = new Map<string, SetRecord>();
  readonly #bornAtMs = new Map<string, number>();
  readonly #lastAvailableMs = new Map<string, number>();
  /** Pods by UID as they were last seen; those that others ended may have been read live before. */
  readonly #seen = new Map<string, KubernetesObject>();
  /** UIDs of pods that our own deletes ended. */
  readonly #ours = new Set<string>();

  constructor(api: SimulatedApiServer, clock: Clock, report: (text: string) => void) {
    this.#api = api;
    this.#clock = clock;
    this.#report = report;
    api.subscribe((commit) => {
      if (commit === undefined) this.#forget();
      if (commit?.kind !== 'leases' && commit?.kind !== 'events') this.#look();
    });
  }

  /** A delete of ours is about to take effect. */
  judge(victim: KubernetesObject): void {
    this.#ours.add(victim.metadata.uid);
    if (!this.#isJudged(victim)) return;
    const found = this.#find(victim);
    if (found === undefined) return;
    const { record, node } = found;
    const nowMs = this.#clock.monotonicMs();
    // It was not wanted there at some moment of its life, so lately that a live read may have shown it.
    const isUnwanted = node.lastNotRunMs >= nowMs - this.#underWayMs;
    if (!node.isRunning || (isUnwanted && node.lastNotRunMs > this.#bornOf(victim, nowMs))) return;
    this.judged += 1;
    const budgets = this.#budgetsInForce(record, nowMs);
    const beside = this.#livePodsBeside(victim);
    if (beside.length > 0) {
      this.#judgeReplaced(victim, { beside, budgets });
      return;
    }
    if (budgets.some(({ surges }) => surges) && this.#hasJustLostAnother(victim, nowMs)) return;
    node.isOurs = true;
    const count = this.#countUnavailable(record, nowMs);
    const max = Math.max(...budgets.map((budget) => budget.max));
    if (count <= max) return;
    const on = nodeOf(victim) ?? '?';
    this.#report(`S3: ${victim.metadata.name} on ${on} deleted as number ${count} of ${max}`);
  }

  get #viewAgeMs(): number {
    return this.boundMs ?? BOUND_MS + (this.areClocksTrue() ? 0 : DISAGREEMENT_MS);
  }

  get #nodesAgeMs(): number {
    return this.boundMs ?? NODES_MS + (this.areClocksTrue() ? 0 : DISAGREEMENT_MS);
  }

  get #underWayMs(): number {
    return Math.min(this.boundMs ?? UNDER_WAY_MS, UNDER_WAY_MS);
  }

  #bornOf(pod: KubernetesObject, nowMs: number): number {
    return this.#bornAtMs.get(pod.metadata.uid) ?? nowMs;
  }

  #find(
    victim: KubernetesObject,
  ): { readonly record: SetRecord; readonly node: NodeRecord } | undefined {
    const record = this.#sets.get(controllerUid(victim) ?? '');
    const node = record?.nodes.get(nodeOf(victim) ?? '');
    return record === undefined || node === undefined ? undefined : { record, node };
  }

  #livePodsBeside(victim: KubernetesObject): readonly KubernetesObject[] {
    const owner = controllerUid(victim);
    return this.#api
      .list('pods')
      .filter((pod) => controllerUid(pod) === owner && nodeOf(pod) === nodeOf(victim))
      .filter((pod) => pod.metadata.uid !== victim.metadata.uid && isLive(pod));
  }

  /** Somebody else ended the pod that replaced this one, after it could be read live. */
  #hasJustLostAnother(victim: KubernetesObject, nowMs: number): boolean {
    const owner = controllerUid(victim);
    return [...this.#seen.values()].some((pod) => {
      const { uid } = pod.metadata;
      if (uid === victim.metadata.uid || this.#ours.has(uid)) return false;
      if (controllerUid(pod) !== owner || nodeOf(pod) !== nodeOf(victim)) return false;
      return (this.#lastAvailableMs.get(uid) ?? Number.NEGATIVE_INFINITY) >= nowMs - UNDER_WAY_MS;
    });
  }

  /** Without surge one of two is a duplicate; with surge the other one must have been available. */
  #judgeReplaced(
    victim: KubernetesObject,
    by: { readonly beside: readonly KubernetesObject[]; readonly budgets: readonly Budget[] },
  ): void {
    if (by.budgets.every(({ surges }) => !surges)) return;
    const mayBeDuplicate = by.budgets.some(({ surges }) => !surges);
    if (mayBeDuplicate && by.beside.some((pod) => isOlder(pod, victim))) return;
    if (by.beside.some((pod) => this.#wasAvailable(pod))) return;
    const names = by.beside.map(({ metadata }) => metadata.name).join(', ');
    this.#report(`S3: ${victim.metadata.name} deleted though ${names} never was available`);
  }

  #countUnavailable(record: SetRecord, nowMs: number): number {
    return [...record.nodes.values()].filter(
      (node) =>
        node.isOurs ||
        (!node.isAvailable &&
          node.unavailableSinceMs < nowMs - this.#viewAgeMs &&
          (node.wasAvailable || node.lastNotRunMs < nowMs - this.#nodesAgeMs)),
    ).length;
  }

  #budgetsInForce(record: SetRecord, nowMs: number): readonly Budget[] {
    return since(record.strategies, nowMs - this.#underWayMs).flatMap((text) => {
      const strategy = JSON.parse(text) as Strategy;
      // A policy's percentage is of the nodes of today.
      const ageMs = strategy.staged === undefined ? this.#nodesAgeMs : this.#viewAgeMs;
      const counts = since(record.desired, nowMs - ageMs);
      return counts.map((desired) => budgetOf(strategy, desired));
    });
  }

  #wasAvailable(pod: KubernetesObject): boolean {
    if (this.#isAvailable(pod)) return true;
    const atMs = this.#lastAvailableMs.get(pod.metadata.uid) ?? Number.NEGATIVE_INFINITY;
    return atMs >= this.#clock.monotonicMs() - this.#underWayMs;
  }

  /** True for an available pod whose availability can be told. */
  #isJudged(victim: KubernetesObject): boolean {
    const wait = this.#waitOf(victim);
    if (wait === 0) return this.#isAvailable(victim);
    if (!this.areClocksTrue() || this.#readyForMs(victim) < wait + UNDER_WAY_MS) return false;
    this.#look();
    return this.#isAvailable(victim);
  }

  /** minReadySeconds of a pod's DaemonSet, in milliseconds. */
  #waitOf(pod: KubernetesObject): number {
    const owner = controllerUid(pod);
    const set = this.#api.list('daemonsets').find(({ metadata }) => metadata.uid === owner);
    const spec = set?.['spec'] as { readonly minReadySeconds?: number } | undefined;
    return (spec?.minReadySeconds ?? 0) * 1000;
  }

  #readyForMs(pod: KubernetesObject): number {
    const ready = readyOf(pod);
    if (ready?.status !== 'True') return Number.NEGATIVE_INFINITY;
    return this.#clock.nowMs() - Date.parse(ready.lastTransitionTime ?? '');
  }

  #isAvailable(pod: KubernetesObject): boolean {
    if (!isLive(pod) || readyOf(pod)?.status !== 'True') return false;
    const wait = this.#waitOf(pod);
    return wait === 0 || this.#readyForMs(pod) >= wait;
  }

  /** After a restore of etcd nothing is known of before. */
  #forget(): void {
    this.#sets.clear();
    this.#bornAtMs.clear();
    this.#seen.clear();
    this.#ours.clear();
  }

  #podsOf(set: KubernetesObject): readonly KubernetesObject[] {
    return this.#api.list('pods').filter((pod) => controllerUid(pod) === set.metadata.uid);
  }

  #look(): void {
    const nowMs = this.#clock.monotonicMs();
    const nodes = this.#api.list('nodes');
    for (const set of this.#api.list('daemonsets')) {
      const pods = this.#podsOf(set);
      for (const pod of pods) {
        const { uid } = pod.metadata;
        if (!this.#bornAtMs.has(uid)) this.#bornAtMs.set(uid, nowMs);
        this.#seen.set(uid, pod);
        if (this.#isAvailable(pod)) this.#lastAvailableMs.set(uid, nowMs);
      }
      this.#lookAt(set, { nodes, pods, nowMs });
    }
  }

  #lookAt(
    set: KubernetesObject,
    seen: {
      readonly nodes: readonly KubernetesObject[];
      readonly pods: readonly KubernetesObject[];
      readonly nowMs: number;
    },
  ): void {
    const { uid } = set.metadata;
    const record: SetRecord = this.#sets.get(uid) ?? {
      nodes: new Map(),
      strategies: [],
      desired: [],
    };
    this.#sets.set(uid, record);
    const available = new Set(seen.pods.filter((pod) => this.#isAvailable(pod)).map(nodeOf));
    const running = new Set<string>();
    for (const node of seen.nodes) {
      const { name } = node.metadata;
      if (placementOf(set, node) !== 'run') continue;
      running.add(name);
      noteNode(record, { name, isAvailable: available.has(name), nowMs: seen.nowMs });
    }
    for (const [name, node] of record.nodes) {
      if (running.has(name)) continue;
      Object.assign(node, { isRunning: false, isOurs: false, isAvailable: true });
    }
    const { updateStrategy = {} } = set['spec'] as { readonly updateStrategy?: Strategy };
    const strategy = { ...updateStrategy, ...stagedBy(policyOf(set)) };
    note(record.strategies, JSON.stringify(strategy), seen.nowMs);
    note(record.desired, running.size, seen.nowMs);
  }
}

function note<T extends string | number>(history: History<T>, value: T, fromMs: number): void {
  if (history.at(-1)?.value !== value) history.push({ fromMs, value });
}

function since<T>(history: History<T>, fromMs: number): readonly T[] {
  const first = history.findLastIndex((entry) => entry.fromMs < fromMs);
  return history.slice(Math.max(0, first)).map(({ value }) => value);
}

function noteNode(
  record: SetRecord,
  seen: { readonly name: string; readonly isAvailable: boolean; readonly nowMs: number },
): void {
  const { name, isAvailable: isNow, nowMs } = seen;
  const node = record.nodes.get(name);
  if (node?.isRunning !== true) {
    const fresh = { isRunning: true, isAvailable: isNow, unavailableSinceMs: nowMs, isOurs: false };
    record.nodes.set(name, { ...fresh, lastNotRunMs: nowMs, wasAvailable: isNow });
    return;
  }
  if (node.isAvailable && !isNow) node.unavailableSinceMs = nowMs;
  if (isNow && !node.isAvailable) node.isOurs = false;
  node.isAvailable = isNow;
  node.wasAvailable ||= isNow;
}

function stagedBy(policy: RolloutPolicy | undefined): Pick<Strategy, 'staged'> {
  const share = policy?.maxUnavailable;
  if (policy === undefined) return {};
  if (share === undefined) return { staged: {} };
  return { staged: { max: share.kind === 'count' ? share.count : `${share.percent}%` } };
}

/** maxUnavailable as spec 2.9 resolves it; nothing may become unavailable with surge, or with OnDelete and no policy. */
function budgetOf(strategy: Strategy, desired: number): Budget {
  const { type = 'RollingUpdate', rollingUpdate = {}, staged } = strategy;
  if (type !== 'RollingUpdate' && staged === undefined) return { max: 0, surges: false };
  const resolve = (value: number | string): number =>
    typeof value === 'number' ? value : Math.ceil((Number.parseInt(value, 10) * desired) / 100);
  const isSurging = type === 'RollingUpdate' && resolve(rollingUpdate.maxSurge ?? 0) > 0;
  if (isSurging) return { max: 0, surges: true };
  const share = staged?.max ?? rollingUpdate.maxUnavailable ?? 1;
  return { max: Math.max(1, resolve(share)), surges: false };
}

function isLive(pod: KubernetesObject): boolean {
  const isTerminal = ['Succeeded', 'Failed'].includes(phaseOf(pod));
  return pod.metadata.deletionTimestamp === undefined && !isTerminal;
}

/** In the order in which duplicates survive: by creation, then by name (spec 2.7). */
function isOlder(left: KubernetesObject, right: KubernetesObject): boolean {
  const bornAtMs = ({ metadata }: KubernetesObject): number =>
    Date.parse(metadata.creationTimestamp ?? '');
  const difference = bornAtMs(left) - bornAtMs(right);
  return difference < 0 || (difference === 0 && left.metadata.name < right.metadata.name);
}
