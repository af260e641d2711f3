/** Taints and tolerations (spec 2.5). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Taint, Toleration } from '../../src/objects.ts';
import { findUntoleratedTaint, formatTaint, toleratesTaint } from '../../src/taints.ts';

const taint: Taint = { key: 'gpu', value: '5', effect: 'NoSchedule' };

describe('toleratesTaint (spec 2.5)', () => {
  const rows: readonly [Toleration, boolean][] = [
    [{ key: 'gpu', operator: 'Exists' }, true],
    [{ operator: 'Exists' }, true],
    [{ key: '', operator: 'Exists', effect: '' }, true],
    [{ key: 'gpu', operator: 'Exists', effect: 'NoSchedule' }, true],
    [{ key: 'gpu', operator: 'Exists', effect: 'NoExecute' }, false],
    [{ key: 'cpu', operator: 'Exists' }, false],
    [{ key: 'gpu', operator: 'Equal', value: '5' }, true],
    [{ key: 'gpu', value: '5' }, true],
    [{ key: 'gpu', operator: '', value: '6' }, false],
    [{ key: 'gpu', operator: 'Equal' }, false],
    [{ key: 'gpu', operator: 'Gt', value: '4' }, true],
    [{ key: 'gpu', operator: 'Gt', value: '5' }, false],
    [{ key: 'gpu', operator: 'Lt', value: '6' }, true],
    [{ key: 'gpu', operator: 'Lt', value: '5' }, false],
    [{ key: 'gpu', operator: 'Gt', value: 'four' }, false],
    [{ key: 'gpu', operator: 'Gt', value: '04' }, false],
    [{ key: 'gpu', operator: 'Gt' }, false],
    [{ key: 'gpu', operator: 'Near', value: '5' }, false],
  ];
  for (const [toleration, expected] of rows) {
    it(`${JSON.stringify(toleration)}: ${expected}`, () => {
      assert.equal(toleratesTaint(toleration, taint), expected);
    });
  }

  it('compares a taint without a value as an empty text, and never numerically', () => {
    const plain: Taint = { key: 'gpu', effect: 'NoSchedule' };
    assert.equal(toleratesTaint({ key: 'gpu' }, plain), true);
    assert.equal(toleratesTaint({ key: 'gpu', operator: 'Gt', value: '1' }, plain), false);
  });
});

describe('findUntoleratedTaint', () => {
  it('looks at one effect, and at all tolerations', () => {
    const evicting: Taint = { key: 'old', effect: 'NoExecute' };
    const soft: Taint = { key: 'soft', effect: 'PreferNoSchedule' };
    const taints = [soft, taint, evicting];
    const tolerations: Toleration[] = [{ key: 'x' }, { key: 'gpu', operator: 'Exists' }];
    assert.equal(findUntoleratedTaint({ taints, tolerations, effect: 'NoSchedule' }), undefined);
    assert.equal(findUntoleratedTaint({ taints, tolerations, effect: 'NoExecute' }), evicting);
  });
});

describe('formatTaint', () => {
  it('prints a taint as kubectl does', () => {
    assert.equal(formatTaint(taint), 'gpu=5:NoSchedule');
    assert.equal(formatTaint({ key: 'gpu', effect: 'NoExecute' }), 'gpu:NoExecute');
  });
});
