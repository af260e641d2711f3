/** S1, S4, S7, S8: what would break a promise is left out, and told. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EffectAssertions } from '../../../../../src/app/reconcile/run/asserted-access.ts';
import { attemptReconcile } from '../../../../../src/app/reconcile/attempt.ts';
import type { EndContext } from '../../../../../src/app/reconcile/run/context.ts';
import { endRun } from '../../../../../src/app/reconcile/finish/end-run.ts';
import { writeState } from '../../../../../src/app/reconcile/run/record-state.ts';
import { ClusterGate } from '../../../../../src/app/isolation/cluster-gate.ts';
import type { StateChange } from '../../../../../src/core/plan/invariants.ts';
import { nodeName, uid } from '../../../../../src/core/model/identifiers.ts';
import { talliedAccess, TalkTally } from '../../../../../src/app/isolation/talk-tally.ts';
import { createIntent, state } from '../../../../support/core-fixtures.ts';
import { ReconcileWorld } from '../../../../support/reconcile-world.ts';

function contextOf(world: ReconcileWorld): EndContext {
  const { dependencies, hint, log, metrics } = world;
  const report = { key: hint.key, log, metrics };
  const assertions = new EffectAssertions(report, dependencies.options.burstPodsMax);
  const context: EndContext = {
    ...{ hint, dependencies, assertions, note: {}, gate: new ClusterGate(dependencies) },
    run: { deadlineMs: world.clock.monotonicMs() + 60_000 },
    wallDeadlineMs: world.clock.nowMs() + 60_000,
    recordIntents: (ref, change) => writeState(change, ref, context),
  };
  return context;
}

const told = (world: ReconcileWorld): readonly unknown[] =>
  world.log.lines.filter(({ level }) => level === 'error').map(({ fields }) => fields?.['code']);

describe('an effect that would break a promise', () => {
  it('is not sent, answers as unsent and is told; those beside it are sent (S1)', async () => {
    const world = new ReconcileWorld({ nodes: 2 });
    const { assertions } = contextOf(world);
    const { clock } = world;
    const plain = talliedAccess(world.cluster, { clock, tally: new TalkTally(clock) });
    const access = assertions.wrap(plain, {
      uid: uid(world.daemonSet.metadata.uid),
      mode: 'takeover',
    });
    const intent = createIntent('node-0001', { name: 'recorded' });
    assertions.noteRecorded([intent]);
    const create = (name: string): Parameters<typeof access.execute>[0][number] => ({
      ...{ kind: 'create-pod', namespace: 'system', name, node: nodeName('node-0001') },
      body: {
        metadata: {
          ...{ namespace: 'system', name, labels: { app: 'agents' } },
          ownerReferences: [{ uid: world.daemonSet.metadata.uid, controller: true }],
        },
        spec: { containers: [] },
      },
    });
    const deadlineMs = clock.monotonicMs() + 60_000;
    const outcomes = await access.execute([create('unrecorded'), create('recorded')], {
      deadlineMs,
    });
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['unsent', 'done'],
    );
    assert.deepEqual(
      world.pods.map(({ metadata }) => metadata.name),
      ['recorded'],
    );
    assert.equal(world.metrics.sum('ReconcileInvariants', 'S1'), 1);
    assert.deepEqual(told(world), ['S1']);
  });
});

describe('a write of the state that would break a promise', () => {
  it('is not made, and is told (S8)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    const context = contextOf(world);
    const ref = { clusterUid: world.mirror.clusterUid, uid: uid(world.daemonSet.metadata.uid) };
    const from = state({ version: 0, written: { era: 3 } });
    const write = await writeState({ from, to: { ...from, written: { era: 2 } } }, ref, context);
    assert.equal(write.kind, 'stopped');
    assert.equal(await world.view.readState(ref), undefined);
    assert.equal(world.metrics.sum('ReconcileInvariants', 'S8'), 1);
  });

  it('ends a run before it sends anything, and the key looks again later (S1)', async () => {
    const world = new ReconcileWorld({ nodes: 2 });
    await world.mirror.sync();
    const context = contextOf(world);
    const { recordIntents } = context;
    // A bug: whatever is recorded forgets an intent that stood there.
    const forgetful = (change: StateChange): StateChange => ({
      ...change,
      from: { ...change.from, intents: [createIntent('node-0009')] },
    });
    const exit = await attemptReconcile({
      ...context,
      recordIntents: (ref, change) => recordIntents(ref, forgetful(change)),
    });
    assert.ok(exit.kind !== 'lost');
    const result = await endRun(exit, context);
    assert.ok(result.kind === 'deferred');
    assert.equal(result.code, 'invariant');
    assert.deepEqual(world.pods, []);
    assert.equal(world.queue.timers.length, 1);
    assert.deepEqual(told(world), ['S1']);
  });
});
