/**
 * Copilot under chaos: a built-in controller at work, edits, undos, opting in and out, lost answers, stuck requests,
 * crashes, a lost state. At each effect the API server is asked whether it may be: only deletes of outdated pods of a
 * DaemonSet that opts in at that moment, one node of ours at a time, and Events. When faults end the rollout ends, or is
 * held with a breach that it names.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { uid } from '../../../../src/core/model/identifiers.ts';
import type { Effect } from '../../../../src/core/model/effects.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import { copilotStanding } from '../../../../src/core/takeover/opt-in.ts';
import { ReconcileWorld, phaseOf } from '../../../support/reconcile-world.ts';
import { nodeOf } from '../../../support/simulated-cluster.ts';
import type { Intervention } from '../../../support/simulated-hooks.ts';

const KEY = { namespace: 'system', name: 'agents' };
const HASH = 'controller-revision-hash';
const POLICY = 'maxUnavailable: 1\ncanary: {nodes: 1}\nsoak: 1s\n';

type Fault = 'none' | 'lose-answer' | 'stuck' | 'unsent' | 'refused';
type Step =
  | { readonly do: 'sync' | 'run' | 'cluster' | 'lose-state' | 'release-stuck' | 'epoch' }
  | { readonly do: 'opt-in' | 'opt-out' | 'rolling' | 'on-delete' | 'freeze' | 'unfreeze' }
  | { readonly do: 'edit'; readonly image: number }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'add-node' | 'drop-node'; readonly node: number }
  | { readonly do: 'delete'; readonly pod: number }
  | { readonly do: 'faults'; readonly faults: readonly Fault[] }
  | { readonly do: 'crash' };

const of = <Kind extends Step['do']>(weight: number, ...kinds: readonly Kind[]) => ({
  weight,
  arbitrary: fc.record({ do: fc.constantFrom(...kinds) }) as fc.Arbitrary<Step>,
});
const step: fc.Arbitrary<Step> = fc.oneof(
  of(8, 'sync', 'run', 'cluster'),
  of(3, 'opt-in', 'on-delete', 'unfreeze'),
  of(1, 'opt-out', 'rolling', 'freeze', 'lose-state', 'release-stuck', 'epoch', 'crash'),
  { weight: 2, arbitrary: fc.record({ do: fc.constant('edit' as const), image: fc.nat(2) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.nat(8000) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('add-node', 'drop-node'), node: fc.nat(5) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), pod: fc.nat(5) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('faults' as const),
      faults: fc.array(
        fc.constantFrom<Fault>('none', 'lose-answer', 'stuck', 'unsent', 'refused'),
        { maxLength: 4 },
      ),
    }),
  },
);

function interventionOf(kind: Fault | undefined): Intervention | undefined {
  if (kind === 'lose-answer' || kind === 'stuck') return { kind };
  if (kind === 'unsent') return { kind: 'answer', outcome: { kind: 'unsent', message: 'no' } };
  if (kind !== 'refused') return undefined;
  const outcome = { kind: 'refused', code: 'admission', status: 403, message: 'no' } as const;
  return { kind: 'answer', outcome };
}

const isReady = (pod: KubernetesObject): boolean =>
  phaseOf(pod) === 'Running' && pod.metadata.deletionTimestamp === undefined;

/** A world that plays steps, and asks of each effect whether it may be. */
class CopilotChaos {
  readonly world = new ReconcileWorld({
    mode: 'copilot',
    nodes: 4,
    daemonSet: (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: { 'rollcall.dev/rollout': POLICY } },
      spec: { ...object.spec, updateStrategy: { type: 'OnDelete' } },
    }),
  });
  readonly wrong: string[] = [];
  deletes = 0;
  #faults: Fault[] = [];
  #stuckAtMs = 0;
  /** Nodes that lost a pod by us, until they have a ready one again. */
  readonly #emptied = new Set<string>();

  constructor() {
    const { world } = this;
    world.cluster.podsLinger = true;
    world.cluster.hooks = {
      beforeEffect: (effect) => {
        this.#judge(effect);
        const intervention = interventionOf(this.#faults.shift());
        if (intervention?.kind === 'stuck') this.#stuckAtMs = world.clock.nowMs();
        return intervention;
      },
    };
  }

  #judge(effect: Effect): void {
    if (effect.kind === 'create-event' || effect.kind === 'patch-event') return;
    if (effect.kind !== 'delete-pod') {
      this.wrong.push(`${effect.kind} was sent`);
      return;
    }
    const { world } = this;
    const victim = world.pods.find(({ metadata }) => metadata.uid === effect.uid);
    if (victim === undefined) return;
    this.deletes += 1;
    const { daemonSet } = world;
    if (copilotStanding(daemonSet) !== 'followed') this.wrong.push('it does not opt in');
    const hash = this.currentHash();
    if (victim.metadata.labels?.[HASH] === hash) this.wrong.push('a current pod would go');
    const node = nodeOf(victim) ?? '';
    for (const other of this.#stillEmpty()) {
      if (other !== node && isReady(victim)) this.wrong.push(`${other} and ${node} at once`);
    }
    this.#emptied.add(node);
  }

  #stillEmpty(): ReadonlySet<string> {
    const nodes = new Set(this.world.cluster.list('nodes').map(({ metadata }) => metadata.name));
    for (const node of this.#emptied) {
      const hasPod = this.world.pods.some((pod) => nodeOf(pod) === node && isReady(pod));
      if (hasPod || !nodes.has(node)) this.#emptied.delete(node);
    }
    return this.#emptied;
  }

  /** Hash of the revision whose data are the template, once the built-in controller made it. */
  currentHash(): string | undefined {
    const { containers } = this.world.daemonSet.spec.template.spec ?? {};
    const found = this.world.cluster
      .list('controllerrevisions')
      .find((revision) => JSON.stringify(revision['data']).includes(JSON.stringify(containers)));
    return found?.metadata.labels?.[HASH];
  }

  /** Pods on nodes that are there. */
  placed(): readonly KubernetesObject[] {
    const nodes = new Set(this.world.cluster.list('nodes').map(({ metadata }) => metadata.name));
    return this.world.pods.filter((pod) => nodes.has(nodeOf(pod) ?? ''));
  }

  #edit(change: (object: DaemonSetObject) => object, isSpec = true): void {
    this.world.cluster.change('daemonsets', KEY, (object) => {
      const generation = (object.metadata.generation ?? 0) + (isSpec ? 1 : 0);
      const edited = change(object as unknown as DaemonSetObject) as KubernetesObject;
      return { ...edited, metadata: { ...edited.metadata, generation } };
    });
  }

  annotate(annotations: Readonly<Record<string, string>>): void {
    const change = (object: DaemonSetObject): object => ({
      ...object,
      metadata: { ...object.metadata, annotations },
    });
    this.#edit(change, false);
  }

  strategy(type: 'OnDelete' | 'RollingUpdate'): void {
    if (this.world.daemonSet.spec.updateStrategy?.type === type) return;
    this.#edit((object) => ({ ...object, spec: { ...object.spec, updateStrategy: { type } } }));
  }

  image(number: number): void {
    this.#edit((object) => {
      const containers = [{ name: 'agent', image: `example/agent:${String(number)}` }];
      const template = { ...object.spec.template, spec: { containers } };
      return { ...object, spec: { ...object.spec, template } };
    });
  }

  freeze(isFrozen: boolean): Promise<void> {
    return this.world.registry.readCluster(this.world.registration.id).then((stored) => {
      assert.ok(stored !== undefined);
      this.world.registry.seed({ ...stored, isFrozen, configVersion: stored.configVersion + 1 });
    });
  }

  async play(each: Step): Promise<void> {
    const { world } = this;
    // A request is dead after twice its time-out (design 3): what is stuck does not outlive that.
    if (world.clock.nowMs() - this.#stuckAtMs > 15_000) world.cluster.dropStuck();
    switch (each.do) {
      case 'sync':
        return world.mirror.sync();
      case 'run':
        await world.run();
        return;
      case 'cluster':
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
        return this.#crash();
      default:
        return this.#change(each);
    }
  }

  async #change(each: Step): Promise<void> {
    switch (each.do) {
      case 'opt-in':
      case 'opt-out':
        this.annotate(each.do === 'opt-in' ? { 'rollcall.dev/rollout': POLICY } : {});
        return;
      case 'rolling':
      case 'on-delete':
        this.strategy(each.do === 'rolling' ? 'RollingUpdate' : 'OnDelete');
        return;
      case 'freeze':
      case 'unfreeze':
        return this.freeze(each.do === 'freeze');
      case 'edit':
        this.image(each.image);
        return;
      default:
        this.#changeObjects(each);
    }
  }

  #changeObjects(each: Step): void {
    switch (each.do) {
      case 'add-node':
        this.world.addNode(`node-000${String(each.node)}`);
        return;
      case 'drop-node':
        this.world.cluster.remove('nodes', `node-000${String(each.node)}`);
        return;
      case 'delete': {
        const name = this.world.pods[each.pod]?.metadata.name;
        if (name !== undefined) this.world.cluster.remove('pods', name, KEY.namespace);
        return;
      }
      default:
        throw new Error(`no step ${each.do}`);
    }
  }

  /** The second write of the state fails: intents are recorded, and nothing after them. */
  async #crash(): Promise<void> {
    const { world } = this;
    let seen = 0;
    world.view.hooks = {
      before: ({ isWrite, operation }) => {
        if (!isWrite || operation !== 'writeState') return;
        seen += 1;
        if (seen > 1) throw new Error('crash');
      },
    };
    await world.run().catch((cause: unknown) => {
      assert.equal((cause as Error).message, 'crash');
    });
    world.view.hooks = {};
  }

  async heal(): Promise<void> {
    const { world } = this;
    this.#faults = [];
    world.view.hooks = {};
    world.cluster.releaseStuck();
    await this.freeze(false);
    this.annotate({ 'rollcall.dev/rollout': POLICY });
    this.strategy('OnDelete');
    await world.clock.advance(30_000);
    await world.settle({ withinMs: 7_200_000 });
  }
}

describe('copilot under chaos', () => {
  it('deletes only what is outdated, of who opts in, a node at a time, and ends when faults do (L1)', async () => {
    let deletes = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        const chaos = new CopilotChaos();
        const { world } = chaos;
        await world.settle();
        chaos.image(2);
        for (const each of steps) {
          await chaos.play(each);
          assert.deepEqual(chaos.wrong, []);
        }
        await chaos.heal();
        assert.deepEqual(chaos.wrong, []);
        assert.equal(world.metrics.sum('ReconcileInvariants'), 0);
        deletes += chaos.deletes;
        const { metadata } = world.daemonSet;
        const { clusterUid } = world.registration;
        const state = await world.view.readState({ clusterUid, uid: uid(metadata.uid) });
        // Nobody collects pods of vanished nodes here.
        const hashes = new Set(chaos.placed().map((pod) => pod.metadata.labels?.[HASH]));
        const isDone =
          hashes.size <= 1 && [...hashes].every((hash) => hash === chaos.currentHash());
        assert.ok(isDone || state?.rollout?.breach !== undefined, JSON.stringify(state?.rollout));
        const requests = world.cluster.requests.length;
        await world.run();
        assert.equal(world.cluster.requests.length, requests, 'silence');
      }),
      { numRuns: Number(process.env['CHAOS_RUNS'] ?? 60) },
    );
    assert.ok(deletes > 50, 'the rule was put to the test');
  });
});
