/** Where the copy of the former revision stands, once the state that knew is lost in mid-rollout (ADR 0063). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LiveRead } from '../../../../../src/ports/cluster/cluster-access.ts';
import {
  HOURS_MS,
  copied,
  copiesOf,
  stagedSetWorld,
  fail,
  images,
  imageIn,
  ready,
} from '../../../../support/staged-set-world.ts';
import type { ReconcileWorld } from '../../../../support/reconcile-world.ts';
import { nodeOf } from '../../../../support/simulated-cluster.ts';
import { admissionOf } from '../../../../support/simulated-admission.ts';

const ONE = 'example/agent:1';
const TWO = 'example/agent:2';

/** Admission is in force, a canary runs the next revision, and the state is lost. */
async function forgetful(): Promise<ReconcileWorld> {
  const made = stagedSetWorld();
  made.cluster.hooks.admit = admissionOf(made.cluster);
  await made.settle();
  made.setImage(TWO);
  await made.settle({ withinMs: 60_000 });
  assert.equal(images(made).filter((image) => image === TWO).length, 1);
  made.view.lose('STATE');
  assert.equal(await copiesOf(made), undefined);
  return made;
}

async function join(made: ReconcileWorld, name: string): Promise<void> {
  made.addNode(name);
  ready(made, name);
  await made.settle({ withinMs: 60_000 });
}

function podOn(made: ReconcileWorld, name: string) {
  const pod = made.pods.find((each) => nodeOf(each) === name);
  if (pod === undefined) return undefined;
  const { labels } = pod.metadata;
  return { image: imageIn(pod['spec']), marker: labels?.['rollcall.dev/revision'] };
}

describe('the copy of the former revision, once the state is lost', () => {
  it('is found by what it says, and a joining node gets its pod', async () => {
    const made = await forgetful();
    await join(made, 'node-9999');
    assert.deepEqual(podOn(made, 'node-9999'), { image: ONE, marker: 'proven-a' });
  });

  it('is found by what it holds where its revision got another hash', async () => {
    const made = await forgetful();
    const key = { namespace: 'system', name: 'agents-rollcall-proven-a' };
    made.cluster.change('podtemplates', key, (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: { 'rollcall.dev/revision-hash': 'before' } },
    }));
    await join(made, 'node-9999');
    assert.deepEqual(podOn(made, 'node-9999'), { image: ONE, marker: 'proven-a' });
    assert.deepEqual((await copiesOf(made))?.held.length, 1);
  });

  it('is not found where it holds another template', async () => {
    const made = await forgetful();
    const key = { namespace: 'system', name: 'agents-rollcall-proven-a' };
    made.cluster.change('podtemplates', key, (object) => ({
      ...object,
      template: { spec: { containers: [{ name: 'main', image: TWO }] } },
      metadata: { ...object.metadata, annotations: { 'rollcall.dev/revision-hash': 'before' } },
    }));
    await join(made, 'node-9999');
    assert.equal(podOn(made, 'node-9999'), undefined);
    assert.equal(await copiesOf(made), undefined);
  });

  it('is found in the second place too', async () => {
    const made = stagedSetWorld();
    made.cluster.hooks.admit = admissionOf(made.cluster);
    await made.settle();
    made.setImage(TWO);
    await made.settle({ withinMs: 2 * HOURS_MS });
    made.setImage('example/agent:3');
    await made.settle({ withinMs: 60_000 });
    made.view.lose('STATE');
    await join(made, 'node-9999');
    assert.deepEqual(podOn(made, 'node-9999'), { image: TWO, marker: 'proven-b' });
  });

  it('leads a rollback back', async () => {
    const made = await forgetful();
    await made.settle({ withinMs: 60_000 });
    fail(made, TWO);
    await made.settle({ withinMs: HOURS_MS });
    assert.deepEqual(images(made), Array<string>(6).fill(ONE));
  });

  it('costs two reads, once: the state has it again', async () => {
    const made = await forgetful();
    const before = made.sent('GET podtemplates');
    await join(made, 'node-9999');
    assert.equal(made.sent('GET podtemplates') - before, 2);
    assert.deepEqual(
      (await copiesOf(made))?.held.map(({ slot }) => slot),
      ['a'],
    );
    await join(made, 'node-9998');
    assert.equal(made.sent('GET podtemplates') - before, 2);
  });

  it('costs nothing where no pod of the former revision is to be made', async () => {
    const made = await forgetful();
    const before = made.sent('GET podtemplates');
    await made.settle({ withinMs: 60_000 });
    assert.equal(made.sent('GET podtemplates'), before);
  });

  it('is not written over by the next revision that is proven', async () => {
    const made = await forgetful();
    await made.settle({ withinMs: 2 * HOURS_MS });
    assert.deepEqual(copied(made), {
      'agents-rollcall-proven-a': ONE,
      'agents-rollcall-proven-b': TWO,
    });
    assert.equal((await copiesOf(made))?.held.length, 2);
  });

  const BOTH = { 'agents-rollcall-proven-a': ONE, 'agents-rollcall-proven-b': TWO };
  const renamed = async (): Promise<ReconcileWorld> => {
    const made = await forgetful();
    const key = { namespace: 'system', name: 'agents-rollcall-proven-a' };
    made.cluster.change('podtemplates', key, (object) => ({
      ...object,
      metadata: { ...object.metadata, annotations: { 'rollcall.dev/revision-hash': 'before' } },
    }));
    return made;
  };

  it('is not written over either where it says another hash: nor where its revision got another hash', async () => {
    const made = await renamed();
    await made.settle({ withinMs: 2 * HOURS_MS });
    assert.deepEqual(copied(made), BOTH);
    assert.equal((await copiesOf(made))?.held.length, 2);
  });

  it('is not written over by who cannot tell: nor while that cannot be read', async () => {
    const made = await renamed();
    let failing = 3;
    made.cluster.hooks.onRead = (what): LiveRead<never> | undefined =>
      what === 'GET controllerrevisions' && (failing -= 1) >= 0
        ? { kind: 'unavailable', message: 'cannot be read', isRefused: false }
        : undefined;
    await made.settle({ withinMs: 2 * HOURS_MS });
    assert.ok(failing < 0, String(failing));
    assert.deepEqual(copied(made), BOTH);
  });

  it('is not taken from an object of somebody else’s that says the same', async () => {
    const made = await forgetful();
    const key = { namespace: 'system', name: 'agents-rollcall-proven-a' };
    made.cluster.change('podtemplates', key, (object) => ({
      ...object,
      metadata: { ...object.metadata, ownerReferences: [] },
    }));
    await join(made, 'node-9999');
    assert.equal(podOn(made, 'node-9999'), undefined);
  });

  it('is asked for again where it could not be read, and no unmarked pod is tried meanwhile', async () => {
    const made = await forgetful();
    let failing = 2;
    made.cluster.hooks.onRead = unreadable(() => (failing -= 1) >= 0, { isRefused: false });
    const before = made.sent('create-pod');
    await join(made, 'node-9999');
    assert.equal(podOn(made, 'node-9999')?.marker, 'proven-a');
    assert.equal(made.sent('create-pod') - before, 1);
  });

  it('keeps nobody from making pods who has no right to read it, and no admission policy', async () => {
    const made = await forgetful();
    delete made.cluster.hooks.admit;
    made.cluster.hooks.onRead = unreadable(() => true, { isRefused: true });
    await join(made, 'node-9999');
    assert.deepEqual(podOn(made, 'node-9999'), { image: ONE, marker: undefined });
  });
});

function unreadable(isFailing: () => boolean, { isRefused }: { readonly isRefused: boolean }) {
  return (what: string): LiveRead<never> | undefined =>
    what === 'GET podtemplates' && isFailing()
      ? { kind: 'unavailable', message: 'cannot be read', isRefused }
      : undefined;
}
