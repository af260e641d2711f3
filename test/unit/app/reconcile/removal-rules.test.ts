/** A shrink that is held (ADR 0057): nothing goes, the cause is told once, one confirmation lets it proceed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONFIRM_ANNOTATION } from '../../../../src/core/removal-guard/removal-rules.ts';
import { confirmRemoval } from '../../../../src/core/removal-guard/confirm-removal.ts';
import { ReconcileWorld, type WorldOptions } from '../../../support/reconcile-world.ts';

const NODES = 50;
const LABELS = { pool: 'a' };

/** Fifty nodes with the label, each with its pod, all at rest. */
async function restingWorld(options: WorldOptions = {}): Promise<ReconcileWorld> {
  const world = new ReconcileWorld({
    nodes: 0,
    daemonSet: (object) => {
      const { template } = object.spec;
      const spec = { ...template.spec, nodeSelector: LABELS };
      return { ...object, spec: { ...object.spec, template: { ...template, spec } } };
    },
    ...options,
  });
  for (let index = 0; index < NODES; index += 1) world.addNode(nodeOf(index), { labels: LABELS });
  await world.settle();
  return world;
}

const nodeOf = (index: number): string => `node-${String(index).padStart(2, '0')}`;

/** Somebody's tool takes the label off so many nodes, as managedFields tell it. */
function stripLabels(world: ReconcileWorld, count = NODES): void {
  for (let index = 0; index < count; index += 1) {
    world.cluster.change('nodes', { namespace: '', name: nodeOf(index) }, (node) => ({
      ...node,
      metadata: {
        ...node.metadata,
        labels: { other: 'x' },
        managedFields: [
          {
            manager: 'label-cleaner',
            operation: 'Update',
            time: new Date(world.clock.nowMs()).toISOString(),
            fieldsV1: { 'f:metadata': { 'f:labels': { 'f:other': {} } } },
          },
        ],
      } as typeof node.metadata,
    }));
  }
}

async function tokenOf(world: ReconcileWorld): Promise<string> {
  const { shrink } = await world.state();
  assert.ok(shrink?.held !== undefined, 'nothing is held');
  return shrink.held.token;
}

function eventsOf(world: ReconcileWorld, reason: string): readonly string[] {
  return world.cluster
    .list('events')
    .filter((event) => event['reason'] === reason)
    .map((event) => String(event['message']));
}

async function heldWorld(): Promise<ReconcileWorld> {
  const world = await restingWorld();
  stripLabels(world);
  await world.settle();
  assert.equal(world.owned.length, NODES, 'a pod went');
  return world;
}

describe('S14: fifty nodes that lose their label in one second', () => {
  it('lose no pod, and one Event names the cause, its author and the way out', async () => {
    const world = await heldWorld();
    await world.settle();
    const [message = '', ...others] = eventsOf(world, 'RemovalHeld');
    assert.deepEqual(others, []);
    assert.match(message, /^Held: 50 of 50 pods go within ten minutes: node-00, node-01, node-02 /);
    assert.match(message, /lacks the label pool=a .*last written by label-cleaner at /);
    const token = await tokenOf(world);
    assert.equal((await world.state()).shrink?.held?.author?.manager, 'label-cleaner');
    assert.ok(
      message.includes(
        `annotate daemonset --overwrite -n system agents ${CONFIRM_ANNOTATION}=${token}`,
      ),
    );
    assert.equal(world.metrics.sum('ReconcileShrinks', 'held'), 1);
    const lines = world.log.lines.filter(({ fields }) => fields?.['code'] === 'held');
    assert.equal(lines.length, 1);
    const verdicts = await world.explain();
    assert.deepEqual([...new Set(verdicts?.map(({ code }) => code))], ['HeldByRemovalGuard']);
  });

  it('lose none either when only a few are seen at first', async () => {
    const world = await restingWorld();
    stripLabels(world, 2);
    await world.step();
    stripLabels(world);
    await world.settle();
    assert.equal(world.owned.length, NODES);
  });

  it('lose them all once somebody annotates the token', async () => {
    const world = await heldWorld();
    const token = await tokenOf(world);
    const annotations = { [CONFIRM_ANNOTATION]: token };
    world.change(({ metadata }) => ({ metadata: { ...metadata, annotations } }));
    await world.settle();
    assert.deepEqual(world.owned, []);
    assert.equal(world.metrics.sum('ReconcileShrinks', 'confirmed'), 1);
  });

  it('lose them once the state says so, as the command writes it', async () => {
    const world = await heldWorld();
    const confirmed = confirmRemoval(await world.state(), {
      by: 'ada',
      atMs: world.clock.nowMs(),
    });
    assert.equal(await world.view.writeState(world.ref, confirmed), 'written');
    await world.settle();
    assert.deepEqual(world.owned, []);
  });

  it('keep them when they get the label back, and the next time it is told again', async () => {
    const world = await heldWorld();
    for (let index = 0; index < NODES; index += 1) world.addNode(nodeOf(index), { labels: LABELS });
    await world.settle();
    assert.equal((await world.state()).shrink?.held, undefined);
    assert.equal(world.metrics.sum('ReconcileShrinks', 'ended'), 1);
    await world.clock.advance(3_600_000);
    stripLabels(world);
    await world.settle();
    assert.equal(world.owned.length, NODES);
    assert.equal(eventsOf(world, 'RemovalHeld').length, 2);
  });

  it('cost nothing while they are held: a look skips', async () => {
    const world = await heldWorld();
    const { version } = await world.state();
    assert.deepEqual(await world.step(), { kind: 'skipped' });
    assert.equal((await world.state()).version, version);
  });
});

describe('where Rollcall only observes', () => {
  it('a metric and a line tell of it, and nothing is written to the cluster', async () => {
    const world = await restingWorld();
    world.register({ mode: 'observe' });
    stripLabels(world);
    await world.settle();
    assert.equal(world.metrics.sum('ReconcileShrinks', 'alarmed'), 1);
    assert.deepEqual([...eventsOf(world, 'RemovalHeld'), ...eventsOf(world, 'RemovalSeen')], []);
    assert.equal(world.owned.length, NODES);
  });

  it('beside the built-in controller an Event tells of it, too, and says who wrote the labels', async () => {
    const world = await restingWorld();
    world.register({ mode: 'copilot' });
    stripLabels(world);
    await world.settle();
    const [message = '', ...others] = eventsOf(world, 'RemovalSeen');
    assert.deepEqual(others, []);
    assert.match(message, /^50 of 50 pods go .*last written by label-cleaner .*cannot hold it\.$/);
    assert.equal(world.metrics.sum('ReconcileShrinks', 'alarmed'), 1);
    assert.equal(world.owned.length, NODES);
  });
});
