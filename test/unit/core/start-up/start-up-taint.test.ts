/** The start-up taint as an operator writes it, and where a node has it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  isStartUpTaint,
  parseStartUpTaint,
  startUpTaintText,
} from '../../../../src/core/start-up/start-up-taint.ts';

describe('a start-up taint', () => {
  it('is read as it is written', () => {
    for (const text of ['example.com/agents:NoSchedule', 'agents=a.1:NoExecute', 'a=:NoSchedule']) {
      const taint = parseStartUpTaint(text);
      assert.ok(taint !== undefined, text);
      assert.equal(startUpTaintText(taint), text);
    }
  });

  it('is none of a wrong form, nor one by which Kubernetes says that a node cannot be used', () => {
    const refused = ['agents', 'agents:Never', ':NoSchedule', 'a b:NoSchedule', 'a=b c:NoSchedule'];
    refused.push('node.kubernetes.io/not-ready:NoSchedule', '-a:NoSchedule', 'a=b=c:NoSchedule');
    refused.push('node.cloudprovider.kubernetes.io/uninitialized:NoSchedule');
    for (const text of refused) assert.equal(parseStartUpTaint(text), undefined, text);
  });

  it('is one of a node by key and effect, and by a value that was set', () => {
    const seen = { key: 'agents', value: 'yes', effect: 'NoSchedule' } as const;
    const bare = { key: 'agents', effect: 'NoSchedule' } as const;
    assert.equal(isStartUpTaint(seen, { taint: bare }), true);
    assert.equal(isStartUpTaint(seen, { taint: seen }), true);
    assert.equal(isStartUpTaint(bare, { taint: seen }), false);
    assert.equal(isStartUpTaint(bare, { taint: { ...bare, value: '' } }), true);
    assert.equal(isStartUpTaint(bare, { taint: { ...bare, effect: 'NoExecute' } }), false);
    assert.equal(isStartUpTaint(bare, { taint: { ...bare, key: 'agent' } }), false);
  });
});
