/**
 * Orders beside runs (issue 17): a run that has not seen one has sent nothing, and explanations say what runs do.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { giveOrder, type OrderRequest } from '../../../../src/app/rollout/give-order.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';
import { nodeOf } from '../../../support/simulated-cluster.ts';
import { noHolder } from '../../../support/rollout-stores.ts';

const HOUR_MS = 3_600_000;

/** Six nodes, settled, under this policy; then the template is another one. */
async function edited(
  policy: string,
  {
    mode = 'takeover',
    pools = [],
  }: { readonly mode?: 'copilot' | 'takeover'; readonly pools?: readonly string[] } = {},
): Promise<ReconcileWorld> {
  const type = mode === 'copilot' ? 'OnDelete' : 'RollingUpdate';
  const world = new ReconcileWorld({
    mode,
    nodes: 6,
    daemonSet: (object: DaemonSetObject): DaemonSetObject => ({
      ...object,
      metadata: { ...object.metadata, annotations: { 'rollcall.dev/rollout': policy } },
      spec: { ...object.spec, updateStrategy: { type } },
    }),
  });
  for (const [index, { metadata }] of world.cluster.list('nodes').entries()) {
    const pool = pools[index % pools.length];
    setReady(world, metadata.name, pool === undefined ? {} : { pool });
  }
  await world.settle();
  world.setImage('new');
  return world;
}

function setReady(world: ReconcileWorld, name: string, labels: Record<string, string> = {}): void {
  world.cluster.change('nodes', { namespace: '', name }, ({ metadata, ...node }) => ({
    ...node,
    metadata: { ...metadata, labels: { ...metadata.labels, ...labels } },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  }));
}

/** Every node of a pool goes, with its pods. */
function scaleToZero({ cluster }: ReconcileWorld, pool: string): void {
  for (const { metadata } of cluster.list('nodes')) {
    if (metadata.labels?.['pool'] !== pool) continue;
    for (const pod of cluster.list('pods')) {
      if (nodeOf(pod) === metadata.name) cluster.remove('pods', pod.metadata.name, 'system');
    }
    cluster.remove('nodes', metadata.name);
  }
}

function give(world: ReconcileWorld, ask: OrderRequest['ask']): ReturnType<typeof giveOrder> {
  const { key } = world.hint;
  const { queue: hints, ...dependencies } = world.dependencies;
  return giveOrder({ key, by: 'ann', ask }, { ...dependencies, hints, holderOf: noHolder });
}

describe('a pause', () => {
  it('that comes between the reads of a run and its write keeps every delete from being sent', async () => {
    const world = await edited('canary: {nodes: 1}\nsoak: 10m');
    let isGiven = false;
    world.view.hooks = {
      before: async ({ operation }) => {
        if (operation !== 'writeState' || isGiven) return;
        isGiven = true;
        assert.equal((await give(world, { kind: 'pause' })).kind, 'given');
      },
    };
    await world.settle({ withinMs: HOUR_MS });
    assert.ok(isGiven);
    assert.equal(world.sent('delete-pod '), 0);
    assert.equal((await world.rollout()).orders.paused?.by, 'ann');
  });

  it('lasts until it is lifted, and then the rollout goes on to its end', async () => {
    const world = await edited('canary: {nodes: 1}\nsoak: 10m');
    await world.settle({ withinMs: 60_000 });
    assert.equal(world.sent('delete-pod '), 1);
    assert.equal((await give(world, { kind: 'pause' })).kind, 'given');
    await world.settle({ withinMs: HOUR_MS });
    assert.equal(world.sent('delete-pod '), 1);
    assert.equal((await give(world, { kind: 'resume' })).kind, 'given');
    await world.settle({ withinMs: HOUR_MS });
    assert.equal(world.sent('delete-pod '), 6);
    assert.equal((await world.rollout()).step.kind, 'done');
  });
});

describe('an approval', () => {
  it('opens the step that waits for it, and no other', async () => {
    const world = await edited('canary: {nodes: 1}\nsoak: 1m\napproval: after-canary');
    await world.settle({ withinMs: HOUR_MS });
    assert.equal(world.sent('delete-pod '), 1);
    assert.equal((await give(world, { kind: 'approve' })).kind, 'given');
    await world.settle({ withinMs: HOUR_MS });
    assert.equal(world.sent('delete-pod '), 6);
  });
});

describe('pools that scale to zero', () => {
  const EACH =
    'canary: {nodes: 1}\nsoak: 1m\nmaxUnavailable: 2\napproval: each-step\norder: [{label: pool}]';

  /** Six nodes in the pools a, b and c; the step of pool b is open, and done. */
  async function inPoolB(): Promise<ReconcileWorld> {
    const world = await edited(EACH, { pools: ['a', 'b', 'c'] });
    for (let step = 1; step <= 2; step += 1) {
      await world.settle({ withinMs: HOUR_MS });
      assert.equal((await give(world, { kind: 'approve' })).kind, 'given');
    }
    await world.settle({ withinMs: HOUR_MS });
    assert.equal((await world.rollout()).step.name, 'b');
    return world;
  }

  it('shift no numbers: the step after one that is gone can be approved, as status shows it', async () => {
    const world = await inPoolB();
    scaleToZero(world, 'b');
    await world.settle({ withinMs: HOUR_MS });
    assert.equal((await give(world, { kind: 'approve' })).kind, 'given');
    const { step, groups } = await world.rollout();
    assert.deepEqual([step.index, groups], [2, 3], 'two steps were opened, and one is left');
    await world.settle({ withinMs: HOUR_MS });
    assert.equal((await world.rollout()).step.kind, 'done');
  });

  it('leave open what was opened: a pool that comes back is updated at once, and the next step waits', async () => {
    const world = await inPoolB();
    scaleToZero(world, 'b');
    await world.settle({ withinMs: HOUR_MS });
    world.addNode('late', { labels: { pool: 'b' } });
    setReady(world, 'late');
    await world.settle({ withinMs: HOUR_MS });
    const updated = world.pods.filter((pod) => JSON.stringify(pod['spec']).includes('"new"'));
    assert.ok(updated.some((pod) => nodeOf(pod) === 'late'));
    const { step, orders } = await world.rollout();
    assert.deepEqual([step.index, orders.approved?.stepIndex], [2, 2]);
  });

  it('wait for nobody once the last pool is gone', async () => {
    const world = await inPoolB();
    scaleToZero(world, 'c');
    await world.settle({ withinMs: HOUR_MS });
    assert.equal((await world.rollout()).step.kind, 'done');
    const late = await give(world, { kind: 'approve', stepIndex: 3 });
    assert.equal(late.kind === 'refused' && late.code, 'over');
  });
});

describe('explaining a staged rollout', () => {
  it('says that nodes outside of open steps wait, as runs do', async () => {
    const world = await edited('paused: true', { mode: 'copilot' });
    await world.settle({ withinMs: HOUR_MS });
    const told = await world.explain();
    assert.deepEqual([...new Set(told?.map(({ code }) => code))], ['WaitingForRollout']);
  });
});
