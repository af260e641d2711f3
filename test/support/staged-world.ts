/**
 * A cluster in values for staged rollouts: plans are made of it and carried out on it, on its own clock.
 *
 * Kinder than the simulation (test/support/simulation): a view is never late, no write is lost. It is for what the stages
 * decide; what happens when runs cross or die is played there. In copilot a built-in controller makes every pod, of the
 * newest template, in the next tick; in takeover the plan's creates do.
 */
import { jsonMember, type JsonObject } from '@rollcall/base/json.ts';
import { uid, type NodeName } from '../../src/core/model/identifiers.ts';
import type { Plan } from '../../src/core/model/plan.ts';
import type { NodeProjection, PodProjection, Tombstone } from '../../src/core/model/projections.ts';
import type { RefusalEntry } from '../../src/core/model/state.ts';
import type { RolloutRecord } from '../../src/core/model/rollout-record.ts';
import type { RolloutPolicy } from '../../src/core/policy/rollout-policy.ts';
import { planReconcile } from '../../src/core/plan/plan.ts';
import { NOW_MS, context, daemonSet, node, pod, state, view } from './core-fixtures.ts';

/** How pods of a revision behave, from their creation on. */
export interface Behaviour {
  /** When a pod is Ready; absent: after 5 s. */
  readonly readyAfterMs?: number;
  /** What its status says at that age, on that node; undefined: nothing. */
  readonly trouble?: (ageMs: number, node: NodeName) => PodProjection['trouble'];
  /** Overrides readiness at that age; the time is since when. */
  readonly ready?: (ageMs: number) => { readonly isReady: boolean; readonly sinceMs: number };
  /** True: the API server refuses to create it. */
  readonly isRefused?: boolean;
  /** True where the scheduler finds no place for it. */
  readonly hasNoPlace?: (node: NodeName) => boolean;
}

export interface StagedWorldOptions {
  readonly nodes: readonly NodeProjection[];
  readonly policy: RolloutPolicy;
  readonly mode?: 'copilot' | 'takeover';
  readonly strategy?: JsonObject;
  /** spec of its template. */
  readonly podSpec?: JsonObject;
}

/** A policy with nothing in it but a canary of one node and no soak. */
export function policy(options: Partial<RolloutPolicy> = {}): RolloutPolicy {
  return {
    isPaused: false,
    order: [],
    canary: { kind: 'share', share: { kind: 'count', count: 1 }, spread: [] },
    soakMs: 0,
    approval: 'none',
    windows: [],
    onHalt: 'pause',
    returns: 'at-once',
    budget: 'parity',
    removalPercent: 20,
    ...options,
  };
}

/** The world. */
export class StagedWorld {
  nowMs = NOW_MS;
  policy: RolloutPolicy;
  /** Hash of the template. */
  hash = 'aaaa';
  isViewFresh = true;
  unheardMs = 0;
  /** How far other clocks are ahead of ours. */
  skew = { apiServerMs: 0, kubeletMs: 0 };
  seenView = '1/1000';
  record: RolloutRecord | undefined;
  readonly nodes = new Map<NodeName, NodeProjection>();
  readonly pods = new Map<string, PodProjection>();
  /** By controller-revision-hash. */
  readonly behaviours = new Map<string, Behaviour>();
  readonly events: string[] = [];
  /** `node hash`, in the order in which pods were made. */
  readonly made: string[] = [];
  readonly deleted: string[] = [];
  /** The most nodes that were without a Ready pod at a tick. */
  unreadyNodesMax = 0;
  plan: Plan | undefined;
  readonly #options: StagedWorldOptions;
  #gone: Tombstone[] = [];
  #refusals: RefusalEntry[] = [];
  #numbered = 0;

  constructor(options: StagedWorldOptions) {
    this.#options = options;
    this.policy = options.policy;
    for (const each of options.nodes) this.nodes.set(each.name, each);
    for (const each of options.nodes)
      this.#make(each.name, this.hash, { createdAtMs: NOW_MS - 3_600_000 });
    this.tick(0);
  }

  get isTakeover(): boolean {
    return this.#options.mode !== 'copilot';
  }

  /** Hash of each node's pod, by node. */
  hashes(): Readonly<Record<string, string>> {
    const found = [...this.pods.values()].map(
      (each) => [String(each.targetNode), hashOf(each)] as const,
    );
    return Object.fromEntries(found.sort(([left], [right]) => (left < right ? -1 : 1)));
  }

  /** How many nodes run a pod with that label. */
  countLabelled(label: string, value: string): number {
    return [...this.pods.values()].filter(({ labels }) => labels[label] === value).length;
  }

  /** How many nodes run a pod of that revision. */
  count(hash: string): number {
    return [...this.pods.values()].filter((each) => hashOf(each) === hash).length;
  }

  /** Time goes on, and a run looks. */
  tick(byMs: number): void {
    this.nowMs += byMs;
    this.#age();
    this.#look();
    if (!this.isTakeover) this.#makeMissing();
  }

  /** Ticks of `stepMs` until that holds, for `maxMs` at most. */
  until(holds: () => boolean, { stepMs = 30_000, maxMs = 2 * 3_600_000 } = {}): boolean {
    const endMs = this.nowMs + maxMs;
    while (!holds()) {
      if (this.nowMs >= endMs) return false;
      this.tick(stepMs);
    }
    return true;
  }

  /** Replaces what is known of a node. */
  setNode(name: NodeName, change: Partial<NodeProjection>): void {
    const found = this.nodes.get(name) ?? node(name);
    this.nodes.set(name, { ...found, ...change });
  }

  /** Removes a pod as a drain would; the node gets another one. */
  evict(name: NodeName): void {
    for (const each of this.pods.values()) if (each.targetNode === name) this.#delete(each.name);
    if (!this.isTakeover) this.#makeMissing();
  }

  #look(): void {
    const { hash } = this;
    const object = daemonSet({
      spec: {
        updateStrategy: this.#options.strategy ?? { type: 'OnDelete' },
        template: templateOf(this.#options, hash),
      },
    });
    const pods = [...this.pods.values()];
    const seen = view({
      daemonSet: object,
      nodes: [...this.nodes.values()],
      pods: pods.map((each) => toldPod(each, this.skew)),
      gone: this.#gone,
      nowMs: this.nowMs,
    });
    const mode = this.#options.mode ?? 'takeover';
    const former = this.record?.former?.hash.split('+')[0];
    const plan = planReconcile(
      seen,
      context({
        currentHash: hash,
        state: {
          ...state({ refusals: this.#refusals }),
          ...(this.record === undefined ? {} : { rollout: this.record }),
        },
        staging: {
          reading: { kind: 'policy', policy: this.policy },
          mode,
          seenView: this.seenView,
          isViewFresh: this.isViewFresh,
          unheardMs: this.unheardMs,
          ...(former === undefined
            ? {}
            : { former: { hash: former, template: { metadata: { labels: { app: 'agent' } } } } }),
        },
      }),
    );
    this.plan = plan;
    this.record = plan.stages?.record;
    this.events.push(...plan.stageEvents.map(({ reason, message }) => `${reason}: ${message}`));
    for (const { name } of plan.deletes) {
      this.deleted.push(name);
      this.#delete(name);
    }
    if (this.isTakeover) for (const create of plan.creates) this.#carryOut(create);
    const ready = new Set(
      pods.filter(({ isReady }) => isReady).map(({ targetNode }) => targetNode),
    );
    this.unreadyNodesMax = Math.max(this.unreadyNodesMax, this.nodes.size - ready.size);
  }

  #carryOut({ node: name, body }: Plan['creates'][number]): void {
    const labels = jsonMember(body['metadata'], 'labels') as Readonly<Record<string, string>>;
    const hash = labels['controller-revision-hash'] ?? '';
    if (this.behaviours.get(hash)?.isRefused !== true) {
      this.#make(name, hash, { createdAtMs: this.nowMs, labels });
      return;
    }
    const delayMs = 60_000;
    const notBeforeMs = this.nowMs + delayMs;
    const refusal = { node: name, generation: 1, code: 'quota', message: '', delayMs, notBeforeMs };
    this.#refusals = [...this.#refusals.filter((each) => each.node !== name), refusal];
  }

  #makeMissing(): void {
    if (this.behaviours.get(this.hash)?.isRefused === true) return;
    const taken = new Set([...this.pods.values()].map(({ targetNode }) => targetNode));
    for (const name of this.nodes.keys()) {
      if (!taken.has(name)) this.#make(name, this.hash, { createdAtMs: this.nowMs });
    }
  }

  #make(
    name: NodeName,
    hash: string,
    {
      createdAtMs,
      labels,
    }: { readonly createdAtMs: number; readonly labels?: Readonly<Record<string, string>> },
  ): void {
    this.#numbered += 1;
    const podName = `agent-${String(this.#numbered)}`;
    if (createdAtMs >= NOW_MS) this.made.push(`${name} ${hash}`);
    const made = pod(name, {
      name: podName,
      uid: uid(`uid-${podName}`),
      labels: labels ?? { app: 'agent', 'controller-revision-hash': hash },
      createdAtMs,
      isReady: false,
      phase: 'Pending',
    });
    this.pods.set(podName, made);
  }

  #delete(name: string): void {
    const found = this.pods.get(name);
    this.pods.delete(name);
    const { targetNode } = found ?? {};
    if (found === undefined || targetNode === undefined) return;
    const { uid: ownUid, createdAtMs } = found;
    this.#gone.push({ name, uid: ownUid, node: targetNode, createdAtMs, goneAtMs: this.nowMs });
    this.#gone = this.#gone.filter(({ goneAtMs }) => this.nowMs - goneAtMs < 600_000);
  }

  /** What kubelets would have written by now. */
  #age(): void {
    for (const [name, each] of this.pods) {
      const { targetNode: target } = each;
      const isNodeReady = target !== undefined && this.nodes.get(target)?.isReady === true;
      const behaviour = this.behaviours.get(hashOf(each)) ?? {};
      const isUnplaced = target !== undefined && behaviour.hasNoPlace?.(target) === true;
      const { boundNode: _bound, ...unbound } = each;
      const aged = isUnplaced
        ? { ...unbound, trouble: { unscheduled: 'Unschedulable' } }
        : isNodeReady
          ? agedPod(each, { behaviour, ageMs: this.nowMs - each.createdAtMs, node: target })
          : { ...each, isReady: false };
      this.pods.set(name, aged);
    }
  }
}

function templateOf({ podSpec }: StagedWorldOptions, hash: string): JsonObject {
  const containers = [{ name: 'agent', image: hash }];
  return { metadata: { labels: { app: 'agent' } }, spec: { containers, ...podSpec } };
}

/** A pod with the times that an API server and a kubelet would have written by their clocks. */
function toldPod(
  each: PodProjection,
  { apiServerMs, kubeletMs }: StagedWorld['skew'],
): PodProjection {
  const { readyChangedAtMs, trouble } = each;
  const lastExit = trouble?.lastExit;
  const finishedAtMs = lastExit?.finishedAtMs;
  return {
    ...each,
    createdAtMs: each.createdAtMs + apiServerMs,
    ...(readyChangedAtMs === undefined ? {} : { readyChangedAtMs: readyChangedAtMs + kubeletMs }),
    ...(lastExit === undefined || finishedAtMs === undefined
      ? {}
      : {
          trouble: {
            ...trouble,
            lastExit: { ...lastExit, finishedAtMs: finishedAtMs + kubeletMs },
          },
        }),
  };
}

function agedPod(
  each: PodProjection,
  at: { readonly behaviour: Behaviour; readonly ageMs: number; readonly node: NodeName },
): PodProjection {
  const { behaviour, ageMs } = at;
  const trouble = behaviour.trouble?.(ageMs, at.node);
  const readyAfterMs = behaviour.readyAfterMs ?? 5_000;
  const told = behaviour.ready?.(ageMs) ?? {
    isReady: ageMs >= readyAfterMs,
    sinceMs: each.createdAtMs + readyAfterMs,
  };
  const hasRun = told.isReady || (trouble?.restarts ?? 0) > 0;
  return {
    ...each,
    phase: hasRun ? 'Running' : each.phase,
    isReady: told.isReady,
    readyChangedAtMs: told.sinceMs,
    ...(trouble === undefined ? {} : { trouble }),
  };
}

function hashOf({ labels }: PodProjection): string {
  return labels['controller-revision-hash'] ?? '';
}
