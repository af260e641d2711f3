/**
 * Where selectors overlap, only what one DaemonSet would take is compared; forms change one part of an affinity.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { leavesToWhoeverIsFirst, selectedApps } from '../../differential/overlap.ts';
import { placeOf } from '../../differential/place.ts';
import type { Step } from '../../differential/scenario.ts';
import { applyForm, newDaemonSet } from '../../differential/set-spec.ts';
import type { SetSpec } from '../../differential/set-spec.ts';

const PLACE = placeOf('p1');
const OWN = newDaemonSet(PLACE, 'd1', {});
const SHARED = newDaemonSet(PLACE, 'd2', { selector: 'shared' });
const ALSO_SHARED = newDaemonSet(PLACE, 'd3', { selector: 'shared' });

describe('overlapping selectors', () => {
  it('select the pods of all sets, whose own labels stay their own', () => {
    assert.deepEqual(selectedApps(OWN), ['d1']);
    assert.deepEqual(selectedApps(SHARED), ['d1', 'd2', 'd3']);
    const { template } = SHARED['spec'] as SetSpec;
    assert.deepEqual(template.metadata.labels, { app: 'd2' });
  });

  const orphan: Step = { op: 'pod-orphan', set: 'd1', node: 'n1' };
  const deletion: Step = { op: 'set-delete', set: 'd1', propagation: 'Orphan' };
  const remake: Step = { op: 'set-remake', set: 'd1', propagation: 'Orphan', form: {} };
  const cases = [
    { step: orphan, sets: [OWN], isChance: false },
    { step: orphan, sets: [OWN, SHARED], isChance: true },
    { step: deletion, sets: [OWN, SHARED], isChance: false },
    { step: deletion, sets: [OWN, SHARED, ALSO_SHARED], isChance: true },
    { step: remake, sets: [OWN], isChance: false },
    { step: remake, sets: [OWN, SHARED], isChance: true },
  ];
  for (const { step, sets, isChance } of cases) {
    it(`leave it ${isChance ? 'to chance' : 'decided'} who takes what ${step.op} leaves to ${sets.length} sets`, () => {
      assert.equal(leavesToWhoeverIsFirst(step, sets), isChance);
    });
  }
});

describe('a form', () => {
  const termsOf = (spec: SetSpec): unknown => {
    const affinity = spec.template.spec['affinity'] as Record<string, Record<string, object>>;
    return Object.values(affinity['nodeAffinity'] ?? {})[0];
  };
  const base = newDaemonSet(PLACE, 'd1', { disk: { operator: 'Exists' } })['spec'] as SetSpec;
  const disk = { key: 'disk', operator: 'Exists' };
  const cores = { key: 'cores', operator: 'Gt', values: ['4'] };
  const field = (operator: string, node: string): unknown => ({
    key: 'metadata.name',
    operator,
    values: [`p1-${node}`],
  });

  it('changes one requirement and leaves the others', () => {
    const spec = applyForm(base, { cores: { operator: 'Gt', value: '4' } }, PLACE);
    assert.deepEqual(termsOf(spec), { nodeSelectorTerms: [{ matchExpressions: [disk, cores] }] });
    const without = applyForm(spec, { disk: null }, PLACE);
    assert.deepEqual(termsOf(without), { nodeSelectorTerms: [{ matchExpressions: [cores] }] });
    assert.equal(applyForm(without, { cores: null }, PLACE).template.spec['affinity'], undefined);
  });

  it('selects any of several nodes by a term each, and none of them by one term', () => {
    const anyOf = applyForm(base, { fields: { operator: 'In', nodes: ['n1', 'n2'] } }, PLACE);
    assert.deepEqual(termsOf(anyOf), {
      nodeSelectorTerms: [
        { matchExpressions: [disk], matchFields: [field('In', 'n1')] },
        { matchExpressions: [disk], matchFields: [field('In', 'n2')] },
      ],
    });
    const noneOf = applyForm(anyOf, { fields: { operator: 'NotIn', nodes: ['n1', 'n2'] } }, PLACE);
    assert.deepEqual(termsOf(noneOf), {
      nodeSelectorTerms: [
        { matchExpressions: [disk], matchFields: [field('NotIn', 'n1'), field('NotIn', 'n2')] },
      ],
    });
  });
});
