/**
 * Every step of a rollout has its own wake-up (last section of the spec): plan → due time → plan over
 * virtual time. After a new pod's Ready nothing happens but what the due time asks for.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resourceVersion, uid } from '../../../src/core/model/identifiers.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Plan } from '../../../src/core/model/plan.ts';
import type { PodProjection } from '../../../src/core/model/projections.ts';
import { planReconcile } from '../../../src/core/plan/plan.ts';
import { NOW_MS, context, daemonSet, namedPod, node, view } from '../../support/core-fixtures.ts';

const STARTUP_MS = 700;
const NODES = Array.from({ length: 10 }, (_, index) => node(`n${index}`));

/** A cluster that obeys at once, and pods that are ready a moment later. */
class Rollout {
  nowMs = NOW_MS;
  readonly pods = new Map<string, PodProjection>();
  readonly stepsAtMs: number[] = [];
  readonly #set: ReturnType<typeof daemonSet>;
  #made = 0;

  constructor(rollingUpdate: JsonObject, minReadySeconds: number) {
    this.#set = daemonSet({ spec: { updateStrategy: { rollingUpdate }, minReadySeconds } });
    for (const { name } of NODES) {
      const labels = { app: 'agent', 'controller-revision-hash': 'old' };
      const pod = namedPod(name, `old-${name}`, { labels });
      this.pods.set(pod.name, pod);
    }
  }

  plan(): Plan {
    const options = { daemonSet: this.#set, nodes: NODES, pods: [...this.pods.values()] };
    return planReconcile(view({ ...options, nowMs: this.nowMs }), context());
  }

  /** Applies a plan; answers when the next pod that is starting will be ready. */
  apply({ creates, deletes }: Plan): void {
    for (const { name } of deletes) this.pods.delete(name);
    for (const create of creates) {
      this.#made += 1;
      const pending = namedPod(create.node, create.name, {
        uid: uid(`made-${this.#made}`),
        resourceVersion: resourceVersion(String(1000 + this.#made)),
        phase: 'Pending',
        isReady: false,
        createdAtMs: this.nowMs,
        readyChangedAtMs: this.nowMs,
      });
      this.pods.set(create.name, pending);
    }
    if (creates.length + deletes.length > 0) this.stepsAtMs.push(this.nowMs);
  }

  /** The next pod that starts becomes ready, its time cut to seconds as the API server does. */
  start(): boolean {
    const pending = [...this.pods.values()].filter(({ isReady }) => !isReady);
    if (pending.length === 0) return false;
    this.nowMs += STARTUP_MS;
    const readyChangedAtMs = Math.floor(this.nowMs / 1000) * 1000;
    for (const pod of pending) {
      this.pods.set(pod.name, { ...pod, phase: 'Running', isReady: true, readyChangedAtMs });
    }
    return true;
  }

  isDone(): boolean {
    const hashes = [...this.pods.values()].map(({ labels }) => labels['controller-revision-hash']);
    return this.pods.size === NODES.length && !hashes.includes('old');
  }

  /** Runs until nothing is left to be done; fails if a plan leaves no due time behind. */
  run(): void {
    for (let look = 0; look < 200; look += 1) {
      const plan = this.plan();
      this.apply(plan);
      if (this.isDone() && plan.dueAtMs === undefined && !this.start()) return;
      if (this.start()) continue;
      const isActing = plan.creates.length + plan.deletes.length > 0;
      // What we just did is reported by the watcher: a look for each of our own effects.
      if (isActing) this.nowMs += 10;
      else {
        assert.ok(plan.dueAtMs !== undefined, 'somebody will look again');
        assert.ok(plan.dueAtMs > this.nowMs, 'later than now');
        this.nowMs = plan.dueAtMs;
      }
    }
    assert.fail('the rollout does not end');
  }
}

/** Longest time between two steps. */
function longestGapMs(stepsAtMs: readonly number[]): number {
  return Math.max(...stepsAtMs.slice(1).map((atMs, index) => atMs - (stepsAtMs[index] ?? atMs)));
}

describe('wake-ups of a rollout (spec, last section: a defect that must not be copied)', () => {
  it('surge with minReadySeconds 10: each step at most 12 s after the former', () => {
    const rollout = new Rollout({ maxSurge: 1, maxUnavailable: 0 }, 10);
    rollout.run();
    assert.ok(rollout.isDone());
    assert.equal(rollout.stepsAtMs.length, NODES.length + 1);
    const gapMs = longestGapMs(rollout.stepsAtMs);
    assert.ok(gapMs >= 10_000 - 1000 && gapMs <= 12_000, `${gapMs} ms`);
  });

  it('without surge, too', () => {
    const rollout = new Rollout({ maxUnavailable: 1, maxSurge: 0 }, 10);
    rollout.run();
    assert.ok(rollout.isDone());
    const gapMs = longestGapMs(rollout.stepsAtMs);
    assert.ok(gapMs <= 12_000, `${gapMs} ms`);
  });

  it('without minReadySeconds no step waits for time', () => {
    for (const rollingUpdate of [{ maxSurge: 3, maxUnavailable: 0 }, { maxUnavailable: 3 }]) {
      const rollout = new Rollout(rollingUpdate, 0);
      rollout.run();
      assert.ok(rollout.isDone());
      assert.ok(rollout.nowMs - NOW_MS < NODES.length * (STARTUP_MS + 20));
    }
  });
});
