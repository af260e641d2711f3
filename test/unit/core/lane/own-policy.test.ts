/** A policy that names its own DaemonSet in `after` is refused, by the field. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refuseSelf } from '../../../../src/core/lane/own-policy.ts';
import { policy } from '../../../support/staged-world.ts';

const KEY = { namespace: 'ns', name: 'agent' };

function refused(...after: readonly string[]) {
  const reading = refuseSelf({ kind: 'policy', policy: policy({ after }) }, KEY);
  return reading.kind === 'invalid' ? reading.problems[0].field : reading.kind;
}

describe('a policy', () => {
  it('whose after names its own DaemonSet is refused, with the entry named', () => {
    assert.equal(refused('agent'), 'after[0]');
    assert.equal(refused('cni', 'ns/agent'), 'after[1]');
  });

  it('that names others, also of its name elsewhere, is none the worse', () => {
    assert.equal(refused('cni', 'other/agent', 'agent-2'), 'policy');
    assert.equal(refused(), 'policy');
  });

  it('that cannot be read, or is none, stays so', () => {
    const invalid = { kind: 'invalid', problems: [{ field: 'soak', message: '' }] } as const;
    assert.equal(refuseSelf(invalid, KEY), invalid);
    assert.deepEqual(refuseSelf({ kind: 'none' }, KEY), { kind: 'none' });
  });
});
