/** The event recorder: counts what repeats, drops what cannot be written, and never fails. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEventRecorder } from '../../../../src/node-agent/shared/event-recorder.ts';
import type { EventRecorder } from '../../../../src/node-agent/shared/event-recorder.ts';
import type { ApiObject } from '../../../../src/objects/api-object.ts';
import { createLocalWorld } from '../../../support/world.ts';
import type { LocalWorld } from '../../../support/world.ts';

const POD: ApiObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'p',
    namespace: 'default',
    uid: 'uid-1',
    resourceVersion: '7',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
};

async function createBench(): Promise<{ world: LocalWorld; record: EventRecorder }> {
  const world = await createLocalWorld();
  const { admin: client, clock, log } = world;
  const options = { client, component: 'kubelet', host: 'node-1', clock, log };
  return { world, record: createEventRecorder(options) };
}

describe('the event recorder', () => {
  it('writes an Event as the kubelet does', async () => {
    const { world, record } = await createBench();
    const fieldPath = 'spec.containers{main}';
    record({ about: POD, fieldPath, type: 'Normal', reason: 'Started', message: 'Started it' });
    await world.settle();
    const [event] = world.store.list('events');
    assert.match(event?.metadata.name ?? '', /^p\.[0-9a-f]{16}$/);
    assert.deepEqual(event?.['involvedObject'], {
      kind: 'Pod',
      namespace: 'default',
      name: 'p',
      uid: 'uid-1',
      apiVersion: 'v1',
      fieldPath,
    });
    assert.deepEqual(event['source'], { component: 'kubelet', host: 'node-1' });
    assert.deepEqual(
      [event['count'], event['firstTimestamp'], event['type']],
      [1, '2026-01-01T00:00:00Z', 'Normal'],
    );
  });

  it('counts up what repeats within ten minutes, and begins anew later', async () => {
    const { world, record } = await createBench();
    const again = async (): Promise<void> => {
      record({ about: POD, type: 'Warning', reason: 'BackOff', message: 'again' });
      await world.settle();
    };
    await again();
    await world.clock.advance(60_000);
    await again();
    const [event] = world.store.list('events');
    assert.deepEqual([event?.['count'], event?.['lastTimestamp']], [2, '2026-01-01T00:01:00Z']);
    await world.clock.advance(600_000);
    await again();
    assert.deepEqual(
      world.store.list('events').map((each) => each['count']),
      [2, 1],
    );
  });

  it('makes another Event when the one that it counted has been deleted', async () => {
    const { world, record } = await createBench();
    record({ about: POD, type: 'Warning', reason: 'BackOff', message: 'again' });
    await world.settle();
    const [event] = world.store.list('events');
    assert.ok(event !== undefined);
    const { name, namespace = '' } = event.metadata;
    await world.admin.delete({ resource: 'events', namespace, name });
    record({ about: POD, type: 'Warning', reason: 'BackOff', message: 'again' });
    await world.settle();
    assert.equal(world.store.list('events')[0]?.['count'], 1);
  });

  it('drops what the API refuses, with a log line, and goes on with the next', async () => {
    const { world, record } = await createBench();
    const nowhere = { ...POD, metadata: { ...POD.metadata, namespace: 'nowhere' } };
    record({ about: nowhere, type: 'Normal', reason: 'R', message: 'lost' });
    record({ about: POD, type: 'Normal', reason: 'R', message: 'kept' });
    await world.settle();
    assert.deepEqual(
      world.store.list('events').map((event) => event['message']),
      ['kept'],
    );
    assert.ok(world.log.lines.some(({ message }) => message === 'event dropped'));
  });
});
