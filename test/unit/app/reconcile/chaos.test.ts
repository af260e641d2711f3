/**
 * Everything at once, at random: nodes, pods, lag, lost answers, stuck requests, crashes, lost state.
 *
 * Phase 1: faults on, S1, S4, S5 and S7 checked at each write by the cluster itself. Phase 2: faults
 * end, and within bounded virtual time each eligible node has exactly one pod (L1). Phase 3: silence.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Intervention } from '../../../support/simulated-hooks.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';

type Step =
  | { readonly do: 'sync' | 'run' | 'kubelets' | 'lose-state' | 'release-stuck' | 'epoch' | 'edit' }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'node' | 'taint' | 'untaint' | 'drop-node'; readonly node: number }
  | { readonly do: 'fail' | 'delete' | 'relabel' | 'finalizer'; readonly pod: number }
  | { readonly do: 'faults'; readonly faults: readonly Fault[] }
  | { readonly do: 'crash'; readonly write: number };

type Fault = 'none' | 'lose-answer' | 'stuck' | 'unsent' | 'refused';

const index = fc.nat({ max: 5 });
const fault = fc.constantFrom<Fault>('none', 'none', 'lose-answer', 'stuck', 'unsent', 'refused');
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom('sync' as const) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom('run' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('kubelets', 'lose-state', 'release-stuck', 'epoch', 'edit'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.nat(15_000) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('node', 'taint', 'untaint', 'drop-node'),
      node: index,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('fail', 'delete', 'relabel', 'finalizer'),
      pod: index,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('faults' as const),
      faults: fc.array(fault, { maxLength: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const), write: fc.nat(12) }) },
);

function interventionOf(kind: Fault | undefined): Intervention | undefined {
  switch (kind) {
    case 'lose-answer':
    case 'stuck':
      return { kind };
    case 'unsent':
      return { kind: 'answer', outcome: { kind: 'unsent', message: 'throttled' } };
    case 'refused': {
      const outcome = { kind: 'refused', code: 'admission', status: 403, message: 'no' } as const;
      return { kind: 'answer', outcome };
    }
    case 'none':
    case undefined:
      return undefined;
  }
}

/** A world that plays steps. */
class Chaos {
  readonly world = new ReconcileWorld({ nodes: 3 });
  #faults: Fault[] = [];
  #stuckAtMs = 0;

  constructor() {
    this.world.cluster.podsLinger = true;
    this.world.cluster.hooks = {
      beforeEffect: () => {
        const intervention = interventionOf(this.#faults.shift());
        if (intervention?.kind === 'stuck') this.#stuckAtMs = this.world.clock.nowMs();
        return intervention;
      },
    };
  }

  async play(each: Step): Promise<void> {
    const { world } = this;
    // A request is dead after twice its time-out (design 3): what is stuck does not outlive that.
    const isDead = world.clock.nowMs() - this.#stuckAtMs > 15_000;
    if (isDead) world.cluster.dropStuck();
    switch (each.do) {
      case 'sync':
        return world.mirror.sync();
      case 'run':
        await world.run();
        return;
      case 'kubelets':
        world.runKubelets();
        return;
      case 'lose-state':
        world.view.lose('STATE');
        // Protocol 6 presumes that what was forgotten is dead: only then may the test drop it too.
        world.cluster.releaseStuck();
        return;
      case 'release-stuck':
        world.cluster.releaseStuck();
        return;
      case 'epoch':
        world.mirror.epoch = String(Number(world.mirror.epoch) + 1) as never;
        return;
      case 'advance':
        await world.clock.advance(each.ms);
        return;
      case 'faults':
        this.#faults = [...each.faults];
        return;
      case 'crash':
        return this.#crash(each.write);
      default:
        this.#change(each);
    }
  }

  async heal(): Promise<void> {
    const { world } = this;
    this.#faults = [];
    world.view.hooks = {};
    world.cluster.releaseStuck();
    for (const pod of world.pods) {
      world.cluster.change('pods', { namespace: 'system', name: pod.metadata.name }, (object) => ({
        ...object,
        metadata: { ...object.metadata, finalizers: [] },
      }));
    }
    await world.clock.advance(30_000);
    await world.settle({ withinMs: 7_200_000 });
  }

  async #crash(write: number): Promise<void> {
    const { world } = this;
    let seen = 0;
    world.view.hooks = {
      before: ({ isWrite, operation }) => {
        if (!isWrite || operation !== 'writeState') return;
        seen += 1;
        if (seen > write % 3) throw new Error('crash');
      },
    };
    await world.run().catch((cause: unknown) => {
      assert.equal((cause as Error).message, 'crash');
    });
    world.view.hooks = {};
  }

  #change(each: Step): void {
    const { world } = this;
    if ('node' in each) {
      const name = `node-000${each.node}`;
      const taints = each.do === 'taint' ? [{ key: 'gone', effect: 'NoExecute' }] : [];
      if (each.do === 'drop-node') world.cluster.remove('nodes', name);
      else world.addNode(name, { taints });
      return;
    }
    if (each.do === 'edit') {
      world.cluster.change('daemonsets', { namespace: 'system', name: 'agents' }, (item) => item);
      return;
    }
    const pod = 'pod' in each ? world.pods[each.pod] : undefined;
    if (pod === undefined) return;
    const key = { namespace: 'system', name: pod.metadata.name };
    const edit = (metadata: object): void => {
      world.cluster.change('pods', key, (object) => ({
        ...object,
        metadata: { ...object.metadata, ...metadata },
      }));
    };
    if (each.do === 'fail') world.setPhase(key.name, 'Failed');
    else if (each.do === 'delete') edit({ deletionTimestamp: '2026-01-01T00:00:00Z' });
    else if (each.do === 'relabel') edit({ labels: { app: 'other' } });
    else edit({ finalizers: ['test/hold'] });
  }
}

/** Nodes that should have a pod. */
function eligible(world: ReconcileWorld): readonly string[] {
  return world.cluster
    .list('nodes')
    .filter((node) => !JSON.stringify(node).includes('NoExecute'))
    .map((node) => node.metadata.name);
}

describe('reconcile under chaos', () => {
  it('keeps S1, S4, S5 and S7 throughout, and converges when faults end (L1)', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        const chaos = new Chaos();
        const { world } = chaos;
        await world.mirror.sync();
        for (const each of steps) {
          await chaos.play(each);
          assert.deepEqual(world.cluster.violations, []);
        }
        await chaos.heal();
        assert.deepEqual(world.cluster.violations, []);
        const nodes = new Set(world.cluster.list('nodes').map(({ metadata }) => metadata.name));
        const placed = world.owned.filter((node) => nodes.has(node));
        assert.deepEqual(placed, eligible(world));
        const requests = world.cluster.requests.length;
        await world.run();
        assert.equal(world.cluster.requests.length, requests, 'silence');
      }),
      { numRuns: Number(process.env['CHAOS_RUNS'] ?? 150) },
    );
  });
});
