/**
 * A cluster in which rolling updates take their time: pods start and stop slowly, some fail once,
 * nodes come and go. Pure values and a clock that the caller moves; no faults of requests.
 *
 * `rollOut` closes the loop: run, apply, wait for the next thing that happens (or the plan's own due
 * time, and nothing else: a wake-up that the plan forgets is a rollout that stands still), until
 * nothing is left to do. After each run it is asked whether the world is still as it must be.
 */
import type { NodeProjection, PodProjection } from '../../src/core/model/projections.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { Marks } from '../../src/core/model/watcher-message.ts';
import type { Plan } from '../../src/core/model/plan.ts';
import { OWNER_UID } from './core-fixtures.ts';
import { FencedCluster, type Fate } from './fenced-cluster.ts';
import { referencePlacement } from './reference-placement.ts';
import { referenceBudget } from './reference-rollout.ts';

interface Timer {
  readonly atMs: number;
  readonly act: () => void;
}

/** A cluster with kubelets. */
export class RollingCluster extends FencedCluster {
  /** From creation to readiness, and from deletion to absence. */
  startMs = 2000;
  stopMs = 1500;
  /** Nodes on which the next pod fails. */
  readonly failing = new Set<string>();
  #timers: Timer[] = [];

  /** Changes the DaemonSet's spec as a user does; a new hash means another template. */
  edit(change: Partial<DaemonSetObject['spec']>, hash: string = this.currentHash): void {
    const { metadata, spec } = this.daemonSet;
    const generation = (metadata.generation ?? 0) + 1;
    this.daemonSet = {
      ...this.daemonSet,
      metadata: { ...metadata, generation },
      spec: { ...spec, ...change },
    };
    this.currentHash = hash;
  }

  /** Puts a node into the cluster, or another one in its place. */
  putNode(node: NodeProjection): void {
    this.removeNode(node.name);
    this.nodes.push(node);
  }

  /** Takes a node away; its bound pods follow after a while, as pod garbage collection does it. */
  removeNode(name: string): void {
    const index = this.nodes.findIndex((node) => node.name === name);
    if (index === -1) return;
    this.nodes.splice(index, 1);
    this.#later(this.stopMs, () => {
      if (this.nodes.some((node) => node.name === name)) return;
      for (const pod of this.snapshot()) if (pod.boundNode === name) this.pods.delete(pod.name);
    });
  }

  /** A pod is deleted by somebody, or by a run: it takes a while to go. */
  override remove(name: string): void {
    const pod = this.pods.get(name);
    if (pod === undefined || pod.isTerminating) return;
    this.update(name, { isTerminating: true });
    this.#later(this.stopMs, () => {
      if (this.pods.get(name)?.uid === pod.uid) this.pods.delete(name);
    });
  }

  override run(options: Parameters<FencedCluster['run']>[0] = {}): Plan {
    const plan = super.run(options);
    for (const { name } of plan.adopts) this.update(name, { ownerUid: OWNER_UID });
    for (const { name } of plan.releases) this.#release(name);
    if (plan.status !== undefined) this.daemonSet = { ...this.daemonSet, status: plan.status };
    return plan;
  }

  /** When something happens next by itself. */
  get nextEventMs(): number | undefined {
    const times = this.#timers.map(({ atMs }) => atMs);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  override advance(ms: number): void {
    const untilMs = this.nowMs + ms;
    for (;;) {
      const due = this.#timers.toSorted((left, right) => left.atMs - right.atMs)[0];
      if (due === undefined || due.atMs > untilMs) break;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      super.advance(due.atMs - this.nowMs);
      due.act();
    }
    super.advance(untilMs - this.nowMs);
  }

  /** Nodes that should run a pod, and how many of them have none that is available. */
  get availability(): { readonly desired: number; readonly unavailable: number } {
    const spec = this.daemonSet.spec.template.spec ?? {};
    const running = this.nodes.filter((node) => referencePlacement(spec, node) === 'run');
    const minReadyMs = (this.daemonSet.spec.minReadySeconds ?? 0) * 1000;
    const unavailable = running.filter(
      ({ name }) =>
        !this.snapshot().some(
          (pod) =>
            pod.targetNode === name &&
            !pod.isTerminating &&
            pod.isReady &&
            this.nowMs - (pod.readyChangedAtMs ?? this.nowMs) >= minReadyMs,
        ),
    );
    return { desired: running.length, unavailable: unavailable.length };
  }

  /** What is not yet as it should be once a rolling update is over (or, with OnDelete, at rest). */
  differences(): readonly string[] {
    const spec = this.daemonSet.spec.template.spec ?? {};
    const isRolling = this.daemonSet.spec.updateStrategy?.type !== 'OnDelete';
    const found = this.nodes.flatMap((node) => {
      const here = this.snapshot().filter(({ targetNode }) => targetNode === node.name);
      const placement = referencePlacement(spec, node);
      const text = `${node.name} (${placement}) has ${here.map(describe).join(', ')}`;
      const isExact =
        placement === 'run'
          ? here.length === 1
          : here.length === 0 || (placement === 'keep' && here.length === 1);
      const isCurrent =
        placement !== 'run' || here.every((pod) => hashOf(pod) === this.currentHash);
      const isReady = here.every((pod) => pod.isReady && !pod.isTerminating);
      return isExact && isReady && (isCurrent || !isRolling) ? [] : [text];
    });
    const names = new Set<string>(this.nodes.map(({ name }) => name));
    const lost = this.snapshot().filter(({ targetNode }) => !names.has(targetNode ?? ''));
    return [...found, ...lost.map((pod) => `${describe(pod)} is on no node`)];
  }

  /** Views are never stale here. */
  protected override marks(): Marks {
    return { Pod: this.version };
  }

  protected override born(pod: PodProjection): PodProjection {
    this.#later(this.startMs, () => {
      if (this.pods.get(pod.name)?.uid !== pod.uid) return;
      const isFailing = this.failing.delete(pod.targetNode ?? '');
      const ready = { phase: 'Running', isReady: true, readyChangedAtMs: this.nowMs } as const;
      this.update(pod.name, isFailing ? { phase: 'Failed' } : ready);
    });
    const { readyChangedAtMs: _never, ...rest } = pod;
    return { ...rest, phase: 'Pending', isReady: false };
  }

  #release(name: string): void {
    const pod = this.pods.get(name);
    if (pod === undefined) return;
    // Nobody looks at it any more.
    this.pods.delete(name);
  }

  #later(ms: number, act: () => void): void {
    this.#timers.push({ atMs: this.nowMs + ms, act });
  }
}

const hashOf = (pod: PodProjection): string => pod.labels['controller-revision-hash'] ?? '';

function describe(pod: PodProjection): string {
  const marks = [pod.phase, pod.isReady ? 'ready' : 'unready', pod.isTerminating ? 'going' : ''];
  return `${pod.name} of ${hashOf(pod)} (${marks.filter((mark) => mark !== '').join(', ')})`;
}

/** One run of the loop, and how available the nodes were before and after it. */
export interface RollStep {
  readonly plan: Plan;
  readonly unavailableBefore: number;
  readonly unavailableAfter: number;
  readonly maxUnavailable: number;
  readonly maxSurge: number;
}

/** Closes the loop until nothing is left to happen; throws when that takes too long. */
export function rollOut(
  cluster: RollingCluster,
  options: {
    readonly runsMax: number;
    /** Called after each run, with its number, before time passes. */
    readonly onRun?: (step: RollStep, index: number) => void;
    /** What becomes of each request; all are answered if absent. */
    readonly fate?: () => Fate;
  },
): void {
  for (let index = 0; index < options.runsMax; index += 1) {
    const before = cluster.availability;
    const budget = referenceBudget(cluster.daemonSet, before.desired);
    const plan = cluster.run(options.fate === undefined ? {} : { fate: options.fate });
    const unavailableAfter = cluster.availability.unavailable;
    options.onRun?.(
      { plan, unavailableBefore: before.unavailable, unavailableAfter, ...budget },
      index,
    );
    const moments = [cluster.nextEventMs, plan.dueAtMs].filter((atMs) => atMs !== undefined);
    if (moments.length === 0 && !hasWork(plan)) return;
    const nextMs = moments.length === 0 ? cluster.nowMs + 1 : Math.min(...moments);
    cluster.advance(Math.max(1, nextMs - cluster.nowMs));
  }
  const left = cluster.differences().join('; ');
  throw new Error(`not at rest after ${options.runsMax} runs: ${left}`);
}

/** True if a plan asks for anything at all. */
export function hasWork(plan: Plan): boolean {
  const lists = [plan.creates, plan.deletes, plan.adopts, plan.releases, plan.trims];
  return plan.status !== undefined || lists.some((list) => list.length > 0);
}
