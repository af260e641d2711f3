/** The order between daemons of a node: `after` in a policy (ADR 0058). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { goesFirst, keysOf, mustWaitFor } from '../../../../src/core/lane/judge-order.ts';
import type { Predecessor } from '../../../../src/core/lane/judge-order.ts';
import { CURRENT_HASH, NOW_MS, namedPod } from '../../../support/core-fixtures.ts';

const CURRENT = namedPod('n1', 'cni-new');
const OLD = namedPod('n1', 'cni-old', {
  labels: { app: 'agent', 'controller-revision-hash': 'older' },
});

function waits(options: Partial<Predecessor>): boolean {
  return mustWaitFor({
    placement: 'run',
    pods: [],
    hash: CURRENT_HASH,
    isEdited: false,
    templateGeneration: undefined,
    isRolling: true,
    minReadyMs: 0,
    nowMs: NOW_MS,
    ...options,
  });
}

describe('a daemon that goes after another', () => {
  it('waits until that one is there, current and available', () => {
    assert.ok(waits({ pods: [] }));
    assert.ok(waits({ pods: [OLD] }));
    assert.ok(waits({ pods: [{ ...CURRENT, isReady: false }] }));
    assert.ok(waits({ pods: [{ ...CURRENT, isTerminating: true }] }));
    assert.ok(!waits({ pods: [CURRENT] }));
    assert.ok(waits({ pods: [CURRENT], isEdited: true }));
  });

  it('waits for nobody who does not belong there, or whose old pod only a person replaces', () => {
    assert.ok(!waits({ placement: 'leave' }));
    assert.ok(!waits({ placement: 'keep' }));
    assert.ok(!waits({ placement: undefined }));
    assert.ok(!waits({ pods: [OLD], isRolling: false }));
    assert.ok(!waits({ pods: [OLD], hash: undefined }));
    assert.ok(waits({ pods: [], isRolling: false }), 'it is down');
  });

  it('names others of its own namespace, or of another; of two that name each other one goes', () => {
    assert.deepEqual(keysOf(['cni', 'kube-system/csi'], 'ns'), [
      { namespace: 'ns', name: 'cni' },
      { namespace: 'kube-system', name: 'csi' },
    ]);
    assert.notEqual(goesFirst('ns/a', 'ns/b'), goesFirst('ns/b', 'ns/a'));
  });
});
