/** Automatic tolerations (spec 2.6). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withAutomaticTolerations } from '../../../../src/core/placement/automatic-tolerations.ts';

function texts(spec: Parameters<typeof withAutomaticTolerations>[0]): readonly string[] {
  return withAutomaticTolerations(spec).map(
    ({ key = '', operator = '', effect = '', tolerationSeconds }) =>
      `${key.replace('node.kubernetes.io/', '')} ${operator} ${effect} ${tolerationSeconds ?? 'for ever'}`,
  );
}

const ALWAYS = [
  'not-ready Exists NoExecute for ever',
  'unreachable Exists NoExecute for ever',
  'disk-pressure Exists NoSchedule for ever',
  'memory-pressure Exists NoSchedule for ever',
  'pid-pressure Exists NoSchedule for ever',
  'unschedulable Exists NoSchedule for ever',
];

describe('withAutomaticTolerations (spec 2.6)', () => {
  it('adds six to every template, and a seventh with the host network', () => {
    assert.deepEqual(texts({}), ALWAYS);
    assert.deepEqual(texts({ hostNetwork: true }), [
      ...ALWAYS,
      'network-unavailable Exists NoSchedule for ever',
    ]);
  });

  it('replaces an identical one in its place (upstream never tests: toleration replacement dropping seconds)', () => {
    const same = {
      key: 'node.kubernetes.io/not-ready',
      operator: 'Exists',
      effect: 'NoExecute',
      tolerationSeconds: 30,
    };
    const own = { key: 'own', operator: 'Exists' };
    assert.deepEqual(texts({ tolerations: [same, own] }), [
      ALWAYS[0],
      'own Exists  for ever',
      ...ALWAYS.slice(1),
    ]);
  });

  it('keeps one that differs in operator, effect or value', () => {
    const key = 'node.kubernetes.io/not-ready';
    const others = [
      { key, operator: 'Equal', effect: 'NoExecute', tolerationSeconds: 30 },
      { key, operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 31 },
      { key, operator: 'Exists', tolerationSeconds: 32 },
      { key, operator: 'Exists', effect: 'NoExecute', value: 'x', tolerationSeconds: 33 },
      { tolerationSeconds: 34 },
    ];
    const result = withAutomaticTolerations({ tolerations: others });
    assert.deepEqual(result.slice(0, others.length), others);
    assert.equal(result.length, others.length + ALWAYS.length);
  });
});
