/**
 * No key sleeps through a change of a node that concerns it, whatever comes in between (protocol 20, L1, ADR 0079).
 *
 * The reader applies what was accepted, and notes for each key what its placement was when it was woken last. At each cut
 * that must be what it is now: under failed sends, restarts, and objects that come and go under the same names.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decidePlacement, preparePlacement } from '../../../src/core/placement/placement.ts';
import type { NodeProjection, Projection } from '../../../src/core/model/projections.ts';
import type { AffectedKeys, WatcherMessage } from '../../../src/core/model/watcher-message.ts';
import { nodes, podSpecs } from '../../support/core-arbitraries.ts';
import { ReferenceIngest } from '../../support/reference-ingest.ts';
import { POLICY_ANNOTATION } from '../../../src/core/policy/rollout-policy.ts';
import { createWatcherHarness, daemonSetDraft, podDraft } from '../../support/watcher-harness.ts';
import type { WatcherHarness } from '../../support/watcher-harness.ts';

const NAMES = ['app0', 'app1', 'app2'] as const;
const name = fc.constantFrom(...NAMES);
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('node' as const), node: nodes }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('drop' as const), node: nodes }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('set' as const), name, spec: podSpecs }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unset' as const), name }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pod' as const), name, node: nodes }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('fault' as const),
      fault: fc.constantFrom('ambiguous' as const, 'lost-answer' as const, 'unsent' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 20, 260, 1100, 15_000),
    }),
  },
);

type Step = typeof step extends fc.Arbitrary<infer Kind> ? Kind : never;

function change({ source, queue }: WatcherHarness, action: Step): void {
  switch (action.kind) {
    case 'node': {
      const { name: nodeName, labels, taints } = action.node;
      source.put('Node', { metadata: { name: nodeName, labels }, spec: { taints } });
      return;
    }
    case 'drop':
      source.remove('Node', { name: action.node.name });
      return;
    case 'set': {
      const draft = daemonSetDraft(action.name);
      const template = { spec: { containers: [], ...action.spec } };
      source.put('DaemonSet', { ...draft, spec: { ...(draft['spec'] as object), template } });
      return;
    }
    case 'unset':
      source.remove('DaemonSet', { name: action.name, namespace: 'infra' });
      return;
    case 'pod': {
      const owner = source
        .objects('DaemonSet')
        .find(({ metadata }) => metadata.name === action.name);
      if (owner === undefined) return;
      const { name: on } = action.node;
      const draft = podDraft(`${action.name}-${on}`, { owner: owner.metadata.uid, node: on });
      source.put('Pod', draft);
      return;
    }
    case 'fault':
      queue.faults.push(action.fault);
      return;
    default:
  }
}

/** What stands in the view: nodes, DaemonSets, and which of them have a pod where. */
class Woken {
  readonly #view = new ReferenceIngest();
  /** Placement by node, as it was when the key was woken last. */
  readonly #seen = new Map<string, ReadonlyMap<string, string>>();

  apply(message: WatcherMessage): void {
    this.#view.apply(message);
    if (!this.#view.isComplete) return;
    for (const key of this.#keysOf(message)) this.#seen.set(key, this.#placementOf(key));
    if (!this.#view.isCutOpen) this.#check();
  }

  #check(): void {
    for (const key of this.#daemonSets().keys()) {
      const seen = this.#seen.get(key);
      assert.ok(seen !== undefined, `${key} was never woken`);
      const present = this.#placementOf(key);
      for (const [node, placement] of present) {
        const isIdle = !seen.has(node) && placement !== 'run' && !this.#hasPod(key, node);
        if (!isIdle) assert.equal(seen.get(node), placement, `${key} on ${node}`);
      }
      for (const node of seen.keys()) assert.ok(present.has(node), `${key}: ${node} is gone`);
    }
  }

  #keysOf({ body }: WatcherMessage): readonly string[] {
    const every = [...this.#daemonSets().keys()];
    if (body.kind === 'manifest') return every;
    if (body.kind !== 'changes') return [];
    const { affected } = body;
    const hasNodes = body.deltas.some(({ of }) => of === 'Node');
    if (hasNodes && affected === undefined) return every;
    const owned = body.deltas.flatMap(({ of, name: own, sets, formerSets }) => {
      if (of === 'DaemonSet') return [own];
      const touched = new Set([...sets, ...formerSets].map(({ set }) => set));
      return [...this.#daemonSets()]
        .filter(([, { uid }]) => touched.has(`pods/${uid}`) || touched.has(`revisions/${uid}`))
        .map(([key]) => key);
    });
    return [...owned, ...(hasNodes ? (affected?.keys ?? []).map((key) => key.name) : [])];
  }

  #daemonSets(): ReadonlyMap<string, Projection> {
    const stored = [...this.#view.set('daemonsets').values()];
    return new Map(stored.map((one) => [one.name, one]));
  }

  #placementOf(key: string): ReadonlyMap<string, string> {
    const daemonSet = this.#daemonSets().get(key);
    if (daemonSet?.kind !== 'DaemonSet') return new Map();
    const prepared = preparePlacement(daemonSet.object);
    const stored = [...this.#view.set('nodes').values()] as readonly NodeProjection[]; // none is opaque here
    return new Map(stored.map((one) => [one.name, decidePlacement(prepared, one).placement]));
  }

  #hasPod(key: string, node: string): boolean {
    const pods = this.#view.set(`pods/${this.#daemonSets().get(key)?.uid ?? ''}`);
    return [...pods.values()].some((pod) => pod.kind === 'Pod' && pod.targetNode === node);
  }
}

async function run(steps: readonly Step[], seed: number): Promise<void> {
  const harness = createWatcherHarness();
  const { clock, queue } = harness;
  const woken = new Woken();
  let watcher = harness.newWatcher(seed);
  await watcher.start();
  for (const [index, action] of steps.entries()) {
    change(harness, action);
    if (action.kind === 'restart') {
      await watcher.stop();
      watcher = harness.newWatcher(seed + index + 1);
      await watcher.start();
    }
    if (action.kind === 'wait') await clock.advance(action.ms);
  }
  queue.faults.length = 0;
  // Less than the six hours after which a snapshot wakes every key.
  await clock.advance(3_600_000);
  for (const message of queue.accepted) woken.apply(message);
  await watcher.stop();
}

/** Of each message of changes that was accepted: which keys its nodes concern. */
function affectedIn({ queue }: WatcherHarness): readonly (AffectedKeys | undefined)[] {
  return queue.accepted.flatMap(({ body }) => (body.kind === 'changes' ? [body.affected] : []));
}

test('a key that no message names has the placement that it was woken with last', async () => {
  const steps = fc.array(step, { maxLength: 40, size: 'max' });
  await fc.assert(fc.asyncProperty(steps, fc.nat({ max: 1000 }), run), { numRuns: 60 });
});

test('a node that joins with a taint of its cloud wakes nobody until that is gone', async () => {
  const harness = createWatcherHarness();
  for (const app of NAMES) harness.source.put('DaemonSet', daemonSetDraft(app));
  const watcher = await harness.startSettled();
  const put = async (taints: readonly object[]): Promise<unknown> => {
    harness.source.put('Node', { metadata: { name: 'n1' }, spec: { taints } });
    await harness.clock.advance(2_000);
    return affectedIn(harness)
      .at(-1)
      ?.keys.map((key) => key.name);
  };
  const taint = { key: 'cloud.example/starting', effect: 'NoSchedule' };
  assert.deepEqual(await put([taint]), []);
  assert.deepEqual(await put([]), [...NAMES]);
  assert.deepEqual(await put([{ ...taint, effect: 'PreferNoSchedule' }]), []);
  await watcher.stop();
});

test('a node that comes back under its name wakes who has a pod there that must go, and nobody else', async () => {
  const harness = createWatcherHarness();
  const [holder, other] = NAMES;
  const taints = [{ key: 'pool', effect: 'NoExecute' }];
  for (const app of [holder, other]) harness.source.put('DaemonSet', daemonSetDraft(app));
  harness.source.put('Node', { metadata: { name: 'n1' }, spec: {} });
  const owner = harness.source
    .objects('DaemonSet')
    .find(({ metadata }) => metadata.name === holder);
  const { uid = '' } = owner?.metadata ?? {};
  harness.source.put('Pod', podDraft(`${holder}-n1`, { owner: uid, node: 'n1' }));
  const watcher = await harness.startSettled();
  harness.source.remove('Node', { name: 'n1' });
  await harness.clock.advance(2_000);
  harness.source.put('Node', { metadata: { name: 'n1' }, spec: { taints } });
  await harness.clock.advance(2_000);
  assert.deepEqual(
    affectedIn(harness)
      .at(-1)
      ?.keys.map((key) => key.name),
    [holder],
  );
  await watcher.stop();
});

test('of several nodes in one message each is compared, with what a snapshot said of it, too', async () => {
  const harness = createWatcherHarness();
  const first = { ...daemonSetDraft('app0') };
  harness.source.put('DaemonSet', first);
  const put = (nodeName: string, effect?: string): void => {
    const taints = effect === undefined ? [] : [{ key: 'pool', effect }];
    harness.source.put('Node', { metadata: { name: nodeName }, spec: { taints } });
  };
  for (const nodeName of ['n1', 'n2', 'n3']) put(nodeName);
  const watcher = await harness.startSettled();
  const namedFor = async (): Promise<unknown> => {
    await harness.clock.advance(2_000);
    return affectedIn(harness)
      .at(-1)
      ?.keys.map((key) => key.name);
  };
  put('n1', 'PreferNoSchedule');
  put('n2', 'PreferNoSchedule');
  assert.deepEqual(await namedFor(), []);
  put('n1');
  put('n2', 'NoExecute');
  assert.deepEqual(await namedFor(), ['app0']);
  put('n3', 'NoExecute');
  assert.deepEqual(await namedFor(), ['app0'], 'known from the snapshot alone');
  await watcher.stop();
});

test('a node that is Ready again, or labelled anew, wakes who is rolled in stages, and nobody else (S16)', async () => {
  const harness = createWatcherHarness();
  const [staged, plain] = NAMES;
  const draft = daemonSetDraft(staged);
  const annotations = { [POLICY_ANNOTATION]: 'canary: {nodes: 1}' };
  harness.source.put('DaemonSet', { ...draft, metadata: { ...draft.metadata, annotations } });
  harness.source.put('DaemonSet', daemonSetDraft(plain));
  const put = async (isReady: boolean, labels = {}): Promise<unknown> => {
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
    harness.source.put('Node', {
      metadata: { name: 'n1', labels },
      spec: {},
      status: { conditions },
    });
    // It decides nothing for most, so it goes with the next heartbeat.
    await harness.clock.advance(6 * 60_000);
    const named = affectedIn(harness).filter((each) => each !== undefined);
    return named.at(-1)?.keys.map((key) => key.name);
  };
  const watcher = await harness.startSettled();
  await put(true);
  assert.deepEqual(await put(false), [staged]);
  assert.deepEqual(await put(true), [staged]);
  assert.deepEqual(await put(true, { zone: 'a' }), [staged]);
  await watcher.stop();
});
