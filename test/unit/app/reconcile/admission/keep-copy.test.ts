/**
 * The copy of a good template through whole runs (ADR 0063): when it is written, what is not written over, what comes of
 * refusals, conflicts and lost answers; and with an admission policy in force, that the former revision can be made.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { describeCopies } from '../../../../../src/core/admission/shown-copies.ts';
import {
  HOURS_MS,
  POLICY,
  copied,
  copiesOf,
  stagedSetWorld as world,
  fail,
  imageIn,
  images,
  later,
  ready,
  writes,
} from '../../../../support/staged-set-world.ts';
import type { ReconcileWorld } from '../../../../support/reconcile-world.ts';
import { nodeOf } from '../../../../support/simulated-cluster.ts';
import { admissionOf } from '../../../../support/simulated-admission.ts';

describe('the copy of a good template', () => {
  it('is written once when a policy is first seen at rest, and costs nothing more that day', async () => {
    const made = world();
    await made.settle();
    assert.deepEqual(copied(made), { 'agents-rollcall-proven-a': 'example/agent:1' });
    await made.settle({ withinMs: 4 * HOURS_MS });
    assert.equal(writes(made).length, 1);
    const reads = made.cluster.requests.filter((request) => request.startsWith('GET podtemplates'));
    assert.equal(reads.length, 1);
  });

  it('is not written without a policy, and not in copilot', async () => {
    for (const made of [world({ policy: '' }), world({ mode: 'copilot' })]) {
      await made.settle();
      made.setImage('example/agent:2');
      await made.settle({ withinMs: HOURS_MS });
      const asked = made.cluster.requests.filter((request) => request.includes('-rollcall-proven'));
      assert.deepEqual(asked, []);
    }
  });

  it('stays while the next revision is tried, and stands beside that once it is proven', async () => {
    const made = world();
    await made.settle();
    made.setImage('example/agent:2');
    await made.settle({ withinMs: 60_000 });
    assert.deepEqual(Object.values(copied(made)), ['example/agent:1']);
    await made.settle({ withinMs: 2 * HOURS_MS });
    assert.deepEqual(copied(made), {
      'agents-rollcall-proven-a': 'example/agent:1',
      'agents-rollcall-proven-b': 'example/agent:2',
    });
    made.setImage('example/agent:3');
    await made.settle({ withinMs: 2 * HOURS_MS });
    assert.deepEqual(Object.values(copied(made)), ['example/agent:3', 'example/agent:2']);
    assert.equal((await copiesOf(made))?.held.length, 2);
  });

  it('is kept through a template that comes before the last one was proven', async () => {
    const made = world();
    await made.settle();
    made.setImage('example/agent:2');
    await made.settle({ withinMs: 60_000 });
    made.setImage('example/agent:3');
    await made.settle({ withinMs: 60_000 });
    assert.deepEqual(Object.values(copied(made)), ['example/agent:1']);
  });

  it('is mended where somebody deleted or changed it, within the day', async () => {
    const made = world();
    await made.settle();
    made.cluster.remove('podtemplates', 'agents-rollcall-proven-a', 'system');
    await later(made);
    assert.deepEqual(Object.values(copied(made)), ['example/agent:1']);
    const key = { namespace: 'system', name: 'agents-rollcall-proven-a' };
    made.cluster.change('podtemplates', key, (object) => ({
      ...object,
      template: { spec: { containers: [{ image: 'evil' }] } },
    }));
    await later(made);
    assert.deepEqual(Object.values(copied(made)), ['example/agent:1']);
  });

  it('is never written over an object of somebody else’s, and says so once', async () => {
    const made = world();
    const theirs = {
      metadata: { name: 'agents-rollcall-proven-a', namespace: 'system' },
      template: { spec: { containers: [{ image: 'theirs' }] } },
    };
    made.cluster.put('podtemplates', theirs);
    await made.settle();
    await made.settle({ withinMs: HOURS_MS });
    assert.deepEqual(writes(made), []);
    const told = made.cluster.list('events').filter((each) => each['reason'] === 'CopyRefused');
    assert.equal(told.length, 1);
    assert.match(
      String(told[0]?.['message']),
      /not owned by this DaemonSet .* delete podtemplate agents-rollcall-proven-a$/,
    );
  });

  it('that a deleted DaemonSet left is told with the command that removes it, and takes its place after that', async () => {
    const made = world();
    const ownerReferences = [
      {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        name: 'agents',
        uid: 'deleted',
        controller: true,
      },
    ];
    const left = {
      metadata: { name: 'agents-rollcall-proven-a', namespace: 'system', ownerReferences },
      template: { spec: { containers: [{ name: 'agent', image: 'example/agent:0' }] } },
    };
    made.cluster.put('podtemplates', left);
    await made.settle();
    const message = made.cluster.list('events').find((each) => each['reason'] === 'CopyRefused')?.[
      'message'
    ];
    const command = /kubectl --namespace (\S+) delete podtemplate (\S+)$/.exec(String(message));
    const { refusedAtMs } = (await copiesOf(made)) ?? {};
    assert.ok(refusedAtMs !== undefined);
    assert.match(describeCopies({ held: [], refusedAtMs }), /write was refused \(CopyRefused\)/);
    made.cluster.remove('podtemplates', command?.[2] ?? '', command?.[1] ?? '');
    await later(made);
    assert.deepEqual(Object.values(copied(made)), ['example/agent:1']);
    assert.equal((await copiesOf(made))?.refusedAtMs, undefined);
  });

  it('is refused without an end of the world: the run is complete, and tries again hours later', async () => {
    const made = world();
    let isAllowed = false;
    made.cluster.hooks.beforeEffect = ({ kind }) =>
      kind === 'create-copy' && !isAllowed
        ? {
            kind: 'answer',
            outcome: { kind: 'refused', code: 'forbidden', status: 403, message: 'forbidden' },
          }
        : undefined;
    await made.settle();
    assert.equal(made.pods.length, 6);
    assert.equal(writes(made).length, 1);
    assert.notEqual((await copiesOf(made))?.refusedAtMs, undefined);
    isAllowed = true;
    await later(made);
    assert.deepEqual(Object.values(copied(made)), ['example/agent:1']);
    assert.equal((await copiesOf(made))?.refusedAtMs, undefined);
  });

  it('is looked for again after an answer that was lost, and written once', async () => {
    const made = world();
    made.meet('create-copy', { kind: 'lose-answer' });
    await made.settle({ withinMs: HOURS_MS });
    assert.equal(writes(made).length, 1);
    assert.equal((await copiesOf(made))?.held[0]?.slot, 'a');
  });

  it('is not written of a template that was edited since it was seen', async () => {
    const made = world();
    let isEdited = false;
    made.cluster.hooks.onRead = (what) => {
      if (what === 'GET podtemplates' && !isEdited) {
        isEdited = true;
        made.setImage('example/agent:2');
      }
      return undefined;
    };
    // The soak of what ran first (10 min) is over by then, that of the edit is not.
    await made.settle({ withinMs: 11 * 60_000 });
    assert.equal(isEdited, true);
    assert.equal(Object.values(copied(made)).includes('example/agent:2'), false);
  });
});

describe('with an admission policy in force', () => {
  const guarded = async (): Promise<ReconcileWorld> => {
    const made = world();
    made.cluster.hooks.admit = admissionOf(made.cluster);
    await made.settle();
    return made;
  };

  it('a rollback returns the canary’s nodes', async () => {
    const made = await guarded();
    made.setImage('example/agent:2');
    await made.settle({ withinMs: 60_000 });
    assert.equal(images(made).filter((image) => image === 'example/agent:2').length, 1);
    fail(made, 'example/agent:2');
    await made.settle({ withinMs: HOURS_MS });
    assert.deepEqual(images(made), Array<string>(6).fill('example/agent:1'));
  });

  it('a breach after the canary was passed leads back as well', async () => {
    const made = await guarded();
    made.setImage('example/agent:2');
    await made.settle({ withinMs: 60_000 });
    // The nodes after the canary do not get ready, so the rollout is still under way when it is proven.
    for (const pod of made.pods.filter((each) => imageIn(each['spec']) === 'example/agent:1'))
      made.idleNodes.add(nodeOf(pod) ?? '');
    await made.settle({ withinMs: 900_000 });
    assert.ok(Object.values(copied(made)).includes('example/agent:2'));
    assert.ok(images(made).includes('example/agent:1'));
    made.idleNodes.clear();
    fail(made, 'example/agent:2');
    await made.settle({ withinMs: 2 * HOURS_MS });
    assert.deepEqual(images(made), Array<string>(6).fill('example/agent:1'));
  });

  it('a node that joins in mid-canary gets the good revision, and says by its label which copy it is of', async () => {
    const made = await guarded();
    made.setImage('example/agent:2');
    await made.settle({ withinMs: 60_000 });
    made.addNode('node-9999');
    ready(made, 'node-9999');
    await made.settle({ withinMs: 60_000 });
    const [joined] = made.pods.filter((pod: KubernetesObject) =>
      JSON.stringify(pod).includes('node-9999'),
    );
    assert.equal(imageIn(joined?.['spec']), 'example/agent:1');
    assert.equal(joined?.metadata.labels?.['rollcall.dev/revision'], 'proven-a');
  });

  it('nothing leads back where policy and template came at once, and no node is emptied for it', async () => {
    const made = world({ policy: '' });
    made.cluster.hooks.admit = admissionOf(made.cluster);
    await made.settle();
    made.setImage('example/agent:2');
    made.change(({ metadata }) => ({
      metadata: { ...metadata, annotations: { 'rollcall.dev/rollout': POLICY } },
    }));
    await made.settle({ withinMs: 60_000 });
    fail(made, 'example/agent:2');
    await made.settle({ withinMs: HOURS_MS });
    assert.deepEqual(copied(made), {});
    assert.ok(made.pods.length >= 5);
  });
});
