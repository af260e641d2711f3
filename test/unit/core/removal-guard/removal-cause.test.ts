/**
 * What is behind a shrink: the reason that most nodes share, in words, and the object that may name who did it.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findCause, placementHash } from '../../../../src/core/removal-guard/removal-cause.ts';
import type { Removal } from '../../../../src/core/removal-guard/count-removal.ts';
import type { NodeView } from '../../../../src/core/model/plan.ts';
import { daemonSet, node } from '../../../support/core-fixtures.ts';

type Reason = NodeView['reason'];
const LABEL: Reason = { code: 'NodeSelectorMismatch', label: 'pool=x' };
const TAINT: Reason = { code: 'TaintNotTolerated', taint: 'gpu:NoSchedule' };

function nodes(reason: Reason, ...names: readonly string[]): readonly NodeView[] {
  return names.map((name) => ({
    node: node(name),
    placement: 'leave',
    reason,
    pods: [],
    held: [],
  }));
}

function cause(shrink: Partial<Removal>, isEdit = false): ReturnType<typeof findCause> {
  return findCause({ leaving: [], left: [], pods: 0, basePods: 0, ...shrink }, isEdit);
}

describe('the cause of a shrink', () => {
  it('is what most nodes share, with three of them by name', () => {
    const leaving = [...nodes(TAINT, 'a'), ...nodes(LABEL, 'b', 'c', 'd', 'e', 'f')];
    assert.deepEqual(cause({ leaving }), {
      text: "b, c, d and 2 more are a node that lacks the label pool=x that the template's nodeSelector demands",
      suspect: { kind: 'node', node: 'b', part: 'labels' },
    });
  });

  it('looks at the taints of the first node for a taint', () => {
    const found = cause({ leaving: nodes(TAINT, 'b', 'c') });
    assert.deepEqual(found.suspect, { kind: 'node', node: 'b', part: 'taints' });
    assert.match(found.text, /have taint|has taint gpu:NoSchedule/);
  });

  it('is of nodes that were left already where none is to be left now', () => {
    assert.match(cause({ left: nodes(LABEL, 'z') }).text, /^z is /);
    assert.match(cause({ leaving: nodes(LABEL, 'b'), left: nodes(TAINT, 'z') }).text, /^b is /);
  });

  it('is bounded', () => {
    const long: Reason = { code: 'NodeSelectorMismatch', label: 'x'.repeat(500) };
    assert.equal(cause({ leaving: nodes(long, 'b') }).text.length, 300);
  });
});

describe('the hash of placement', () => {
  it('changes with what placement reads of the template, and with nothing else', () => {
    const of = (spec: object): number => {
      const object = daemonSet();
      const template = { ...object.spec.template, spec: { ...object.spec.template.spec, ...spec } };
      return placementHash({ ...object, spec: { ...object.spec, template } });
    };
    const base = of({});
    assert.equal(of({ serviceAccountName: 'other' }), base);
    for (const changed of [
      { nodeName: 'n1' },
      { nodeSelector: { pool: 'x' } },
      { affinity: { nodeAffinity: {} } },
      { tolerations: [{ operator: 'Exists' }] },
      { hostNetwork: true },
    ]) {
      assert.notEqual(of(changed), base, JSON.stringify(changed));
    }
    assert.equal(of({ affinity: { podAffinity: {} } }), base);
  });
});
