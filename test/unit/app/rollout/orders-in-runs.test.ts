/**
 * Orders beside runs (issue 17): a run that has not seen one has sent nothing, and explanations say what runs do.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { giveOrder } from '../../../../src/app/rollout/give-order.ts';
import type { OrderOutcome, OrderRequest } from '../../../../src/app/rollout/give-order.ts';
import { uid } from '../../../../src/core/model/identifiers.ts';
import type { RolloutRecord } from '../../../../src/core/model/rollout-record.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';

const NAME = { namespace: 'system', name: 'agents' };
const HOUR_MS = 3_600_000;

/** Six nodes, settled, under this policy; then the template is another one. */
async function edited(
  policy: string,
  mode: 'copilot' | 'takeover' = 'takeover',
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
  for (const { metadata } of world.cluster.list('nodes')) {
    world.cluster.change('nodes', { namespace: '', name: metadata.name }, (node) => ({
      ...node,
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    }));
  }
  await world.settle();
  world.cluster.change('daemonsets', NAME, (object) => {
    const { spec, metadata } = object as unknown as DaemonSetObject;
    const template = { ...spec.template, spec: { containers: [{ name: 'agent', image: 'new' }] } };
    const generation = (metadata.generation ?? 0) + 1;
    return { ...object, metadata: { ...metadata, generation }, spec: { ...spec, template } };
  });
  return world;
}

function give(world: ReconcileWorld, ask: OrderRequest['ask']): Promise<OrderOutcome> {
  const { key } = world.hint;
  const { queue: hints, ...dependencies } = world.dependencies;
  return giveOrder({ key, by: 'ann', ask }, { ...dependencies, hints });
}

async function recordOf(world: ReconcileWorld): Promise<RolloutRecord> {
  const { clusterUid } = world.registration;
  const state = await world.view.readState({ clusterUid, uid: uid(world.daemonSet.metadata.uid) });
  assert.ok(state?.rollout !== undefined);
  return state.rollout;
}

const deletesOf = (world: ReconcileWorld): number =>
  world.cluster.requests.filter((request) => request.startsWith('delete-pod ')).length;

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
    assert.equal(deletesOf(world), 0);
    assert.equal((await recordOf(world)).orders.paused?.by, 'ann');
  });

  it('lasts until it is lifted, and then the rollout goes on to its end', async () => {
    const world = await edited('canary: {nodes: 1}\nsoak: 10m');
    await world.settle({ withinMs: 60_000 });
    assert.equal(deletesOf(world), 1);
    assert.equal((await give(world, { kind: 'pause' })).kind, 'given');
    await world.settle({ withinMs: HOUR_MS });
    assert.equal(deletesOf(world), 1);
    assert.equal((await give(world, { kind: 'resume' })).kind, 'given');
    await world.settle({ withinMs: HOUR_MS });
    assert.equal(deletesOf(world), 6);
    assert.equal((await recordOf(world)).step.kind, 'done');
  });
});

describe('an approval', () => {
  it('opens the step that waits for it, and no other', async () => {
    const world = await edited('canary: {nodes: 1}\nsoak: 1m\napproval: after-canary');
    await world.settle({ withinMs: HOUR_MS });
    assert.equal(deletesOf(world), 1);
    assert.equal((await give(world, { kind: 'approve' })).kind, 'given');
    await world.settle({ withinMs: HOUR_MS });
    assert.equal(deletesOf(world), 6);
  });
});

describe('explaining a staged rollout', () => {
  it('says that nodes outside of open steps wait, as runs do', async () => {
    const world = await edited('paused: true', 'copilot');
    await world.settle({ withinMs: HOUR_MS });
    const told = await world.explain();
    assert.deepEqual([...new Set(told?.map(({ code }) => code))], ['WaitingForRollout']);
  });
});
