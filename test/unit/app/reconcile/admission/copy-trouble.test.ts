/** What befalls the write of a copy, and a copy that stands: conflicts, other people's hands, deadlines of both clocks (ADR 0063). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outcome } from '../../../../../src/core/model/effects.ts';
import {
  HOURS_MS,
  copied,
  copiesOf,
  stagedSetWorld,
  fail,
  images,
  ready,
  writes,
} from '../../../../support/staged-set-world.ts';
import type { ReconcileWorld } from '../../../../support/reconcile-world.ts';
import { admissionOf } from '../../../../support/simulated-admission.ts';

const ONE = 'example/agent:1';
const TWO = 'example/agent:2';
const A = { namespace: 'system', name: 'agents-rollcall-proven-a' };
const conflict: Outcome = { kind: 'conflict', message: 'the object has been modified' };
const evil = { template: { spec: { containers: [{ name: 'agent', image: 'evil' }] } } };

/** The next writes of copies are answered so, one each. */
function answer(made: ReconcileWorld, outcomes: Outcome[]): void {
  made.cluster.hooks.beforeEffect = ({ kind }) => {
    const outcome = /copy$/.test(kind) ? outcomes.shift() : undefined;
    return outcome === undefined ? undefined : { kind: 'answer', outcome };
  };
}

async function inCanary(): Promise<ReconcileWorld> {
  const made = stagedSetWorld();
  made.cluster.hooks.admit = admissionOf(made.cluster);
  await made.settle();
  made.setImage(TWO);
  await made.settle({ withinMs: 60_000 });
  return made;
}

describe('the write of a copy', () => {
  it('that meets another version is made over what is there by then', async () => {
    const made = stagedSetWorld();
    await made.settle();
    made.cluster.change('podtemplates', A, (object) => ({ ...object, ...evil }));
    answer(made, [conflict]);
    await made.clock.advance(7 * HOURS_MS);
    await made.settle({ withinMs: HOURS_MS });
    assert.deepEqual(Object.values(copied(made)), [ONE]);
    assert.deepEqual(
      writes(made).map((request) => request.split(' ')[0]),
      ['create-copy', 'replace-copy', 'replace-copy'],
    );
  });

  for (const outcome of [{ kind: 'exists' }, { kind: 'gone' }] as const) {
    it(`is looked for again where it is answered ${outcome.kind}, and ends`, async () => {
      const made = stagedSetWorld();
      answer(made, [outcome]);
      await made.settle({ withinMs: HOURS_MS });
      assert.deepEqual(Object.values(copied(made)), [ONE]);
      assert.equal(writes(made).length, 2);
    });
  }

  it('that never succeeds is tried by a back-off, a few times an hour', async () => {
    const made = stagedSetWorld();
    answer(made, Array<Outcome>(1000).fill(conflict));
    await made.settle({ withinMs: HOURS_MS });
    assert.equal(made.pods.length, 6);
    const tried = writes(made).length;
    assert.ok(tried > 1 && tried < 40, `${tried} writes in an hour`);
  });

  for (const clock of ['either', 'the wall'] as const) {
    it(`is not begun once the time of its run is over by ${clock} clock`, async () => {
      const made = stagedSetWorld();
      await made.mirror.sync();
      let isOver = false;
      made.cluster.hooks.onRead = async (what) => {
        if (what !== 'GET podtemplates' || isOver) return undefined;
        isOver = true;
        if (clock === 'either') await made.clock.advance(120_000);
        else made.clock.stepWall(120_000);
        return undefined;
      };
      for (let minute = 0; !isOver && minute < 60; minute += 1) {
        made.runKubelets();
        await made.step();
        if (!isOver) await made.clock.advance(60_000);
      }
      assert.ok(isOver, 'a copy is looked for');
      assert.deepEqual(writes(made), []);
      await made.settle({ withinMs: HOURS_MS });
      assert.deepEqual(Object.values(copied(made)), [ONE]);
    });
  }
});

describe('the copy of the former revision, in mid-rollout', () => {
  it('that somebody deleted empties one node at most, and is not made of another template', async () => {
    const made = await inCanary();
    made.cluster.remove('podtemplates', A.name, A.namespace);
    fail(made, TWO);
    await made.settle({ withinMs: HOURS_MS });
    assert.equal(images(made).filter((image) => image === ONE).length, 5);
    assert.deepEqual(copied(made), {});
    assert.ok(made.sent('create-pod') < 40, `${made.sent('create-pod')} creates`);
  });

  it('that somebody edited lets nothing of his pass, and is mended by the next good revision', async () => {
    const made = await inCanary();
    made.cluster.change('podtemplates', A, (object) => ({ ...object, ...evil }));
    made.addNode('node-9999');
    ready(made, 'node-9999');
    await made.settle({ withinMs: 60_000 });
    assert.equal(images(made).includes('evil'), false);
    await made.settle({ withinMs: 2 * HOURS_MS });
    assert.deepEqual(images(made), Array<string>(7).fill(TWO));
    assert.ok(Object.values(copied(made)).includes(TWO));
    assert.equal(
      (await copiesOf(made))?.held.some(({ slot }) => slot === 'b'),
      true,
    );
  });
});
