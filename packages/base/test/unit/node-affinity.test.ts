/** Required node affinity (spec 2.5): every operator, fields, terms, parse errors. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from '../../src/objects.ts';
import { compileNodeAffinity } from '../../src/node-affinity.ts';

function specOf(nodeSelectorTerms: readonly NodeSelectorTerm[]): PodSpec {
  const requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution } } };
}

const subject = { name: 'gpu-1', labels: { zone: 'a', cores: '32', odd: 'many' } };

function need(key: string, operator: string, ...values: string[]): NodeSelectorRequirement {
  return values.length === 0 ? { key, operator } : { key, operator, values };
}

describe('one requirement on a label (spec 2.5)', () => {
  const rows: readonly [NodeSelectorRequirement, boolean][] = [
    [need('zone', 'In', 'a', 'b'), true],
    [need('zone', 'In', 'b'), false],
    [need('absent', 'In', 'a'), false],
    [need('zone', 'NotIn', 'a'), false],
    [need('absent', 'NotIn', 'a'), true],
    [need('zone', 'Exists'), true],
    [need('absent', 'Exists'), false],
    [need('zone', 'DoesNotExist'), false],
    [need('absent', 'DoesNotExist'), true],
    [need('cores', 'Gt', '16'), true],
    [need('cores', 'Gt', '32'), false],
    [need('cores', 'Lt', '64'), true],
    [need('cores', 'Lt', '32'), false],
    [need('odd', 'Gt', '1'), false],
    [need('absent', 'Lt', '1'), false],
  ];
  for (const [requirement, expected] of rows) {
    const values = (requirement.values ?? []).join(',');
    it(`${requirement.key} ${requirement.operator} [${values}] is ${expected}`, () => {
      const mismatch = compileNodeAffinity(specOf([{ matchExpressions: [requirement] }]))(subject);
      assert.equal(mismatch === undefined, expected);
      if (!expected) assert.equal(mismatch?.code, 'NodeAffinityMismatch');
    });
  }
});

describe('one requirement on a field (spec 2.5)', () => {
  const rows: readonly [NodeSelectorRequirement, 'match' | 'mismatch' | 'invalid'][] = [
    [need('metadata.name', 'In', 'gpu-1'), 'match'],
    [need('metadata.name', 'In', 'gpu-2'), 'mismatch'],
    [need('metadata.name', 'NotIn', 'gpu-2'), 'match'],
    [need('metadata.name', 'NotIn', 'gpu-1'), 'mismatch'],
    [need('metadata.name', 'In', 'gpu-1', 'gpu-2'), 'invalid'],
    [need('metadata.name', 'In'), 'invalid'],
    [need('metadata.name', 'Exists', 'gpu-1'), 'invalid'],
    [need('spec.unschedulable', 'In', 'true'), 'invalid'],
  ];
  for (const [requirement, expected] of rows) {
    const values = (requirement.values ?? []).join(',');
    it(`${requirement.key} ${requirement.operator} [${values}]: ${expected}`, () => {
      const mismatch = compileNodeAffinity(specOf([{ matchFields: [requirement] }]))(subject);
      const codes = { NodeAffinityMismatch: 'mismatch', NodeAffinityInvalid: 'invalid' };
      const code = mismatch?.code;
      assert.equal(code === undefined ? 'match' : codes[code], expected);
    });
  }
});

describe('terms (spec 2.5)', () => {
  it('matches every node when the required block is absent or null', () => {
    assert.equal(compileNodeAffinity({})(subject), undefined);
    const withNull = {
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: null } },
    } as unknown as PodSpec; // an API server may send null
    assert.equal(compileNodeAffinity(withNull)(subject), undefined);
  });

  for (const [title, terms] of [
    ['no term', []],
    ['an empty term', [{}]],
    ['a term with empty lists', [{ matchExpressions: [], matchFields: [] }]],
  ] as const) {
    it(`matches no node with ${title}, and says so`, () => {
      const mismatch = compileNodeAffinity(specOf(terms))(subject);
      assert.deepEqual(mismatch, {
        code: 'NodeAffinityMismatch',
        detail: 'it has no term, so it matches no node',
        labels: [],
      });
    });
  }

  it('matches no node when the list of terms is absent', () => {
    const spec = {
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: {} } },
    };
    assert.equal(compileNodeAffinity(spec)(subject)?.code, 'NodeAffinityMismatch');
  });

  it('ORs terms', () => {
    const terms = [
      { matchExpressions: [need('zone', 'In', 'b')] },
      { matchExpressions: [need('zone', 'In', 'a')] },
    ];
    assert.equal(compileNodeAffinity(specOf(terms))(subject), undefined);
  });

  it('ANDs expressions and fields of a term', () => {
    const matchFields = [need('metadata.name', 'In', 'gpu-2')];
    const mismatch = compileNodeAffinity(
      specOf([
        { matchExpressions: [need('zone', 'In', 'a'), need('cores', 'Exists')], matchFields },
      ]),
    )(subject);
    assert.deepEqual(mismatch, {
      code: 'NodeAffinityMismatch',
      detail: 'zone In [a] and cores Exists and metadata.name In [gpu-2]',
      labels: ['zone', 'cores'],
    });
  });

  it('surfaces a parse error only if no other term matches', () => {
    const bad = { matchExpressions: [need('zone', 'Near', 'a')] };
    const good = { matchExpressions: [need('zone', 'In', 'a')] };
    assert.equal(compileNodeAffinity(specOf([bad, good]))(subject), undefined);
    const mismatch = compileNodeAffinity(specOf([bad]))(subject);
    assert.deepEqual(mismatch, {
      code: 'NodeAffinityInvalid',
      detail: 'operator Near of zone is not known',
    });
  });

  it('says all terms, and all values, of what does not match', () => {
    const terms = [
      { matchExpressions: [need('zone', 'In', 'b', 'c')] },
      { matchExpressions: [need('absent', 'Exists')] },
    ];
    assert.deepEqual(compileNodeAffinity(specOf(terms))(subject), {
      code: 'NodeAffinityMismatch',
      detail: 'zone In [b, c] or absent Exists',
      labels: ['zone', 'absent'],
    });
  });

  it('says all faults, of one term and of several', () => {
    const terms = [
      {
        matchExpressions: [need('zone', 'Near', 'a'), need('cores', 'Gt', 'many')],
        matchFields: [need('spec.unschedulable', 'In', 'true')],
      },
      { matchFields: [need('metadata.name', 'Exists', 'gpu-1')] },
    ];
    assert.deepEqual(compileNodeAffinity(specOf(terms))(subject), {
      code: 'NodeAffinityInvalid',
      detail:
        'operator Near of zone is not known; operator Gt of cores needs an integer, not "many"; ' +
        'field spec.unschedulable is not known; operator Exists of field metadata.name is not known',
    });
  });

  const faults: readonly [NodeSelectorRequirement, string][] = [
    [need('cores', 'Gt'), 'operator Gt of cores needs one value'],
    [need('cores', 'Gt', '1', '2'), 'operator Gt of cores needs one value'],
    [need('cores', 'Lt', 'many'), 'operator Lt of cores needs an integer, not "many"'],
    [need('zone', 'In'), 'operator In of zone needs values'],
  ];
  for (const [requirement, detail] of faults) {
    it(`takes ${requirement.operator} [${(requirement.values ?? []).join(',')}] as invalid`, () => {
      const mismatch = compileNodeAffinity(specOf([{ matchExpressions: [requirement] }]))(subject);
      assert.deepEqual(mismatch, { code: 'NodeAffinityInvalid', detail });
    });
  }

  it('takes a field without, or with more than one value, as invalid', () => {
    for (const values of [[], ['gpu-1', 'gpu-2']]) {
      const requirement = need('metadata.name', 'In', ...values);
      assert.deepEqual(compileNodeAffinity(specOf([{ matchFields: [requirement] }]))(subject), {
        code: 'NodeAffinityInvalid',
        detail: 'field metadata.name needs one value',
      });
    }
  });

  it('compares with zero as with any number, but an absent label with nothing', () => {
    const [above, below] = [need('absent', 'Gt', '-1'), need('absent', 'Lt', '1')];
    for (const requirement of [above, below]) {
      const mismatch = compileNodeAffinity(specOf([{ matchExpressions: [requirement] }]))(subject);
      assert.equal(mismatch?.code, 'NodeAffinityMismatch');
    }
  });
});
