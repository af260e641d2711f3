/** Events on the DaemonSet (spec 2.8). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  buildEvent,
  condenseEvents,
  createFailedEvent,
  createdEvent,
  deleteFailedEvent,
  deletedEvent,
  failedDaemonPodEvent,
  selectingAllEvent,
  succeededDaemonPodEvent,
} from '../../../src/core/events.ts';
import { nodeName } from '../../../src/core/model/identifiers.ts';
import type { PlannedEvent } from '../../../src/core/model/plan.ts';
import { NOW_MS, OWNER_UID, daemonSet } from '../../support/core-fixtures.ts';

const named = { namespace: 'ns', name: 'p', node: nodeName('n1') };

describe('reasons and messages (spec 2.8)', () => {
  const rows: readonly [PlannedEvent, string][] = [
    [
      selectingAllEvent(),
      'Warning SelectingAll This daemon set is selecting all pods. A non-empty selector is required.',
    ],
    [
      failedDaemonPodEvent(named),
      'Warning FailedDaemonPod Found failed daemon pod ns/p on node n1, will try to kill it',
    ],
    [
      succeededDaemonPodEvent(named),
      'Normal SucceededDaemonPod Found succeeded daemon pod ns/p on node n1, will try to delete it',
    ],
    [createdEvent('p'), 'Normal SuccessfulCreate Created pod: p'],
    [createFailedEvent('no'), 'Warning FailedCreate Error creating: no'],
    [deletedEvent('p'), 'Normal SuccessfulDelete Deleted pod: p'],
    [deleteFailedEvent('no'), 'Warning FailedDelete Error deleting: no'],
  ];
  for (const [event, expected] of rows) {
    it(event.reason, () => {
      assert.equal(`${event.type} ${event.reason} ${event.message}`, expected);
    });
  }
});

describe('condenseEvents', () => {
  const many = (count: number): PlannedEvent[] =>
    Array.from({ length: count }, (_, index) => createdEvent(`p${index}`));

  it('keeps ten of a reason', () => {
    assert.deepEqual(condenseEvents(many(10)), many(10));
    assert.deepEqual(condenseEvents([]), []);
  });

  it('makes one of the rest, with the last message', () => {
    for (const count of [11, 12, 250]) {
      const condensed = condenseEvents([...many(count), selectingAllEvent()]);
      assert.deepEqual(condensed.slice(0, 10), many(10));
      assert.deepEqual(condensed.slice(10), [
        {
          type: 'Normal',
          reason: 'SuccessfulCreate',
          message: `(combined from similar events): Created pod: p${count - 1}`,
        },
        selectingAllEvent(),
      ]);
    }
  });
});

describe('buildEvent', () => {
  it('has exactly this shape', () => {
    const event = createdEvent('p');
    const built = buildEvent({ daemonSet: daemonSet(), event, nowMs: NOW_MS + 7, uniqueId: 'u1' });
    assert.deepEqual(built, {
      name: 'agent.u1',
      body: {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'agent.u1', namespace: 'ns' },
        involvedObject: {
          apiVersion: 'apps/v1',
          kind: 'DaemonSet',
          namespace: 'ns',
          name: 'agent',
          uid: OWNER_UID,
          resourceVersion: '100',
        },
        reason: 'SuccessfulCreate',
        message: 'Created pod: p',
        type: 'Normal',
        source: { component: 'daemonset-controller' },
        reportingComponent: 'daemonset-controller',
        reportingInstance: '',
        firstTimestamp: '2026-11-21T12:00:00Z',
        lastTimestamp: '2026-11-21T12:00:00Z',
        count: 1,
      },
    });
  });

  it('keeps names and messages within what an API server takes', () => {
    const built = buildEvent({
      daemonSet: daemonSet({ name: 'n'.repeat(253), metadata: { namespace: undefined } }),
      event: createFailedEvent('x'.repeat(5000)),
      nowMs: NOW_MS,
      uniqueId: 'u1',
    });
    assert.equal(built.name.length, 253);
    assert.equal(built.body['message'], `Error creating: ${'x'.repeat(1008)}`);
    assert.deepEqual(built.body['metadata'], { name: built.name, namespace: 'default' });
  });
});
