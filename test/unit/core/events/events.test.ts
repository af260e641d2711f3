/** Events on the DaemonSet (spec 2.8). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  buildEvent,
  buildEventPatch,
  createFailedEvent,
  createdEvent,
  deleteFailedEvent,
  deletedEvent,
  eventBaseName,
  failedDaemonPodEvent,
  selectingAllEvent,
  succeededDaemonPodEvent,
} from '../../../../src/core/events/events.ts';
import type { EventWrite } from '../../../../src/core/events/event-correlation.ts';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { PlannedEvent } from '../../../../src/core/model/plan.ts';
import { NOW_MS, OWNER_UID, daemonSet } from '../../../support/core-fixtures.ts';

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
    it(expected, () => {
      assert.equal(`${event.type} ${event.reason} ${event.message}`, expected);
    });
  }
});

const WRITE: EventWrite = {
  kind: 'create',
  name: 'agent.u1-0',
  ...createdEvent('p'),
  count: 3,
  firstAtMs: NOW_MS + 7,
  lastAtMs: NOW_MS + 61_000,
};

describe('buildEvent', () => {
  it('has exactly the shape that the built-in controller gives it', () => {
    assert.deepEqual(buildEvent(daemonSet(), WRITE), {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'agent.u1-0', namespace: 'ns' },
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
      lastTimestamp: '2026-11-21T12:01:01Z',
      count: 3,
    });
  });

  it('stands in the namespace default when the DaemonSet names none', () => {
    const nowhere = daemonSet({ metadata: { namespace: undefined } });
    assert.deepEqual(buildEvent(nowhere, WRITE)['metadata'], {
      name: 'agent.u1-0',
      namespace: 'default',
    });
  });
});

describe('buildEventPatch', () => {
  it('changes count, time and message, and nothing else', () => {
    assert.deepEqual(buildEventPatch(WRITE), {
      count: 3,
      lastTimestamp: '2026-11-21T12:01:01Z',
      message: 'Created pod: p',
    });
  });
});

describe('eventBaseName', () => {
  it('leaves room for a number within what an API server takes', () => {
    const name = eventBaseName('n'.repeat(253), 'u1');
    assert.ok(name.endsWith('.u1'));
    assert.ok(`${name}-9999`.length <= 253);
    assert.equal(eventBaseName('agent', 'u1'), 'agent.u1');
    assert.equal(eventBaseName('logs.agent-v2', 'u1'), 'logs.agent-v2.u1');
    assert.match(eventBaseName(`${'n'.repeat(243)}.-${'n'.repeat(8)}`, 'u1'), /n\.u1$/);
  });
});
