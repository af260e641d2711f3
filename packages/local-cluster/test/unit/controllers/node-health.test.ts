/** Signs of life of a node. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeView } from '../../../src/controllers/shared/object-views.ts';
import { observeNode, planUnknownConditions } from '../../../src/controllers/node-health.ts';

function node(of: { readonly heartbeat?: string; readonly uid?: string } = {}): NodeView {
  const { heartbeat, uid = 'u' } = of;
  return {
    metadata: { name: 'n', uid, resourceVersion: '1', creationTimestamp: 'birth' },
    spec: {},
    status: {
      conditions:
        heartbeat === undefined
          ? []
          : [{ type: 'Ready', status: 'True', lastHeartbeatTime: heartbeat }],
    },
  };
}

describe('signs of life', () => {
  const first = observeNode(undefined, { node: node(), renewTime: undefined, nowMs: 100 });

  it('counts from the first sight', () => {
    assert.equal(first.seenAtMs, 100);
    assert.equal(first.hasReady, false);
  });

  it('counts anew when the Lease is renewed, and not when an older one is seen', () => {
    const renewed = observeNode(first, { node: node(), renewTime: '2026-02', nowMs: 200 });
    assert.equal(renewed.seenAtMs, 200);
    const again = observeNode(renewed, { node: node(), renewTime: '2026-02', nowMs: 300 });
    assert.equal(again.seenAtMs, 200);
    const older = observeNode(renewed, { node: node(), renewTime: '2026-01', nowMs: 300 });
    assert.equal(older.seenAtMs, 200);
  });

  it('counts anew with each heartbeat of Ready, and with its first', () => {
    const spoke = observeNode(first, {
      node: node({ heartbeat: 'a' }),
      renewTime: undefined,
      nowMs: 200,
    });
    assert.equal(spoke.seenAtMs, 200);
    const silent = observeNode(spoke, {
      node: node({ heartbeat: 'a' }),
      renewTime: undefined,
      nowMs: 300,
    });
    assert.equal(silent.seenAtMs, 200);
    const loud = observeNode(silent, {
      node: node({ heartbeat: 'b' }),
      renewTime: undefined,
      nowMs: 400,
    });
    assert.equal(loud.seenAtMs, 400);
  });

  it('knows a node that was made again under the same name', () => {
    const made = observeNode(first, { node: node({ uid: 'v' }), renewTime: undefined, nowMs: 500 });
    assert.equal(made.seenAtMs, 500);
  });
});

describe('a silent node', () => {
  it('loses what it said of itself, and only that', () => {
    const conditions = planUnknownConditions(
      {
        ...node(),
        status: {
          conditions: [
            { type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: 'then' },
            { type: 'NetworkUnavailable', status: 'False' },
            { type: 'DiskPressure', status: 'Unknown', reason: 'NodeStatusUnknown' },
          ],
        },
      },
      'now',
    );
    assert.deepEqual(
      conditions.map(({ type, status, reason }) => [type, status, reason]),
      [
        ['Ready', 'Unknown', 'NodeStatusUnknown'],
        ['MemoryPressure', 'Unknown', 'NodeStatusNeverUpdated'],
        ['PIDPressure', 'Unknown', 'NodeStatusNeverUpdated'],
      ],
    );
    assert.equal(conditions[0]?.lastHeartbeatTime, 'then');
    assert.equal(conditions[0]?.lastTransitionTime, 'now');
    assert.equal(conditions[1]?.lastHeartbeatTime, 'birth');
  });
});
