/** A delete that the API server refuses: others have their turn in a rolling update meanwhile. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextRefusals } from '../../../../src/core/retry/retry.ts';
import { nodeName, uid } from '../../../../src/core/model/identifiers.ts';
import type { RefusalEntry } from '../../../../src/core/model/state.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';

/** Changes the template: every pod is outdated then. */
function editTemplate(world: ReconcileWorld): void {
  world.edit(({ template }) => {
    const metadata = { ...template.metadata, annotations: { edited: 'once' } };
    return { template: { ...template, metadata } };
  });
}

/** Nodes whose pod is of the edited template. */
function updated(world: ReconcileWorld): readonly string[] {
  const done = world.pods.filter(({ metadata }) => metadata.annotations?.['edited'] === 'once');
  return done.map((pod) => (pod['spec'] as { readonly nodeName: string }).nodeName).sort();
}

async function go(world: ReconcileWorld, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    world.runKubelets();
    await world.step();
    await world.clock.advance(2_000);
  }
}

describe('a refused delete in a rolling update', () => {
  it('holds up its own node, and no other, with maxUnavailable 1', async () => {
    const world = await ReconcileWorld.settled({ nodes: 4 });
    const [first] = world.pods.filter(
      (pod) => (pod['spec'] as { readonly nodeName: string }).nodeName === 'node-0001',
    );
    let asked = 0;
    world.cluster.hooks = {
      beforeEffect: (effect) => {
        if (effect.kind !== 'delete-pod' || effect.name !== first?.metadata.name) return undefined;
        asked += 1;
        const outcome = { kind: 'refused', code: 'admission', status: 403, message: 'no' } as const;
        return { kind: 'answer', outcome };
      },
    };
    editTemplate(world);
    await go(world, 60);
    assert.deepEqual(updated(world), ['node-0002', 'node-0003', 'node-0004']);
    assert.ok(asked >= 2 && asked < 30, `asked ${asked} times in two minutes`);
    world.cluster.hooks = {};
    await go(world, 120);
    assert.equal(updated(world).length, 4);
    assert.deepEqual(world.cluster.violations, []);
  });
});

describe('a delete that is answered 404', () => {
  it('counts as going until the view shows it: nothing else goes for it, within maxUnavailable 1', async () => {
    const world = await ReconcileWorld.settled({ nodes: 4 });
    editTemplate(world);
    await world.mirror.sync();
    const asked: string[] = [];
    world.cluster.hooks = {
      beforeEffect: (effect) => {
        if (effect.kind !== 'delete-pod') return undefined;
        asked.push(effect.uid);
        // Somebody else was faster.
        world.cluster.remove('pods', effect.name, 'system');
        return undefined;
      },
    };
    for (let run = 0; run < 4; run += 1) {
      await world.run();
      await world.clock.advance(2_000);
    }
    assert.equal(asked.length, 1);
    const state = await world.view.readState(world.ref);
    const going = state?.intents.filter((intent) => intent.kind === 'delete' && intent.isAccepted);
    assert.deepEqual(
      going?.map((intent) => 'uid' in intent && intent.uid),
      asked,
    );
    await go(world, 60);
    assert.equal(updated(world).length, 4);
  });
});

describe('nextRefusals with a refused delete', () => {
  const at = {
    nowMs: 1_000_000,
    jittered: (delayMs: number) => delayMs,
  };
  const node = nodeName('n1');
  const victim = uid('pod-1');
  const refused = [{ node, code: 'admission', message: 'no', victim }];
  const change = {
    generation: 3,
    refused,
    clearedNodes: new Set([node]),
    lackingNodes: new Set<typeof node>(),
  };
  const later = (ms: number): typeof at => ({ ...at, nowMs: at.nowMs + ms });

  it('grows while it is refused again, and is forgotten some time after', () => {
    const [first] = nextRefusals({}, change, at);
    assert.equal(first?.victim, victim);
    assert.equal(first.delayMs, 2000);
    const again = nextRefusals({ refusals: [first] }, change, later(3000));
    assert.equal(again[0]?.delayMs, 4000);
    const calm = { ...change, refused: [] };
    assert.deepEqual(nextRefusals({ refusals: [first] }, calm, later(3000)), [first]);
    assert.deepEqual(nextRefusals({ refusals: [first] }, calm, later(4500)), []);
    const edited = { ...calm, generation: 4 };
    assert.deepEqual(nextRefusals({ refusals: [first] }, edited, later(1)), []);
  });

  it('never takes the place of a refused create, which knows taken names', () => {
    const create: RefusalEntry = {
      node,
      generation: 3,
      code: 'name-taken',
      message: 'held',
      delayMs: 1000,
      notBeforeMs: at.nowMs,
    };
    const lacking = {
      ...change,
      clearedNodes: new Set<typeof node>(),
      lackingNodes: new Set([node]),
    };
    assert.deepEqual(nextRefusals({ refusals: [create] }, lacking, at), [create]);
  });
});
