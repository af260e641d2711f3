/** Taints that follow from a node's conditions. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeView, TimedTaint } from '../../../src/controllers/shared/object-views.ts';
import { planTaints } from '../../../src/controllers/node-taints.ts';

function node(of: {
  readonly conditions?: Readonly<Record<string, string>>;
  readonly taints?: readonly string[];
  readonly isCordoned?: boolean;
}): NodeView {
  return {
    metadata: { name: 'n', uid: 'n', resourceVersion: '1', creationTimestamp: '' },
    spec: {
      taints: (of.taints ?? []).map(parseTaint),
      ...(of.isCordoned === true ? { unschedulable: true } : {}),
    },
    status: {
      conditions: Object.entries(of.conditions ?? {}).map(([type, status]) => ({ type, status })),
    },
  };
}

function parseTaint(text: string): TimedTaint {
  const [key = '', effect = ''] = text.split(':');
  return { key: prefixed(key), effect: effect as TimedTaint['effect'] };
}

function prefixed(key: string): string {
  return key === 'team' ? key : `node.kubernetes.io/${key}`;
}

function plan(of: NodeView): readonly string[] | undefined {
  return planTaints(of, 'now')?.map(
    ({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`,
  );
}

describe('taints of conditions', () => {
  const rows: readonly [Readonly<Record<string, string>>, readonly string[]][] = [
    [{ Ready: 'False' }, ['not-ready:NoSchedule', 'not-ready:NoExecute']],
    [{ Ready: 'Unknown' }, ['unreachable:NoSchedule', 'unreachable:NoExecute']],
    [{ Ready: 'True', MemoryPressure: 'True' }, ['memory-pressure:NoSchedule']],
    [{ Ready: 'True', DiskPressure: 'True' }, ['disk-pressure:NoSchedule']],
    [{ Ready: 'True', PIDPressure: 'True' }, ['pid-pressure:NoSchedule']],
    [{ Ready: 'True', NetworkUnavailable: 'True' }, ['network-unavailable:NoSchedule']],
  ];
  for (const [conditions, expected] of rows) {
    it(`${JSON.stringify(conditions)}: ${expected.join(', ')}`, () => {
      assert.deepEqual(plan(node({ conditions })), expected);
    });
  }

  it('follows the cordon', () => {
    const conditions = { Ready: 'True' };
    assert.deepEqual(plan(node({ conditions, isCordoned: true })), ['unschedulable:NoSchedule']);
    assert.deepEqual(plan(node({ conditions, taints: ['unschedulable:NoSchedule'] })), []);
  });

  it("takes a ready node's taints off and leaves those of others", () => {
    const taints = ['not-ready:NoSchedule', 'team:NoSchedule', 'not-ready:NoExecute'];
    assert.deepEqual(plan(node({ conditions: { Ready: 'True' }, taints })), ['team:NoSchedule']);
  });

  it('changes nothing, the times included, when all is right', () => {
    const taints = ['not-ready:NoSchedule', 'not-ready:NoExecute', 'team:NoExecute'];
    assert.equal(plan(node({ conditions: { Ready: 'False' }, taints })), undefined);
    assert.equal(plan(node({})), undefined);
  });

  it('takes the taint of registration off a node without the condition Ready, as upstream does', () => {
    const fresh = node({ taints: ['not-ready:NoSchedule'] });
    assert.deepEqual(plan(fresh), []);
  });

  it('exchanges NoExecute taints', () => {
    const taints = ['unreachable:NoSchedule', 'not-ready:NoExecute'];
    assert.deepEqual(plan(node({ conditions: { Ready: 'Unknown' }, taints })), [
      'unreachable:NoSchedule',
      'unreachable:NoExecute',
    ]);
  });

  it('says when a taint was put on', () => {
    const conditions = { Ready: 'True', DiskPressure: 'True' };
    const taints = planTaints(node({ conditions }), 'now');
    assert.equal(taints?.[0]?.timeAdded, 'now');
  });
});
